#!/usr/bin/env python3
"""Copies of a recording as other machines would have made them.

    capture_variants.py RECORDING.perf.data FOLDER [--count 10] [--kernels 3] [--builds 2]

A variant has other process numbers, other places of user code (ASLR), another slide of the kernel and of its modules,
another host, one of several kernel releases (the build id of the kernel and its modules), and of one library one of
several builds: the same path with another build id. All else is the recording. The recording is one of `perf record
-g` on this machine, of a single event, without compression. Variant 0 differs in the host alone.
"""
import argparse
import array
import pathlib
import struct
import sys

HEADER = struct.Struct("<8s8Q")
RECORD = struct.Struct("<IHH")
PERF_MMAP, PERF_COMM, PERF_EXIT, PERF_FORK, PERF_SAMPLE, PERF_MMAP2 = 1, 3, 4, 7, 9, 10
IP, TID, TIME, ADDR, ID, CALLCHAIN, CPU, PERIOD, STREAM_ID, IDENTIFIER = (1, 2, 4, 8, 0x40, 0x20, 0x80, 0x100, 0x200, 0x10000)
UNDERSTOOD = IP | TID | TIME | ADDR | ID | CALLCHAIN | CPU | PERIOD | STREAM_ID | IDENTIFIER
END = 0xFFFFFFFFF0000000  # above: marks of callchains, and pages that every process has at one place
MODULES = 0xFFFFFFFFC0000000
KERNEL = 0xFFFFFFFF80000000
USER = range(0x0000_5000_0000_0000, 0x0000_8000_0000_0000)  # what moves: not programs with fixed places
FEATURE_BUILD_ID, FEATURE_HOST = 2, 3
NO_PROCESS = 0xFFFFFFFF


class Recording:
    """A recording, and where in it the words lie that differ from machine to machine."""

    def __init__(self, path):
        self.content = pathlib.Path(path).read_bytes()
        if len(self.content) < 104 or self.content[:8] != b"PERFILE2":
            sys.exit(f"capture_variants: {path} is no perf.data of this machine")
        _, _, _, attrs, _, self.data_offset, self.data_size, _, _ = HEADER.unpack_from(self.content)
        self.flags = int.from_bytes(self.content[72:104], "little")
        self.sample_type = struct.unpack_from("<Q", self.content, attrs + 24)[0]
        if self.sample_type & ~UNDERSTOOD or not self.sample_type & CALLCHAIN or self.data_offset % 8:
            sys.exit(f"capture_variants: {path} has samples of another kind than `perf record -g` makes")
        self.user, self.text, self.modules = [], [], []  # numbers of 8-byte words: addresses
        self.pids = []  # numbers of 4-byte words
        self.addresses = {}
        self.walk()
        self.images = self.read_build_ids()

    def address(self, offset):
        (value,) = struct.unpack_from("<Q", self.content, offset)
        if value >= END:
            return
        if value >= MODULES:
            self.modules.append(offset // 8)
        elif value >= KERNEL:
            self.text.append(offset // 8)
        elif value in USER:
            self.user.append(offset // 8)

    def pid(self, offset):
        (value,) = struct.unpack_from("<I", self.content, offset)
        if value not in (0, NO_PROCESS):
            self.pids.append(offset // 4)

    def walk(self):
        at, end = self.data_offset, self.data_offset + self.data_size
        while at < end:
            kind, _, size = RECORD.unpack_from(self.content, at)
            body = at + 8
            if kind == PERF_SAMPLE:
                self.sample(body)
            elif kind in (PERF_MMAP, PERF_MMAP2):
                self.pid(body)
                self.pid(body + 4)
                self.address(body + 8)
                self.address(body + 24)  # of a kernel the address of its reference symbol
            elif kind in (PERF_FORK, PERF_EXIT):
                for i in range(4):
                    self.pid(body + 4 * i)
            elif kind == PERF_COMM:
                self.pid(body)
                self.pid(body + 4)
            if kind < 64 and kind != PERF_SAMPLE and self.sample_type & TID:
                # Other records end with what a sample begins with.
                words = sum(1 for bit in (TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER) if self.sample_type & bit)
                self.pid(at + size - 8 * words)
                self.pid(at + size - 8 * words + 4)
            at += size

    def sample(self, at):
        for bit in (IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM_ID, CPU, PERIOD):
            if self.sample_type & bit:
                if bit == IP:
                    self.address(at)
                elif bit == TID:
                    self.pid(at)
                    self.pid(at + 4)
                at += 8
        (frames,) = struct.unpack_from("<Q", self.content, at)
        for i in range(1, frames + 1):
            self.address(at + 8 * i)

    def feature(self, number):
        """Offset and size of a section of the header; its size is 0 when there is none."""
        if not self.flags >> number & 1:
            return 0, 0
        before = bin(self.flags & ((1 << number) - 1)).count("1")
        return struct.unpack_from("<2Q", self.content, self.data_offset + self.data_size + 16 * before)

    def read_build_ids(self):
        """Build ids by path, as the header has them."""
        images = {}
        offset, size = self.feature(FEATURE_BUILD_ID)
        at = offset
        while at < offset + size:
            _, _, length = RECORD.unpack_from(self.content, at)
            name = self.content[at + 36:at + length].split(b"\0")[0].decode()
            images[name] = self.content[at + 12:at + 32]
            at += length
        return images

    def variant(self, number, kernels=3, builds=2):
        """The bytes of a variant."""
        words = array.array("Q", self.content[:len(self.content) // 8 * 8])
        if number:
            spread = (number * 0x9E3779B97F4A7C15) & (2**64 - 1)
            for places, shift in ((self.user, -((spread >> 40) % 4096) * 0x1000), (self.modules, (spread >> 20) % 512 * 0x1000),
                                  (self.text, (spread >> 30) % 200 * 0x200000)):
                for at in places:
                    words[at] += shift
        content = bytearray(words.tobytes()) + bytearray(self.content[len(words) * 8:])
        if number:
            halves = memoryview(content)[:len(content) // 4 * 4].cast("I")
            for at in self.pids:
                halves[at] += number * 1000
            halves.release()
        for name, build_id in self.images.items():
            of_kernel = "kernel" in name or name.endswith(".ko")
            kind = number % kernels if of_kernel else number // kernels % builds if "/libc.so" in name else 0
            if kind:
                content = content.replace(build_id, bytes([build_id[0] ^ kind]) + build_id[1:])
        at, size = self.feature(FEATURE_HOST)
        if size < 16:
            sys.exit("capture_variants: the recording does not name its host")
        content[at + 4:at + size] = f"host{number}".encode().ljust(size - 4, b"\0")
        return bytes(content)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recording")
    parser.add_argument("folder")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--kernels", type=int, default=3)
    parser.add_argument("--builds", type=int, default=2)
    arguments = parser.parse_args()
    recording = Recording(arguments.recording)
    folder = pathlib.Path(arguments.folder)
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(arguments.count):
        (folder / f"{number}.perf.data").write_bytes(recording.variant(number, arguments.kernels, arguments.builds))


if __name__ == "__main__":
    main()
