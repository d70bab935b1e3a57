#!/usr/bin/env python3
"""Profiles that other programs write, against what the programs' own reports say: foreign_profiles_test.py STACKPACK FOLDER
[record CLIENTS]

FOLDER has profiles and reports as testdata/foreign/record.sh makes them. With `record` they are recorded anew first, with go,
py-spy, node and bpftrace as far as they are there; py-spy is installed into CLIENTS when that is asked for (clients.py)."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import clients


def report(program, profile, *options):
    done = subprocess.run([program, "top", profile, "--json", "-n", "0", "--idle", *options], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{profile}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def rows_of_top(text):
    """The rows of `go tool pprof -top`: flat, cum, name."""
    rows = {}
    for line in text[text.index("flat%"):].splitlines()[1:]:
        flat, _, _, cum, _, name = line.split(None, 5)
        number = [int(re.match(r"-?\d+", word).group()) for word in (flat, cum)]
        name = name.removesuffix(" (inline)").removesuffix(" (partial-inline)")
        rows[name] = tuple(number)
    return rows


def check_go(program, top):
    _, kind, sample_type = top.name.split(".")[:3]
    theirs = {name: row for name, row in rows_of_top(top.read_text()).items() if row != (0, 0)}
    found = report(program, top.with_name(f"go.{kind}.pprof"), "--event", sample_type)
    ours = {row["name"]: (row["self"], row["total"]) for row in found["rows"]}
    wrong = [f"{name}: {ours.get(name)}, pprof says {row}" for name, row in theirs.items() if ours.get(name) != row]
    whole = sum(flat for flat, _ in theirs.values())
    if whole != found["weight"]:
        wrong.append(f"{found['weight']} in all, pprof says {whole}")
    return len(theirs), wrong


def check_folded(program, path):
    """By flamegraph.pl's rules: a count behind the last blank, frames between semicolons."""
    selfs, totals = {}, {}
    for line in path.read_text().splitlines():
        frames, _, count = line.rpartition(" ")
        names = frames.split(";")
        selfs[names[-1]] = selfs.get(names[-1], 0) + int(count)
        for name in set(names):
            totals[name] = totals.get(name, 0) + int(count)
    return compare(report(program, path), selfs, totals, 0)


def check_speedscope(program, path):
    """By the schema of speedscope: weights of the leaf, and of all frames of a callstack."""
    content = json.loads(path.read_text())
    names = [frame["name"] for frame in content["shared"]["frames"]]
    selfs, totals = {}, {}
    for profile in content["profiles"]:
        unit = {"seconds": 10**9, "milliseconds": 10**6}.get(profile["unit"], 1)
        for stack, weight in zip(profile["samples"], profile["weights"]):
            if stack:
                selfs[names[stack[-1]]] = selfs.get(names[stack[-1]], 0) + weight * unit
            for name in {names[frame] for frame in stack}:
                totals[name] = totals.get(name, 0) + weight * unit
    return compare(report(program, path), selfs, totals, len(content["profiles"][0]["samples"]))


def check_node(program, path):
    """By hits and sizes that V8 itself writes with each node of its tree. Times lie between samples: the first one or two have none."""
    content = json.loads(path.read_text())
    of_time = "nodes" in content
    nodes = {node["id"]: node for node in content.get("nodes", [])}
    selfs, totals = {}, {}
    left_out = {"(root)", ""}  # functions without a name have that of their file here

    def visit(node, above):
        name = node["callFrame"]["functionName"]
        own = node["hitCount"] if of_time else node["selfSize"]
        if name not in left_out:
            selfs[name] = selfs.get(name, 0) + own
        for one in {name, *above} - left_out:
            totals[one] = totals.get(one, 0) + own
        for child in node.get("children", []):
            visit(nodes[child] if of_time else child, {name, *above})

    sys.setrecursionlimit(100_000)
    visit(content["nodes"][0] if of_time else content["head"], set())
    found = report(program, path, *(["--count", "samples"] if of_time else []))
    return compare(found, selfs, totals, 2 if of_time else 0)


def check_bpftrace(program, path):
    """By bpftrace's manual: `@[`, a frame a line, leaf first, `]: COUNT`."""
    selfs, totals, frames = {}, {}, []
    for line in path.read_text().splitlines():
        if line.startswith("@["):
            frames = []
        elif line.startswith("]: "):
            count = int(line[3:])
            selfs[frames[0]] = selfs.get(frames[0], 0) + count
            for name in set(frames):
                totals[name] = totals.get(name, 0) + count
        elif line.strip():
            frames.append(re.sub(r"\+\d+$", "", line.strip()))
    return compare(report(program, path), selfs, totals, 0)


def compare(found, selfs, totals, tolerance):
    ours = {}
    for row in found["rows"]:
        before = ours.get(row["name"], (0, 0))
        ours[row["name"]] = (before[0] + row["self"], before[1] + row["total"])
    wrong = []
    for name, total in totals.items():
        own, whole = ours.get(name, (0, 0))
        if abs(own - selfs.get(name, 0)) > tolerance or abs(whole - total) > tolerance:
            wrong.append(f"{name}: {own} and {whole}, not {selfs.get(name, 0)} and {total}")
    return len(totals), wrong


def check_folder(program, folder):
    checks = [(path, check_go) for path in sorted(folder.glob("go.*.top.txt"))]
    checks += [(path, check_folded) for path in sorted(folder.glob("*.raw"))]
    checks += [(path, check_speedscope) for path in sorted(folder.glob("*.speedscope"))]
    checks += [(path, check_node) for path in sorted(folder.glob("node.*profile"))]
    checks += [(path, check_bpftrace) for path in sorted(folder.glob("bpftrace.txt"))]
    failed = 0
    for path, check in checks:
        rows, wrong = check(program, path)
        print(f"{path.name}: {rows} rows, {len(wrong)} differ")
        for line in wrong[:5]:
            print("  " + line)
        failed += len(wrong)
    return failed, len(checks)


def main():
    program, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    if sys.argv[3:4] != ["record"]:
        failed, count = check_folder(program, folder)
        return 1 if failed or count == 0 else 0
    cache = pathlib.Path(sys.argv[4]).resolve()
    paths = [os.environ["PATH"]]
    try:
        paths.insert(0, str(clients.program_of_python(cache, "py-spy").parent))
    except clients.Missing as reason:
        print(reason)
    with tempfile.TemporaryDirectory() as made:
        subprocess.run([folder / "record.sh", made], check=True, env=dict(os.environ, PATH=os.pathsep.join(paths)))
        failed, count = check_folder(program, pathlib.Path(made))
    if count == 0:
        print("none of go, py-spy, node and bpftrace is here")
        return 77
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
