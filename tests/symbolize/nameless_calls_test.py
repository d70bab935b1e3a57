#!/usr/bin/env python3
"""Inlined calls whose names are in a file that is missing are never shown: nameless_calls_test.py PROGRAM COMPILER

Compiles a library with inlined calls, takes from them what says which function they are, as dwz does when it moves
functions to a shared file, and names every byte of its code. What is inside such a call belongs to the function around it,
at the line of the call, and the report counts the calls.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import damaged_files_test as material  # noqa: E402
import split_packages_test as packages  # noqa: E402

SOURCE = """
static inline __attribute__((always_inline)) int square(int x) {
  return x * __builtin_popcount(x) + 1;
}
int outer(int a, int b) {
  int s = a;
  s += square(b);
  return s * b;
}
"""
CALLED, CALL = 3, 7  # lines of the function that is inlined, and of the only call


def compiled(compiler, folder, nameless):
    subprocess.run([compiler, "-x", "c", "-g", "-O2", "-fPIC", "-dA", "-S", "code.c", "-o", "code.s"], check=True, cwd=folder)
    text = (folder / "code.s").read_text()
    if nameless:
        # Tag and children, then the first attribute: DW_AT_abstract_origin becomes one that nobody knows.
        text, count = re.subn(r"(\.uleb128 0x1d\b[^\n]*\n\s*\.byte\s[^\n]*\n\s*\.uleb128 )0x31\b", r"\g<1>0x2fff", text)
        assert count > 0, "no inlined call in this program"
        (folder / "code.s").write_text(text)
    subprocess.run([compiler, "-shared", "code.s", "-o", "code"], check=True, cwd=folder)


def main():
    program, compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "code.c").write_text(SOURCE)
        seen = {}
        for nameless in (False, True):
            compiled(compiler, folder, nameless)
            offsets = sorted({start + i for start, size in material.functions_of(folder / "code") for i in range(size)})
            image, folded, _ = packages.Naming(program, folder, offsets).run()
            listed = subprocess.run([program, "dump", str(folder / "named.spk"), "--names", "--json"], check=True,
                                    stdout=subprocess.PIPE).stdout
            seen[nameless] = image, folded, {row.get("line", 0) for row in json.loads(listed)}
        image, folded, lines = seen[False]
        assert CALLED in lines, lines
        assert b"outer;square" in folded and "inlined" not in image["reason"], (image, folded)
        image, folded, lines = seen[True]
        frames = [frame for line in folded.splitlines() for frame in line.rpartition(b" ")[0].split(b";")]
        assert b"outer" in frames and b"square" not in frames and b"" not in frames, folded
        assert "inlined calls are named in a file" in image["reason"], image
        assert CALL in lines and CALLED not in lines, lines
        print(f"{len(offsets)} addresses: {image['reason']}")


if __name__ == "__main__":
    main()
