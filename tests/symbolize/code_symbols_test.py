#!/usr/bin/env python3
"""Labels of assembly and stubs of the linkage table have names: code_symbols_test.py PROGRAM COMPILER

Assembles functions with and without type and size and names every byte of them. Links a library in several ways, and names
every instruction of its stubs as objdump does. Stubs of Arm64 are those that mold wrote, in a file that is made here.
"""
import json
import pathlib
import platform
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import damaged_files_test as material  # noqa: E402

# Name of the function that has the 8 bytes, and what is written before them.
LABELS = [
    ("typed", ".globl typed\n.type typed,@function\ntyped:"),
    ("typed", ".Llocal:"),  # kept in the table by the assembler's -L
    ("second", ".globl second\nsecond:"),
    ("second", "second.loop:"),
    ("hidden", ".globl hidden\n.hidden hidden\nhidden:"),
    ("inner", "inner:"),
    ("sized", ".globl sized\n.type sized,@function\nsized:\n.size sized,24"),
    ("entry", ".globl entry\nentry:"),
    ("entry", ""),
    ("last", ".globl last\nlast:"),
    (None, ".type table,@object\ntable:"),
]
CALLS = """
int alpha(int); int beta(int); namespace far_away { int gamma(const char*, long); }
int (*pointer)(int) = beta;
int own(int x) { return alpha(x) + beta(x) + far_away::gamma("", x); }
int twice(int x) { int (*volatile chosen)(int) = alpha; return chosen(x) + own(x); }
"""
LINKS = ["-z,lazy", "-z,now", "-z,ibtplt", "-z,ibtplt,-z,now"]


def names_of(program, folder, offsets):
    """Name of the function by offset in the file `code`."""
    material.write_capture(folder / "code.data", ["code"], offsets)
    subprocess.run([program, "convert", "--quiet", "code.data", "-o", "code.spk", "--force"], check=True, cwd=folder)
    subprocess.run([program, "symbolize", "code.spk", "-o", "named.spk", "--sysroot", ".", "--force", "--json"], check=True, cwd=folder,
                   stdout=subprocess.DEVNULL)
    rows = subprocess.run([program, "dump", "named.spk", "--names", "--json"], check=True, cwd=folder, stdout=subprocess.PIPE).stdout
    return {row["offset"]: row["function"] for row in json.loads(rows)}


def sections_of(image):
    """(address, size, file offset) of the sections with code, by name."""
    listed = subprocess.run(["readelf", "-SW", str(image)], check=True, stdout=subprocess.PIPE, text=True).stdout
    rows = re.findall(r"\] (\S+) +PROGBITS +(\w+) (\w+) (\w+) \w+ +AX", listed)
    return {name: (int(address, 16), int(size, 16), int(at, 16)) for name, address, at, size in rows}


def test_labels(program, compiler, folder):
    source = ".text\n.balign 16\n" + "".join(f"{text}\n.fill 8,1,0x90\n" for _, text in LABELS)
    (folder / "labels.s").write_text(source + '.section .note.GNU-stack,"",@progbits\n')
    subprocess.run([compiler, "-Wa,-L", "-shared", "-nostdlib", "labels.s", "-o", "code"], check=True, cwd=folder)
    _, size, start = sections_of(folder / "code")[".text"]
    assert size == 8 * len(LABELS), size
    names = names_of(program, folder, list(range(start, start + size)))
    for i, (name, _) in enumerate(LABELS):
        for offset in range(start + 8 * i, start + 8 * i + 8):
            assert names.get(offset) == name, (offset - start, names.get(offset), name)
    print(f"{size} bytes of assembly")


ALIASES = """
__attribute__((noinline)) long __GI___do_it(long x) { return x * x + 1; }
extern __typeof(__GI___do_it) do_it __attribute__((alias("__GI___do_it"), weak));
long from_c(long x) { return x - 1; }
"""


