#!/usr/bin/env python3
"""Twenty questions about five captures, asked over `stackpack mcp` by a client in which no name of an answer stands.

    mcp_questions_test.py PROGRAM SOURCE_DIR [CAPTURE...]

What is right is summed up here from folded lines. Each question takes at most four calls, and each answer at most 8 KB.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from mcp_client import McpClient  # noqa: E402

CAPTURES = ("named/words.perf.data", "events.perf.data", "sampled.x64.etl", "small.nettrace", "threads.perf.data")
MOST_CALLS, MOST_BYTES = 4, 8192


def output_of(program, *words):
    return subprocess.run([program, *words], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()


def folded(program, file):
    """Callstacks, root first, with what they count for. Functions have the short names of answers; folded text has whole ones."""
    whole, short = (json.loads(output_of(program, "top", "--json", "-n", "0", f"--function-names={names}", file))["rows"] for names in ("full", "short"))
    shortened = {row["name"]: other["name"] for row, other in zip(whole, short)}
    text = output_of(program, "export", file, "--format", "folded", "--no-idle", "--inlines", "-o", "-")
    lines = (line.rpartition(" ") for line in text.splitlines())

    def called(name):
        """As reports call it: code without a name by its module."""
        place = re.fullmatch(r"(?:.*[/\\\\])?(.+)\+0x[0-9a-f]+", name)
        nowhere = re.fullmatch(r"0x[0-9a-f]+", name)
        where = place[1] if place else "kernel" if nowhere and int(name, 16) >> 63 else "unknown"
        return shortened.get(name, f"[{where.strip('[]')}]" if place or nowhere else name)

    return [([called(name) for name in stack.split(";")], int(count)) for stack, _, count in lines]


def largest(sums):
    """All that share the first place."""
    most = max(sums.values(), default=0)
    return {name for name, value in sums.items() if value == most}


def truths(stacks):
    """The functions with most samples in them, and those with most in or below them."""
    selves, totals = collections.Counter(), collections.Counter()
    for frames, count in stacks:
        selves[frames[-1]] += count
        for name in set(frames):
            totals[name] += count
    return largest(selves), largest(totals)


def next_to(stacks, name, step):
    """Sums of what stands beside a function: -1 its callers, 1 its callees."""
    sums = collections.Counter()
    for frames, count in stacks:
        beside = set()
        for i, frame in enumerate(frames):
            if frame == name:
                inside = 0 <= i + step < len(frames)
                beside.add(frames[i + step] if inside else "[root]" if step < 0 else "[self]")
        for other in beside:
            sums[other] += count
    return largest(sums)


def ask_all(client, file, stacks):
    """Four questions; the calls that each of them took, and whether its answer is right."""
    hot, large = truths(stacks)
    rows = client.ask("top", file=file)["rows"]
    yield "which function is hottest", 1, rows[0]["name"] in hot
    caller = client.ask("callers", file=file, function=rows[0]["name"])["rows"][0]["name"]
    yield "what calls it most", 2, caller in next_to(stacks, rows[0]["name"], -1)
    widest = client.ask("top", file=file, order="total")["rows"][0]["name"]
    yield "what has most below it", 1, widest in large
    callee = client.ask("callees", file=file, function=widest)["rows"][0]["name"]
    yield "what does that call most", 2, callee in next_to(stacks, widest, 1)


def main():
    program, source = sys.argv[1], pathlib.Path(sys.argv[2])
    captures = sys.argv[3:] or [source / "testdata" / name for name in CAPTURES]
    asked = right = 0
    with tempfile.TemporaryDirectory() as folder:
        client = McpClient(program, folder)
        for number, capture in enumerate(captures):
            file = str(pathlib.Path(folder).resolve() / f"{number}.spk")
            bundle = pathlib.Path(capture).with_name("words.zip")
            symbols = ["--symbols", bundle] if bundle.exists() else []
            subprocess.run([program, "convert", "-q", "-s", capture, "-o", file, *symbols], check=True, stderr=subprocess.DEVNULL)
            for question, calls, good in ask_all(client, file, folded(program, file)):
                asked += 1
                right += good
                if not good or calls > MOST_CALLS:
                    print(f"{capture}: {question}: wrong")
        assert client.close() == (0, b"")
        print(f"{right} of {asked} questions, {len(client.bytes)} answers of {sum(client.bytes)} bytes, the longest {max(client.bytes)}")
        assert right == asked and max(client.bytes) <= MOST_BYTES


if __name__ == "__main__":
    main()
