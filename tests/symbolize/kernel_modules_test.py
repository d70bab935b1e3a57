#!/usr/bin/env python3
"""Modules of the kernel are named by their files: kernel_modules_test.py PROGRAM COMPILER

Makes a relocatable file with code in several sections, as modules have, and a capture in which the kernel mapped it; the
sections lie there as the kernel's loader puts them. Names every function of it by the module itself, by packed ones,
by its debug file, and refuses those of another build.
"""
import gzip
import json
import lzma
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "cli"))
sys.dont_write_bytecode = True
import addressed_capture  # noqa: E402
import make_capture  # noqa: E402

PATH = "/lib/modules/6.1.0-test/kernel/drivers/demo.ko"
BASE = 0xFFFFFFFFC0A00000
SOURCE = """
static inline int twice(int x) { if (x > 3) return x * 3; return x * x + 1; }
int plain(int x) { int s = 0; for (int i = 0; i < x; ++i) s += twice(i ^ x); return s; }
__attribute__((section(".init.text"))) int starts(int x) { return plain(x) + 1; }
__attribute__((section(".exit.text"))) int ends(int x) { return plain(x) + 2; }
__attribute__((section(".text.unlikely"), aligned(32))) int rare(int x) { return plain(x) * twice(x); }
__attribute__((section(".noinstr.text"))) int quiet(int x) { return x ^ twice(x); }
"""
CODE = 6  # SHF_ALLOC, SHF_EXECINSTR


def sections_of(data):
    (table,) = struct.unpack_from("<Q", data, 40)
    entry, count, names = struct.unpack_from("<HHH", data, 58)
    rows = []
    for i in range(count):
        name, kind, flags, _, at, size, link, info, unit = struct.unpack_from("<IIQQQQIIQ", data, table + i * entry)
        rows.append({"name": name, "kind": kind, "flags": flags, "at": at, "size": size, "unit": unit})
    for row in rows:
        begin = rows[names]["at"] + row["name"]
        row["name"] = data[begin:data.index(b"\0", begin)].decode()
    return rows


def loaded(data):
    """Name, offset in the mapping and size of the functions that stay; and the names of those that do not."""
    rows = sections_of(data)
    places, end = {}, 0
    for number, row in enumerate(rows):
        if row["flags"] & CODE == CODE and not row["name"].startswith(".init"):
            unit = max(1, row["unit"])
            places[number] = (end + unit - 1) // unit * unit
            end = places[number] + row["size"]
    (symbols,) = [row for row in rows if row["kind"] == 2]
    (names,) = [row for row in rows if row["name"] == ".strtab"]
    stay, gone = [], []
    for at in range(symbols["at"], symbols["at"] + symbols["size"], 24):
        name, info, _, section, value, size = struct.unpack_from("<IBBHQQ", data, at)
        begin = names["at"] + name
        text = data[begin:data.index(b"\0", begin)].decode()
        if info & 15 == 2 and section in places:
            stay.append((text, places[section] + value, size))
        elif info & 15 == 2:
            gone.append(text)
    return sorted(stay, key=lambda row: row[1]), gone


def build_id_of(data):
    (row,) = [row for row in sections_of(data) if row["name"] == ".note.gnu.build-id"]
    return data[row["at"] + 16:row["at"] + row["size"]]


