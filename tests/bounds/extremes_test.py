#!/usr/bin/env python3
"""What a command writes, verify accepts: extremes_test.py PROGRAM SOURCE_DIR [--all] [--seed N]

Each field of small inputs of every format in turn has the values that a format ends at: 0, 1, the largest numbers of 32 and 64 bits
and those before them, no text, one byte that is no text, 64 KiB of it. An input that is converted gives a file that verify takes, and so do
merge, cut, redact and symbolize of that file; one that is refused is refused with a message. Without --all one input in fifty, from a seed.
"""
import argparse
import concurrent.futures
import gzip
import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
sys.dont_write_bytecode = True

NUMBERS = (0, 1, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1)
TEXTS = (b"", b"\xff", b"a;b", b"/", b"x" * 65535, b"x" * 65536, b"y" * 65537)
WORDS = (0, 1, 2**31, 2**32 - 2, 2**32 - 1)
LONG_WORDS = (0, 1, 2**63, 2**64 - 2, 2**64 - 1)
QUICK = 50


# Messages of protobuf: [(field, number, text or list of fields)].
def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def message(fields):
    out = b""
    for field, value in fields:
        if isinstance(value, int):
            out += varint(field << 3) + varint(value)
        else:
            content = message(value) if isinstance(value, list) else value
            out += varint(field << 3 | 2) + varint(len(content)) + content
    return out


def changes_of(value):
    """Each tree with one leaf replaced."""
    if isinstance(value, dict):
        for key in value:
            for changed in changes_of(value[key]):
                yield {**value, key: changed}
    elif isinstance(value, list):
        for i, item in enumerate(value):
            for changed in changes_of(item):
                yield value[:i] + [changed] + value[i + 1:]
    elif isinstance(value, tuple):
        for changed in changes_of(value[1]):
            yield (value[0], changed)
    elif isinstance(value, bytes):
        yield from TEXTS
    elif isinstance(value, str):
        for text in TEXTS:
            yield text.decode(errors="replace")
    elif isinstance(value, (int, float)):
        yield from NUMBERS
        if isinstance(value, float):
            yield from (-1.0, 1e308, 0.5)


PPROF = [
    (1, [(1, 1), (2, 2)]), (1, [(1, 3), (2, 4)]),
    (2, [(1, b"\x01\x02"), (2, b"\x05\x07"), (3, [(1, 5), (2, 6)]), (3, [(1, 7), (3, 9), (4, 4)])]),
    (3, [(1, 1), (2, 0x400000), (3, 0x500000), (4, 0x1000), (5, 8), (6, 9), (7, 1)]),
    (4, [(1, 1), (2, 1), (3, 0x401000), (4, [(1, 1), (2, 11)])]),
    (4, [(1, 2), (3, 0x700000), (4, [(1, 2), (2, 12)]), (4, [(1, 1), (2, 13)])]),
    (5, [(1, 1), (2, 10), (3, 10), (4, 11), (5, 3)]), (5, [(1, 2), (2, 12), (4, 11), (5, 4)]),
    *[(6, text) for text in (b"", b"samples", b"count", b"cpu", b"nanoseconds", b"key", b"value", b"bytes", b"/bin/demo", b"abcd",
                             b"main", b"main.c", b"work")],
    (9, 1700000000000000000), (10, 1000000000), (11, [(1, 3), (2, 4)]), (12, 1000000), (13, 1), (14, 1)]
SPEEDSCOPE = {"$schema": "https://www.speedscope.app/file-format-schema.json", "name": "demo", "exporter": "x",
              "shared": {"frames": [{"name": "main", "file": "main.c", "line": 3, "col": 1}, {"name": "work"}]},
              "profiles": [{"type": "sampled", "name": "one", "unit": "milliseconds", "startValue": 0, "endValue": 5,
                            "samples": [[0, 1], [0]], "weights": [2.5, 1]},
                           {"type": "evented", "name": "two", "unit": "none", "startValue": 0, "endValue": 9,
                            "events": [{"type": "O", "frame": 0, "at": 1}, {"type": "C", "frame": 0, "at": 4}]}]}
PERF_SCRIPT = ("demo 100/101 [001] 12.000500: 250000 cpu-clock:u: \n\t401030 work+0x10 (/bin/demo)\n\t401000 main+0x5 (/bin/demo)\n\n"
               "demo 100/101 [000] 12.000900: 250000 cpu-clock:u: \n\t401000 main (/bin/demo)\n\n")
FOLDED = "demo;main;work 3\ndemo;main 4\n"


def otlp():
    dictionary = [(1, [(1, 0x400000), (2, 0x500000), (3, 0x1000), (4, 1)]), (2, [(1, 1), (2, 0x401000), (3, [(1, 1), (2, 3)])]),
                  (3, [(1, 2), (2, 2), (3, 3), (4, 5)]), (5, b""), (5, b"/bin/demo"), (5, b"main"), (5, b"main.c"), (5, b"cpu"), (5, b"ns")]
    return [(1, [(2, [(2, [(1, [(1, 4), (2, 5)]), (2, [(1, 0), (3, b"\x01"), (4, b"\x05")]), (3, 1700000000000000000), (4, 9), (6, 3)])])]),
            (2, dictionary)]


