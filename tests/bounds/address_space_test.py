#!/usr/bin/env python3
"""Too little memory is an error of ours, whenever it runs out: `ulimit -v` from too little to enough.

    address_space_test.py PROGRAM [CAPTURE]

Without CAPTURE, one whose callstacks are all different is made here. Each run ends well and with the
same bytes, or with status 4, one line, and the old output as it was. Not for instrumented programs: they map terabytes.
"""
import os
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile

from memory_limit_test import perf_data

STEPS = 16
OLD = struct.pack("<II8s", 0x184D2A5A, 24, b"STACKPAK") + b"what was there before"  # a .spk file may be replaced


def run(program, arguments, address_space):
    limits = (address_space, address_space)
    done = subprocess.run([program, *arguments], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          env={**os.environ, "LC_ALL": "C"},
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limits))
    return done.returncode, done.stderr.decode(errors="replace").splitlines()


def least(works, low, high):
    """The least address space for which works() holds, to a MiB."""
    while high - low > 1 << 20:
        middle = (low + high) // 2
        low, high = (low, middle) if works(middle) else (middle, high)
    return high


def check(program, capture, output, address_space, wanted=None):
    """The exit status, and what is wrong or nothing. `wanted`: the bytes of the output."""
    output.write_bytes(OLD)
    status, lines = run(program, ["convert", "--quiet", str(capture), "-o", str(output)], address_space)
    left = [path.name for path in output.parent.iterdir()]
    if left != [output.name]:
        return status, f"left behind: {left}"
    if status == 0:
        verified = subprocess.run([program, "verify", "--quiet", str(output)], check=False)
        if verified.returncode != 0:
            return status, "output does not verify"
        return status, None if wanted in (None, output.read_bytes()) else "other bytes than without a limit"
    if status != 4 or len(lines) != 1 or not lines[0].startswith("stackpack: "):
        return status, f"ended with {status}: {lines[:3]}"
    return status, None if output.read_bytes() == OLD else "the old output is gone"


def main():
    program = sys.argv[1]
    problems = failed = succeeded = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "outputs").mkdir()
        capture = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else folder / "capture"
        if len(sys.argv) <= 2:
            perf_data(capture, 6_000, 100)
        output = folder / "outputs" / "out.spk"
        most = 2 << 30
        # The system's loader says what it likes.
        starts = least(lambda space: run(program, ["--version"], space)[0] == 0, 1 << 20, most)
        enough = least(lambda space: check(program, capture, output, space)[0] == 0, starts, most)
        # How much is enough differs between runs, with what threads reserve at the same time.
        most = enough + enough // 2
        subprocess.run([program, "convert", "--quiet", str(capture), "-o", str(folder / "free.spk")], check=True)
        wanted = (folder / "free.spk").read_bytes()
        for step in range(STEPS + 1):
            space = starts + (most - starts) * step // STEPS
            status, problem = check(program, capture, output, space, wanted)
            failed += status == 4
            succeeded += status == 0
            if problem:
                print(f"FAILED with {space >> 20} MiB: {problem}")
                problems += 1
    print(f"starts with {starts >> 20} MiB, converts with {enough >> 20} MiB; in between {failed} runs out of "
          f"memory, {succeeded} converted, {problems} problems")
    return 1 if problems or not failed or not succeeded else 0


if __name__ == "__main__":
    sys.exit(main())
