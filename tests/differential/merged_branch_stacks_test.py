#!/usr/bin/env python3
"""Merges captures of branch stacks that were kept, and compares with what the captures were made of.

    merged_branch_stacks_test.py PROGRAM

Each capture has the same images elsewhere, and stacks of its own: a merge must have all of them, by image and offset,
as the program lists them and as the reader of docs/format.md does, whatever the order and grouping of the inputs.
"""
import bisect
import collections
import itertools
import json
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from branch_capture import BranchCapture, images  # noqa: E402


def run(program, *arguments):
    result = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"{arguments}: exit status {result.returncode}\n{result.stderr}")
    return result.stdout


def check(condition, what):
    if not condition:
        raise SystemExit(f"merged_branch_stacks_test: {what}")


def truth(capture):
    """How often each stack was recorded: its branches as (image, offset), (image, offset), mispredicted."""
    return collections.Counter({
        tuple(((a.key, at), (b.key, to), missed) for (a, at), (b, to), missed in capture.pool[index]): count
        for index, count in capture.counts.items()})


class Places:
    """Where a merged file has its images."""

    def __init__(self, program, file):
        rows = sorted((int(module["base"], 16), module.get("build_id") or module["path"])
                      for module in json.loads(run(program, "dump", file, "--modules", "--json")) if "pid" not in module)
        self.bases, self.names = [row[0] for row in rows], [row[1] for row in rows]

    def find(self, text):
        at = bisect.bisect_right(self.bases, int(text, 16)) - 1
        return self.names[at], int(text, 16) - self.bases[at]


def stacks_of(lines, places):
    found = collections.Counter()
    for line in lines:
        branches = [branch.split("/") for branch in line.split("\t")[2].split(" ")]
        check(all(branch[5] == "5" and branch[6] == "COND" for branch in branches), f"cycles and type: {line}")
        found[tuple((places.find(a), places.find(b), flag == "M") for a, b, flag, *_ in branches)] += 1
    return found


def listed(program, file):
    return [line for line in run(program, "dump", file, "--branch-stacks").splitlines() if not line.startswith("#")]


def made_captures(program, work):
    """Three captures of the same images; the last one has fewer of them."""
    made, wanted = [], []
    parts = images(12, without_build_id=3)
    for number in range(3):
        mapped = parts[:5] if number == 2 else parts[:]
        random.Random(number).shuffle(mapped)
        capture = BranchCapture(mapped, stacks=300, depth=12 + 10 * (number == 2), seed=number)
        if number == 1:  # the stacks of another capture, at other addresses
            capture.pool = list(made[0][1].pool)
        path = work / f"{number}.perf.data"
        capture.write(path, 2000)
        out = work / f"{number}.spk"
        run(program, "convert", "-q", path, "-o", out, "--keep-branches")
        made.append((out, capture))
        wanted.append(truth(capture))
    return [out for out, _ in made], wanted


def test_contents(program, files, wanted, work):
    merged = work / "merged.spk"
    run(program, "merge", "-q", *files, "-o", merged)
    run(program, "verify", merged)
    places = Places(program, merged)
    lines = listed(program, merged)
    expected = sum(wanted, collections.Counter())
    check(stacks_of(lines, places) == expected, "stacks are not those of the captures")
    check(len({line.split("\t")[1] for line in lines}) < len(lines), "each sample has a stack of its own")
    run(sys.executable, HERE.parent / "support/read_spk.py", merged, work, "branch-stacks")
    check((work / "branch-stacks").read_text().splitlines() == lines, "another reader finds others")
    check("merge_branch_stacks_left_out" not in run(program, "dump", merged, "--losses"), "something was left out")
    cut = work / "cut.spk"
    run(program, "cut", "-q", merged, "--to", "+50us", "-o", cut)
    run(program, "verify", cut)
    some = stacks_of(listed(program, cut), Places(program, cut))
    check(0 < some.total() < expected.total() and not some - expected, "stacks of a part")
    return merged


def test_orders(program, files, merged, work):
    content = merged.read_bytes()
    for order in itertools.permutations(files):
        run(program, "merge", "-q", *order, "-o", work / "order.spk")
        check((work / "order.spk").read_bytes() == content, "the order of the inputs shows")
    run(program, "merge", "-q", files[2], files[1], "-o", work / "pair.spk")
    run(program, "merge", "-q", files[0], work / "pair.spk", files[1], "-o", work / "group.spk")
    check((work / "group.spk").read_bytes() == content, "the grouping of the inputs shows")
    run(program, "merge", "-q", *files, "-o", work / "narrow.spk", "--memory-limit", "16M", "-j", "0")
    check((work / "narrow.spk").read_bytes() == content, "the memory limit shows")


def test_without(program, files, wanted, work):
    """One of the inputs kept no branch stacks."""
    run(program, "convert", "-q", work / "1.perf.data", "-o", work / "plain.spk")
    run(program, "merge", "-q", work / "plain.spk", files[0], "-o", work / "partly.spk")
    run(program, "verify", work / "partly.spk")
    check(stacks_of(listed(program, work / "partly.spk"), Places(program, work / "partly.spk")) == wanted[0], "stacks of one input")
    run(program, "convert", "-q", work / "0.perf.data", "-o", work / "rebased.spk", "--keep-branches", "--rebase")
    check(stacks_of(listed(program, work / "rebased.spk"), Places(program, work / "rebased.spk")) == wanted[0], "stacks of a rebased file")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        files, wanted = made_captures(program, work)
        merged = test_contents(program, files, wanted, work)
        test_orders(program, files, merged, work)
        test_without(program, files, wanted, work)
    print("ok")


if __name__ == "__main__":
    main()
