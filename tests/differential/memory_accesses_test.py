#!/usr/bin/env python3
"""Compares accesses to memory with those that the perf tool reads from the same capture.

    memory_accesses_test.py PROGRAM PROJECT

testdata/memory has what perf 6.1 wrote for `make_capture.py OUT 40 --memory`: script.txt by
`perf script -F addr,weight,ins_lat,data_src,data_page_size,code_page_size`, mem.txt by
`perf mem report --stdio -s mem`, without comments.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

SAMPLES = 40
SIZES = {"4K": 4096, "2M": 2 << 20}


def main():
    program, project = sys.argv[1], pathlib.Path(sys.argv[2])
    golden = project / "testdata" / "memory"
    with tempfile.TemporaryDirectory() as folder:
        capture, packed = (str(pathlib.Path(folder) / name) for name in ("perf.data", "out.spk"))
        subprocess.run([sys.executable, "-B", project / "tests/cli/make_capture.py", capture, str(SAMPLES), "--memory"],
                       check=True)
        subprocess.run([program, "convert", "--quiet", capture, "-o", packed], check=True)

        def listed(*words):
            return json.loads(subprocess.run([program, *words, packed, "--json"], check=True, capture_output=True).stdout)

        rows = listed("dump", "--sample-fields")
        report = listed("mem", "--limit", "0")

    line = re.compile(r"\s*([0-9a-f]+)\s+([0-9a-f]+) \|(.*?)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s*$")
    theirs = [line.match(text).groups() for text in (golden / "script.txt").read_text().splitlines()]
    assert len(theirs) == len(rows) == SAMPLES
    for row, (address, source, access, weight, latency, data, code) in zip(rows, theirs):
        assert row["address"] == int(address, 16) and row["data_source"] == int(source, 16), row
        assert row["access"] == access and row["weight"] == int(weight), row
        assert row["instruction_latency"] == int(latency), row
        assert (row["data_page_size"], row["code_page_size"]) == (SIZES[data], SIZES[code]), row

    # perf shows levels with their share of the latency and their samples, whatever the operation.
    levels = {}
    for row in report["sources"]:
        samples, latency = levels.get(row["level"], (0, 0))
        levels[row["level"]] = samples + row["samples"], latency + row["latency"]
    line = re.compile(r"\s*([\d.]+)%\s+(\d+)\s+(.*?)\s*$")
    found = {}
    for text in (golden / "mem.txt").read_text().splitlines():
        share, samples, level = line.match(text).groups()
        found[level] = int(samples), share
    ours = {level: (samples, f"{100 * latency / report['latency']:.2f}")
            for level, (samples, latency) in levels.items()}
    assert ours == found, (ours, found)
    print(f"{len(rows)} accesses, {len(found)} levels")


if __name__ == "__main__":
    main()
