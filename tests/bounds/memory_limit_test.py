#!/usr/bin/env python3
"""Captures that are all different: a conversion stays below --memory-limit and 64 MiB all the same.

    memory_limit_test.py PROGRAM

The captures are made here. Not for instrumented programs: their memory says nothing.
"""
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

LIMIT_MIB = 16
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


def convert(program, capture, out, *options):
    """Peak memory of a conversion, in MiB."""
    child = subprocess.Popen([program, "convert", "--quiet", str(capture), "-o", str(out), *options])
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"FAILED {capture.name} {options}: ended with {child.returncode}")
    return usage.ru_maxrss / 1024


def listing(program, spk):
    return subprocess.run([program, "dump", "--stacks", str(spk)], check=True, capture_output=True).stdout


def main():
    program = sys.argv[1]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, write in CAPTURES.items():
            capture = folder / name
            write(capture)
            free = convert(program, capture, folder / "free.spk")
            bound = convert(program, capture, folder / "bound.spk", f"--memory-limit={LIMIT_MIB}MiB")
            free_listing = listing(program, folder / "free.spk")
            # Every sample has a callstack of its own.
            same = free_listing.count(b"\n") == SAMPLES and free_listing == listing(program, folder / "bound.spk")
            verified = subprocess.run([program, "verify", "--quiet", str(folder / "bound.spk")]).returncode == 0
            print(f"{name}: {free:.0f} MiB without a limit, {bound:.0f} MiB with {LIMIT_MIB} MiB")
            if bound > LIMIT_MIB + FIXED_MIB or not same or not verified:
                print(f"FAILED {name}: same listing: {same}, verified: {verified}")
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
