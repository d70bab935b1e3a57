#!/usr/bin/env python3
"""What the readers of all formats make of small captures, whole and damaged, in figures: figures_test.py PROGRAM ROOT [--rewrite] [NAME...]

The model asks what reports say of an .spk file, not what of a capture got into it. figures.txt has of each capture its listings: rows,
the range and the mean of each column of numbers, how many different words one of words has, and of some captures the first rows. Of a
capture that is damaged in many places it has what became of the copies. Look at a difference as at a change of what is read.
"""
import argparse
import collections
import concurrent.futures
import fractions
import json
import os
import pathlib
import re
import sys
import tempfile

from answers_test import GROUPS, Tools
from used_options import IMAGE, LISTINGS

STORED = pathlib.Path(__file__).resolve().parent / "figures.txt"
HEAD = """# Why this stands here: no other tool reads all that our readers read, and the model begins at the .spk file. A change of a reader shows here
# as other figures: rows, least to most and mean of a column, different words (w). scripts/update-golden writes it; look at the difference.
"""
SHOWN = {  # rows of each listing
    1: ["testdata/tiny.perf.data", "testdata/kernel.x64.etl", "testdata/runtime.nettrace", "testdata/small.netperf", "testdata/jfr/java.jfr.gz",
        "testdata/tiny.script.txt", f"switches:24 --switches {IMAGE}", "memory:30 --memory", f"branches:12 --branches {IMAGE}",
        "fuzz/corpus/import_[!v]*/*"],  # those of V8 have a reader of their own in v8_test.py
    0: ["testdata/[!t]*.perf.data", "testdata/[!k]*.etl", "testdata/kernel.x86.etl", "testdata/small*.nettrace", "testdata/*.v6.netperf", "testdata/jfr/async.jfr.gz",
        "testdata/memory/script.txt", "testdata/branches/loop.perf.data.gz", "testdata/unwind/*.data", "testdata/spk/v1*/*.spk", "cgroups:20 --cgroups a,b,c",
        "broken:12 --broken", "lost:9 --lost 7", "fuzz/corpus/etl_file/form[0-5]*", "fuzz/corpus/etl_file/next*", "fuzz/corpus/nettrace_file/*"],
}
TOGETHER = (("losses", "metadata"), ("stacks", "samples"), ("processes", "threads", "modules", "events", "functions", "names"))  # in a line
DAMAGED = ("perf", "records", "traces", "text", "profiles")
NOT_OURS = {"fingerprint", "clock.wall_offset_ns"}


def short(number):
    """A number, or a mean of them, exact to six places."""
    return str(int(number)) if number == int(number) else f"{float(number):.6f}"


