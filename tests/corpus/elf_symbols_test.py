#!/usr/bin/env python3
"""Names addresses of real ELF files and compares every line with those of llvm-symbolizer 19.

    elf_symbols_test.py NAME_ELF_ADDRESSES

The files are not part of the project: they are looked for in symbols/ of $STACKPACK_CORPUS, or of ../shared/corpus
beside the source tree. Without them the test is skipped (exit code 77). A line of expectations is an address, TAB, and the
chain of inlined functions, of which these differences are known and counted:

- unsized: the reference names padding, and what follows a symbol that has no size and is no function.
- spelling: lines and depth are equal, a name is written otherwise: by another demangler, or not demangled by one.
- file of a symbol: the reference takes the source file's symbol where there is no line.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys

SKIPPED = 77
KNOWN = {
    "symbolic-crash": {"equal": 3182, "unsized": 32, "spelling": 59, "file of a symbol": 9},
    "samply-with-dwo": {"equal": 195, "unsized": 2, "file of a symbol": 52},
}


def spelled(name):
    while "> >" in name:
        name = name.replace("> >", ">>")
    return re.sub(r"( \[clone [^]]*\])+| \(\.[^)]*\)", "", name)


def parts_of(chain):
    return [part.rpartition(" ")[::2] for part in chain.split(" | ")] if chain else []


def verdict(expected, answer):
    want, got = parts_of(expected), parts_of(answer)
    if not got:
        return "unsized"
    if len(want) != len(got):
        return "other depth"
    if [line for _, line in want] != [line for _, line in got]:
        return "file of a symbol" if got[0][1] == "-" and want[0][1].endswith(":0") else "other line"
    return "equal" if [spelled(name) for name, _ in want] == [spelled(name) for name, _ in got] else "spelling"


def check(program, expected, files):
    rows = [line.split("\t") for line in expected.read_text().splitlines()]
    done = subprocess.run([program, *files], input="".join(address + "\n" for address, _ in rows), text=True,
                          stdout=subprocess.PIPE, check=True)
    answers = [line.split("\t") for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == [answer[0] for answer in answers]
    return dict(collections.Counter(verdict(row[1], answer[1]) for row, answer in zip(rows, answers)))


def main():
    beside = pathlib.Path(__file__).resolve().parents[3] / "shared" / "corpus"
    folder = pathlib.Path(os.environ.get("STACKPACK_CORPUS", beside)) / "symbols"
    if not folder.is_dir():
        print(f"{folder} is not there: set STACKPACK_CORPUS")
        return SKIPPED
    problems = 0
    for name, files in {
        "symbolic-crash": ["symbolic-crash", "symbolic-crash.debug"],
        "symbolic-crash zlib": ["symbolic-crash", "symbolic-crash.debug-zlib"],
        "symbolic-crash zstd": ["symbolic-crash", "symbolic-crash.debug-zstd"],
        "samply-with-dwo": ["samply-with-dwo/main"],
    }.items():
        found = check(sys.argv[1], folder / f"{name.split()[0]}.expected.txt", [str(folder / file) for file in files])
        print(f"{name}: {found}")
        problems += found != KNOWN[name.split()[0]]
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