def mapping(path, build_id):
    name = path.encode() + b"\0"
    body = struct.pack("<iiQQQ", -1, 0, BASE, 0x10000, 0)
    body += struct.pack("<B3x20sII", len(build_id), build_id, 0, 0) + name.ljust((len(name) + 7) // 8 * 8, b"\0")
    return make_capture.record(10, 1 | 1 << 14, body + make_capture.sample_id(0, 0, 0, 0))


def sample(address, index):
    body = struct.pack("<QIIQIIQ", address, 7, 7, make_capture.START + index * 1000, 0, 0, 1)
    return make_capture.record(9, 1, body + struct.pack("<3Q", 2, 2**64 - 128, address))


def write_capture(out, build_id, offsets, path=PATH):
    data = make_capture.comm(7, 7, "demo", 0) + mapping(path, build_id)
    data += b"".join(sample(BASE + offset, i) for i, offset in enumerate(offsets))
    addressed_capture.write_records(out, data)


class Tester:
    def __init__(self, program, folder, module):
        self.program, self.folder = program, folder
        self.functions, self.gone = loaded(module)
        self.offsets = [start + i for _, start, size in self.functions for i in range(size)]
        assert self.gone == ["starts"] and {name for name, _, _ in self.functions} >= {"plain", "ends", "rare", "quiet"}

    def name(self, build_id, *options, path=PATH):
        """The report of the only image, and the function and line of each offset."""
        capture, packed, named = (self.folder / name for name in ("k.perf.data", "k.spk", "named.spk"))
        write_capture(capture, build_id, self.offsets, path)
        subprocess.run([self.program, "convert", "--quiet", str(capture), "-o", str(packed)], check=True)
        done = subprocess.run([self.program, "symbolize", str(packed), "-o", str(named), "--sysroot",
                               str(self.folder / "root"), "--json", *options], check=True, stdout=subprocess.PIPE)
        (image,) = json.loads(done.stdout)["images"]
        listed = subprocess.run([self.program, "dump", str(named), "--names", "--json"], check=True,
                                stdout=subprocess.PIPE).stdout
        places = {}
        for row in json.loads(listed):
            places[int(row["address"].lstrip("k"), 16) - BASE] = (row["function"], row["source"], row.get("line", 0))
        return image, places

    def check(self, what, build_id, lines, **other):
        image, places = self.name(build_id, **other)
        assert image["named"] == len(self.offsets), (what, image)
        assert lines is None or (image["lines"] > 0) == lines, (what, image)
        for name, start, size in self.functions:
            for i in range(size):
                assert places[start + i][0] == name, (what, name, i, places[start + i])
        return image, places


def main():
    program, compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as text:
        folder = pathlib.Path(text)
        (folder / "demo.c").write_text(SOURCE)
        subprocess.run([compiler, "-x", "c", "-g", "-O2", "-gz=none", "-c", "demo.c", "-o", "demo.o"], check=True, cwd=folder)
        subprocess.run(["ld", "-r", "--build-id=sha1", "demo.o", "-o", "demo.ko"], check=True, cwd=folder)
        subprocess.run(["objcopy", "--compress-debug-sections=zlib", "demo.ko", "small.ko"], check=True, cwd=folder)
        subprocess.run(["objcopy", "--strip-debug", "demo.ko", "stripped.ko"], check=True, cwd=folder)
        subprocess.run(["objcopy", "--only-keep-debug", "demo.ko", "debug.ko"], check=True, cwd=folder)
        module = (folder / "demo.ko").read_bytes()
        build_id = build_id_of(module)
        tester = Tester(program, folder, module)
        at = folder / "root" / PATH[1:]
        at.parent.mkdir(parents=True)

        at.write_bytes(module)
        whole = tester.check("plain", build_id, True)
        assert {line for _, _, line in whole[1].values()} >= {2, 3, 5, 6, 7}, "lines"
        at.write_bytes((folder / "small.ko").read_bytes())
        assert tester.check("packed sections", build_id, True)[1] == whole[1]
        by_id = folder / "root/usr/lib/debug/.build-id" / build_id.hex()[:2] / (build_id.hex()[2:] + ".debug")
        by_id.parent.mkdir(parents=True)
        by_id.write_bytes(module)
        assert tester.check("by its name alone", build_id, True, path="[demo]")[1] == whole[1]
        by_id.unlink()
        image, _ = tester.name(bytes([7] * 20))
        assert image["named"] == 0 and image["reason"] == "the file there is of another build", image

        debug = folder / "root/usr/lib/debug" / PATH[1:]
        debug.parent.mkdir(parents=True, exist_ok=True)
        at.write_bytes((folder / "stripped.ko").read_bytes())
        tester.check("stripped", build_id, False)
        for ending in ("", ".debug"):
            beside = debug.with_name(debug.name + ending)
            beside.write_bytes((folder / "debug.ko").read_bytes())
            assert tester.check("debug file" + ending, build_id, True)[1] == whole[1]
            at.unlink()
            assert tester.check("debug file alone" + ending, build_id, True)[1] == whole[1]
            beside.unlink()
            at.write_bytes((folder / "stripped.ko").read_bytes())
        at.unlink()

        packings = {".xz": lzma.compress(module), ".gz": gzip.compress(module)}
        if shutil.which("zstd"):
            packings[".zst"] = subprocess.run(["zstd", "-c"], input=module, check=True, stdout=subprocess.PIPE).stdout
        for ending, content in packings.items():
            packed = at.with_name(at.name + ending)
            packed.write_bytes(content)
            assert tester.check(ending, build_id, True, path=PATH + ending)[1] == whole[1]
            image, _ = tester.name(bytes([7] * 20), path=PATH + ending)
            assert image["named"] == 0 and image["reason"] == "the file there is of another build", image
            packed.write_bytes(content[:len(content) // 2])
            image, _ = tester.name(build_id, path=PATH + ending)
            assert image["named"] == 0 and "cannot be read" in image["reason"], image
            packed.unlink()

        at.write_bytes(module)
        everywhere, tester.offsets = tester.offsets, [0x8000]
        image, _ = tester.name(build_id)
        assert image["reason"] == "none of its functions has one of these addresses", image
        subprocess.run(["objcopy", "--strip-all", "demo.ko", str(at)], check=True, cwd=folder)
        image, _ = tester.name(build_id)
        assert image["reason"] == "no symbols there", image
        tester.offsets = everywhere
        (folder / "kallsyms").write_text("".join(f"{BASE + start:x} t {name}_listed\t[demo]\n"
                                                 for name, start, _ in tester.functions))
        image, places = tester.name(build_id, "--kallsyms", str(folder / "kallsyms"))
        assert image["path"] == "[kernel]" and places[0][0].endswith("_listed"), (image, places[0])
        print(f"{len(tester.functions)} functions, {len(tester.offsets)} addresses, packed as {' '.join(packings)}")


if __name__ == "__main__":
    main()
