#!/usr/bin/env python3
"""Captures that are all different: a conversion stays below its bound and 64 MiB all the same.

The bound is --memory-limit, or without it 512 MiB, or a quarter of what a control group allows; the
last one is tried where groups may be made here.

    memory_limit_test.py PROGRAM

The captures are made here. Not for instrumented programs: their memory says nothing.
"""
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

LIMIT_MIB = 16
DEFAULT_MIB = 512
GROUP_MIB = 224
FIXED_MIB = 64


def perf_data(path, samples, depth):
    """A perf.data file whose callstacks have no address in common."""
    generator = random.Random(depth)
    attr = struct.pack("<IIQQQQQ", 1, 128, 0, 4000, 1 | 2 | 4 | 1 << 5, 0, 1 << 18).ljust(128, b"\0")
    entry = attr + struct.pack("<QQ", 0, 0)
    size = 40 + 8 * depth
    with open(path, "wb") as out:
        out.write(b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, len(entry), 104, len(entry),
                                            104 + len(entry), samples * size, 0, 0))
        out.write(struct.pack("<QQQQ", 0, 0, 0, 0) + entry)
        mask = int.from_bytes(b"\xff\xff\xff\xff\xff\x7f\0\0" * depth, "little")  # user addresses
        for i in range(samples):
            chain = generator.getrandbits(64 * depth) & mask
            out.write(struct.pack("<IHHQIIQQ", 9, 2, size, 0x1000, 1, 1, 1000 + i, depth))
            out.write(chain.to_bytes(8 * depth, "little"))


SAMPLES = 20_000
CAPTURES = {
    "addresses": (lambda path: perf_data(path, SAMPLES, 100)),
}


def convert(program, capture, out, *options, group=None):
    """Peak memory of a conversion, in MiB."""
    enter = (lambda: (group / "cgroup.procs").write_text("0")) if group else None
    child = subprocess.Popen([program, "convert", "--quiet", str(capture), "-o", str(out), *options],
                             preexec_fn=enter)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"FAILED {capture.name} {options}: ended with {child.returncode}")
    return usage.ru_maxrss / 1024


def listing(program, spk):
    return subprocess.run([program, "dump", "--stacks", str(spk)], check=True, capture_output=True).stdout


def check_default(program, folder):
    """What is wrong with the memory that is taken without a limit, or nothing."""
    capture, out = folder / "many", folder / "many.spk"
    perf_data(capture, 8 * SAMPLES, 100)
    peak = convert(program, capture, out)
    print(f"by default: {peak:.0f} MiB")
    if peak > DEFAULT_MIB + FIXED_MIB:
        return "FAILED: more than the default allows"
    report = subprocess.run([program, "convert", "--quiet", "--json", str(capture), "-o", str(folder / "again.spk")],
                            check=True, capture_output=True).stdout
    figures = json.loads(report)
    if (folder / "again.spk").read_bytes() != out.read_bytes():
        return "FAILED: the same capture gives other bytes"
    # Else the capture was too small to show anything.
    return None if figures["builder"]["segments"] > 1 else "FAILED: nothing was spilled"


def make_group(mib):
    """A control group with a limit of memory, or None where none can be made."""
    for place, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        group = pathlib.Path(place) / f"stackpack-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / limit).write_text(str(mib << 20))
            return group
        except OSError:
            group.rmdir()
    return None


def check_group(program, capture, folder):
    """The same under a limit of a control group, which ends what takes more."""
    group = make_group(GROUP_MIB)
    if group is None:
        print("control groups: not tried, none can be made here")
        return None
    try:
        peak = convert(program, capture, folder / "group.spk", group=group)
    finally:
        group.rmdir()
    print(f"in a control group of {GROUP_MIB} MiB: {peak:.0f} MiB")
    if listing(program, folder / "group.spk") != listing(program, folder / "free.spk"):
        return "FAILED: another listing in a control group"
    return None if peak <= GROUP_MIB / 4 + FIXED_MIB else "FAILED: more than a quarter of the group's"


def main():
    program = sys.argv[1]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, write in CAPTURES.items():
            capture = folder / name
            write(capture)
            free = convert(program, capture, folder / "free.spk", "--memory-limit=64GiB")
            bound = convert(program, capture, folder / "bound.spk", f"--memory-limit={LIMIT_MIB}MiB")
            free_listing = listing(program, folder / "free.spk")
            # Every sample has a callstack of its own.
            same = free_listing.count(b"\n") == SAMPLES and free_listing == listing(program, folder / "bound.spk")
            verified = subprocess.run([program, "verify", "--quiet", str(folder / "bound.spk")]).returncode == 0
            print(f"{name}: {free:.0f} MiB without a limit, {bound:.0f} MiB with {LIMIT_MIB} MiB")
            if bound > LIMIT_MIB + FIXED_MIB or not same or not verified:
                print(f"FAILED {name}: same listing: {same}, verified: {verified}")
                failed = True
        for problem in (check_group(program, folder / "addresses", folder), check_default(program, folder)):
            if problem:
                print(problem)
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
