#!/usr/bin/env python3
"""pprof_profiles_test.py PROGRAM SOURCES: profiles of testdata/pprof, without a word about their format.

Every row of `go tool pprof -top` (PROFILE.top, made by testdata/pprof/record.sh) has the same self and total here, for the type
that pprof shows first. Code without names is one row there, `<unknown>`.
"""
import json
import os
import re
import subprocess
import sys

ROW = re.compile(r"\s*(\d+)(ns|B)?\s+\S+%\s+\S+%\s+(\d+)(?:ns|B)?\s+\S+%\s+(.*?)(?: \(inline\)| \(partial-inline\))?$")
TAG = re.compile(r"\s+(\d+)ns \(\s*\S+%\): (.*)$")
KEY = re.compile(r"\s*(\S+): Total ")


def report(program, *arguments):
    run = subprocess.run([program, "top", *arguments, "--json", "-n", "0", "--idle"], capture_output=True, text=True, timeout=60)
    if run.returncode:
        sys.exit(f"{' '.join(arguments)}: {run.stderr}")
    return json.loads(run.stdout)


def expected_rows(path):
    """name: [self, total], as pprof has them."""
    with open(path, encoding="utf-8") as lines:
        fits = [ROW.match(line) for line in lines if "flat%" not in line and line.strip()]
    assert fits and all(fits), path
    return {fit.group(4): [int(fit.group(1)), int(fit.group(3))] for fit in fits}


def rows_of(answer):
    rows = {}
    for row in answer["rows"]:
        name = "<unknown>" if row["name"].startswith("0x") or row["name"] == "[unknown]" else row["name"]
        sums = rows.setdefault(name, [0, 0])
        sums[0] += row["self"]
        sums[1] += row["total"]
    return rows


def check_profile(program, path):
    wanted, rows = expected_rows(path + ".top"), rows_of(report(program, path))
    unknown = wanted.pop("<unknown>", [0, 0])
    assert rows.get("<unknown>", [0, 0])[0] == unknown[0], (path, unknown, rows.get("<unknown>"))
    for name, sums in wanted.items():
        assert rows.get(name) == sums, (path, name, sums, rows.get(name))


def main():
    program, sources = os.path.abspath(sys.argv[1]), sys.argv[2]
    folder = os.path.join(sources, "testdata", "pprof")
    profiles = [name for name in sorted(os.listdir(folder)) if name.endswith((".pb.gz", ".txt"))]
    assert len(profiles) == 11, profiles
    for name in profiles:
        check_profile(program, os.path.join(folder, name))


if __name__ == "__main__":
    main()
