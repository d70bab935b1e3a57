#!/usr/bin/env python3
"""Names from what was stripped from a program are those of the program: debug_files_test.py PROGRAM COMPILER

Links programs with GNU ld and lld, moved and not, strips them with the objcopy of GNU and of LLVM, and names random bytes of
their code by the image, the debug file alone, a bundle alone, a bundle and the debug file, the debug file and the image. Every
name is one that the symbol table of the image has there, and as many bytes have a name as in that table. Where
llvm-symbolizer is installed it names the same bytes by the image. Tools that are not installed are named and left out.
"""
import json
import pathlib
import random
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

ADDRESSES = 5000
FUNCTIONS = 400
SHARE = 0.99
PAGE = 4096
CODE = 6  # SHF_ALLOC, SHF_EXECINSTR
BIAS = 0x5555_5555_4000
PATH = "/nowhere/bin/demo"
LINKERS = {"bfd": "ld.bfd", "lld": "ld.lld"}
STRIPPERS = ("objcopy", "llvm-objcopy")
PIECE, ELSEWHERE = "a piece of the code", "no mapping of the code"
REASON = "only its debug file is here"


def source():
    """Code of many pages, data before it, functions of all kinds."""
    lines = ["static int before[30000] = {1};", "int writable[20000] = {2}; int zeros[30000];"]
    for i in range(FUNCTIONS):
        kind = ("static __attribute__((noinline))", "__attribute__((noinline, weak))", "__attribute__((noinline))")[i % 3]
        body = "".join(f"x += before[(x * {i + k + 3}) & {k + 7}]; if (x & {k + 1}) writable[{k}] ^= x;"
                       for k in range(1 + i * 7 % 10))
        lines.append(f"{kind} int function_{i}(int x) {{ {body} return x; }}")
    calls = "".join(f"x += function_{i}(x);" for i in range(FUNCTIONS))
    lines.append(f"int main(int x, char** v) {{ (void)v; {calls} return x + writable[x & 3] + zeros[x & 1]; }}")
    return "\n".join(lines)


class Image:
    """What its own headers and symbols say."""

    def __init__(self, path):
        self.data = data = path.read_bytes()
        (segments_at, sections_at) = struct.unpack_from("<QQ", data, 32)
        segment_bytes, segments, section_bytes, sections = struct.unpack_from("<HHHH", data, 54)
        rows = [struct.unpack_from("<IIQQQQQ", data, segments_at + i * segment_bytes) for i in range(segments)]
        self.loads = [row for row in rows if row[0] == 1]
        ((_, _, self.offset, self.address, _, self.size, _),) = [row for row in self.loads if row[1] & 1]
        self.end = max(row[3] + row[6] for row in self.loads)
        self.symbols, self.build_id, self.code = [], b"", []
        tables = [struct.unpack_from("<IIQQQQII", data, sections_at + i * section_bytes) for i in range(sections)]
        for _, kind, flags, address, at, size, link, _ in tables:
            if flags & CODE == CODE:
                self.code.append((address, address + size))
            if kind == 7 and data[at + 12:at + 16] == b"GNU\0" and struct.unpack_from("<I", data, at + 8) == (3,):
                self.build_id = data[at + 16:at + 16 + struct.unpack_from("<I", data, at + 4)[0]]
            if kind == 2:
                self.symbols = list(self.functions(at, size, tables[link][4]))

    def functions(self, at, size, texts):
        for symbol in range(at, at + size, 24):
            name, info, _, section, value, length = struct.unpack_from("<IBBHQQ", self.data, symbol)
            if info & 15 in (2, 10) and section:
                begin = texts + name
                yield value, length, self.data[begin:self.data.index(b"\0", begin)].decode()

    def names(self):
        """Of each byte of a function with a size: what it is called."""
        names = {}
        for start, size, name in self.symbols:
            for address in range(start, start + size):
                names.setdefault(address, set()).add(name)
        return names

    def mapping(self, bias):
        """(base, size, file offset) of the code as the kernel and the dynamic linker map it."""
        begin = self.address // PAGE * PAGE
        first = self.address == min(row[3] for row in self.loads)
        end = self.end if first and bias else self.address + self.size
        return bias + begin, (end - begin + PAGE - 1) // PAGE * PAGE, self.offset // PAGE * PAGE


