#!/usr/bin/env python3
"""Compares the speed of conversion of two programs, run in turn.

    bench/convert_pair.py BASE NEW CAPTURE... [--runs N] [-- OPTIONS OF CONVERT...]

For each capture it first proves that both programs give the same callstacks (`dump --stacks`). Then
it converts N times (default 15) with each, alternating which comes first, and prints the median
processor time of each program, the ratio of the medians, and the median of the ratios of the pairs:
NEW to BASE.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile


def convert(program, capture, out, options):
    """Processor seconds of one conversion."""
    process = subprocess.Popen([program, "convert", capture, "-o", out, "--quiet", *options],
                               stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{program} ended with {os.waitstatus_to_exitcode(status)} on {capture}")
    return usage.ru_utime + usage.ru_stime


def listing(program, out):
    lines = subprocess.run([program, "dump", "--stacks", out], stdout=subprocess.PIPE, check=True).stdout
    return sorted(lines.splitlines())


def compare(base, new, capture, runs, options):
    with tempfile.TemporaryDirectory() as folder:
        out = f"{folder}/out.spk"
        listings = []
        for program in (base, new):
            convert(program, capture, out, options)
            listings.append(listing(program, out))
        if listings[0] != listings[1]:
            sys.exit(f"{capture}: the callstacks differ")
        seconds = {base: [], new: []}
        for run in range(runs):
            for program in (base, new) if run % 2 == 0 else (new, base):
                seconds[program].append(convert(program, capture, out, options))
    medians = [statistics.median(seconds[program]) for program in (base, new)]
    pairs = statistics.median(b / a for a, b in zip(seconds[base], seconds[new]))
    print(f"{pathlib.Path(capture).name:32} {medians[0] * 1000:8.1f} ms {medians[1] * 1000:8.1f} ms "
          f"{medians[1] / medians[0]:6.3f} {pairs:6.3f}", flush=True)


def main():
    arguments, options = sys.argv[1:], []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, options = arguments[:at], arguments[at + 1:]
    parser = argparse.ArgumentParser(description="Compares the speed of conversion of two programs.")
    parser.add_argument("base")
    parser.add_argument("new")
    parser.add_argument("captures", nargs="+", metavar="CAPTURE")
    parser.add_argument("--runs", type=int, default=15)
    given = parser.parse_args(arguments)
    if given.base == given.new:
        sys.exit("the programs are the same")
    print(f"{'capture':32} {'base':>11} {'new':>11} {'ratio':>6} {'pairs':>6}")
    for capture in given.captures:
        compare(given.base, given.new, capture, given.runs, options)


if __name__ == "__main__":
    main()
