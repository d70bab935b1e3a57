#!/usr/bin/env python3
"""Captures of simpleperf beside what its own scripts printed of them: text of samples, folded callstacks, a profile for the Firefox Profiler.

    simpleperf_golden_test.py PROGRAM

The captures and those files are not part of the project: they are looked for in $STACKPACK_CORPUS/simpleperf, and without them, the tool zstd or
c++filt the test is skipped (exit code 77). simpleperf leaves frames of Android's runtime out of its texts: what it shows has to be there in
its order.
"""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
PROGRAM = sys.argv[1]
HEAD = re.compile(r"(.+)\t(\d+)/(\d+) \[(\d+)\] (\d+)\.(\d+): (\d+) ([^:]+):$")
OFFSET = re.compile(r"\[\+[0-9a-f]+\]$")
MOST_OTHER_NAMES = 4  # which the demangler of simpleperf spells differently


def run(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


def demangled(names):
    listed = sorted(set(names))
    done = subprocess.run(["c++filt"], input="\n".join(listed), check=True, capture_output=True, text=True).stdout
    return dict(zip(listed, done.split("\n")))


class Packed:
    """Samples of a capture, and names of its addresses."""

    def __init__(self, capture, folder):
        spk = folder / f"{capture.name}.spk"
        run(PROGRAM, "convert", "--quiet", capture, "-o", spk)
        self.samples = json.loads(run(PROGRAM, "dump", "--samples", spk, "--json"))
        rows = [line.split("\t") for line in run(PROGRAM, "dump", "--names", spk).splitlines()[1:]]
        plain = demangled(row[4] for row in rows)
        self.names = {(row[0], int(row[1], 16)): plain[row[4]] for row in rows}

    def name(self, sample, frame):
        """Of a frame of a sample; the kernel's are of no process."""
        address = int(frame[1:], 16)
        return self.names.get((str(sample["pid"]), address)) or self.names.get(("-", address))


def is_part(part, whole):
    """Whether `whole` has the elements of `part` in their order."""
    rest = iter(whole)
    return all(element in rest for element in part)


def read_script(text):
    samples = []
    for line in text.splitlines():
        found = HEAD.match(line)
        if found:
            comm, pid, tid, cpu, seconds, us, period, event = found.groups()
            samples.append(((comm, int(pid), int(tid), int(cpu), int(seconds) * 10**6 + int(us), int(period), event), []))
        elif line.strip():
            address, rest = line.split(None, 1)
            samples[-1][1].append((int(address, 16), rest[:rest.rindex(" (")]))
    return samples


def check_script(packed, text):
    golden = read_script(text)
    assert len(golden) == len(packed.samples), (len(golden), len(packed.samples))
    named, other = set(), set()
    for (head, frames), sample in zip(golden, packed.samples):
        ours = (sample["comm"], sample["pid"], sample["tid"], sample["cpu"], sample["time_ns"] // 1000, sample["weight"], sample["event"])
        assert ours == head, (ours, head)
        addresses = [int(frame[1:], 16) for frame in sample["frames"]]
        assert is_part([address for address, _ in frames], addresses), (sample["time_ns"], frames, addresses)
        names = {int(frame[1:], 16): packed.name(sample, frame) for frame in sample["frames"]}
        for address, name in frames:
            if not OFFSET.search(name):
                named.add(address)
                if (names[address] or "").removesuffix(".cfi") != name.removesuffix(".cfi"):
                    other.add(address)
    assert len(named) > 2000 and len(other) <= MOST_OTHER_NAMES, (len(named), sorted(other)[:10])
    return f"{len(golden)} samples, {len(named)} named addresses, {len(other)} spelled differently"


def check_folded(packed, text):
    golden = collections.Counter()
    for line in text.splitlines():
        stack, weight = line.rsplit(" ", 1)
        comm, *frames = stack.split(";")
        golden[comm, tuple(frame.removesuffix("_[j]") for frame in frames)] += int(weight)
    weights = collections.Counter()
    for sample in packed.samples:
        weights[sample["comm"]] += sample["weight"]
    for comm in weights:
        assert weights[comm] == sum(weight for (of, _), weight in golden.items() if of == comm), comm
    # Each line is some of the samples.
    for (comm, frames), weight in golden.items():
        fitting = sum(sample["weight"] for sample in packed.samples if sample["comm"] == comm and is_part(
            [frame for frame in frames if not OFFSET.search(frame) and "[" not in frame and frame != "unknown"],
            [packed.name(sample, frame) for frame in reversed(sample["frames"])]))
        assert fitting >= weight, (comm, frames, weight, fitting)
    return f"{len(golden)} callstacks, weight {sum(golden.values())}"


def check_gecko(packed, text):
    profile = json.loads(text)
    golden = collections.Counter()
    for thread in profile["threads"]:
        at = thread["samples"]["schema"]["time"]
        golden.update((thread["pid"], thread["tid"], round(row[at] * 1000)) for row in thread["samples"]["data"])
    ours = collections.Counter((sample["pid"], sample["tid"], round(sample["time_ns"] / 1000)) for sample in packed.samples)
    assert golden == ours, (sum((golden - ours).values()), sum((ours - golden).values()))
    return f"{sum(golden.values())} samples"


CHECKS = (("display_bitmaps", "perf_display_bitmaps.perf-script.zst", check_script),
          ("with_jit_symbol", "perf_with_jit_symbol.foldedstack", check_folded),
          ("with_jit_symbol", "perf_with_jit_symbol.foldedstack_with_kernel", check_folded),
          ("with_tracepoint_event", "perf_with_tracepoint_event.gecko.json", check_gecko))


def main():
    corpus = pathlib.Path(os.environ.get("STACKPACK_CORPUS", "../shared/corpus")) / "simpleperf"
    if not (corpus / "golden").is_dir() or not shutil.which("zstd") or not shutil.which("c++filt"):
        print("skipped: no captures of simpleperf, zstd or c++filt")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        for capture, golden, check in CHECKS:
            folder = pathlib.Path(tempfile.mkdtemp(dir=name))
            path = corpus / "golden" / golden
            text = run("zstd", "-dqc", path) if path.suffix == ".zst" else path.read_text(encoding="utf-8")
            print(f"{golden}: {check(Packed(corpus / f'simpleperf-{capture}.perf.data', folder), text)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
