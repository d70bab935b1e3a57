#!/usr/bin/env python3
"""Compares `mem` with what the installed perf shows of the same capture: perf mem report, perf c2c report and perf script.

    perf_mem_test.py PROGRAM

Accesses are of all kinds that processors of Intel report, by four threads on two nodes. Compared are levels with their samples and
shares of the latency, the latency of every callstack, the counts of perf c2c, and loads, stores and loads of modified data of every
line that perf c2c shows. Exit status 77: there is no perf 6.
"""
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import memory_capture  # noqa: E402

SAMPLES = 4000
SKIPPED = 77


def output_of(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SystemExit(f"{command}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_equal(what, found, wanted):
    if found != wanted:
        raise SystemExit(f"perf_mem_test: {what}: {found}, and perf has {wanted}")


def compare_levels(report, capture):
    """perf mem report has levels whatever the operation."""
    levels = collections.defaultdict(lambda: [0, 0])
    for row in report["sources"]:
        levels[row["level"]][0] += row["samples"]
        levels[row["level"]][1] += row["latency"]
    ours = {level: (samples, f"{100 * latency / report['latency']:.2f}") for level, (samples, latency) in levels.items()}
    text = output_of("perf", "mem", "-i", capture, "report", "--stdio", "-s", "mem", "-g", "none")
    rows = re.findall(r"^\s*([\d.]+)%\s+(\d+)\s+(\S.*?)\s*$", text, re.M)
    check_equal("levels", ours, {level: (int(samples), share) for share, samples, level in rows})
    return len(ours)


def compare_stacks(report, packed, program, capture):
    """Samples and latency by callstack."""
    frames = {}
    for sample in json.loads(output_of(program, "dump", "--samples", packed, "--json")):
        frames[sample["stack"]] = tuple(int(frame[1:], 16) for frame in sample["frames"])
    ours = {frames[row["stack"]]: (row["samples"], row["latency"]) for row in report["callstacks"]}
    theirs = collections.defaultdict(lambda: [0, 0])
    for block in output_of("perf", "script", "-i", capture, "-F", "ip,weight").split("\n\n"):
        if block.strip():
            weight, *chain = block.split()
            row = theirs[tuple(int(address, 16) for address in chain)]
            row[0] += 1
            row[1] += int(weight)
    check_equal("callstacks", ours, {chain: tuple(row) for chain, row in theirs.items()})
    return len(ours)


def total(report, level, operation="LOAD"):
    return sum(row["samples"] for row in report["sources"] if row["level"] in level and row["operation"] == operation)


def shared(report, levels):
    return sum(row["shared_locally"] + row["shared_remotely"] for row in report["sources"] if row["level"] in levels)


def compare_counts(report, text):
    """The first table of perf c2c."""
    theirs = {name: int(count) for name, count in re.findall(r"^  (\S.*?)\s+:\s+(\d+)$", text, re.M)}
    remote = {"Remote Cache (1 hop) hit"}
    l3_shared, remote_shared = shared(report, {"L3 hit"}), shared(report, remote)
    for name, ours in {
            "Total records": report["samples"],
            "Load Operations": report["loads"],
            "Loads - uncacheable": total(report, {"Uncached hit"}),
            "Loads - IO": total(report, {"I/O hit"}),
            "Loads - Miss": total(report, {"L1 miss", "L2 miss", "L3 miss", "LFB/MAB miss"}),
            "Load Fill Buffer Hit": total(report, {"LFB/MAB hit"}),
            "Load L1D hit": total(report, {"L1 hit"}),
            "Load L2D hit": total(report, {"L2 hit"}),
            "Load LLC hit": total(report, {"L3 hit"}),
            "Load Local HITM": report["shared_locally"],
            "Load Remote HITM": report["shared_remotely"],
            "Load Remote HIT": total(report, remote) - remote_shared,
            "Load Local DRAM": total(report, {"Local RAM hit"}),
            "Load Remote DRAM": total(report, {"Remote RAM (1 hop) hit"}),
            "Store Operations": report["stores"],
            "Store L1D Hit": total(report, {"L1 hit"}, "STORE"),
            "Store L1D Miss": total(report, {"L1 miss"}, "STORE")}.items():
        check_equal(name, ours, theirs[name])
    check_equal("loads of modified data by level", (l3_shared, remote_shared), (report["shared_locally"], report["shared_remotely"]))


def compare_lines(report, text):
    """Lines from which a load took modified data: the others are not in perf's table."""
    theirs = {}
    for address, counts in re.findall(r"^ +\d+ +(0x[0-9a-f]+) +N/A +\d+ +[\d.]+% +(\d.*)$", text, re.M):
        _, local, remote, _, loads, stores = (int(count) for count in counts.split()[:6])
        theirs[int(address, 16)] = loads, stores, local, remote
    ours = {}
    for line in report["cache_lines"]:
        sums = tuple(sum(use[name] for use in line["uses"]) for name in ("loads", "stores", "shared_locally", "shared_remotely"))
        if sums[2] + sums[3] != 0:
            ours[line["address"]] = sums
    check_equal("cache lines", ours, theirs)
    return len(ours)


def main():
    program = sys.argv[1]
    if shutil.which("perf") is None or not output_of("perf", "--version").startswith("perf version 6."):
        print("there is no perf 6")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        capture, packed = (pathlib.Path(folder) / name for name in ("perf.data", "out.spk"))
        memory_capture.write(capture, SAMPLES)
        output_of(program, "convert", "--quiet", capture, "-o", packed)
        report = json.loads(output_of(program, "mem", packed, "--limit", "0", "--json"))
        levels = compare_levels(report, capture)
        stacks = compare_stacks(report, packed, program, capture)
        text = output_of("perf", "c2c", "report", "-i", capture, "--stdio", "-g", "none")
        compare_counts(report, text)
        lines = compare_lines(report, text)
    print(f"{SAMPLES} accesses, {levels} levels, {stacks} callstacks, {lines} shared lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
