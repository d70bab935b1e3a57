#!/usr/bin/env python3
"""Texts of tracers and debuggers, against what FlameGraph's script for each makes of it: stack_texts_test.py STACKPACK FOLDER

FOLDER has NAME.txt and, as the script printed it, NAME.folded (testdata/README.md says which script). Left out of the comparison: lines that
count nothing, and what the scripts leave of a frame beside its name (offsets of bpftrace, source lines of faulthandler)."""
import collections
import pathlib
import re
import subprocess
import sys


def folded(lines):
    stacks = collections.Counter()
    for line in lines:
        frames, _, count = line.rpartition(" ")
        stacks[frames] += float(count)
    return {stack: count for stack, count in stacks.items() if count}


def with_names(kind, stack):
    """The frames of a script's line, as they are called here."""
    frames = stack.split(";")
    if kind == "bpftrace":
        frames = [re.sub(r"\+\d+$", "", frame) for frame in frames]
    elif kind == "vtune":
        frames = [frame.replace("!", "`", 1) for frame in frames]
    elif kind == "faulthandler":
        frames = [re.sub(r"^.*:\d+:", "", frame) for frame in frames]
    elif kind == "sample":
        frames[0] = frames[0].split(".")[0]
    return ";".join(frames)


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    wrong = []
    compared = 0
    for path in sorted(folder.glob("*.folded")):
        kind = path.stem
        lines = path.read_text().splitlines()
        theirs = folded(f"{with_names(kind, line.rpartition(' ')[0])} {line.rpartition(' ')[2]}" for line in lines)
        if kind == "jstack":  # threads of the JVM itself have no callstack
            theirs = {stack: count for stack, count in theirs.items() if ";" in stack}
        command = [program, "export", path.with_suffix(".txt"), "--format", "folded", "--event", "samples", "-o", "-"]
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        ours = folded(run.stdout.splitlines()) if run.returncode == 0 else run.stderr
        compared += len(theirs)
        if not theirs or ours != theirs:
            wrong.append(f"{kind}: {ours}\n  the script says {theirs}")
    print(f"{compared} callstacks of {len(list(folder.glob('*.folded')))} texts are as FlameGraph's scripts have them")
    if wrong or not compared:
        sys.exit("\n".join(wrong) or f"{folder}: nothing to compare")


if __name__ == "__main__":
    main()