def tokens_of(text):
    """A text with each of its words replaced."""
    for found in re.finditer(r"[0-9a-fA-F]+|[^\s;:/()\[\]+.]+", text):
        word = found[0]
        numbers = [f"{number:x}" if re.search("[a-f]", word) else str(number) for number in NUMBERS]
        for new in (numbers if re.fullmatch(r"[0-9a-f]+", word) else []) + [each.decode(errors="replace") for each in TEXTS]:
            yield text[:found.start()] + new + text[found.end():]


def words_of(data, step):
    """Bytes with each word of 8 bytes, and of 4, replaced."""
    for at in range(0, len(data) - 8, step):
        for value in LONG_WORDS:
            yield data[:at] + struct.pack("<Q", value) + data[at + 8:]
        for value in WORDS:
            yield data[:at] + struct.pack("<I", value) + data[at + 4:]


def inputs(source, captures, firefox):
    """(name of the format, bytes) of all changed inputs."""
    for name, tree, encode in (("pprof", PPROF, message), ("otlp", otlp(), message),
                               ("speedscope", SPEEDSCOPE, lambda each: json.dumps(each).encode()),
                               ("firefox", firefox, lambda each: json.dumps(each).encode())):
        yield name, encode(tree)
        for changed in changes_of(tree):
            yield name, encode(changed)
    for name, text in (("folded", FOLDED), ("perf-script", PERF_SCRIPT)):
        for changed in [text, *tokens_of(text)]:
            yield name, changed.encode(errors="replace")
    for name, path in captures:
        data = path.read_bytes()
        yield name, data
        for changed in words_of(data, 8 if len(data) < 5000 else 64):
            yield name, changed
    for name in ("testdata/small.nettrace", "testdata/sampled.x64.etl", "testdata/tiny.perf.data"):
        data = (source / name).read_bytes()
        for changed in words_of(data, 64):
            yield name, changed
    data = gzip.decompress((source / "testdata/jfr/async.jfr.gz").read_bytes())
    for changed in words_of(data, 512):
        yield "jfr", changed


class Law:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def run(self, *words):
        return subprocess.run([self.program, *map(str, words)], capture_output=True, text=True, errors="replace", timeout=120)

    def breach(self, number, name, data):
        """What is wrong with an input, if anything; and whether it was converted."""
        place = self.folder / str(number)
        place.mkdir()
        try:
            capture, first, second = place / "capture", place / "first.spk", place / "second.spk"
            capture.write_bytes(data)
            made = self.run("convert", capture, "-o", first, "--quiet")
            if made.returncode != 0:
                return (None if made.returncode in (1, 2) and made.stderr.startswith("stackpack: ") else
                        f"{name}: convert ended with {made.returncode}: {made.stderr[:300]}"), False
            for words in (("verify", first), ("merge", first, "-o", second), ("cut", first, "-o", second), ("redact", first, "-o", second),
                          ("symbolize", first, "-o", second)):
                second.unlink(missing_ok=True)
                done = self.run(*words)
                if done.returncode not in ((0,) if words[0] == "verify" else (0, 1)) or (done.returncode == 1 and second.exists()):
                    return f"{name}: {words[0]} ended with {done.returncode}: {done.stderr[:300]}", True
                if second.exists() and (checked := self.run("verify", second)).returncode != 0:
                    return f"{name}: verify of {words[0]}: {checked.stderr[:300]}", True
            return None, True
        finally:
            subprocess.run(["rm", "-rf", str(place)], check=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--all", action="store_true", help="not one input in fifty alone")
    parser.add_argument("--seed", type=int, default=20261128)
    parser.add_argument("--only", default="", help="a part of the format's name")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        captures = []
        for name, options in (("perf", ["4"]), ("perf-switches", ["4", "--switches"]), ("perf-branches", ["4", "--branches"]),
                              ("perf-memory", ["4", "--memory"]), ("perf-cgroups", ["4", "--cgroups", "/a,/b"])):
            path = folder / name
            subprocess.run([sys.executable, "-B", str(HERE.parent / "cli/make_capture.py"), str(path), *options], check=True)
            captures.append((name, path))
        law = Law(asked.program, folder)
        exported = folder / "firefox.json"
        law.run("convert", captures[0][1], "-o", folder / "perf.spk", "--quiet")
        law.run("export", folder / "perf.spk", "--format", "firefox", "-o", exported)
        content = exported.read_bytes()
        firefox = json.loads(gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content)
        chosen = [(name, data) for name, data in inputs(asked.source, captures, firefox) if asked.only in name]
        every = len(chosen)
        if not asked.all:
            chosen = random.Random(asked.seed).sample(chosen, max(1, every // QUICK))
        with concurrent.futures.ThreadPoolExecutor(max(1, (os.cpu_count() or 1))) as pool:
            found = list(pool.map(lambda item: law.breach(item[0], *item[1]), enumerate(chosen)))
    problems = sorted({problem for problem, _ in found if problem})
    for problem in problems[:20]:
        print("FAILED " + problem)
    converted = {name for (name, _), (_, good) in zip(chosen, found) if good}
    print(f"{len(chosen)} of {every} inputs (seed {asked.seed}), {sum(good for _, good in found)} converted, of {len(converted)} formats, "
          f"{len(problems)} problems")
    return 1 if problems or not converted else 0


if __name__ == "__main__":
    sys.exit(main())
