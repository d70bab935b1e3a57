#!/usr/bin/env python3
"""The twelve questions of docs/questions.md, asked of stackpack and of other tools, with a watch.

    bench/questions.py FOLDER --function NAME [--rounds N] [--program FILE] [--pprof FILE] [--samply FILE]

FOLDER has perf.data and perf.data.old: two recordings of one program, made there:

    c++ -std=c++20 -O1 -g -fno-omit-frame-pointer -o shipments .../docs/pictures/shipments.cc
    perf record -e cpu-clock -F 8000 -g -- ./shipments 250     # twice

Each round types every command of the table once, all tools in turn, in FOLDER, with standard output to
a file. Printed, as rows of Markdown: the words that are typed, the median of the seconds of wall time and of
processor time. pprof reads what `stackpack export` wrote of both files, which is timed apart; of samply
(`samply import --save-only`) it is the time until its page could begin to
load. Answers of perf are those of a pipe: its browser has to be ready before anyone can read, too.
"""
import argparse
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS = ["stackpack", "perf", "pprof"]


def questions():
    """(question, {tool: [command, ...]}) of the rows of the table."""
    table = [line for line in (ROOT / "docs/questions.md").read_text().splitlines() if line.startswith("| ")]
    head = [cell.strip() for cell in table[0].strip("|").split("|")]
    columns = {tool: next(k for k, cell in enumerate(head) if cell.startswith(tool)) for tool in TOOLS}
    found = []
    for line in table[1:]:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == len(head) and cells[0].endswith("?"):
            found.append((cells[0], {tool: re.findall(rf"`({tool} [^`]+)`", cells[k]) for tool, k in columns.items()}))
    return found


def first_second(folder):
    """Seconds of the capture's clock from its first sample to 1 and 2 s later, as perf takes them."""
    listed = subprocess.run(["perf", "script", "-F", "time", "-G"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    start = min(float(text.rstrip(":")) for text in listed.stdout.split()[:200])
    return f"{start + 1:.6f},{start + 2:.6f}"


def run(words, folder):
    """Wall and processor seconds; None: the tool gave no answer."""
    with open(os.path.join(folder, "answer.txt"), "wb") as out:
        started = time.monotonic()
        child = subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - started
    if child.returncode != 0:
        print("failed:", shlex.join(words), file=sys.stderr)
        return None
    return seconds, usage.ru_utime + usage.ru_stime


def median(rows):
    return tuple(statistics.median(row[k] for row in rows) for k in (0, 1)) if rows and None not in rows else None


def cell(words, timed):
    return "-" if timed is None else f"{words} words, {timed[0]:.2f} s ({timed[1]:.2f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--function", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--program", default=str(ROOT / "build/release/src/cli/stackpack"))
    parser.add_argument("--pprof")
    parser.add_argument("--samply")
    given = parser.parse_args()
    programs = {"stackpack": given.program, "perf": "perf", "pprof": given.pprof}
    span = first_second(given.folder)
    asked = questions()

    def typed(command):
        words = [word.replace("FUNCTION", given.function).replace("11.0,12.0", span) for word in command.split()]
        return [programs[words[0]], *words[1:]]

    before = []
    if given.pprof:
        before = [f"stackpack export {old} --format pprof -o {new} --force -q" for old, new in (("perf.data", "p.pb.gz"), ("perf.data", "new.pb.gz"), ("perf.data.old", "old.pb.gz"))]
    extra = {"stackpack export for pprof": before[:1] and typed(before[0])}
    if given.samply:
        extra["samply import"] = [given.samply, "import", "perf.data", "--save-only", "-o", "samply.json.gz"]
    for command in before:
        run(typed(command), given.folder)

    timed = {}
    for _ in range(given.rounds):
        for question, by_tool in asked:
            for tool in TOOLS:
                if programs[tool] and by_tool[tool]:
                    rows = [run(typed(command), given.folder) for command in by_tool[tool]]
                    whole = None if None in rows else tuple(sum(row[k] for row in rows) for k in (0, 1))
                    timed.setdefault((question, tool), []).append(whole)
        for name, words in extra.items():
            if words:
                timed.setdefault((name, ""), []).append(run(words, given.folder))

    print("| Question | " + " | ".join(TOOLS) + " |\n|---" + "|---" * len(TOOLS) + "|")
    for question, by_tool in asked:
        cells = [cell(sum(len(command.split()) for command in by_tool[tool]), median(timed.get((question, tool), []))) for tool in TOOLS]
        print(f"| {question} | " + " | ".join(cells) + " |")
    for name in extra:
        figures = median(timed.get((name, ""), []))
        print(f"{name}: " + ("-" if figures is None else f"{figures[0]:.2f} s ({figures[1]:.2f} s of processors)"))


if __name__ == "__main__":
    main()
