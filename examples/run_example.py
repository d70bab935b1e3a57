#!/usr/bin/env python3
"""Runs an example: run_example.py STATUS PATTERN PROGRAM ARGUMENT...

Its exit status must be STATUS, and PATTERN must be found in what it says.
"""
import re
import subprocess
import sys


def main():
    status, pattern, *command = sys.argv[1:]
    done = subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(done.stdout, end="")
    if done.returncode != int(status):
        print(f"FAILED: exit status {done.returncode}, not {status}")
        return 1
    if not re.search(pattern.replace("\\n", "\n"), done.stdout):
        print(f"FAILED: does not say {pattern}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
