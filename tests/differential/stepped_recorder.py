#!/usr/bin/env python3
"""Records a program for AArch64 that qemu runs instruction by instruction: a perf.data file whose samples have
the exact callstack as their chain, and the registers with a dump of the stack.

    stepped_recorder.py OUT.data PROGRAM [--samples N] [--every N] [--dump BYTES] [--cpu NAME]

The callstack is what the instructions did: a call adds its return address, a return takes one away. So it is
exact in prologues and epilogues, too. A sample is taken after EVERY instructions on average. Addresses of user
code are those of the file: PROGRAM is static and without a library. Exit status 77: no qemu-aarch64 here.
"""
import argparse
import pathlib
import random
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

REGISTERS = 33  # x0 to x30, sp, pc
SP, PC = 31, 32
KERNEL_HEADER, USER = 104, 0xFFFFFFFFFFFFFE00
IP, TID, TIME, CHAIN, REGS_USER, STACK_USER = 1, 2, 4, 1 << 5, 1 << 12, 1 << 13


class Stub:
    """The other end of qemu's debugger socket."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        for _ in range(200):
            try:
                self.socket.connect(path)
                break
            except OSError:
                time.sleep(0.05)
        self.buffer = b""

    def ask(self, text):
        body = text.encode()
        self.socket.sendall(b"$" + body + b"#%02x" % (sum(body) % 256))
        while True:
            start = self.buffer.find(b"$")
            end = self.buffer.find(b"#", start)
            if start >= 0 and 0 <= end <= len(self.buffer) - 3:
                answer = self.buffer[start + 1:end]
                self.buffer = self.buffer[end + 3:]
                self.socket.sendall(b"+")
                return answer.decode()
            more = self.socket.recv(65536)
            if not more:
                return "W00"
            self.buffer += more

    def registers(self):
        return list(struct.unpack_from(f"<{REGISTERS}Q", bytes.fromhex(self.ask("g"))))

    def memory(self, address, size):
        pieces = []
        for at in range(0, size, 1024):  # what fits an answer
            pieces.append(self.ask(f"m{address + at:x},{min(1024, size - at):x}"))
        return bytes.fromhex("".join(pieces))


def is_call(word):
    """BL, BLR and BLR with authentication."""
    return word >> 26 == 0x25 or word & 0xFFFFFC1F == 0xD63F0000 or word & 0xFEFFF800 == 0xD63F0800


def is_return(word):
    """RET, and RETAA and RETAB."""
    return word & 0xFFFFFC1F == 0xD65F0000 or word & 0xFFFFFBFF == 0xD65F0BFF


def loaded_segment(program):
    """The executable segment: address, offset, size, bytes; and the build id."""
    data = pathlib.Path(program).read_bytes()
    phoff, = struct.unpack_from("<Q", data, 32)
    phentsize, phnum = struct.unpack_from("<HH", data, 54)
    segment, build_id = None, b""
    for i in range(phnum):
        kind, flags, offset, address, _, size = struct.unpack_from("<IIQQQQ", data, phoff + i * phentsize)
        if kind == 1 and flags & 1:
            segment = address, offset, size, data[offset:offset + size]
        if kind == 4:
            names, descs, what = struct.unpack_from("<III", data, offset)
            if what == 3:
                build_id = data[offset + 12 + names:offset + 12 + names + descs]
    return segment, build_id


def step_through(stub, segment, arguments):
    """Samples: registers, chain (leaf first), dump."""
    address, _, size, code = segment
    chain, rng = [], random.Random(1)
    pause = 1
    registers = stub.registers()
    base = registers[SP]
    samples = []
    while len(samples) < arguments.samples:
        pc = registers[PC]
        word, = struct.unpack_from("<I", code, pc - address)
        if not stub.ask("s").startswith(("T", "S")):
            break
        registers = stub.registers()
        if is_call(word):
            chain.append(pc + 4)
        elif is_return(word):
            if registers[PC] != chain.pop():
                sys.exit("a return went elsewhere")
        pause -= 1
        if pause == 0 and address <= registers[PC] < address + size:
            pause = rng.randint(1, 2 * arguments.every)
            wanted = min(arguments.dump, base - registers[SP] + 64)
            dump = stub.memory(registers[SP], wanted)
            samples.append((registers, [registers[PC], *reversed(chain)], dump))
        pause = max(pause, 1)
    return samples


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def write_capture(path, program, segment, build_id, samples):
    sample_type = IP | TID | TIME | CHAIN | REGS_USER | STACK_USER
    address, offset, size, _ = segment
    # Type and configuration: the processor's clock, in software. Flags: mmap, comm, exclude_kernel.
    attr = struct.pack("<IIQQQQ", 1, 112, 0, 1000, sample_type, 0)
    attr += struct.pack("<QIIQQQQIiQI4x", 1 << 8 | 1 << 9 | 1 << 5 | 1 << 23, 0, 0, 0, 0, 0, (1 << REGISTERS) - 1,
                        8192, 0, 0, 0)
    attr = attr[:112]
    name = str(program).encode() + b"\0"
    name += b"\0" * (-len(name) % 8)
    data = record(3, 2, struct.pack("<II", 7, 7) + b"stepped\0")
    data += record(10, 2 | 1 << 14, struct.pack("<IIQQQ", 7, 7, address & ~0xFFF,
                                                (size + (address & 0xFFF) + 0xFFF) & ~0xFFF, offset & ~0xFFF)
                   + bytes([len(build_id), 0, 0, 0]) + build_id.ljust(20, b"\0") + struct.pack("<II", 5, 2) + name)
    for number, (registers, chain, dump) in enumerate(samples):
        body = struct.pack("<QIIQ", registers[PC], 7, 7, 1000 + number)
        body += struct.pack(f"<{len(chain) + 2}Q", len(chain) + 1, USER, *chain)
        body += struct.pack(f"<{REGISTERS + 1}Q", 2, *registers)
        # As long as was asked for, where the dump does not reach the end of the stack.
        body += struct.pack("<Q", len(dump)) + dump + struct.pack("<Q", len(dump))
        data += record(9, 2, body)
    attrs_at = KERNEL_HEADER
    data_at = attrs_at + len(attr) + 16
    header = b"PERFILE2" + struct.pack("<QQQQQQQQ", KERNEL_HEADER, len(attr) + 16, attrs_at, len(attr) + 16,
                                       data_at, len(data), 0, 0) + bytes(32)
    pathlib.Path(path).write_bytes(header + attr + bytes(16) + data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("program")
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--every", type=int, default=12)
    parser.add_argument("--dump", type=int, default=8192)
    parser.add_argument("--cpu", default="max")
    parser.add_argument("--name", help="the path of the program that the capture has")
    arguments = parser.parse_args()
    qemu = shutil.which("qemu-aarch64")
    if qemu is None:
        print("no qemu-aarch64 here")
        return 77
    segment, build_id = loaded_segment(arguments.program)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/stub"
        with subprocess.Popen([qemu, "-cpu", arguments.cpu, "-g", path, arguments.program]) as process:
            samples = step_through(Stub(path), segment, arguments)
            process.kill()
    write_capture(arguments.out, arguments.name or pathlib.Path(arguments.program).resolve(), segment, build_id, samples)
    print(f"{len(samples)} samples")
    return 0


if __name__ == "__main__":
    sys.exit(main())
