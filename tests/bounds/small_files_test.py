#!/usr/bin/env python3
"""Small files do not cost much, whatever is in them: small_files_test.py PROGRAM [--all] [--seed N] [--table]

Every command with every family of files below 1 MB that are read as something much larger: chains of inlined calls in deep callstacks,
intervals that are alike, archives of many members, long names; and patterns that are hard to look for. Each run may take 5 s of the processor's
time and 400 MB. A refusal passes where verify refuses the file, or where the question passes a limit of docs/cli.md.
Without --all every tenth run, from a seed.
"""
import argparse
import pathlib
import random
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
import extremes_test  # noqa: E402
import families_test  # noqa: E402
import make_capture  # noqa: E402  (families_test has added its folder)

MOST_SECONDS, MOST_BYTES = 5.0, 400 << 20
TRIES = 3
TENTH = 10
DAMAGED, GOOD, NOTHING = 2, 0, 1


def with_inlined(path):
    """100 locations of 500 lines each, and samples of 120 of them."""
    generator = random.Random(4)
    names = [b"", b"samples", b"count"] + [b"f%d" % i for i in range(2000)]
    profile = [(1, [(1, 1), (2, 2)])]
    profile += [(2, [(1, b"".join(extremes_test.varint(generator.randrange(1, 101)) for _ in range(120))), (2, b"\x01")]) for _ in range(400)]
    profile += [(4, [(1, at), (3, 0x1000 * at)] + [(4, [(1, generator.randrange(1, 2001)), (2, 7)]) for _ in range(500)]) for at in range(1, 101)]
    profile += [(5, [(1, number), (2, number + 2)]) for number in range(1, 2001)]
    path.write_bytes(extremes_test.message(profile + [(6, name) for name in names]))


def with_intervals(path):
    """A thread that leaves the processor and comes back, always after the same time."""
    whole = subprocess.run([sys.executable, "-B", make_capture.__file__, str(path), "4000", "--switches"], check=True, capture_output=True)
    assert whole.returncode == 0


def with_members(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(1024):
            archive.writestr(f"{i}.perf.data", extremes_test.FOLDED if i else "main 1\n")
        for i in range(7000):
            archive.writestr(zipfile.ZipInfo(f"{i:x}"), b"")


def with_long_names(path):
    """Of 2,000 letters each, all but the last 40 the same."""
    generator = random.Random(3)
    path.write_text("".join(f"main;{'x' * 1960}{generator.getrandbits(160):040x} 1\n" for _ in range(14_000)))


def with_anything(path):
    path.write_text("".join(f"main;ns::Engine<int>::apply{i}(int, std::vector<long> const&);aab{i % 7}abab 1\n" for i in range(4000)))


FAMILIES = {"inlined": (with_inlined, "f7"), "intervals": (with_intervals, "0x401010"), "members": (with_members, "main"),
            "names": (with_long_names, "main"), "patterns": (with_anything, "main")}
MORE_COMMANDS = {"top": ["{file} --by callstack", "{file} --tree", "{file} --event blocked"],
                 "waits": ["{file}", "{file} --list", "{file} --path 0"],
                 "convert": ["{capture} --out-dir {out}"]}
PATTERNS = ["/" + "(" * 20_000 + "a" + ")" * 20_000 + "/", "/(a*)*c$/", "/(a|aa)+c/", r"/\w{600}c/", "/(?=a)/", "/" + "(a?b?){300}" + "c/",
            "/" + "|".join(f"fn{i}x" for i in range(300)) + "/", "*" + "a" * 20_000 + "*", "?" * 18_000, "*a" * 9_000, "*" + "?b" * 200 + "*", "q" * 40_000]
PATTERN_COMMANDS = [("top", "--focus"), ("top", "--ignore"), ("top", "--hide"), ("callers", None), ("callees", None), ("diff", "--of")]


def runs_of(program, folder, name):
    """(what it is, words) of a family, whose files are made here."""
    write, function = FAMILIES[name]
    folder.mkdir()
    places = {"capture": folder / "capture", "file": folder / "packed.spk", "out": folder / "out", "maps": folder, "base": folder / "base",
              "function": function}
    write(places["capture"])
    if name == "members":
        return [(f"{name}: convert", ["convert", str(places["capture"]), "--out-dir", str(places["out"])])]
    made = families_test.run([program, "convert", str(places["capture"]), "-o", str(places["file"]), "--quiet"])
    assert made[0] == GOOD, made
    assert places["file"].stat().st_size < 1 << 20, name
    families_test.run([program, "baseline", "add", str(places["base"]), str(places["file"]), "--commit", "one"])
    found = []
    if name == "patterns":
        for pattern in PATTERNS:
            for command, option in PATTERN_COMMANDS:
                words = [command, str(places["file"])] + (["--against", str(places["file"])] if command == "diff" else [])
                found.append((f"patterns: {command} {option or ''} {pattern[:30]}", words + ([option] if option else []) + [pattern]))
    for command in families_test.commands_of(program):
        for arguments in families_test.COMMANDS.get(command, ["{file}"]) + MORE_COMMANDS.get(command, []):
            words = [word.format(**places) for word in arguments.split()]
            found.append((f"{name}: {command} {arguments}", [command, *words]))
    return found


def problem_of(program, what, words, out, measured):
    for _ in range(TRIES):
        subprocess.run(["rm", "-rf", str(out)], check=True)
        status, seconds, memory, _, said = families_test.run([program, *words])
        if seconds <= MOST_SECONDS:
            break
    measured.append((seconds, memory, what))
    if status not in families_test.USAGE_OF_NOTHING:
        return f"{what}: ended with {status}: {said}"
    if status == DAMAGED and not what.startswith(("inlined: query", "intervals: query", "names: query", "patterns: query")):
        return f"{what}: takes the file for damaged: {said}"
    if seconds > MOST_SECONDS or memory > MOST_BYTES:
        return f"{what}: {seconds:.2f} s, {memory >> 20} MiB"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--all", action="store_true", help="not every tenth run alone")
    parser.add_argument("--seed", type=int, default=20261128)
    parser.add_argument("--table", action="store_true", help="the runs that take the most")
    parser.add_argument("families", nargs="*", default=list(FAMILIES))
    asked = parser.parse_args()
    problems, measured = [], []
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        runs = [(folder / name / "out", *each) for name in asked.families or FAMILIES for each in runs_of(asked.program, folder / name, name)]
        if not asked.all:
            runs = random.Random(asked.seed).sample(runs, max(1, len(runs) // TENTH))
        for out, what, words in runs:
            if problem := problem_of(asked.program, what, words, out, measured):
                problems.append(problem)
    if asked.table:
        for at in (0, 1):
            for seconds, memory, what in sorted(measured, key=lambda row: -row[at])[:10]:
                print(f"{seconds:6.2f} s {memory >> 20:5} MiB  {what}")
    for problem in problems:
        print("FAILED " + problem)
    print(f"{len(measured)} runs (seed {asked.seed}), at most {max(row[0] for row in measured):.2f} s and "
          f"{max(row[1] for row in measured) >> 20} MiB, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
