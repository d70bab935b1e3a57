#!/usr/bin/env python3
"""Names addresses of real PDBs and compares every line with a reference reader's.

    pdb_test.py NAME_PDB_ADDRESSES

The PDBs are not part of the project: they are looked for in symbols/ of $STACKPACK_CORPUS, or of ../shared/corpus
beside the source tree. Without them the test is skipped (exit code 77). Each NAME.pdb has a
NAME.pdb.expected.txt: `RVA kind name+offset file:line`, of which these differences are known and counted:

- unbounded: the reference names what follows a public symbol until the next one, padding and other object files'
  data included; here a symbol ends with its contribution.
- folded: several functions became one. The reference takes the line that is last by text; here it is that of the
  object file whose name was taken.
- hidden: lines 0xF00F00 and 0xFEEFEE mean that the code has no line.
- tied: two entries of lines at one offset. The reference takes the higher line; here the last one counts.
"""
import collections
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
KNOWN = {
    "samply-WriteArgument.pdb": {"equal": 498, "unbounded": 816, "folded": 2},
    "symbolic-crash.pdb": {"equal": 1264, "unbounded": 49, "folded": 1, "hidden": 1, "tied": 1},
}
# Of the lines that differ, by name of the function.
FOLDED = ["_matherr", "_initialize_invalid_parameter_handler"]
TIED = ["std::bad_alloc::bad_alloc"]


def verdict(expected, answer):
    address, kind, rest = expected.split(" ", 2)
    fields = answer.split("\t")
    if fields[0] != address:
        return "other address"
    if fields[1] == "none":
        return "unbounded" if kind == "public" else "no name"
    name, line = fields[1], fields[2]
    if rest == f"{name} {line}":
        return "equal"
    function = name.rpartition("+")[0]
    if not rest.startswith(name + " "):
        return "other name"
    if rest.endswith((":15732480", ":16707566")) and line == "-":
        return "hidden"
    return "folded" if function in FOLDED else "tied" if function in TIED else "other line"


def check(program, pdb):
    lines = pathlib.Path(f"{pdb}.expected.txt").read_text().splitlines()
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as addresses:
        addresses.writelines(line.split(" ", 1)[0] + "\n" for line in lines)
        addresses.flush()
        done = subprocess.run([program, str(pdb), addresses.name], stdout=subprocess.PIPE, check=True)
    answers = done.stdout.decode().splitlines()
    if len(answers) != len(lines):
        return [f"{pdb.name}: {len(answers)} answers to {len(lines)} addresses"]
    verdicts = collections.Counter(verdict(*pair) for pair in zip(lines, answers))
    print(f"{pdb.name}: {dict(verdicts)}")
    return [] if verdicts == KNOWN[pdb.name] else [f"{pdb.name}: {dict(verdicts)}, not {KNOWN[pdb.name]}"]


def main():
    beside = pathlib.Path(__file__).resolve().parents[3] / "shared" / "corpus"
    folder = pathlib.Path(os.environ.get("STACKPACK_CORPUS", beside)) / "symbols"
    if not folder.is_dir():
        print(f"{folder} is not there: set STACKPACK_CORPUS")
        return SKIPPED
    problems = [problem for name in KNOWN for problem in check(sys.argv[1], folder / name)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
