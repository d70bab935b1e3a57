#!/usr/bin/env python3
"""Unwinding against what is known: a program is built in which every function keeps a frame pointer, and
recorded with the kernel's chain and a dump of the stack in the same sample. The chain is taken out, the dump
is unwound by `stackpack convert --unwind`, and each callstack is compared with the chain.

    unwind_oracle_test.py STACKPACK CXX [CAPTURE.data PROGRAM [exact]]
    unwind_oracle_test.py STACKPACK --arm64 C-COMPILER

What may differ, and is checked to be just that: a chain by frame pointers lacks the caller of a function
that has not made its frame yet, or has left it (frame 1, and the frames beside a signal trampoline); and a
callstack may end with the dump, if it says so. Exit status 77: this machine does not record.

For AArch64 the program is run by qemu instruction by instruction (stepped_recorder.py), so that its chains are
exact: none may differ.
"""
import collections
import itertools
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

USER = 0xFFFFFFFFFFFFFE00  # the marker before the user part of a chain
PROGRAM_FLAGS = ("-std=c++20 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-exceptions -fno-rtti "
                 "-fno-stack-protector -fasynchronous-unwind-tables -ffreestanding -nostdlib -static -fno-pic "
                 "-no-pie -Wl,--eh-frame-hdr -Wl,--build-id").split()
STEPPED_FLAGS = ("-std=gnu11 -fno-stack-protector -fasynchronous-unwind-tables -ffreestanding -nostdlib -static "
                 "-fno-pic -no-pie -s -Wl,--eh-frame-hdr -Wl,--build-id -Wl,-z,max-page-size=4096").split()
SAMPLE = 9


def build(compiler, folder):
    """The recorder, and the program at three levels of optimisation."""
    here = pathlib.Path(__file__).parent
    recorder = folder / "chain_recorder"
    subprocess.run([compiler, "-O1", "-std=c++20", here / "chain_recorder.cc", "-o", recorder], check=True)
    programs = []
    for level in ("-O1", "-O2", "-O3"):
        program = folder / f"framed{level}"
        subprocess.run([compiler, level, *PROGRAM_FLAGS, here / "framed_program.cc", "-o", program], check=True)
        programs.append(program)
    return recorder, programs


def split(capture, stripped):
    """Writes the capture without the user parts of its chains; returns them by time."""
    data = pathlib.Path(capture).read_bytes()
    attr_at, data_at, data_size = (struct.unpack_from("<Q", data, at)[0] for at in (24, 40, 48))
    sample_type, = struct.unpack_from("<Q", data, attr_at + 24)
    words = sum(1 for bit in (16, 0, 1, 2, 3, 6, 9, 7, 8) if sample_type >> bit & 1)
    time_at = 8 + 8 * sum(1 for bit in (16, 0, 1) if sample_type >> bit & 1)
    out, chains, at = bytearray(), {}, data_at
    while at < data_at + data_size:
        kind, misc, size = struct.unpack_from("<IHH", data, at)
        record = data[at:at + size]
        at += size
        if kind == SAMPLE:
            chain_at = 8 + 8 * words
            count, = struct.unpack_from("<Q", record, chain_at)
            chain = struct.unpack_from(f"<{count}Q", record, chain_at + 8)
            kernel = chain[:chain.index(USER)] if USER in chain else chain
            time, = struct.unpack_from("<Q", record, time_at)
            chains[time] = chain[len(kernel) + 1:]
            rest = record[chain_at + 8 + 8 * count:]
            body = record[8:chain_at] + struct.pack(f"<{len(kernel) + 1}Q", len(kernel), *kernel) + rest
            record = struct.pack("<IHH", kind, misc, 8 + len(body)) + body
        out += record
    head = bytearray(data[:data_at])
    struct.pack_into("<Q", head, 48, len(out))
    pathlib.Path(stripped).write_bytes(head + out)
    return chains


def unwound(stackpack, stripped, program, folder):
    """Rows (time, user frames, incomplete) of the converted capture."""
    packed = folder / "unwound.spk"
    subprocess.run([stackpack, "convert", "--unwind", "--symbols", program.parent, "-q", stripped, "-o", packed],
                   check=True)
    subprocess.run([stackpack, "verify", "-q", packed], check=True)
    listed = subprocess.run([stackpack, "dump", packed, "--samples", "--json"], check=True, capture_output=True)
    for row in json.loads(listed.stdout):
        frames = [int(frame[1:], 16) for frame in row["frames"] if frame.startswith("u")]
        yield row["time_ns"], frames, row["origin"], "incomplete" in row["flags"]


