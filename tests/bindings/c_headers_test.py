#!/usr/bin/env python3
"""The C headers compile as the oldest standard of C: c_headers_test.py SOURCE"""
import pathlib
import shutil
import subprocess
import sys


def main():
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        print("skipped: no C compiler")
        return 77
    folder = pathlib.Path(sys.argv[1]) / "include"
    failed = False
    for header in sorted((folder / "stackpack").glob("c_*.h")):
        for standard in ("c89", "c99", "c17"):
            done = subprocess.run([compiler, f"-std={standard}", "-pedantic-errors", "-Wall", "-Werror", "-fsyntax-only", f"-I{folder}",
                                   "-x", "c", "-"], input=f"#include <stackpack/{header.name}>\nint used;\n", text=True, capture_output=True)
            if done.returncode != 0:
                print(f"FAILED {header.name} as {standard}: {done.stderr.splitlines()[:3]}")
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
