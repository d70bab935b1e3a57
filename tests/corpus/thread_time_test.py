#!/usr/bin/env python3
"""Compares thread time with the rule of `dotnet-trace report topN`, computed here.

    thread_time_test.py STACKPACK

The rule: a sample of a thread (Managed, External) or an allocation lasts until the next one of its thread; exclusive time is that of
the leaf, inclusive time counts a function once for each callstack; shares are of all time, that of callstacks without frames, too. The
samples are those of `dump --samples`, whose listings corpus_test.py compares with a reference reader; names come from the corpus. Those of
the corpus that have no names, or whose frames are not all named, are left out.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
TIMED = ("Managed", "External")
ALLOCATIONS = ("/GC/AllocationTick", "/AllocationSampling")
LEAST_FILES = 3


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def times_by_rule(samples, names):
    """Exclusive and inclusive time in ns by name, and the whole."""
    last = {}
    exclusive, inclusive = collections.Counter(), collections.Counter()
    whole = count = 0
    for sample in samples:
        if sample["event"] not in TIMED and not sample["event"].endswith(ALLOCATIONS):
            continue
        thread = (sample["pid"], sample["tid"])
        before = last.get(thread)
        last[thread] = sample
        if before is None:
            continue
        length = sample["time_ns"] - before["time_ns"]
        whole += length
        count += 1
        called = [names[before["pid"], int(frame[1:], 16)] for frame in before["frames"]]
        if called:
            exclusive[called[0]] += length
        for name in set(called):
            inclusive[name] += length
    return exclusive, inclusive, whole, count


def compare(program, capture, listing, folder):
    packed = str(pathlib.Path(folder) / "out.spk")
    subprocess.run([program, "convert", str(capture), "-o", packed, "--quiet", "--force"], check=True)
    samples = [json.loads(line.rstrip(",")) for line in
               output(program, "dump", "--samples", "--json", packed).splitlines() if line.startswith("{")]
    names = {}
    for line in listing.read_text().splitlines():
        pid, address, name = line.split(" ", 2)
        names[int(pid), int(address.lstrip("uk"), 16)] = name
    timed = [sample for sample in samples if sample["event"] in TIMED or sample["event"].endswith(ALLOCATIONS)]
    if not any(sample["event"] in TIMED for sample in timed):
        return None
    if any((sample["pid"], int(frame[1:], 16)) not in names for sample in timed for frame in sample["frames"]):
        return None
    exclusive, inclusive, whole, count = times_by_rule(samples, names)
    report = json.loads(output(program, "top", packed, "--event", "thread-time", "--json", "-n", "0",
                               "--function-names", "full"))
    found_self, found_total = collections.Counter(), collections.Counter()
    for row in report["rows"]:
        found_self[row["name"]] += row["self"]
        found_total[row["name"]] += row["total"]
    assert report["samples"] == count, (capture.name, report["samples"], count)
    assert report["weight"] == whole, (capture.name, report["weight"], whole)
    assert report["unit"] == "ns", report["unit"]
    assert +found_self == +exclusive, (capture.name, found_self - exclusive, exclusive - found_self)
    assert +found_total == +inclusive, (capture.name, found_total - inclusive, inclusive - found_total)
    return count, len(inclusive)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    corpus = pathlib.Path(os.environ.get("STACKPACK_CORPUS", "/nonexistent")) / "nettrace"
    if not corpus.is_dir():
        print("SKIPPED: set STACKPACK_CORPUS to the folder that has the captures")
        return SKIPPED
    compared = 0
    with tempfile.TemporaryDirectory() as folder:
        for capture in sorted(corpus.glob("*.net*")):
            listing = capture.with_suffix(".frames.txt")
            figures = compare(program, capture, listing, folder) if listing.exists() else None
            if figures:
                compared += 1
                print(f"{capture.name}: {figures[0]} samples, {figures[1]} functions: exclusive and inclusive time as the rule has it")
    assert compared >= LEAST_FILES, compared
    return 0


if __name__ == "__main__":
    sys.exit(main())
