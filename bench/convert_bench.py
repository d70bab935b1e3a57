#!/usr/bin/env python3
"""How fast a capture is converted, and what the builder did.

    bench/convert_bench.py CAPTURE [RUNS] [--program FILE] [-- OPTIONS OF CONVERT...]

First proves the result right: the file verifies, and a second conversion gives the same bytes. Then
converts RUNS times (default 5) and prints the fastest and the median: MB/s of capture, ns per
callstack, peak memory, and the builder's counters. CAPTURE '-' reads standard input once.
"""
import hashlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def convert(program, capture, out, options, stdin=None):
    """Wall seconds and peak resident bytes of one conversion, whose report goes to `out`.json."""
    started = time.monotonic()
    with open(out + ".json", "wb") as told:
        process = subprocess.Popen([program, "convert", capture, "-o", out, "--quiet", "--json", *options], stdin=stdin,
                                   stdout=told)
        _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - started
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"convert ended with {os.waitstatus_to_exitcode(status)}")
    return seconds, usage.ru_maxrss * 1024


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def report(program, out, runs):
    figures = json.loads(subprocess.run([program, "stats", "--json", out], stdout=subprocess.PIPE, check=True).stdout)
    seconds = sorted(run[0] for run in runs)
    source, stacks = figures["source"]["bytes"], figures["samples"]["recorded"]
    print(f"capture     {source / 1e6:.1f} MB, {stacks:,} callstacks, {figures['callstacks']['unique']:,} distinct")
    print(f"output      {figures['file_bytes'] / 1e6:.2f} MB, 1/{source / figures['file_bytes']:.0f}")
    for name, value in (("fastest", seconds[0]), ("median", statistics.median(seconds))):
        print(f"{name:11} {value:.2f} s, {source / 1e6 / value:.0f} MB/s, {value * 1e9 / max(stacks, 1):.0f} ns per callstack")
    print(f"peak memory {max(run[1] for run in runs) / 2**20:.1f} MiB")
    builder = json.loads(pathlib.Path(out + ".json").read_text(encoding="utf-8"))["builder"]
    print(f"builder     {builder['lookups'] / max(stacks, 1):.2f} look-ups per callstack, "
          f"{builder['probes_per_lookup']:.2f} probes each, {builder['prefix_saved_percent']:.1f} % of frames saved "
          f"by prefixes, map {builder['map_bytes'] / max(figures['dag']['nodes'], 1):.1f} B per node, "
          f"{builder['segments']} segments")
    print(f"stored      {figures['dag']['bytes_per_node_stored']:.3f} B per node, "
          f"{figures['sample_stream']['bytes_per_sample']:.3f} B per sample")


def main():
    arguments, options = sys.argv[1:], []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, options = arguments[:at], arguments[at + 1:]
    program = str(ROOT / "build/release/src/cli/stackpack")
    if "--program" in arguments:
        at = arguments.index("--program")
        program = arguments[at + 1]
        del arguments[at:at + 2]
    if not arguments:
        sys.exit(__doc__)
    capture, count = arguments[0], int(arguments[1]) if len(arguments) > 1 else 5
    with tempfile.TemporaryDirectory() as folder:
        out, again = f"{folder}/a.spk", f"{folder}/b.spk"
        if capture == "-":
            runs = [convert(program, capture, out, options, sys.stdin)]
        else:
            runs = [convert(program, capture, out, options)]
            convert(program, capture, again, options)
            if digest(out) != digest(again):
                sys.exit("two conversions differ")
            runs = [convert(program, capture, again, options) for _ in range(count)]
        subprocess.run([program, "verify", out], stdout=subprocess.DEVNULL, check=True)
        report(program, out, runs)


if __name__ == "__main__":
    main()