def number_of(value):
    """A number of JSON or of a text that is one; nothing where it is none."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return value
    return int(value, 16 if value[1:2] == "x" else 10) if re.fullmatch(r"0x[0-9a-f]+|[0-9]{1,19}", value) else None


def columns_of(row, at=""):
    """Columns and values of a row; what is nested has its path."""
    if isinstance(row, dict):
        for key, value in row.items():
            yield from columns_of(value, f"{at}.{key}" if at else key)
    elif isinstance(row, list):
        yield f"{at}[]", len(row)
        for value in row:
            yield from columns_of(value, at)
    else:
        yield at, row


def figures_of(rows):
    """Each column in a few words."""
    columns = collections.defaultdict(list)
    for row in rows:
        for name, value in columns_of(row):
            columns[name].append(value)
    for name, values in columns.items():
        numbers = [number_of(value) for value in values]
        if None not in numbers:
            least, most = min(numbers), max(numbers)
            mean = fractions.Fraction(sum(map(fractions.Fraction, numbers)), len(numbers)) - fractions.Fraction(least)
            yield f"{name} {short(least)}" + (f"+{short(most - least)}~{short(mean)}" if most != least else "")
        elif any(value not in (None, "", "-") for value in values):
            words = [str(value) for value in values]
            yield f"{name} {len(set(words))}w{sum(map(len, words))}"


def listing(tools, packed, name, shown):
    status, output, _ = tools.run_alone(["dump", packed, f"--{name}", "--json"])
    rows = json.loads(output) if status == 0 and output else None
    if rows is None:
        yield f"  {name}: status {status}"
    elif rows and name == "metadata":  # its values are of all kinds
        yield f"  {name} {len(rows)}: {' '.join(row['key'] + '=' + row['value'][:24] for row in rows if row['key'] not in NOT_OURS)}"[:300]
    elif rows and name == "losses":
        yield f"  {name} {len(rows)}: {' '.join(row['name'] + '=' + str(row['count']) for row in rows if row['count'])}"
    elif rows:
        yield f"  {name} {len(rows)}: {' '.join(figures_of(rows))}"
    if rows and shown and name in ("stacks", "samples", "intervals", "event-values", "sample-fields", "branches"):
        text = tools.run_alone(["dump", packed, f"--{name}", "--limit", str(shown)])[1].decode(errors="backslashreplace")
        yield from (f"    {line[:160]}" for line in text.splitlines()[:shown] if not line.startswith("#"))


def of_captures(tools, captures, shown):
    for name in tools.inputs(captures):
        packed = name if name.endswith(".spk") else "packed.spk"
        if packed != name:
            status, output, messages = tools.run_alone(["convert", name, "-o", packed, "--force", "--json", "--unwind", "--sysroot", "nowhere", "--keep-branches"])
            said = messages.decode(errors="backslashreplace").replace(str(tools.work), "").splitlines()
            if status not in (0, 3):
                yield f"{name}: status {status} {said[0][:160] if said else ''}"
                continue
        lines = [line for one in LISTINGS for line in listing(tools, packed, one, shown)]
        for kinds in TOGETHER:
            of_kinds = [line for line in lines if line.split()[0] in kinds and not line.startswith("    ")]
            if kinds is TOGETHER[0]:
                yield "; ".join([name, *(line[2:] for line in of_kinds)])
            elif of_kinds:
                yield "  " + "; ".join(line[2:] for line in of_kinds)
        yield from (line for line in lines if line.startswith("    ") or not any(line.split()[0] in kinds for kinds in TOGETHER))


def of_damage(tools, group):
    """What became of the copies of each capture: how they were read, and what was counted."""
    for command in GROUPS[group](tools):
        if command[0] != "convert":
            continue
        _, output, messages = tools.run_alone([*command, "--force"])
        files, losses = json.loads(output), collections.Counter()
        for file in files:
            losses.update(file.get("losses", {}))
        results = collections.Counter(file["result"] for file in files)
        sums = [f"{key} {sum(file.get(key, 0) for file in files)}" for key in ("samples", "recorded", "callstacks")]
        kinds = {re.sub(r"^\S+ \S+|[0-9]+", "", line) for line in messages.decode(errors="backslashreplace").splitlines()}
        yield f"damaged {command[1].split('/')[0]}: {' '.join(f'{key} {value}' for key, value in sorted(results.items()))}, {', '.join(sums)}, {len(kinds)} kinds of messages; " + ", ".join(f"{key} {value}" for key, value in sorted(losses.items()) if value)


def lines_of(program, root, part):
    with tempfile.TemporaryDirectory() as work:
        tools = Tools(program, root, pathlib.Path(work).resolve())
        kind, *words = part
        return list(of_captures(tools, [words[0]], words[1]) if kind == "captures" else of_damage(tools, words[0]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--rewrite", action="store_true")
    options = parser.parse_args()
    program, root = options.program.resolve(), options.root.resolve()
    parts = [("captures", capture, shown) for shown, captures in SHOWN.items() for capture in captures]
    parts += [("damaged", f"damaged_{group}") for group in DAMAGED]
    with concurrent.futures.ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        now = [line for lines in pool.map(lambda part: lines_of(program, root, part), parts) for line in lines]
    if options.rewrite:
        STORED.write_text(HEAD + "\n".join(now) + "\n")
        return 0
    known = [line for line in STORED.read_text().splitlines() if not line.startswith("#")]
    differs = [(i, one, other) for i, (one, other) in enumerate(zip(known, now)) if one != other]
    for i, one, other in differs[:20]:
        capture = next(line for line in now[i::-1] if not line.startswith(" "))
        print(f"{capture[:60]}\n- {one}\n+ {other}")
    if len(known) != len(now):
        print(f"{len(known)} lines are stored, now there are {len(now)}")
    return 1 if differs or len(known) != len(now) else 0


if __name__ == "__main__":
    sys.exit(main())
