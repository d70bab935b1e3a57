#!/usr/bin/env python3
"""Packages of split debug information say what their .dwo files say: split_packages_test.py PROGRAM COMPILER CONFINED

Compiles a library of two units with -gsplit-dwarf, once with DWARF 5 and once with DWARF 4, names every byte of its
functions with the .dwo files, with a package of them alone, with none, and with damaged packages. Packages of DWARF 5
are made here; those of DWARF 4 by dwp where there is one, and by llvm-dwp the same of both. No output takes the place
of a .dwo file that is read; with CONFINED 0, a build with sanitizers, the reader opens its files without asking, and
this is not tested.
"""
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import damaged_files_test as material  # noqa: E402

DAMAGED = 30
# A unit that has all its code in one section counts its ranges from there.
FIRST = """
static inline int square(int x) { if (x > 3) { __builtin_printf("%d", x); return x * 3; } return x * x + 1; }
static inline int deep(int x) { int s = 0; for (int i = 0; i < x; ++i) { s += square(i ^ x); if (s > 1000) s -= square(s); }
  return s; }
int first(int a, int b) { int s = deep(a); if (__builtin_expect(s < 0, 0)) s = deep(b) + deep(a + b); return s; }
"""
SECOND = """
#include <vector>
#include <algorithm>
namespace shop { struct Till { std::vector<int> sums; int add(int); };
static inline int twice(int x) { return 2 * x + 1; }
int Till::add(int x) { sums.push_back(twice(x)); std::sort(sums.begin(), sums.end()); return sums.front(); } }
int second(int n) { shop::Till till; int s = 0; for (int i = 0; i < n; ++i) s += till.add(i); return s; }
"""
INFO, ABBREVIATIONS, LINES, TEXT_OFFSETS, RANGES = 1, 3, 4, 6, 8
PARTS = {b".debug_info.dwo": INFO, b".debug_abbrev.dwo": ABBREVIATIONS, b".debug_line.dwo": LINES,
         b".debug_str_offsets.dwo": TEXT_OFFSETS, b".debug_rnglists.dwo": RANGES}


def sections_of(data):
    """Name to content, of a 64-bit little-endian ELF file."""
    (table,) = struct.unpack_from("<Q", data, 40)
    entry, count, names = struct.unpack_from("<HHH", data, 58)
    rows = [struct.unpack_from("<II16xQQ", data, table + i * entry) for i in range(count)]
    found = {}
    for name, kind, at, size in rows:
        begin = rows[names][2] + name
        if kind != 8:
            found[data[begin:data.index(b"\0", begin)]] = data[at:at + size]
    return found


def elf(sections):
    """A file with those sections alone."""
    names, body, rows = b"\0", bytes(64), [bytes(64)]
    for name, content in sections + [(b".shstrtab", None)]:
        at = len(names)
        names += name + b"\0"
        content = names if content is None else content
        rows.append(struct.pack("<IIQQQQIIQQ", at, 1, 0, 0, len(body), len(content), 0, 0, 1, 0))
        body += content
    rows[-1] = rows[-1][:4] + struct.pack("<I", 3) + rows[-1][8:]
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, len(body), 0, 64, 0, 0, 64,
                                                     len(rows), len(rows) - 1)
    return head + body[64:] + b"".join(rows)


def package(paths):
    """A package of .dwo files of DWARF 5, a unit each."""
    texts, whole, rows, ids = b"", {part: b"" for part in PARTS.values()}, [], []
    for path in paths:
        sections = sections_of(path.read_bytes())
        offsets = bytearray(sections[b".debug_str_offsets.dwo"])
        for at in range(8, len(offsets), 4):
            struct.pack_into("<I", offsets, at, struct.unpack_from("<I", offsets, at)[0] + len(texts))
        sections[b".debug_str_offsets.dwo"] = bytes(offsets)
        texts += sections[b".debug_str.dwo"]
        assert struct.unpack_from("<HB", sections[b".debug_info.dwo"], 4) == (5, 5)
        ids.append(struct.unpack_from("<Q", sections[b".debug_info.dwo"], 12)[0])
        row = []
        for name, part in PARTS.items():
            content = sections.get(name, b"")
            row.append((len(whole[part]), len(content)))
            whole[part] += content
        rows.append(row)
    slots = [(0, 0)] * 4
    for number, one in enumerate(ids):
        at = one & 3
        while slots[at][1]:
            at = (at + (one >> 32 & 3 | 1)) & 3
        slots[at] = (one, number + 1)
    index = struct.pack("<HHIII", 5, 0, len(PARTS), len(ids), len(slots))
    index += b"".join(struct.pack("<Q", one) for one, _ in slots) + b"".join(struct.pack("<I", row) for _, row in slots)
    index += b"".join(struct.pack("<I", part) for part in PARTS.values())
    index += b"".join(struct.pack("<I", pair[which]) for which in (0, 1) for row in rows for pair in row)
    names = {part: name for name, part in PARTS.items()}
    return elf([(names[part], content) for part, content in whole.items()] +
               [(b".debug_str.dwo", texts), (b".debug_cu_index", index)])


