#!/usr/bin/env python3
"""What `jfr print` finds in recordings of the JDK and of async-profiler, convert finds as well.

The files *.stacks.txt were made of the output of the JDK's own reader by testdata/jfr/printed_stacks.py.
usage: jfr_test.py STACKPACK SOURCE
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])


def output_of(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True, encoding="utf-8").stdout


def stacks_of(packed, event, count):
    """Sums of folded callstacks of one event."""
    text = output_of("export", packed, "--format", "folded", "-o", "-", "--event", event, "--count", count)
    rows = (line.rsplit(" ", 1) for line in text.splitlines())
    return {stack: int(number) for stack, number in rows}


def check(name, folder):
    packed = folder / f"{name}.spk"
    report = json.loads(output_of("convert", SOURCE / f"testdata/jfr/{name}.jfr.gz", "-o", packed, "--json"))
    assert report["kind"] == "jfr" and not report["lossy"], report
    expected = collections.defaultdict(dict)
    for line in (SOURCE / f"testdata/jfr/{name}.stacks.txt").read_text(encoding="utf-8").splitlines():
        event, weight, samples, stack = line.split(" ", 3)
        expected[event][stack] = int(weight), int(samples)
    events = {event["name"] for event in json.loads(output_of("stats", "--json", packed))["events"]}
    assert events == set(expected), (events, set(expected))
    for event, stacks in expected.items():
        assert stacks_of(packed, event, "samples") == {stack: samples for stack, (_, samples) in stacks.items()}, event
        assert stacks_of(packed, event, "weight") == {stack: weight for stack, (weight, _) in stacks.items()}, event
    threads = output_of("dump", "--threads", packed)
    assert "burner" in threads and "allocator-\u00fc" in threads, threads
    assert json.loads(output_of("top", packed, "--json"))["event"] in ("jdk.ExecutionSample", "profiler.WallClockSample")
    lines = output_of("top", packed, "--by", "line", "--event", "jdk.JavaMonitorEnter")
    assert "Small.meet" in lines, lines
    output_of("verify", packed)
    return len(expected)


def main():
    with tempfile.TemporaryDirectory() as folder:
        events = [check(name, pathlib.Path(folder)) for name in ("java", "async")]
    print(f"{sum(events)} events of 2 recordings as jfr print has them")


if __name__ == "__main__":
    main()
