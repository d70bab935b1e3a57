#!/usr/bin/env python3
"""Compares `dump --samples` with what perf itself printed for the same captures, field by field.

    perf_script_test.py PROGRAM TESTDATA

NAME.script.txt: `perf script --ns -F comm,pid,tid,cpu,time,event,period,ip` (cpu only where it was
recorded). It prints user addresses as offsets in their file, so the module table is checked, too.
NAME.chains.txt: the chains as they are in the records, context markers included.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

SAMPLE = re.compile(r"^(?P<comm>.+?)\s+(?P<pid>\d+)/(?P<tid>\d+)\s+(?:\[(?P<cpu>\d+)\]\s+)?(?P<time>\d+\.\d{9}):"
                    r"\s+(?P<period>\d+)\s+(?P<event>\S+):\s*(?P<ip>[0-9a-f]+)?\s*$")
MARKERS = {2**64 - 128: "k", 2**64 - 512: "u", 2**64 - 32: "h", 2**64 - 2048: "g", 2**64 - 2176: "G",
           2**64 - 2560: "U"}


def run(*arguments):
    return subprocess.run(arguments, stdout=subprocess.PIPE, check=True).stdout


def read_script(path):
    """One (fields, addresses) for each sample."""
    samples = []
    for line in path.read_text().splitlines():
        match = SAMPLE.match(line)
        if match:
            fields = match.groupdict()
            fields["comm"] = fields["comm"].strip()
            samples.append((fields, [int(fields["ip"], 16)] if fields["ip"] else []))
        elif line.strip():
            samples[-1][1].append(int(line.split()[0], 16))
    return samples


def read_chains(path):
    """The chain of each sample as frames with mode letters."""
    chains = []
    mode = "?"
    for line in path.read_text().splitlines():
        if line.startswith("SAMPLE"):
            chains.append([])
            continue
        value = int(line, 16)
        if value in MARKERS:
            mode = MARKERS[value]
        elif value < 2**64 - 4095:
            chains[-1].append(f"{mode}{value:x}")
    return chains


def dumped_samples(program, packed):
    header, *rows = run(program, "dump", "--samples", packed).decode().splitlines()
    names = header.lstrip("#").split("\t")
    return [dict(zip(names, row.split("\t"))) for row in rows]


class Mappings:
    """Which file is mapped where, in a process and in those it was forked from."""

    def __init__(self, program, packed):
        self.modules = json.loads(run(program, "dump", "--modules", "--json", packed))
        self.processes = json.loads(run(program, "dump", "--processes", "--json", packed))
        for module in self.modules:
            module.update({key: int(module[key], 16) for key in ("base", "size", "file_offset")})

    def offset(self, address, pid, time_ns):
        """The offset in the file, as perf prints it; the address where nothing is mapped."""
        inside = [m for m in self.modules
                  if m.get("pid") == pid and m["base"] <= address < m["base"] + m["size"]
                  and (m.get("start_ns") or 0) <= time_ns <= (m.get("end_ns") or 2**64)]
        if inside:
            return address - inside[-1]["base"] + inside[-1]["file_offset"]
        lives = [p for p in self.processes if p.get("pid") == pid and (p.get("start_ns") or 0) <= time_ns]
        if lives and lives[-1]["mappings"] == "inherited":
            return self.offset(address, lives[-1]["parent_pid"], lives[-1]["start_ns"])
        return address

    def offsets(self, frames, pid, time_ns):
        return [self.offset(int(frame[1:], 16), pid, time_ns) if frame[0] == "u" else int(frame[1:], 16)
                for frame in frames]


def compare(program, testdata, name, folder):
    packed = str(pathlib.Path(folder) / (name + ".spk"))
    run(program, "convert", str(testdata / (name + ".perf.data")), "-o", packed)
    ours = dumped_samples(program, packed)
    mappings = Mappings(program, packed)
    theirs = read_script(testdata / (name + ".script.txt"))
    assert len(ours) == len(theirs) > 0, f"{name}: {len(ours)} samples, not {len(theirs)}"
    for number, (our, (their, addresses)) in enumerate(zip(ours, theirs)):
        where = f"{name}: sample {number}"
        for field in ("comm", "pid", "tid", "time", "event"):
            assert our[field] == their[field], f"{where}: {field} is {our[field]}, not {their[field]}"
        assert int(our["weight"]) == int(their["period"]), f"{where}: {our['weight']}, not {their['period']}"
        if their["cpu"] is not None:
            assert int(our["cpu"]) == int(their["cpu"]), f"{where}: cpu is {our['cpu']}"
        frames = our["frames"].split() if our["frames"] != "-" else []
        if our["origin"] == "recorded":
            time_ns = int(our["time"].replace(".", ""))
            offsets = mappings.offsets(frames, int(our["pid"]), time_ns)
            assert offsets == addresses, f"{where}: frames {frames} are {offsets}, not {addresses}"
        else:
            assert [int(frame[1:], 16) for frame in frames] == addresses, f"{where}: ip is {frames}"
    chains_file = testdata / (name + ".chains.txt")
    if chains_file.exists():
        chains = read_chains(chains_file)
        records = [our for our in ours if "same-record" not in our["flags"].split(",")]
        assert len(chains) == len(records), f"{name}: {len(chains)} chains"
        for number, (our, chain) in enumerate(zip(records, chains)):
            assert our["frames"].split() == chain, f"{name}: chain {number}: {our['frames']}, not {chain}"
    print(f"{name}: {len(ours)} samples agree")


def main():
    program, testdata = sys.argv[1], pathlib.Path(sys.argv[2])
    names = sorted(path.name.removesuffix(".script.txt") for path in testdata.glob("*.script.txt"))
    assert names, "no captures"
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            try:
                compare(program, testdata, name, folder)
            except AssertionError as problem:
                print(problem)
                failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