class Naming:
    def __init__(self, program, folder, offsets):
        self.program, self.folder = program, folder
        capture, self.packed = folder / "demo.perf.data", folder / "demo.spk"
        material.write_capture(capture, ["code"], offsets)
        subprocess.run([program, "convert", "--quiet", str(capture), "-o", str(self.packed)], check=True)

    def run(self):
        """The report of the image, and the listing of names."""
        named = self.folder / "named.spk"
        done = subprocess.run([self.program, "symbolize", str(self.packed), "-o", str(named), "--sysroot",
                               str(self.folder), "--json"], check=True, stdout=subprocess.PIPE)
        names = subprocess.run([self.program, "export", str(named), "--to", "folded", "--inline", "-o", "-"], check=True,
                               stdout=subprocess.PIPE).stdout
        lines = subprocess.run([self.program, "dump", str(named), "--names"], check=True, stdout=subprocess.PIPE).stdout
        return json.loads(done.stdout)["images"][0], names, lines


def test_kept(naming, parts):
    """What is read for an output it never replaces: also not what the debug information alone names."""
    for part in parts:
        content = part.read_bytes()
        done = subprocess.run([naming.program, "symbolize", str(naming.packed), "-o", str(part), "--sysroot",
                               str(naming.folder), "--force"], check=False, text=True, stderr=subprocess.PIPE)
        assert done.returncode != 0 and "is read for this output" in done.stderr, (part, done.returncode, done.stderr)
        assert part.read_bytes() == content, f"{part} is another file now"


def test_version(program, compiler, confined, version, folder):
    for name, text in (("first", FIRST), ("second", SECOND)):
        (folder / f"{name}.cc").write_text(text)
        subprocess.run([compiler, "-g", f"-gdwarf-{version}", "-gsplit-dwarf", "-O2", "-fPIC", "-c", f"{name}.cc"],
                       check=True, cwd=folder)
    subprocess.run([compiler, "-shared", "first.o", "second.o", "-o", "code"], check=True, cwd=folder)
    offsets = sorted({start + i for start, size in material.functions_of(folder / "code") for i in range(size)})
    naming = Naming(program, folder, offsets)
    parts = [folder / "first.dwo", folder / "second.dwo"]
    whole, names, lines = naming.run()
    assert b";square" in names and b";twice" in names, "nothing is inlined in this program"
    if confined:
        test_kept(naming, parts)
    made = {}
    if version == 5:
        made["here"] = package(parts)
    for tool in ("dwp", "llvm-dwp"):
        # That of binutils is for DWARF 4.
        if shutil.which(tool) and (version == 4 or tool == "llvm-dwp"):
            done = subprocess.run([tool, "-e", "code", "-o", tool + ".out"], check=False, cwd=folder)
            if done.returncode == 0:
                made[tool] = (folder / (tool + ".out")).read_bytes()
    for part in parts:
        part.unlink()
    without, fewer, _ = naming.run()
    assert without["missing_files"] == 2 and b";square" not in fewer, without
    for tool, content in made.items():
        (folder / "code.dwp").write_bytes(content)
        packed = naming.run()
        assert packed[0] == whole, (tool, packed[0], whole)
        assert packed[1] == names and packed[2] == lines, f"{tool}, DWARF {version}: other names"
    print(f"DWARF {version}: {len(offsets)} addresses, packages: {' '.join(made) or 'none, there is no tool'}")
    return naming, made


def test_damage(naming, content):
    chance = random.Random(5)
    fewer = 0
    for _ in range(DAMAGED):
        data = bytearray(content)
        if chance.randrange(4) == 0:
            data = data[:chance.randrange(64, len(data))]
        else:
            begin, size = chance.choice(material.sections_of(data))
            for _ in range(chance.randrange(1, 20)):
                data[begin + chance.randrange(size)] = chance.choice([0, 0xFF, chance.randrange(256)])
        (naming.folder / "code.dwp").write_bytes(data)
        image, _, _ = naming.run()
        fewer += 1 if image["damaged_parts"] or image["missing_files"] or image["named"] == 0 else 0
    print(f"{DAMAGED} damaged packages, {fewer} noticed")
    assert fewer > DAMAGED // 4


def main():
    program, compiler, confined = sys.argv[1:]
    os.environ["LC_ALL"] = "C"
    for version in (4, 5):
        with tempfile.TemporaryDirectory() as name:
            naming, made = test_version(program, compiler, confined == "1", version,
                                        pathlib.Path(name))
            if "here" in made:
                test_damage(naming, made["here"])


if __name__ == "__main__":
    main()