def trampolines(program):
    """Addresses of the code between a signal handler and what it interrupted."""
    listed = subprocess.run(["nm", "-S", program], check=True, capture_output=True, text=True).stdout
    for line in listed.splitlines():
        fields = line.split()
        if fields[-1] in ("restore_registers", "restore_rt"):
            return int(fields[0], 16), int(fields[0], 16) + int(fields[1], 16)
    return 0, 0


def judge(ours, chain, incomplete, trampoline):
    """What the difference between two callstacks is; None: one that nothing explains."""
    if tuple(ours) == chain:
        return "equal" if not incomplete else None
    beside = {1}
    for index, frame in enumerate(ours):
        if trampoline[0] <= frame <= trampoline[1]:
            beside |= {index + 1, index + 2}
    beside = sorted(index for index in beside if index < len(ours))
    for count in range(4):
        for lacking in itertools.combinations(beside, count):
            rest = tuple(frame for index, frame in enumerate(ours) if index not in lacking)
            if incomplete and len(rest) < len(chain) and rest == chain[:len(rest)]:
                return "ends with the dump"
            if not incomplete and rest == chain:
                return "chain lacks frame 1" if lacking == (1,) else "chain lacks frames beside a signal"
    return None


def check(stackpack, capture, program, folder, exact=False):
    """`exact`: the chains lack nothing."""
    program = pathlib.Path(program)
    stripped = folder / "stripped.data"
    chains = split(capture, stripped)
    trampoline = trampolines(program)
    counts, bad = collections.Counter(), []
    for time, ours, origin, incomplete in unwound(stackpack, stripped, program, folder):
        chain = chains.pop(time)
        if not ours or not chain:
            counts["without user frames"] += 1
            continue
        verdict = judge(ours, chain, incomplete, trampoline) if origin == "unwound" else None
        if exact and verdict not in ("equal", "ends with the dump"):
            verdict = None
        counts[verdict or "DIFFERENT"] += 1
        if verdict is None:
            bad.append((origin, incomplete, [hex(f) for f in ours], [hex(f) for f in chain]))
    for row in bad[:3]:
        print("different:", *row, sep="\n  ")
    print(f"{program.name}: {sum(counts.values())} samples: "
          + ", ".join(f"{count} {name}" for name, count in counts.most_common()))
    return not bad and not chains and counts["equal"] > sum(counts.values()) / 4


def check_stepped(stackpack, compiler, folder):
    """AArch64 programs with and without authenticated return addresses, at four levels of optimisation."""
    here = pathlib.Path(__file__).parent
    if shutil.which(compiler) is None or shutil.which("qemu-aarch64") is None:
        print("no qemu-aarch64 here, or no compiler for it")
        return 77
    good = True
    for level, signs in itertools.product(("-O0", "-O1", "-O2", "-O3"), ("none", "pac-ret")):
        program, capture = folder / f"stepped{level}-{signs}", folder / "stepped.data"
        subprocess.run([compiler, level, *STEPPED_FLAGS, f"-mbranch-protection={signs}",
                        here / "stepped_program.c", "-o", program], check=True)
        subprocess.run([sys.executable, here / "stepped_recorder.py", capture, program, "--samples", "500"],
                       check=True)
        good = check(stackpack, capture, program, folder, exact=True) and good
    return 0 if good else 1


def main():
    stackpack, compiler = sys.argv[1:3]
    stackpack = str(pathlib.Path(stackpack).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if compiler == "--arm64":
            return check_stepped(stackpack, sys.argv[3], folder)
        if len(sys.argv) == 6:
            return 0 if check(stackpack, sys.argv[3], sys.argv[4], folder, exact=sys.argv[5] == "exact") else 1
        if len(sys.argv) == 5:
            return 0 if check(stackpack, sys.argv[3], sys.argv[4], folder) else 1
        recorder, programs = build(compiler, folder)
        good = True
        for program in programs:
            capture = folder / "chain.data"
            recorded = subprocess.run([recorder, capture, "4000", "16384", program], check=False)
            if recorded.returncode != 0:
                print("no perf events here")
                return 77
            good = check(stackpack, capture, program, folder) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
