#!/usr/bin/env python3
"""A capture has one identity, whatever packs it: identity_test.py PROGRAM SOURCE_DIR

The same bytes under other names, from a pipe, out of archives, with every option that changes the output, symbolised or
merged, are one capture; other bytes are another one, wherever they differ. A merge of all of them has one source. The identity
is the hash of all bytes that docs/format.md says.
"""
import ctypes
import ctypes.util
import gzip
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

OPTIONS = ["--level 1", "--level 19", "--no-samples", "--redact", "--time-resolution 1ms", "--memory-limit 16MiB",
           "--format perf", "--unwind", "-j 1"]


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def xxh3_128(content):
    """What xxh128sum prints."""
    library = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
    library.XXH3_128bits.restype, library.XXH3_128bits.argtypes = Hash128, [ctypes.c_char_p, ctypes.c_size_t]
    found = library.XXH3_128bits(content, len(content))
    return f"{found.high:016x}{found.low:016x}"


def hash_of_several(contents):
    return xxh3_128(b"".join(bytes.fromhex(one) for one in sorted(map(xxh3_128, contents))))


class Packer:
    def __init__(self, program, folder):
        self.program, self.folder, self.count, self.problems = program, folder, 0, 0

    def run(self, *arguments, **options):
        return subprocess.run([self.program, *map(str, arguments)], check=True, capture_output=True, **options).stdout

    def pack(self, *arguments, **options):
        self.count += 1
        out = self.folder / f"{self.count}.spk"
        self.run("convert", *arguments, "-o", out, "-q", **options)
        return out

    def identity(self, packed):
        rows = [line.split("\t") for line in self.run("dump", packed, "--metadata").decode().splitlines()]
        return next((row[1] for row in rows if row[0] == "source.identity"), None)

    def check(self, what, good):
        print(("ok    " if good else "WRONG ") + what)
        self.problems += not good


def ways_of(packer, capture, folder):
    """The capture packed in every way, by what the way is."""
    content = capture.read_bytes()
    other = folder / "other name"
    other.write_bytes(content)
    (folder / "c.gz").write_bytes(gzip.compress(content))
    (folder / "c.zst").write_bytes(subprocess.run(["zstd", "-c"], input=content, capture_output=True, check=True).stdout)
    with zipfile.ZipFile(folder / "c.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(capture, "deep/name.perf.data")
    ways = {"another name": [other], "gzip": [folder / "c.gz"], "zstd": [folder / "c.zst"], "zip": [folder / "c.zip"],
            "member": [folder / "c.zip", "--member", "deep/name.perf.data"]}
    ways.update({option: [capture, *option.split()] for option in OPTIONS})
    made = {way: packer.pack(*arguments) for way, arguments in ways.items()}
    made["pipe"] = packer.pack("-", input=content)
    with open(capture, "rb") as redirected:
        made["standard input"] = packer.pack("-", stdin=redirected)
    made["gzip from a pipe"] = packer.pack("-", input=gzip.compress(content))
    named = folder / "named.spk"
    packer.run("symbolize", made["another name"], "-o", named, "--sysroot", "/", "-q")
    made["symbolised"] = named
    return made


def check_one_capture(packer, capture, folder):
    expected = packer.identity(packer.pack(capture))
    packer.check(f"{capture.name}: the hash of its bytes", expected == xxh3_128(capture.read_bytes()))
    made = ways_of(packer, capture, folder)
    for way, packed in made.items():
        packer.check(f"{capture.name}: {way}", packer.identity(packed) == expected)
    merged = folder / "merged.spk"
    packer.run("merge", *made.values(), capture, "-o", merged, "-q", "--force")
    sources = packer.run("dump", merged, "--sources").decode().splitlines()
    packer.check(f"{capture.name}: all of them are one source", sum(expected in line for line in sources) == 1 and len(sources) == 2)
    packer.check(f"{capture.name}: a merged file has no identity of its own", packer.identity(merged) is None)
    files, halves = list(made.values()), [folder / "half0.spk", folder / "half1.spk"]
    for number, half in enumerate(halves):
        packer.run("merge", *files[number::2], "-o", half, "-q", "--force")
    for what, inputs in (("the other way round", files[::-1]), ("in groups", halves)):
        packer.run("merge", *inputs, "-o", folder / "again.spk", "-q", "--force")
        packer.check(f"{capture.name}: merged {what}, the same bytes",
                     (folder / "again.spk").read_bytes() == merged.read_bytes())
    return expected


def check_other_bytes(packer, capture, folder):
    """A change of any byte that the reader does not refuse makes another capture."""
    content, seen, made = capture.read_bytes(), {packer.identity(packer.pack(capture))}, 1
    changed = folder / "changed.perf.data"
    for place in range(len(content) // 40, len(content), len(content) // 40):
        changed.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1:])
        try:
            seen.add(packer.identity(packer.pack(changed)))
            made += 1
        except subprocess.CalledProcessError:
            pass
    packer.check(f"{made} contents have {len(seen)} identities", made > 30 and len(seen) == made)


def check_unread_bytes(packer, capture, folder):
    """Bytes that the conversion has no use for: behind the last section, far from those that it reads."""
    long, seen = folder / "long.perf.data", set()
    content = bytearray(capture.read_bytes() + bytes(11 << 20))
    for place in (None, len(content) - 1, 6 << 20, (5 << 20) + 77_777, (9 << 20) + 4096):
        if place is not None:
            content[place] ^= 1
        long.write_bytes(content)
        identities = {packer.identity(packer.pack(long)), packer.identity(packer.pack("-", input=bytes(content)))}
        packer.check(f"{long.name}, byte {place} changed: the hash of its bytes", identities == {xxh3_128(bytes(content))})
        seen |= identities
    packer.check("each change of them makes another capture", len(seen) == 5)


def main():
    program, source = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        packer = Packer(program, folder)
        data = source / "testdata"
        found = {check_one_capture(packer, data / capture, folder)
                 for capture in ("file.perf.data", "pipe.perf.data", "dwarf.perf.data")}
        packer.check("other captures are others", len(found) == 3)
        shutil.copytree(data / "threads.perf.data", folder / "copy")
        parts = [packer.identity(packer.pack(place)) for place in (data / "threads.perf.data", folder / "copy")]
        packer.check("a folder and its copy", parts[0] is not None and parts[0] == parts[1] and parts[0] not in found)
        traces = [data / "sampled.x64.etl", data / "sampled.x86.etl"]
        alone = packer.identity(packer.pack(traces[0]))
        session = packer.identity(packer.pack("--session", *traces))
        packer.check("a session is none of its traces, in any order",
                     session == packer.identity(packer.pack("--session", *traces[::-1])) and session not in (alone, None))
        packer.check("of several files, the hash of their hashes",
                     session == hash_of_several([trace.read_bytes() for trace in traces])
                     and parts[0] == hash_of_several([part.read_bytes() for part in (data / "threads.perf.data").iterdir()]))
        check_other_bytes(packer, data / "file.perf.data", folder)
        check_unread_bytes(packer, data / "file.perf.data", folder)
    return 1 if packer.problems else 0


if __name__ == "__main__":
    sys.exit(main())
