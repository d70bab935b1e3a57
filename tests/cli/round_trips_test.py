#!/usr/bin/env python3
"""What comes back of a capture when it is exported and the export is converted: round_trips_test.py STACKPACK SOURCE [--write]

Captures of testdata go through every format that convert reads. What a format holds must be equal for each capture that has
it; what it does not hold is a table in docs/exports.md, which must be the one that is found here (--write stores it)."""
import collections
import csv
import pathlib
import re
import subprocess
import sys
import tempfile

FORMATS = {"folded": ["--inline"], "pprof": ["--all-events"], "speedscope": [], "firefox": [], "otlp": []}
CAPTURES = ["tiny.perf.data", "group.perf.data", "events.perf.data", "threads.perf.data", "named/words.perf.data",
            "kernel.x64.etl", "sampled.x64.etl", "small.nettrace", "runtime.nettrace", "jfr/java.jfr.gz", "jfr/async.jfr.gz"]
# Texts of other tools, which say what recordings here do not: counts that are not whole.
WRITTEN = {
    "fractions.folded": "main;half 0.5\nmain;work 3\nmain;work;leaf 0.125\n[broken callstack];leaf 2\n",
    "fractions.json": '{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"main",'
                      '"file":"a.c","line":3},{"name":"work"}]},"profiles":[{"type":"sampled","name":"t","unit":"bytes",'
                      '"startValue":0,"endValue":2,"samples":[[0],[0,1]],"weights":[0.25,1.5]}]}',
    "windows.json": '{"meta":{"preprocessedProfileVersion":60,"startTime":0},"libs":[{"name":"ntoskrnl.exe","path":'
                    '"\\\\SystemRoot\\\\system32\\\\ntoskrnl.exe"}],"threads":[{"name":"T","pid":4,"tid":8,"samples":{"stack":[0],'
                    '"time":[0],"weight":[1],"weightType":"samples"}}],"shared":{"stackTable":{"frame":[0],"prefix":[null]},'
                    '"frameTable":{"func":[0]},"funcTable":{"name":[0],"resource":[0]},"resourceTable":{"name":[1],"lib":[0]},'
                    '"stringArray":["KiSwap","ntoskrnl.exe"]}}',
}
ASPECTS = ["callstacks, names of functions", "weights", "events", "number of samples", "times between samples", "time of day",
           "numbers of processes and threads", "names of threads", "processors", "images", "build ids", "source files and lines",
           "names as linked"]
BEGIN, END = "<!-- round trips: made by tests/cli/round_trips_test.py -->", "<!-- end of round trips -->"


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode(errors="replace")


