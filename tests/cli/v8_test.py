#!/usr/bin/env python3
"""Profiles of V8 and traces of Chrome, read by a few lines of Python from their documents, beside what is converted: every callstack and its weight.

    v8_test.py PROGRAM FILE_OR_FOLDER...

Exports are read by the same lines: those of V8's profiles have the same callstacks and lengths, those of other captures the ones of folded text.
Where node is, it is asked for a fresh profile, too.
"""
import collections
import csv
import gzip
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
NS_PER_US = 1000


def run(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


def place(call):
    """What tells a function from others: the name that a file has may be empty."""
    line = call.get("lineNumber", -1) + 1
    column = call.get("columnNumber", -1) + 1 if line > 0 else 0
    return call.get("url", ""), call["functionName"], max(line, 0), max(column, 0)


def callstack(nodes, parents, node):
    frames = []
    while node is not None:
        if nodes[node]["callFrame"]["functionName"] != "(root)":
            frames.append(place(nodes[node]["callFrame"]))
        node = parents.get(node)
    return tuple(reversed(frames))


def cpu_profile(profile, thread):
    nodes = {node["id"]: node for node in profile["nodes"]}
    parents = {child: node["id"] for node in profile["nodes"] for child in node.get("children", [])}
    parents.update((node["id"], node["parent"]) for node in profile["nodes"] if "parent" in node)
    time, times = profile["startTime"], []
    for delta in profile["timeDeltas"]:
        time += delta
        times.append(time)
    times.append(max(profile.get("endTime") or 0, *times[-1:]))
    for node, begin, end in zip(profile["samples"], times, times[1:]):
        if node in nodes:
            yield (thread, callstack(nodes, parents, node)), max(end - begin, 0) * NS_PER_US


def heap_profile(node, frames=()):
    if node["callFrame"]["functionName"] != "(root)":
        frames = (*frames, place(node["callFrame"]))
    if node["selfSize"] != 0:
        yield ((1, 1), frames), node["selfSize"]
    for child in node["children"]:
        yield from heap_profile(child, frames)


def trace(events):
    profiles = {}
    for event in sorted(events, key=lambda event: event.get("ts", 0)):
        key, data = (event.get("pid"), event.get("id") or event.get("tid")), event.get("args", {}).get("data", {})
        if event.get("name") == "CpuProfile":  # all of it, until Chrome 57
            profiles[key] = {"tid": event["tid"], **data["cpuProfile"]}
        elif event.get("name") == "Profile":
            profiles[key] = {"nodes": [], "samples": [], "timeDeltas": [], "tid": event["tid"], **data}
        elif event.get("name") == "ProfileChunk" and key in profiles:
            for kind in ("nodes", "samples"):
                profiles[key][kind] = profiles[key][kind] + data.get("cpuProfile", {}).get(kind, [])
            profiles[key]["timeDeltas"] = profiles[key]["timeDeltas"] + data.get("timeDeltas", [])
            profiles[key].update((name, data[name]) for name in ("startTime", "endTime") if name in data)
    for (pid, _), profile in profiles.items():
        if profile["samples"]:
            yield from cpu_profile(profile, (pid, profile["tid"]))


def expected(path):
    text = gzip.open(path) if path.suffix == ".gz" else path.open("rb")
    with text:
        document = json.load(text)
    sums = collections.Counter()
    for stack, weight in (trace(document) if isinstance(document, list)
                          else trace(document["traceEvents"]) if "traceEvents" in document
                          else heap_profile(document["head"]) if "head" in document
                          else cpu_profile(document, (1, 1))):
        sums[stack] += weight
    return sums


def converted(path, folder):
    """The same from tables of the .spk file."""
    spk, tables = folder / "v8.spk", folder / "tables"
    run(PROGRAM, "convert", "--quiet", "--force", path, "-o", spk)
    run(PROGRAM, "verify", spk)
    shutil.rmtree(tables, ignore_errors=True)
    run(PROGRAM, "export", spk, "--format", "csv", "-o", tables)
    rows = {}
    for name in ("functions", "frames", "stacks", "samples"):
        with (tables / f"{name}.csv").open(newline="", encoding="utf-8") as table:
            rows[name] = list(csv.DictReader(table))
    functions = {row["id"]: row for row in rows["functions"]}
    frames = {row["location"]: functions[row["function"]] for row in rows["frames"]}
    nodes = {row["id"]: row for row in rows["stacks"]}

    def function(row):
        name, url = row["name"], row["file"]
        last = url.rsplit("/", 1)[-1]
        # `NAME (URL:LINE:COLUMN)`, or of a script without a place in a file its number.
        before, _, at = row["linkage"].rpartition(" (")
        numbers = at.rstrip(")").removeprefix(url).split(":")[1:] if before == name else []
        line, column = (int(number) for number in (*numbers, 0, 0)[:2])
        unnamed = f"(anonymous {last}:{line})" if url and line else f"(anonymous {last})" if url else "(anonymous)"
        return url, "" if name == unnamed else name, line, column

    sums = collections.Counter()
    for sample in rows["samples"]:
        stack, node = [], sample["node"]
        while node:
            stack.append(function(frames[nodes[node]["location"]]))
            node = nodes[node]["parent"]
        sums[(int(sample["pid"]), int(sample["tid"])), tuple(reversed(stack))] += int(sample["weight"])
    return sums


def compare(path, folder):
    theirs, ours = expected(path), converted(path, folder)
    differ = [stack for stack in {*theirs, *ours} if theirs.get(stack) != ours.get(stack)]
    for stack in differ[:3]:
        print(f"{path.name}: {stack}: {theirs.get(stack)}, converted {ours.get(stack)}", file=sys.stderr)
    print(f"{path.name}: {len(theirs)} callstacks of threads, {len(differ)} differ")
    return not differ and bool(theirs)


SHAPE = """
const fs = require('fs'), assert = require('assert');
const profile = JSON.parse(fs.readFileSync(process.argv[1], 'utf8'));
const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
assert.strictEqual(nodes.size, profile.nodes.length);
assert.strictEqual(profile.nodes[0].callFrame.functionName, '(root)');
const below = new Set();
for (const {callFrame, children, hitCount} of profile.nodes) {
  for (const key of ['functionName', 'scriptId', 'url']) assert.strictEqual(typeof callFrame[key], 'string');
  for (const number of [callFrame.lineNumber, callFrame.columnNumber, hitCount]) assert(Number.isInteger(number));
  for (const child of children) assert(nodes.has(child) && !below.has(child) && below.add(child));
}
assert.strictEqual(below.size, nodes.size - 1);
assert(!below.has(profile.nodes[0].id));
const hits = new Map();
for (const id of profile.samples) hits.set(id, (hits.get(id) ?? 0) + 1);
for (const {id, hitCount} of profile.nodes) assert.strictEqual(hitCount, hits.get(id) ?? 0);
assert.strictEqual(profile.timeDeltas.length, profile.samples.length);
assert(profile.timeDeltas.every((delta) => delta >= 0));
assert(profile.startTime + profile.timeDeltas.reduce((sum, delta) => sum + delta, 0) <= profile.endTime * (1 + 1e-9));
"""


def of_export(spk, folder):
    """Callstacks and their lengths of an export, as any reader has them who does not know our keys, but for threads."""
    path = folder / "export.cpuprofile"
    run(PROGRAM, "export", spk, "--quiet", "--force", "-o", path)
    if shutil.which("node"):
        run("node", "-e", SHAPE, path)
    document = json.loads(path.read_bytes())
    for node in document["nodes"]:
        if "thread" in node:
            node["callFrame"]["functionName"] = "(root)"
    gaps = {node["id"] for node in document["nodes"] if "gap" in node}
    document["nodes"] = [node for node in document["nodes"] if node["id"] not in gaps]
    sums = collections.Counter()
    for (_, stack), length in cpu_profile(document, None):
        sums[stack] += round(length)
    return sums


def compare_export(path, folder):
    """An export of what V8 recorded says what the recording says."""
    spk, theirs = folder / "v8.spk", collections.Counter()
    for (_, stack), weight in expected(path).items():
        theirs[stack] += weight * (NS_PER_US if "heap" in path.name else 1)
    ours = of_export(spk, folder)
    differ = [stack for stack in {*theirs, *ours} if theirs[stack] != ours[stack]]
    for stack in differ[:3]:
        print(f"{path.name}: {stack}: {theirs[stack]}, exported {ours[stack]}", file=sys.stderr)
    print(f"{path.name}: {len(theirs)} callstacks, {len(differ)} differ in an export")
    return not differ


def compare_other(path, folder):
    """An export of any other capture says what folded text says."""
    spk = folder / "other.spk"
    run(PROGRAM, "convert", "--quiet", "--force", path, "-o", spk)
    ours = collections.Counter()
    for stack, length in of_export(spk, folder).items():
        ours[";".join(place[1] for place in stack)] += length
    theirs = {}
    is_time = '"unit":"ns"' in run(PROGRAM, "top", spk, "--json", "--idle", "-n", "1")
    for line in run(PROGRAM, "export", spk, "--quiet", "--format", "folded", "--inline", "--keep-broken", "-o", "-").splitlines():
        stack, _, count = line.rpartition(" ")
        theirs["" if stack == "[no callstack]" else stack] = int(count) * (1 if is_time else NS_PER_US)
    ours = {stack: length for stack, length in ours.items() if length}
    print(f"{path.name}: {len(theirs)} callstacks of folded text, {'as' if ours == theirs else 'other than'} in an export")
    return ours == theirs


def main():
    paths = []
    for word in sys.argv[2:]:
        path = pathlib.Path(word)
        paths += sorted(each for each in path.iterdir() if "profile" in each.name or ".json" in each.name) if path.is_dir() else [path]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if shutil.which("node"):
            script = folder / "busy.js"
            script.write_text("const end = Date.now() + 100; while (Date.now() < end) JSON.stringify([...'text'].map((x) => x + x));")
            subprocess.run(["node", "--cpu-prof", "--cpu-prof-name", "fresh.cpuprofile", script], cwd=folder, check=True)
            paths.append(folder / "fresh.cpuprofile")
        else:
            print("node is not here: no fresh profile")
        captures = [path for path in paths if "profile" in path.name or ".json" in path.name]
        same = [compare(path, folder) and compare_export(path, folder) for path in captures]
        same += [compare_other(path, folder) for path in paths if path not in captures]
        return 0 if all(same) else 1


sys.exit(main())