def mmap2(base, size, offset, build_id):
    name = PATH.encode() + b"\0"
    body = struct.pack("<IIQQQ", addressed_capture.PID, addressed_capture.PID, base, size, offset)
    body += struct.pack("<B3x20sII", len(build_id), build_id, 5, 2) + name.ljust((len(name) + 7) // 8 * 8, b"\0")
    return make_capture.record(10, make_capture.MISC_USER | make_capture.MISC_BUILD_ID,
                               body + make_capture.sample_id(0, 0, 0, 0))


class Program:
    """A linked program with a capture of it."""

    def __init__(self, tester, folder, linker, moved, options=()):
        self.tester, self.folder = tester, folder
        folder.mkdir()
        kind = "pie" if moved else "no-pie"
        subprocess.run([*tester.compiler, f"-fuse-ld={linker}", "-f" + kind, "-" + kind,
                        "-Wl,--build-id=sha1", *options, str(tester.source[moved]), "-o", str(folder / "whole")],
                       check=True)
        self.image = Image(folder / "whole")
        assert len(self.image.build_id) == 20
        self.bias = BIAS if moved else 0
        self.names = self.image.names()
        inside = [address for begin, end in self.image.code for address in range(begin, end)]
        self.asked = sorted(random.Random(31).sample(inside, min(ADDRESSES, len(inside))))
        self.by_llvm = tester.ask_llvm(folder / "whole", self.asked)
        self.strip("objcopy")

    def strip(self, tool):
        for name, option in (("debug", "--only-keep-debug"), ("stripped", "--strip-all")):
            subprocess.run([tool, option, str(self.folder / "whole"), str(self.folder / name)], check=True)

    def capture(self, mapping):
        """A .spk file with a sample for each address."""
        data = make_capture.comm(addressed_capture.PID, addressed_capture.PID, "demo", 0)
        data += mmap2(*mapping, self.image.build_id)
        data += b"".join(addressed_capture.sample(self.bias + address, i) for i, address in enumerate(self.asked))
        addressed_capture.write_records(self.folder / "demo.data", data)
        self.tester.run("convert", "--quiet", str(self.folder / "demo.data"), "-o", str(self.folder / "demo.spk"), "--force")

    def place(self, name, **files):
        """A folder with files of the program under other names."""
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for at, file in files.items():
            shutil.copy(self.folder / file, folder / at.replace("_", "."))
        return str(folder)

    def bundle(self, name, *symbols):
        """A bundle with what `symbols` have, made on a machine that has the recording."""
        bundle = str(self.folder / name)
        self.tester.run("collect", str(self.folder / "demo.data"), "-o", bundle, "--quiet", "--force",
                        *[word for place in symbols for word in ("--symbols", place)])
        return bundle

    def name(self, *symbols):
        """The report of the image, and the name of each address."""
        named = str(self.folder / "named.spk")
        done = self.tester.run("symbolize", str(self.folder / "demo.spk"), "-o", named, "--json", "--force",
                               *[word for place in symbols for word in ("--symbols", place)])
        listed = self.tester.run("dump", named, "--names", "--json")
        images = [image for image in json.loads(done)["images"] if image["path"] == PATH]
        # Stubs of the linkage table are in no symbol table and no debug file; code_symbols_test.py has them.
        places = {int(row["address"].lstrip("u"), 16) - self.bias: row["function"] for row in json.loads(listed)
                  if row["function"] != ".plt" and not row["function"].endswith("@plt")}
        return (images or [None])[0], places

    def check(self, what, *symbols):
        _, places = self.name(*symbols)
        wrong = [address for address, name in places.items()
                 if name not in self.names.get(address, self.by_llvm.get(address, {name}))]
        assert not wrong, (self.folder.name, what, len(wrong), hex(wrong[0]), places[wrong[0]])
        for reader, names in (("the symbol table", self.names), ("llvm-symbolizer", self.by_llvm)):
            known = [address for address in self.asked if address in names]
            named = sum(1 for address in known if address in places)
            assert named >= SHARE * len(known), (self.folder.name, what, reader, named, len(known))
        return places

    def check_refused(self, what, *symbols):
        image, places = self.name(*symbols)
        assert not places, (self.folder.name, what, len(places))
        assert image is None or REASON in image["reason"], (self.folder.name, what, image)


class Tester:
    def __init__(self, program, compiler, folder):
        self.program, self.folder = program, folder
        self.compiler = [compiler]
        text = folder / "demo.c"
        text.write_text(source())
        self.source = {}
        for moved in (False, True):
            self.source[moved] = folder / f"demo{moved:d}.o"
            subprocess.run([compiler, "-x", "c", "-O1", "-g1", "-fPIE" if moved else "-fno-pie", "-c", str(text), "-o",
                            str(self.source[moved])], check=True)
        self.llvm = shutil.which("llvm-symbolizer")
        self.left_out = [] if self.llvm else ["llvm-symbolizer"]

    def run(self, *words):
        done = subprocess.run([self.program, *words], check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert done.returncode == 0, (words, done.stderr.decode())
        return done.stdout

    def ask_llvm(self, image, addresses):
        """Address to names, where it knows one."""
        if not self.llvm:
            return {}
        done = subprocess.run([self.llvm, "--obj=" + str(image), "--output-style=GNU", "--functions=linkage", "--no-inlines"],
                              input="".join(f"{address:#x}\n" for address in addresses), text=True, check=True,
                              stdout=subprocess.PIPE)
        lines = done.stdout.splitlines()[::2]
        assert len(lines) == len(addresses), (len(lines), len(addresses))
        return {address: {name} for address, name in zip(addresses, lines) if name != "??"}


def check_cells(program, stripper):
    """All ways to name a program that `stripper` stripped. The numbers of named addresses."""
    program.strip(stripper)
    program.capture(program.image.mapping(program.bias))
    image = program.place("image", demo="whole")
    debug = program.place("debug_alone", demo_debug="debug")
    both = program.place("both", demo="stripped", demo_debug="debug")
    stripped = program.place("stripped_alone", demo="stripped")
    bundle = program.bundle("bundle.zip", image)
    cells = {
        "image": [image], "debug file alone": [debug], "debug file and image": [both], "debug file, image": [debug, stripped],
        "bundle alone": [bundle], "bundle, debug file": [bundle, debug], "debug file, bundle": [debug, bundle],
        "bundle of the stripped image, debug file": [program.bundle("stripped.zip", stripped), debug],
        "bundle of the debug file": [program.bundle("debug.zip", debug)],
        "bundle of both": [program.bundle("both.zip", both)],
    }
    places = {what: program.check(what, *symbols) for what, symbols in cells.items()}
    for what, found in places.items():
        assert found == places["image"], (program.folder.name, what, "names other addresses than the image, or otherwise")
    return {what: len(found) for what, found in places.items()}


def check_refusals(program):
    """A mapping that does not say what it is: nothing but the image or a bundle of it names."""
    base, size, offset = program.image.mapping(program.bias)
    debug = program.place("debug_alone", demo_debug="debug")
    stripped = program.place("stripped_alone", demo="stripped")
    program.capture((base, size, offset))
    bundle = program.bundle("bundle.zip", stripped)
    program.capture((base + PAGE, size - PAGE, offset + PAGE))
    program.asked = [address for address in program.asked if program.bias + address >= base + PAGE]
    program.check_refused(PIECE, debug)
    program.check_refused(PIECE, program.bundle("debug.zip", debug))
    for symbols in ([debug, stripped], [debug, bundle], [bundle, debug]):
        program.check(PIECE, *symbols)


def main():
    program, compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        tester = Tester(program, compiler, pathlib.Path(name))
        strippers = [tool for tool in STRIPPERS if shutil.which(tool)]
        tester.left_out += [tool for tool in STRIPPERS if tool not in strippers]
        assert "objcopy" in strippers
        cells = 0
        for linker, tool in LINKERS.items():
            if not shutil.which(tool):
                tester.left_out.append(tool)
                continue
            for moved in (True, False):
                # The second way GNU ld has code in the first segment, which is mapped for all of them; lld has a way of its own.
                for options in ((), ("-Wl,-z,noseparate-code",))[:2 if linker == "bfd" else 1]:
                    folder = tester.folder / "-".join([linker, "moved" if moved else "fixed", *options]).replace(",", "")
                    one = Program(tester, folder, linker, moved, options)
                    for stripper in strippers:
                        counts = check_cells(one, stripper)
                        cells += len(counts)
                        print(f"{folder.name}, {stripper}: {len(one.asked)} addresses, named: {counts}")
            check_refusals(Program(tester, tester.folder / f"{linker}-refused", linker, True))
        print(f"{cells} cells; not installed, left out: {', '.join(tester.left_out) or 'nothing'}")
        assert cells > 0


if __name__ == "__main__":
    main()
