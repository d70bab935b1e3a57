#!/usr/bin/env python3
"""Names random addresses of ELF files and compares with other programs, after seeing that the answers are equal.

    symbolize_bench.py PROGRAM FILE... [--addresses N] [--rounds N] [--without PEER]...

Writes a capture with N distinct addresses in functions of each FILE, names it with PROGRAM, and asks llvm-symbolizer,
addr2line and perf script (names alone), as far as they are installed, for the same addresses. Function and line of each address have to be the
same: what is not is counted, by kind. Then all run in turns; the least time of each counts, as a ratio to PROGRAM's.
"""
import argparse
import json
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "symbolize"))
sys.dont_write_bytecode = True
import addressed_capture  # noqa: E402

BASE = 0x10_0000_0000


def functions_of(path):
    rows = []
    for options in (["-S"], ["-S", "-D"]):
        listing = subprocess.run(["nm", *options, "--defined-only", path], check=True, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, text=True, errors="replace").stdout
        rows += [line.split() for line in listing.splitlines()]
    return sorted({(int(row[0], 16), int(row[1], 16)) for row in rows if len(row) == 4 and row[2] in "tTwW"})


def random_addresses(path, count):
    functions = functions_of(path)
    chance = random.Random(16)
    weights = [size for _, size in functions]
    found = set()
    for start, size in chance.choices(functions, weights, k=count):
        found.add(start + chance.randrange(size))
    return sorted(found)


def loads_of(path):
    data = open(path, "rb").read(4096)
    at = struct.unpack_from("<Q", data, 32)[0]
    rows = [struct.unpack_from("<IIQQQQ", data, at + 56 * i) for i in range(struct.unpack_from("<H", data, 56)[0])]
    return [(address, address + size, offset - address) for kind, flags, offset, address, _, size in rows
            if kind == 1 and flags & 1]


# A process begins with the most memory of the one that starts it: this one is small.
STARTER = """
import os, sys, time
begin = time.perf_counter()
process = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(process, 0)
open(sys.argv[1], "w").write(f"{time.perf_counter() - begin} {usage.ru_maxrss} {status}")
"""


def run(command, text=None):
    """Seconds, output and most memory in MiB of a command and its children."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as given, \
            tempfile.NamedTemporaryFile("r") as figures:
        given.write(text or "")
        given.seek(0)
        subprocess.run([sys.executable, "-IS", "-c", STARTER, figures.name, *command], check=True, stdin=given,
                       stdout=out, stderr=subprocess.DEVNULL)
        seconds, kilobytes, status = figures.read().split()
        if int(status) != 0:
            sys.exit(f"{command[0]}: status {status}")
        out.seek(0)
        return float(seconds), out.read(), int(kilobytes) / 1024


def spelling(name):
    """Demanglers differ in blanks and in how they write clones."""
    name = re.sub(r"> (?=>)", ">", name)
    return re.sub(r"( \[clone [^]]*\])+| \(\.[^)]*\)$", "", re.sub(r"> (?=>)", ">", name))


def ours(program, named):
    rows = {}
    for line in run([program, "dump", str(named), "--names"])[1].splitlines():
        if not line.startswith("#"):
            fields = line.split("\t")
            rows[int(fields[1], 16) - BASE] = (fields[4], fields[6], fields[7])
    return rows


def theirs(output):
    for line in output.splitlines():
        if line.strip():
            frames = json.loads(line).get("Symbol", [])
            inner, outer = (frames[0], frames[-1]) if frames else ({}, {})
            yield outer.get("FunctionName", ""), inner.get("FileName", ""), inner.get("Line", 0)


def compare(mine, output, addresses, offset_of):
    counts = {"same": 0, "other name": 0, "other line": 0}
    for address, (name, file, line) in zip(addresses, theirs(output)):
        got = mine.get(offset_of(address), ("", "", "0"))
        if got[2] in ("0", "-") and line == 0 or pathlib.Path(got[1]).name == pathlib.Path(file).name and got[2] == str(line):
            counts["same" if spelling(got[0]) == spelling(name) else "other name"] += 1
        else:
            counts["other line"] += 1
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--addresses", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--without", action="append", default=[], help="a program that takes too long for this file")
    arguments = parser.parse_args()
    for file in arguments.files:
        path = str(pathlib.Path(file).resolve())
        addresses = random_addresses(path, arguments.addresses)
        loads = loads_of(path)

        def offset_of(address):
            return next(address + move for begin, end, move in loads if begin <= address < end)

        addresses = [address for address in addresses if any(begin <= address < end for begin, end, _ in loads)]
        text = "".join(f"0x{address:x}\n" for address in addresses)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            capture, packed, named = (folder / part for part in ("x.perf.data", "x.spk", "named.spk"))
            addressed_capture.write(capture, [(BASE, 1 << 32, path)],
                                    [BASE + offset_of(address) for address in addresses])
            run([arguments.program, "convert", "--quiet", str(capture), "-o", str(packed)])
            commands = {"stackpack": [arguments.program, "symbolize", str(packed), "-o", str(named), "--sysroot", "/", "--json"]}
            if llvm := shutil.which("llvm-symbolizer"):
                commands["llvm-symbolizer"] = [llvm, f"--obj={path}", "--output-style=JSON"]
            if addr2line := shutil.which("addr2line"):
                commands["addr2line"] = [addr2line, "-f", "-i", "-C", "-e", path]
            if perf := shutil.which("perf"):
                commands["perf script"] = [perf, "script", "-i", str(capture), "-F", "ip,sym", "--no-inline"]
            for peer in arguments.without:
                commands.pop(peer, None)
            report = json.loads(run(commands["stackpack"])[1])
            print(f"{path}: {len(addresses)} addresses, {report['named']['addresses']} named, "
                  f"{report['lines']['addresses']} with lines; {named.stat().st_size - packed.stat().st_size} bytes added")
            if "llvm-symbolizer" in commands:
                output = run(commands["llvm-symbolizer"], text)[1]
                print("  compared with llvm-symbolizer:", compare(ours(arguments.program, named), output, addresses, offset_of))
            best = {}
            for _ in range(arguments.rounds):
                for what, command in commands.items():
                    seconds, _, memory = run(command, text)
                    best[what] = min(best.get(what, (seconds, memory)), (seconds, memory))
            for what, (seconds, memory) in best.items():
                print(f"  {what:16} {seconds:8.3f} s  x {seconds / best['stackpack'][0]:6.1f}  {memory:7.0f} MiB")


if __name__ == "__main__":
    main()