def test_aliases(program, compiler, folder):
    (folder / "aliases.c").write_text(ALIASES)
    subprocess.run([compiler, "-x", "c", "-O1", "-fPIC", "-shared", "aliases.c", "-o", "code"], check=True, cwd=folder)
    offsets = [start + i for start, size in material.functions_of(folder / "code") for i in range(size)]
    names = names_of(program, folder, sorted(set(offsets)))
    assert "__GI___do_it" in names.values() and "do_it" not in names.values(), names

    def rows(file, *options):
        done = subprocess.run([program, "top", file, "--json", *options], check=False, cwd=folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        return {row["name"] for row in json.loads(done.stdout)["rows"]} if done.returncode == 0 else done.stderr

    for command, *more in (["cut", "named.spk"], ["merge", "named.spk", "named2.spk"], ["symbolize", "named.spk", "--sysroot", "."]):
        if command == "merge":
            names_of(program, folder, sorted(set(offsets))[:-1])
            subprocess.run([program, "cut", "named.spk", "--focus", "do_it", "-o", "named2.spk"], check=True, cwd=folder)
            names_of(program, folder, sorted(set(offsets)))
        subprocess.run([program, command, *more, "-o", "out.spk", "--force"], check=True, cwd=folder, stdout=subprocess.DEVNULL)
        subprocess.run([program, "verify", "out.spk"], check=True, cwd=folder, stdout=subprocess.DEVNULL)
        assert rows("out.spk", "--focus", "do_it") == {"__GI___do_it"}, (command, rows("out.spk", "--focus", "do_it"))
        assert "from_c" in rows("out.spk", "--ignore", "do_it"), command
        found = subprocess.run([program, "callers", "out.spk", "do_it"], check=True, cwd=folder, stdout=subprocess.PIPE, text=True).stdout
        assert "__GI___do_it" in found, found
    subprocess.run([program, "redact", "named.spk", "-o", "out.spk", "--force"], check=True, cwd=folder, stdout=subprocess.DEVNULL)
    assert b"do_it" not in b"".join(line.encode() for line in str(rows("out.spk")).split("\n"))
    assert rows("out.spk", "--focus", "do_it") != {"__GI___do_it"}
    print("aliases find their functions")


def stubs_by_objdump(image):
    """The linked name of each stub by the addresses of its instructions; None: what begins .plt."""
    sections = [name for name in sections_of(image) if name.startswith(".plt")]
    listed = subprocess.run(["objdump", "-d", "--no-show-raw-insn", *(f"-j{name}" for name in sections), str(image)], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    stub, found = None, {}
    for line in listed.splitlines():
        if head := re.match(r"[0-9a-f]{8,} <(.*)>:$", line):
            stub = head[1].removesuffix("@plt") if head[1].endswith("@plt") else None
        elif instruction := re.match(r" *([0-9a-f]+):\t", line):
            found[int(instruction[1], 16)] = stub
    return found


def readable(linked):
    return {"_ZN8far_away5gammaEPKcl": "far_away::gamma(char const*, long)", "_Z5alphai": "alpha(int)", "_Z4betai": "beta(int)",
            "_Z3owni": "own(int)"}.get(linked, linked)


def test_stubs(program, compiler, folder, link):
    (folder / "calls.cc").write_text(CALLS)
    done = subprocess.run([compiler, "-O1", "-fPIC", "-fcf-protection", "-shared", "-Wl," + link, "calls.cc", "-o", "code"], cwd=folder,
                          check=False, stderr=subprocess.PIPE)
    if done.returncode != 0:
        print(f"left out: a library with -Wl,{link}: {done.stderr.decode().splitlines()[-1]}")
        return
    stubs = stubs_by_objdump(folder / "code")
    assert sum(stub is not None for stub in stubs.values()) >= 4, stubs
    moves = {address + i: at - address for address, size, at in sections_of(folder / "code").values() for i in range(size)}
    names = names_of(program, folder, sorted(address + moves[address] for address in stubs))
    for address, stub in stubs.items():
        name = names.get(address + moves[address])
        assert name == (readable(stub) + "@plt" if stub else ".plt"), (link, hex(address), name, stub)
    print(f"{len(stubs)} instructions of stubs with -Wl,{link}")


def arm64_image(stubs, slots):
    """A file whose .plt, at 0x10450, has the words `stubs`; `slots`: (address, name) of its relocations."""
    strings, symbols, relocations = b"\0", bytes(24), b""
    for i, (slot, name) in enumerate(slots):
        symbols += struct.pack("<IBBHQQ", len(strings), 0x12, 0, 0, 0, 0)
        strings += name.encode() + b"\0"
        relocations += struct.pack("<QQq", slot, (i + 1) << 32 | 1026, 0)  # R_AARCH64_JUMP_SLOT
    names = b"\0.plt\0.rela.plt\0.dynsym\0.dynstr\0.shstrtab\0"
    parts = [(".plt", 1, 6, 0, 0, struct.pack(f"<{len(stubs)}I", *stubs)), (".rela.plt", 4, 2, 3, 24, relocations),
             (".dynsym", 11, 2, 4, 24, symbols), (".dynstr", 3, 2, 0, 0, strings), (".shstrtab", 3, 0, 0, 0, names)]
    content, headers = bytes(0x450), bytes(64)
    for name, kind, flags, link, entry, data in parts:
        content = content.ljust((len(content) + 7) // 8 * 8, b"\0")
        headers += struct.pack("<IIQQQQIIQQ", names.index(name.encode() + b"\0"), kind, flags, 0x10000 + len(content), len(content), len(data),
                               link, 0, 16, entry)
        content += data
    header = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack("<HHIQQQIHHHHHH", 3, 183, 1, 0, 64, len(content), 0, 64, 56, 1, 64, 6, 5)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 0x10000, 0x10000, len(content), len(content), 0x1000)
    return (header + segment + content[len(header + segment):] + headers)


def test_arm64(program, folder):
    head = [0xA9BF7BF0, 0x90000110, 0xF9436211, 0x911B0210, 0xD61F0220, 0xD503201F, 0xD503201F, 0xD503201F]
    plain = [0x90000110, 0xF9436611, 0x911B2210, 0xD61F0220, 0x90000110, 0xF9436A11, 0x911B4210, 0xD61F0220]
    padded = [word for at in (0, 4) for word in [0xD503245F, *plain[at:at + 4], 0xD503201F]]
    for body, words in ((plain, 4), (padded, 6)):
        (folder / "code").write_bytes(arm64_image(head + body, [(0x306C8, "beta"), (0x306D0, "_ZN8far_away5gammaEPKcl")]))
        offsets = list(range(0x450, 0x450 + 4 * len(head + body), 4))
        names = names_of(program, folder, offsets)
        expected = [".plt"] * len(head) + ["beta@plt"] * words + ["far_away::gamma(char const*, long)@plt"] * words
        assert [names.get(offset) for offset in offsets] == expected, names
    print("stubs of Arm64, with and without landing pads")


def main():
    program, compiler = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        test_arm64(program, folder)
        if platform.machine() != "x86_64" or shutil.which("objdump") is None:
            print("left out: assembly of x86-64 and objdump")
            return
        test_labels(program, compiler, folder)
        test_aliases(program, compiler, folder)
        for link in LINKS:
            test_stubs(program, compiler, folder, link)


if __name__ == "__main__":
    main()