def table(folder, name):
    with open(folder / f"{name}.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Content:
    """What a .spk file says, by the tables of its csv export."""

    def __init__(self, program, spk, folder):
        run(program, "export", "--format", "csv", "-q", spk, "-o", folder)
        self.events = {row["id"]: row["name"] for row in table(folder, "events")}
        self.modules = {row["id"]: row for row in table(folder, "modules")}
        self.functions = {row["id"]: row for row in table(folder, "functions")}
        self.frames = collections.defaultdict(list)
        for row in table(folder, "frames"):
            self.frames[row["location"]].append(row)
        self.nodes = {row["id"]: row for row in table(folder, "stacks")}
        self.samples = table(folder, "samples")
        self.metadata = {row["key"]: row["value"] for row in table(folder, "metadata")}
        self.paths = {}

    def calls(self, node):
        """The calls that a node stands for, the inlined ones last: (name, linkage, file, line of it, line in it)."""
        row = self.nodes[node]
        found = []
        for frame in reversed(self.frames.get(row["location"], [])):
            function = self.functions[frame["function"]]
            found.append((function["name"], function["linkage"], function["file"], function["line"], frame["line"]))
        return found or [(row["name"], "", "", "", "")]

    def path(self, node):
        if node not in self.paths:
            above = self.path(self.nodes[node]["parent"]) if node and self.nodes[node]["parent"] else ()
            self.paths[node] = above + tuple(self.calls(node)) if node else ()
        return self.paths[node]

    def aspects(self, event=None):
        """By aspect what there is of it; of one event alone if there is one."""
        samples = [row for row in self.samples if event is None or self.events[row["event"]] == event]
        nodes = set()
        for row in samples:
            node = row["node"]
            while node and node not in nodes:
                nodes.add(node)
                node = self.nodes[node]["parent"]
        names = {row["node"]: tuple(call[0] for call in self.path(row["node"])) for row in samples}
        weights = collections.defaultdict(collections.Counter)
        numbers = collections.defaultdict(collections.Counter)
        for row in samples:
            name = self.events[row["event"]]
            weights[name][names[row["node"]]] += decimal_of(row["weight"])
            numbers[name][names[row["node"]]] += 1
        times = sorted(int(row["time_ns"]) for row in samples)
        images = {self.modules[self.nodes[node]["module_id"]]["path"] for node in nodes if self.nodes[node]["module_id"]}
        calls = {call for node in nodes for call in self.calls(node)}
        return {
            "callstacks, names of functions": set(names.values()),
            "weights": weights,
            "events": set(weights),
            "number of samples": numbers,
            "times between samples": [time - times[0] for time in times] if any(times) else [],
            "time of day": times[0] + int(self.metadata.get("clock.wall_offset_ns", "")) if times and
                           self.metadata.get("clock.wall_offset_ns") and any(times) else None,
            "numbers of processes and threads": {(row["pid"], row["tid"]) for row in samples} - {("", ""), ("1", "1")},
            "names of threads": {(row["tid"], row["comm"]) for row in samples if row["comm"]},
            "processors": {row["cpu"] for row in samples} - {""},
            "images": images,
            "build ids": {row["build_id"] for row in self.modules.values() if row["path"] in images} - {""},
            "source files and lines": {call[2:] for call in calls} - {("", "", ""), ("", "", "0")},
            "names as linked": {call[:2] for call in calls if call[1] and call[1] != call[0]},
        }


def equal(aspect, before, after):
    """Whether all is there. Formats may have more: pprof counts samples besides, and writes names of its own for what has none."""
    if aspect == "time of day":
        return after is not None and abs(before - after) <= 1000  # a number of JSON has no more digits
    if aspect == "events":
        return before <= after
    if aspect in ("weights", "number of samples"):
        # A format that has no place for the name of an event gives it another one.
        others = [after[event] for event in after if event not in before]
        return all(after[event] == rows if event in after else rows in others for event, rows in before.items())
    return before == after


def decimal_of(text):
    whole, _, rest = text.partition(".")
    return int(whole) * 10**9 + int(rest.ljust(9, "0")) if rest else int(whole) * 10**9


def main_event(program, spk):
    found = re.search(r'"event":"((?:[^"\\]|\\.)*)"', run(program, "top", spk, "--json", "-n", "1", "--idle"))
    return found.group(1) if found else None


def compare(program, capture, name, folder, verdicts):
    spk = folder / "original.spk"
    run(program, "convert", "-q", capture, "-o", spk)
    original = Content(program, spk, folder / "original")
    for form, words in FORMATS.items():
        there, back = folder / f"there.{form}", folder / f"{form}.spk"
        run(program, "export", "-q", spk, "--format", form, "-o", there, *words)
        run(program, "convert", "-q", there, "-o", back, "--format", form)
        event = main_event(program, spk) if form == "folded" else None
        before = original.aspects(event)
        after = Content(program, back, folder / form).aspects()
        for aspect in ASPECTS:
            if before[aspect]:
                same = equal(aspect, before[aspect], after[aspect])
                verdicts[form][aspect][name] = same
                if "-v" in sys.argv and not same:
                    print(f"{name} {form} {aspect}: {str(before[aspect])[:150]} != {str(after[aspect])[:150]}")


def written(verdicts):
    lines = [BEGIN, "| | " + " | ".join(FORMATS) + " |", "|---" * (len(FORMATS) + 1) + "|"]
    for aspect in ASPECTS:
        cells = []
        for form in FORMATS:
            seen = verdicts[form][aspect].values()
            cells.append("yes" if all(seen) else "in part" if any(seen) else "no")
        lines.append(f"| {aspect} | " + " | ".join(cells) + " |")
    return "\n".join(lines + [END])


def main():
    program, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    verdicts = {form: {aspect: {} for aspect in ASPECTS} for form in FORMATS}
    with tempfile.TemporaryDirectory() as root:
        for name in CAPTURES:
            folder = pathlib.Path(root) / name.replace("/", "_")
            folder.mkdir()
            compare(program, source / "testdata" / name, name, folder, verdicts)
        for name, text in WRITTEN.items():
            folder = pathlib.Path(root) / name
            folder.mkdir()
            (folder / name).write_text(text)
            compare(program, folder / name, name, folder, verdicts)
    found = written(verdicts)
    document = source / "docs/exports.md"
    text = document.read_text()
    stored = text[text.index(BEGIN):text.index(END) + len(END)] if BEGIN in text else ""
    if "--write" in sys.argv:
        document.write_text(text.replace(stored, found) if stored else text)
        print(found)
        return 0
    if stored != found:
        print("docs/exports.md has another table of round trips; found:")
        print(found)
        for form in FORMATS:
            for aspect in ASPECTS:
                lost = sorted(name for name, equal in verdicts[form][aspect].items() if not equal)
                print(f"{form}: {aspect}: differ: {', '.join(lost)}" if lost else f"{form}: {aspect}: equal")
        return 1
    print(f"{len(CAPTURES) + len(WRITTEN)} captures, {len(FORMATS)} formats: as docs/exports.md says")
    return 0


if __name__ == "__main__":
    sys.exit(main())
