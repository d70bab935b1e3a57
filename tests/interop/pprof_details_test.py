#!/usr/bin/env python3
"""Profiles with what profile.proto and the older formats can say, beside `go tool pprof`: pprof_details_test.py STACKPACK

Every type of value has the rows of `-top`, and what is shown first, labels, comments, period and document are what pprof says."""
import gzip
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROW = re.compile(r"\s*(\d+)([a-zA-Z]*)\s+\S+%\s+\S+%\s+(\d+)[a-zA-Z]*\s+\S+%\s+(.*?)(?: \(inline\)| \(partial-inline\))?$")
TAG = re.compile(r"\s+(\d+)[a-zA-Z]* \(\s*\S+%\): (.*)$")
UNITS = {"bytes": "B", "nanoseconds": "ns", "microseconds": "us"}
MAP = "00400000-00401000 r-xp 00000000 fc:01 12  /bin/prog\n7f00000000-7f00001000 r-xp 00000000 fc:01 13  /lib/libc-2.15.so\n"
JAVA_NAMES = b" 0x03 com.example.call (Some.java:12)\n 0x04 com.example.other (path/lib.so)\n"


def varint(number):
    number &= (1 << 64) - 1
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def message(*fields):
    """Pairs of a field's number and its value: a number, packed numbers, a text or another message."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            data = (b"".join(map(varint, value)) if isinstance(value, list) else value.encode() if isinstance(value, str) else value)
            out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


class Profile:
    """A profile.proto: texts are numbered as they come."""

    def __init__(self, *types):
        self.texts, self.fields = [""], []
        for name, unit in types:
            self.add(1, (1, self.text(name)), (2, self.text(unit)))

    def text(self, text):
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text)

    def add(self, number, *fields):
        self.fields.append((number, message(*fields)))
        return self

    def fact(self, number, value):
        self.fields.append((number, self.text(value) if isinstance(value, str) else value))
        return self

    def mapping(self, number, begin, end, name, build_id=""):
        return self.add(3, (1, number), (2, begin), (3, end), (5, self.text(name)), (6, self.text(build_id)), (7, 1))

    def function(self, number, name, file="", line=0):
        return self.add(5, (1, number), (2, self.text(name)), (3, self.text(name)), (4, self.text(file)), (5, line))

    def location(self, number, mapping, address, *functions):
        return self.add(4, (1, number), *([(2, mapping)] if mapping else []), (3, address),
                        *((4, message((1, function), (2, 7 + function))) for function in functions))

    def sample(self, stack, values, **labels):
        """A label is a text, a number, or a number and its unit."""
        made = []
        for key, value in labels.items():
            number, unit = value if isinstance(value, tuple) else (value, "")
            content = [(2, self.text(number))] if isinstance(number, str) else [(3, number)] + ([(4, self.text(unit))] if unit else [])
            made.append((3, message((1, self.text(key)), *content)))
        return self.add(2, (1, stack), (2, values), *made)

    def done(self):
        return message(*self.fields, *((6, text) for text in self.texts))


def many_types():
    made = Profile(("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_space", "bytes"), ("wait", "microseconds"), ("cpu", "nanoseconds"))
    for number, name in enumerate(("main.main", "main.work", "runtime.mallocgc", "runtime.keep", "main.deep"), 1):
        made.function(number, name, "/src/a.go", number * 10).location(number, 1, 0x401000 + number * 16, number)
    made.mapping(1, 0x400000, 0x500000, "/bin/app", "00112233445566778899aabbccddeeff00112233")
    made.sample([3, 2, 1], [2, 4096, 1024, 3, 20_000_000], route="/cart", size=(7, "bytes"))
    made.sample([2, 1], [1, 100, 0, 0, 10_000_000], route="/shop", size=(9, "bytes"), depth=3)
    made.sample([5, 4, 1], [0, 0, 512, 8, 0], route="/cart", depth=3)
    made.sample([1], [0, 0, 0, 0, 30_000_000])
    made.fact(14, "inuse_space").fact(13, "first comment").fact(13, "second").fact(15, "https://example.com/doc")
    return made.add(11, (1, made.text("space")), (2, made.text("bytes"))).fact(12, 524_288).fact(9, 1_700_000_000_000_000_000).fact(10, 5_000_000_000)


def dropped():
    made = Profile(("cpu", "nanoseconds"))
    for number, name in enumerate(("main", "runtime.mallocgc", "runtime.inner", "runtime.keepme", "leaf", "std::map<int>::find(int)"), 1):
        made.function(number, name).location(number, 0, 0, number)
    made.location(7, 0, 0, 3, 1)  # a call that is dropped, inlined into one that is not
    for value, stack in enumerate(([3, 2, 1], [5, 4, 2, 1], [5, 1], [2], [6, 5, 1], [7, 1]), 1):
        made.sample(stack, [value])
    return made.fact(7, r"runtime\..*|std::map<.*>::find").fact(8, r"runtime\.keep.*")


def places():
    """Mappings of one name and offset, none, code without functions, the last address of all."""
    made = Profile(("samples", "count"), ("cpu", "nanoseconds"))
    made.mapping(1, 0x400000, 0x500000, "/lib/libx.so").mapping(2, 0x600000, 0x700000, "/lib/libx.so")
    for number, name in enumerate(("one", "two", "main", "last", "inlined"), 1):
        made.function(number, name)
    made.location(1, 1, 0x400010, 1).location(2, 2, 0x600010, 2).location(3, 0, 0, 3).location(4, 0, 2**64 - 1, 4)
    made.location(5, 1, 0x400020).location(6, 0, 2**64 - 1).location(7, 1, 0x400030, 5, 1)
    for value, stack in enumerate(([1, 3], [2, 3], [4, 3], [5, 3], [6, 3], [7, 3], [2, 1, 3], []), 1):
        made.sample(stack, [1, value * 1000])
    return made


def words(*numbers):
    return struct.pack(f"<{len(numbers)}Q", *numbers)


def several_members():
    whole = many_types().done()
    return gzip.compress(whole[:99]) + gzip.compress(whole[99:400]) + gzip.compress(b"") + gzip.compress(whole[400:])


CASES = {
    "types.pb": lambda: many_types().done(),
    "members.pb.gz": several_members,
    "dropped.pb": lambda: dropped().done(),
    "places.pb": lambda: places().done(),
    "legacy.cpu": lambda: words(0, 3, 0, 10_000, 0, 2, 2, 0x400010, 0x400021, 1, 3, 0x400030, 0x400041, 0x51, 0, 1, 0) + MAP.encode(),
    "legacy.heap": lambda: ("heap profile:      2:     2048 [     3:     4096] @ heapprofile\n     1:     1024 [     2:     3072] @ 0x400011 0x7f00000021\n"
                            "     1:     1024 [     1:     1024] @ 0x400011\nMAPPED_LIBRARIES:\n" + MAP).encode(),
    "legacy.heap_v2": lambda: ("heap profile: 1: 524288 [ 1: 524288] @ heap_v2/524288\n1: 524288 [1: 524288] @ 0x400011 0x400111\nMAPPED_LIBRARIES:\n" +
                               MAP).encode(),
    "legacy.growth": lambda: ("heap profile: 1: 7 [ 1: 7] @ growthz\n1: 7 [1: 7] @ 0x400011\nMAPPED_LIBRARIES:\n" + MAP).encode(),
    "legacy.contention": lambda: b"--- contentionz 1 ---\ncycles/second = 2000000000\nsampling period = 100\nms since reset = 1650\n  10 2 @ 0x11 0x21\n",
    "legacy.thread": lambda: b"--- threadz 1 ---\n\n--- Thread 7ff6e1b5d700 (name: main/14748) stack: ---\n  PC: 0x400010\n  creator:\n  0x400010\n"
                             b"  0x400121\n--- Thread 7ff6e1b5d701 (name: thread1/14749) stack: ---\n  [same as previous thread]\n"
                             b"--- Memory map: ---\n  0x400000-0x401000 /bin/prog (@0) abcd\n",
    "go.threadcreate": lambda: b"threadcreate profile: total 4\n3 @ 0x11 0x21\n1 @ 0x11\n",
    "java.cpu": lambda: words(0, 3, 1, 10_000, 0, 2, 2, 3, 4, 1, 1, 4, 0, 1, 0) + JAVA_NAMES,
    "java.heap": lambda: b"--- heapz 1 ---\nformat = java\nresolution = bytes\n    524288     1 @ 0x03 0x04\n" + JAVA_NAMES,
    "java.contention": lambda: b"--- contentionz 1 ---\nformat = java\nresolution = microseconds\nsampling period = 100\n    14     1 @ 0x03 0x04\n" + JAVA_NAMES,
}


def told(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


def pprof(path, *options):
    return told("go", "tool", "pprof", "-symbolize=none", *options, path)


def their_rows(text):
    fits = [ROW.match(line) for line in text[text.index("flat%"):].splitlines()[1:] if line.strip()]
    rows = {fit.group(4): (int(fit.group(1)), int(fit.group(3))) for fit in fits}
    return {name: row for name, row in rows.items() if row != (0, 0)}


def our_rows(report):
    rows = {}
    for row in report["rows"]:
        unnamed = row["name"] == "[unknown]" or re.search(r"(^|\+)0x[0-9a-f]+$", row["name"])
        name = "<unknown>" if unnamed else row["name"]
        before = rows.get(name, (0, 0))
        rows[name] = (before[0] + row["self"], before[1] + row["total"])
    return {name: row for name, row in rows.items() if row != (0, 0) and name != "[no callstack]"}


def differences(program, path):
    """What is other than pprof has it."""
    raw = pprof(path, "-raw")
    kinds = [re.match(r"(.*)/(.*?)(\[dflt\])?$", word).groups() for word in re.search(r"^Samples:\n(.*)$", raw, re.M).group(1).split()]
    shown = re.search(r"^Type: (.*)$", pprof(path, "-top"), re.M).group(1)
    found = json.loads(told(program, "top", path, "--json", "-n", "0", "--idle"))
    if found["event"] != shown:
        yield f"shows {found['event']}, pprof {shown}"
    for kind, unit, _ in kinds:
        theirs = their_rows(pprof(path, "-top", "-nodecount=0", "-nodefraction=0", f"-sample_index={kind}", f"-unit={UNITS.get(unit, unit)}"))
        if theirs:
            ours = our_rows(json.loads(told(program, "top", path, "--json", "-n", "0", "--idle", "--event", kind)))
            # Totals of rows that are one there may overlap here.
            selfs, unknown = [(rows.pop("<unknown>", (0, 0))[0]) for rows in (ours, theirs)]
            if selfs != unknown or ours != theirs:
                yield f"{kind}: {ours} and {selfs} without a name, pprof {theirs} and {unknown}"
        yield from differing_labels(program, path, kind, unit)
    facts = dict(line.split("\t") for line in told(program, "dump", "--metadata", path).splitlines() if line.count("\t") == 1)
    for key, pattern in {"pprof.doc_url": r"^Doc: (.*)$", "pprof.period": r"^Period: ([1-9]\d*)$"}.items():
        fact = re.search(pattern, raw, re.M)
        if facts.get(key) != (fact.group(1) if fact else None) and facts.get(key) != "0":
            yield f"{key}: {facts.get(key)}, pprof {fact}"
    comments = pprof(path, "-comments").splitlines()
    if [facts[key] for key in sorted(facts) if key.startswith("pprof.comment.")] != [line for line in comments if line]:
        yield f"comments: {facts}, pprof {comments}"


def differing_labels(program, path, kind, unit):
    text = pprof(path, "-tags", f"-sample_index={kind}", f"-unit={UNITS.get(unit, unit)}")
    theirs, values = {}, {}
    for line in text.splitlines():
        if key := re.match(r"\s*(\S+): Total ", line):
            values = theirs.setdefault(key.group(1), {})
        elif tag := TAG.match(line):
            values[tag.group(2)] = int(tag.group(1))
    for key, wanted in theirs.items():
        rows = json.loads(told(program, "top", path, "--by", f"label:{key}", "--event", kind, "--json", "-n", "0", "--idle"))["rows"]
        ours = {row["name"]: row["self"] for row in rows if row["name"] != "[no label]" and row["self"]}
        wanted = {value: weight for value, weight in wanted.items() if weight}
        # Numbers are written with their units there.
        if ours != wanted and (sorted(ours.values()) != sorted(wanted.values()) or not all(re.match(r"\d", name) for name in ours)):
            yield f"{kind}: label {key}: {ours}, pprof {wanted}"


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    if shutil.which("go") is None:
        print("go is not here")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as made:
        for name, content in CASES.items():
            path = pathlib.Path(made) / name
            path.write_bytes(content())
            wrong = list(differences(program, path))
            failed += len(wrong)
            print("\n  ".join([f"{name}: {len(wrong)} differences", *wrong]))
            back, spk = path.with_name(f"{name}.back.pb.gz"), path.with_name(f"{name}.spk")
            told(program, "convert", "-q", path, "-o", spk)
            told(program, "export", "-q", spk, "--all-events", "--format", "pprof", "-o", back)
            kinds = re.search(r"^Samples:\n(.*)$", pprof(path, "-raw"), re.M).group(1).replace("[dflt]", "").split()
            for kind in (kind.partition("/")[0] for kind in kinds):
                options = ("-top", "-nodecount=0", "-nodefraction=0", f"-sample_index={kind}", "-unit=B" if "space" in kind else "-unit=ns")
                before = their_rows(pprof(path, *options))
                if before and before != their_rows(pprof(back, *options)):
                    failed += 1
                    print(f"  {kind} after an export: {their_rows(pprof(back, *options))}, before {before}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
