#!/usr/bin/env python3
"""Damaged symbol files cost their images and nothing else: damaged_files_test.py PROGRAM COMPILER

Compiles a program with debug information, makes 200 damaged copies of it, the same on every run, and a capture
that has addresses in all of them. Naming it must end well, within bounds, and name what is good.
"""
import json
import os
import pathlib
import random
import resource
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import addressed_capture  # noqa: E402

DAMAGED = 200
SECONDS = 300
MEMORY_BYTES = 1 << 30
BASE, STRIDE = 0x10_0000_0000, 0x1000_0000

SOURCE = """
#include <map>
#include <string>
#include <vector>
static int add(std::map<std::string, int>& all, int i) { return ++all[std::to_string(i)]; }
__attribute__((noinline)) long run(int n) {
  std::map<std::string, int> all;
  long sum = 0;
  for (int i = 0; i < n; ++i) sum += add(all, i % 100);
  return sum;
}
int main(int argc, char**) { return run(argc) == 42; }
"""


def functions_of(program):
    """(file offset, size) of the functions in the symbol table of a 64-bit little-endian ELF file."""
    data = program.read_bytes()
    (sections_at,) = struct.unpack_from("<Q", data, 40)
    entry, count = struct.unpack_from("<HH", data, 58)
    segments_at = struct.unpack_from("<Q", data, 32)[0]
    loads = []
    for i in range(struct.unpack_from("<H", data, 56)[0]):
        kind, flags, offset, address, _, size = struct.unpack_from("<IIQQQQ", data, segments_at + 56 * i)
        if kind == 1 and flags & 1:
            loads.append((address, address + size, offset - address))
    found = []
    for i in range(count):
        kind, _, _, at, size = struct.unpack_from("<IQQQQ", data, sections_at + i * entry + 4)
        if kind != 2:
            continue
        for symbol in range(at, at + size, 24):
            _, info, _, _, value, length = struct.unpack_from("<IBBHQQ", data, symbol)
            for begin, end, move in loads:
                if info & 15 == 2 and length and begin <= value < end:
                    found.append((value + move, length))
    return found


def sections_of(data):
    """Offset and size of each section with bytes."""
    (sections_at,) = struct.unpack_from("<Q", data, 40)
    entry, count = struct.unpack_from("<HH", data, 58)
    rows = [struct.unpack_from("<IQQQQ", data, sections_at + i * entry + 4) for i in range(count)]
    return [(at, size) for kind, _, _, at, size in rows if kind not in (0, 8) and size]


def damaged(data, chance):
    """A copy with one kind of damage."""
    data = bytearray(data)
    kind = chance.randrange(5)
    if kind == 0:
        return data[:chance.randrange(64, len(data))]
    if kind == 1:  # headers
        (sections_at,) = struct.unpack_from("<Q", data, 40)
        for _ in range(chance.randrange(1, 20)):
            at = chance.choice([chance.randrange(16, 64), chance.randrange(64, 800),
                                chance.randrange(sections_at, len(data))])
            data[at] = chance.choice([0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)])
        return data
    at, size = chance.choice(sections_of(data))
    if kind == 2:  # a few bytes of a section
        for _ in range(chance.randrange(1, 50)):
            data[at + chance.randrange(size)] = chance.randrange(256)
    elif kind == 3:  # all that follows a place
        begin = at + chance.randrange(size)
        data[begin:at + size] = chance.randbytes(at + size - begin)
    else:
        data[at:at + size] = bytes([chance.choice([0, 0xFF, 0x80])]) * size
    return data


def bomb(data):
    """A copy whose first debug section claims to unpack to a terabyte."""
    data = bytearray(data)
    (sections_at,) = struct.unpack_from("<Q", data, 40)
    entry, count = struct.unpack_from("<HH", data, 58)
    packed = struct.pack("<IIQQ", 1, 0, 1 << 40, 1) + zlib.compress(bytes(1 << 20))
    for i in range(count):
        kind, flags, address, at, size = struct.unpack_from("<IQQQQ", data, sections_at + i * entry + 4)
        if kind == 1 and flags == 0 and size > len(packed):
            data[at:at + len(packed)] = packed
            struct.pack_into("<QQQQ", data, sections_at + i * entry + 8, 0x800, address, at, len(packed))
    return data


def write_capture(path, images, offsets):
    """A capture that has every offset in each image."""
    places = [BASE + i * STRIDE for i in range(len(images))]
    addressed_capture.write(path, [(place, STRIDE, "/" + image) for place, image in zip(places, images)],
                            [place + offset for place in places for offset in offsets])


def main():
    program, compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source = folder / "source.cc"
        source.write_text(SOURCE)
        good = folder / "good"
        subprocess.run([compiler, "-g", "-O2", str(source), "-o", str(good)], check=True)
        content = good.read_bytes()
        chance = random.Random(16)
        images = ["good"]
        for i in range(DAMAGED):
            images.append(f"damaged{i}")
            (folder / images[-1]).write_bytes(bomb(content) if i == 0 else damaged(content, chance))
        offsets = sorted({start + size * part // 4 for start, size in functions_of(good) for part in range(4)})
        capture, packed, named = (folder / file for file in ("demo.perf.data", "demo.spk", "named.spk"))
        write_capture(capture, images, offsets)
        subprocess.run([program, "convert", "--quiet", str(capture), "-o", str(packed)], check=True)
        report = json.loads(subprocess.run(
            [program, "symbolize", str(packed), "-o", str(named), "--sysroot", name, "--json"], check=True,
            timeout=SECONDS, stdout=subprocess.PIPE).stdout)
        subprocess.run([program, "verify", "--quiet", str(named)], check=True)
    by_path = {image["path"]: image for image in report["images"]}
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    print(f"{len(by_path)} images, {len(offsets)} addresses each, {report['failed_images']} failed, "
          f"{report['named']['share']:.3f} named, {memory >> 20} MiB")
    assert len(by_path) == 1 + DAMAGED, len(by_path)
    assert by_path["/good"]["named"] == len(offsets), by_path["/good"]
    assert by_path["/good"]["lines"] > len(offsets) // 2, by_path["/good"]
    # Damage shows: not everything has its name, and most files are good for something.
    assert 0.3 < report["named"]["share"] < 0.99
    assert memory < MEMORY_BYTES or os.environ.get("STACKPACK_SANITIZED"), memory


if __name__ == "__main__":
    main()
