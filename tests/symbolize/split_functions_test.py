#!/usr/bin/env python3
"""A function that a compiler split and put together again is one frame: split_functions_test.py PROGRAM COMPILER

Compiles a function that calls itself, whose calls are inlined: these are frames of their own. Then the same with calls that
come from where the function is declared, which is how a compiler writes the part of it that it put back: these are none.
"""
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
long slow(long, long*);
long again(int n, long x)
{
  if (n == 0)
    return slow(x, 0);
  return again(n - 1, x + 1) * slow(x, 0);
}
"""
DECLARED = {"line": 3, "column": 6}


def main():
    program, compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "code.c").write_text(SOURCE)
        subprocess.run([compiler, "-x", "c", "-gdwarf-4", "-O2", "-fPIC", "-dA", "-S", "code.c", "-o", "code.s"], check=True, cwd=folder)
        text = (folder / "code.s").read_text()
        split, calls = text, 0
        for what, number in DECLARED.items():
            split, found = re.subn(rf"(\.byte\s+)\w+(\s+\S+ DW_AT_call_{what}\b)", rf"\g<1>{number}\2", split)
            calls = min(calls or found, found)
        if not calls:
            print("skipped: this compiler inlines no call of a function by itself, or writes it otherwise")
            return 77
        most = {}
        for kind, assembly in (("recursive", text), ("split", split)):
            (folder / "code.s").write_text(assembly)
            subprocess.run([compiler, "-shared", "code.s", "-o", "code"], check=True, cwd=folder)
            offsets = sorted({start + i for start, size in material.functions_of(folder / "code") for i in range(size)})
            _, folded, _ = packages.Naming(program, folder, offsets).run()
            most[kind] = max(line.rpartition(b" ")[0].split(b";").count(b"again") for line in folded.splitlines())
        assert most["recursive"] > 1 and most["split"] == 1, most
        print(f"{calls} inlined calls, {most['recursive']} frames at most: {most['split']} where they are parts of the function")
    return 0


if __name__ == "__main__":
    sys.exit(main())
