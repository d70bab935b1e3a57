#!/usr/bin/env python3
"""Whatever a trace is full of, a conversion keeps to its memory limit: at most 64 MiB more than that.

    etl_floods_test.py PROGRAM WRITE_ETL_FLOODS [NAME...]

Not for instrumented programs: their memory says nothing.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

LIMIT_MIB = 16
MOST_MIB = LIMIT_MIB + 64


def check(program, output):
    """What is wrong with the file of a conversion that says it succeeded."""
    if not output.exists():
        return "success, but no output"
    verified = subprocess.run([program, "verify", "--quiet", output], check=False, stderr=subprocess.PIPE)
    if verified.returncode != 0:
        return f"output does not verify: {verified.stderr[-300:]}"
    stats = json.loads(subprocess.run([program, "stats", "--json", output], check=True, capture_output=True).stdout)
    facts = stats["samples"]["total"] + stats["processes"] + stats["modules"]  # a flood of images has no samples
    return None if facts > 0 else "nothing was converted"


def convert(program, trace, output):
    """Seconds of processor time, the peak of memory in MiB, and what is wrong or nothing."""
    child = subprocess.Popen([program, "convert", trace, "-o", output, "--memory-limit", f"{LIMIT_MIB}MiB", "--quiet"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = child.stderr.read().decode(errors="replace")
    child.stderr.close()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    problem = f"ended with {child.returncode}: {error[-300:]}" if child.returncode != 0 else check(program, output)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, problem


def main():
    program, write_floods = sys.argv[1:3]
    names = sys.argv[3:] or subprocess.run([write_floods], check=True, capture_output=True, text=True).stdout.split()
    problems = 0
    with tempfile.TemporaryDirectory() as folder:
        trace, output = pathlib.Path(folder) / "trace.etl", pathlib.Path(folder) / "out.spk"
        if not names:
            raise SystemExit("FAILED no floods to write")
        for name in names:
            subprocess.run([write_floods, name, trace], check=True)
            begun = time.monotonic()
            seconds, mib, problem = convert(program, trace, output)
            if problem is None and mib > MOST_MIB:
                problem = f"took more than {MOST_MIB} MiB"
            problems += problem is not None
            print(f"{name:18s} {trace.stat().st_size / 1e6:7.1f} MB {mib:7.1f} MiB {seconds:6.2f} s processor, "
                  f"{time.monotonic() - begun:6.2f} s  {'FAILED ' + problem if problem else ''}", flush=True)
            trace.unlink()
            output.unlink(missing_ok=True)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
