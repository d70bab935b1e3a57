#!/usr/bin/env python3
"""What comes back of a capture when it is exported and the export is converted:
round_trips_test.py STACKPACK SOURCE [--write] [--corpus FOLDER] [-v]

Captures of testdata go through every format that convert reads. What a format holds must be equal for each capture that has
it; what it does not hold is a table in docs/exports.md, which must be the one that is found here (--write stores it). With
--corpus the captures below a folder go the same way, and what the table says to come back must come back of them, too."""
import argparse
import collections
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

FORMATS = {"folded": ["--inline", "--keep-broken"], "pprof": ["--all-events"], "speedscope": ["--all-events"], "firefox": [], "otlp": [],
           "cpuprofile": []}
KINDS = {"cpuprofile": "v8"}  # as convert calls them
OF_ONE_EVENT = ("folded", "cpuprofile")
CAPTURES = ["tiny.perf.data", "group.perf.data", "events.perf.data", "threads.perf.data", "named/words.perf.data",
            "kernel.x64.etl", "sampled.x64.etl", "small.nettrace", "runtime.nettrace", "jfr/java.jfr.gz", "jfr/async.jfr.gz",
            "pprof/go.cpu.pb.gz", "pprof/go.mutex.pb.gz", "v8/node.cpuprofile", "v8/node.heapprofile"]
# Texts of other tools, which say what recordings here do not: counts that are not whole.
WRITTEN = {
    "fractions.folded": "main;half 0.5\nmain;work 3\nmain;work;leaf 0.125\n[broken callstack];leaf 2\n",
    "fractions.json": '{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"main",'
                      '"file":"a.c","line":3},{"name":"work"}]},"profiles":[{"type":"sampled","name":"t","unit":"bytes",'
                      '"startValue":0,"endValue":2,"samples":[[0],[0,1]],"weights":[0.25,1.5]}]}',
    "times.json": '{"meta":{"preprocessedProfileVersion":60,"startTime":0},"threads":[{"name":"T","pid":4,"tid":8,"samples":{"stack":'
                  '[0,0],"time":[1,2],"weight":[0.25,1.5],"weightType":"samples"}}],"shared":{"stackTable":{"frame":[0],"prefix":'
                  '[null]},"frameTable":{"func":[0]},"funcTable":{"name":[0],"resource":[-1]},"stringArray":["a\\tb"]}}',
    "windows.json": '{"meta":{"preprocessedProfileVersion":60,"startTime":0},"libs":[{"name":"ntoskrnl.exe","path":'
                    '"\\\\SystemRoot\\\\system32\\\\ntoskrnl.exe"}],"threads":[{"name":"T","pid":4,"tid":8,"samples":{"stack":[0],'
                    '"time":[0],"weight":[1],"weightType":"samples"}}],"shared":{"stackTable":{"frame":[0],"prefix":[null]},'
                    '"frameTable":{"func":[0]},"funcTable":{"name":[0],"resource":[0]},"resourceTable":{"name":[1],"lib":[0]},'
                    '"stringArray":["KiSwap","ntoskrnl.exe"]}}',
}
# Of perf script: an exec, one name in two images, code without a name in an image that has no address
# there, samples at one time, one without a callstack, one of a thread that has no number.
WRITTEN["calls.txt"] = "\n".join(
    ["sh 7/7 [000] 10.000001: 1000 cycles:", "\t4010 run+0x10 (/bin/sh)", "\tffff8010 [unknown] ([kernel.kallsyms])", "",
     "gzip 7/7 [000] 10.000002: 1000 cycles:", "\t7f10 run+0x10 (/lib/libz.so)", "\t4020 main+0x20 (/bin/sh)", "",
     "gzip 7/7 [000] 10.000002: 1000 cycles:", "\t4020 main+0x20 (/bin/sh)", "",
     "gzip 7/7 [000] 10.000003: 1 sched:sched_switch:", "\t4020 main+0x20 (/bin/sh)", "",
     "gzip 7/7 [000] 10.000004: 2000 cycles:", "", ""])
# Labels of all types, which OTLP alone has: of samples, of their link, and of two resources.
WRITTEN["labels.json"] = json.dumps({
    "resourceProfiles": [{"resource": {"attributes": [{"key": "pod", "value": {"stringValue": pod}}]},
                          "scopeProfiles": [{"profiles": [{"sampleType": {"typeStrindex": 1, "unitStrindex": 2}, "samples": [
                              {"stackIndex": 1, "values": [5], "attributeIndices": [1, 2], "linkIndex": 1, "timestampsUnixNano": [time]},
                              {"stackIndex": 2, "values": [7], "attributeIndices": [3, 4, 5], "timestampsUnixNano": [time + 1]}]}]}]}
                         for pod, time in (("cart", 1_700_000_000_000_000_000), ("shop", 1_700_000_000_000_001_000))],
    "dictionary": {"stringTable": ["", "cpu", "nanoseconds", "main", "work", "size", "bytes", "route", "ratio", "cached"],
                   "functionTable": [{}, {"nameStrindex": 3}, {"nameStrindex": 4}],
                   "locationTable": [{}, {"lines": [{"functionIndex": 1}]}, {"lines": [{"functionIndex": 2}]}],
                   "stackTable": [{}, {"locationIndices": [1]}, {"locationIndices": [2, 1]}],
                   "linkTable": [{}, {"traceId": "00112233445566778899AABBCCDDEEFF", "spanId": "0102030405060708"}],
                   "attributeTable": [{}, {"keyStrindex": 5, "value": {"intValue": 4096}, "unitStrindex": 6},
                                      {"keyStrindex": 7, "value": {"stringValue": "/cart"}}, {"keyStrindex": 5, "value": {"intValue": -1}},
                                      {"keyStrindex": 8, "value": {"doubleValue": 0.25}}, {"keyStrindex": 9, "value": {"boolValue": True}}]}})
ASPECTS = ["callstacks, names of functions", "weights", "weights that are not whole", "labels", "events", "number of samples", "times between samples", "time of day",
           "numbers of processes and threads", "names of threads", "names that a thread changes", "processors", "images", "build ids", "source files and lines",
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


def plain(name):
    """Files of one name are told apart by their build ids, which are fewer where no sample lies in one."""
    return re.sub(r"\[[0-9a-f]{8,}\](?=\+0x)", "", name)


class Paths:
    """Numbers for callstacks of names: equal ones have one, however deep they are and whichever file they are from."""

    def __init__(self):
        self.numbers = {}
        self.entries = [(0, "")]

    def below(self, path, name):
        number = self.numbers.setdefault((path, name), len(self.entries))
        if number == len(self.entries):
            self.entries.append((path, name))
        return number

    def text(self, path):
        names = []
        while path and len(names) < 20:
            path, name = self.entries[path]
            names.append(name)
        return " < ".join(names)


PATHS = Paths()


class Content:
    """What a .spk file says, by the tables of its csv export."""

    def __init__(self, program, spk, folder):
        run(program, "export", "--format", "csv", "-q", spk, "-o", folder)
        self.labels = labels_of(program, spk)
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
            found.append((plain(function["name"]), function["linkage"], function["file"], function["line"], frame["line"]))
        return found or [(plain(row["name"]), "", "", "", "")]

    def path(self, node):
        waiting = []
        while node and node not in self.paths:
            waiting.append(node)
            node = self.nodes[node]["parent"]
        path = self.paths[node] if node else 0
        for node in reversed(waiting):
            for call in self.calls(node):
                path = PATHS.below(path, call[0])
            self.paths[node] = path
        return path

    def aspects(self, event=None):
        """By aspect what there is of it; of one event alone if there is one."""
        samples = [row for row in self.samples if event is None or self.events[row["event"]] == event]
        nodes = set()
        for row in samples:
            node = row["node"]
            while node and node not in nodes:
                nodes.add(node)
                node = self.nodes[node]["parent"]
        names = {row["node"]: self.path(row["node"]) for row in samples}
        weights = collections.defaultdict(collections.Counter)
        numbers = collections.defaultdict(collections.Counter)
        for row in samples:
            name = self.events[row["event"]]
            weights[name][names[row["node"]]] += decimal_of(row["weight"])
            numbers[name][names[row["node"]]] += 1
        timed = all(self.metadata.get(key) != "1" for key in ("samples.untimed", "samples.aggregated"))  # else they are an order at most
        times = sorted(int(row["time_ns"]) for row in samples)
        names_of_threads = collections.defaultdict(set)
        for row in samples:
            if row["comm"]:
                names_of_threads[row["pid"], row["tid"]].add(row["comm"])
        images = {self.modules[self.nodes[node]["module_id"]]["path"] for node in nodes if self.nodes[node]["module_id"]}
        calls = {call for node in nodes for call in self.calls(node)}
        return {
            "callstacks, names of functions": set(names.values()),
            "callstacks that count nothing": set(names.values()) - {name for rows in weights.values() for name, weight in rows.items() if weight},
            "weights": weights,
            "weights that are not whole": {name: rows for name, rows in weights.items()
                                           if any(weight % 10**9 for weight in rows.values())},
            "labels": {name: rows for name, rows in self.labels.items() if event in (None, name)},
            "events": set(weights),
            "number of samples": numbers,
            "times between samples": [time - times[0] for time in times] if timed and times and times[0] != times[-1] else [],
            "time of day": times[0] + int(self.metadata.get("clock.wall_offset_ns", "")) if times and
                           self.metadata.get("clock.wall_offset_ns") and any(times) else None,
            "numbers of processes and threads": {(row["pid"], row["tid"]) for row in samples} - {("", ""), ("1", "1")},
            "names of threads": {(*thread, *named) for thread, named in names_of_threads.items() if len(named) == 1},
            "names that a thread changes": {(*thread, *sorted(named)) for thread, named in names_of_threads.items() if len(named) > 1 and timed},
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
    if aspect in ("events", "names of threads"):
        return before <= after
    if aspect == "labels":  # pprof has the name of an event as one, too
        return all(rows.items() <= after.get(event, {}).items() or any(rows.items() <= other.items() for other in after.values())
                   for event, rows in before.items())
    if aspect in ("weights", "weights that are not whole", "number of samples"):
        # A format that has no place for the name of an event gives it another one.
        others = [after[event] for event in after if event not in before]
        return all(after[event] == rows if event in after else rows in others for event, rows in before.items())
    return before == after


def labels_of(program, spk):
    """By event what its samples weigh with each label, a key and a value."""
    listed = run(program, "dump", "--labels", spk).splitlines()
    keys = sorted({line.split("\t")[1] for line in listed if not line.startswith("#") and "\t" in line} - {"key"})
    found = {}
    for event in json.loads(run(program, "stats", spk, "--json"))["events"] if keys else ():
        if not event["samples"]:
            continue
        rows = {}
        for key in keys:
            report = json.loads(run(program, "top", spk, "--by", f"label:{key}", "--event", event["name"], "--json", "-n", "0", "--idle"))
            rows.update({(key, row["name"]): row["self"] for row in report["rows"] if row["name"] != "[no label]"})
        found[event["name"]] = rows
    return {event: rows for event, rows in found.items() if rows}


def decimal_of(text):
    whole, _, rest = text.partition(".")
    return int(whole) * 10**9 + int(rest.ljust(9, "0")) if rest else int(whole) * 10**9


def main_event(program, spk):
    found = re.search(r'"event":"((?:[^"\\]|\\.)*)"', run(program, "top", spk, "--json", "-n", "1", "--idle"))
    return found.group(1) if found else None


def compare(program, capture, name, folder, verdicts, verbose):
    spk = folder / "original.spk"
    run(program, "convert", "-q", capture, "-o", spk)
    original = Content(program, spk, folder / "original")
    for form, words in FORMATS.items():
        there, back = folder / f"there.{form}", folder / f"{form}.spk"
        run(program, "export", "-q", spk, "--format", form, "-o", there, *words)
        if form == "folded" and not there.stat().st_size:
            continue  # no callstack counts anything
        run(program, "convert", "-q", there, "-o", back, "--format", KINDS.get(form, form))
        event = main_event(program, spk) if form in OF_ONE_EVENT else None
        before = original.aspects(event)
        after = Content(program, back, folder / form).aspects()
        for aspect in ASPECTS:
            if before[aspect]:
                nothing = before["callstacks that count nothing"] if aspect == ASPECTS[0] else set()
                same = (equal(aspect, before[aspect] - nothing, after[aspect] - nothing) if nothing
                        else equal(aspect, before[aspect], after[aspect]))
                verdicts[form][aspect][name] = same
                if verbose and not same:
                    tell(f"{name} {form} {aspect}", before[aspect], after[aspect])


def tell(what, before, after):
    """Of what differs no more than a few."""
    def rows(content):
        for event, counts in content.items():
            yield from ((event, path if isinstance(path, tuple) else PATHS.text(path), count) for path, count in counts.items())

    if isinstance(before, dict):
        before, after = set(rows(before)), set(rows(after))
    elif isinstance(before, set) and all(isinstance(path, int) for path in before):
        before, after = set(map(PATHS.text, before)), set(map(PATHS.text, after))
    if isinstance(before, set):
        before, after = sorted(before - after, key=str)[:3], sorted(after - before, key=str)[:3]
    print(f"{what}: {str(before)[:700]} != {str(after)[:700]}")


def written(verdicts):
    lines = [BEGIN, "| | " + " | ".join(FORMATS) + " |", "|---" * (len(FORMATS) + 1) + "|"]
    for aspect in ASPECTS:
        cells = []
        for form in FORMATS:
            seen = verdicts[form][aspect].values()
            cells.append("yes" if all(seen) else "in part" if any(seen) else "no")
        lines.append(f"| {aspect} | " + " | ".join(cells) + " |")
    return "\n".join(lines + [END])


def fresh():
    return {form: {aspect: {} for aspect in ASPECTS} for form in FORMATS}


def converts(program, path, spk):
    """Whether it is a capture that has samples."""
    done = subprocess.run([program, "convert", "-q", path, "-o", spk], capture_output=True, check=False, timeout=300)
    return not done.returncode and any(event["samples"] for event in json.loads(run(program, "stats", spk, "--json"))["events"])


def check_corpus(program, corpus, promised, verbose):
    """What comes back of all captures of testdata and not of one of a corpus."""
    verdicts, count, failed = fresh(), 0, []
    for path in sorted(path for path in corpus.rglob("*") if path.is_file() and ".expected" not in path.name):
        with tempfile.TemporaryDirectory() as root:
            folder = pathlib.Path(root)
            if converts(program, path, folder / "probe.spk"):
                count += 1
                try:
                    compare(program, path, str(path.relative_to(corpus)), folder, verdicts, verbose)
                except SystemExit as error:
                    failed.append(f"{path.relative_to(corpus)}: {error}")
    lost = failed + [f"{form}: {aspect}: {name}" for form in FORMATS for aspect in ASPECTS if all(promised[form][aspect].values())
            for name, same in verdicts[form][aspect].items() if not same]
    kept = sum(all(promised[form][aspect].values()) * len(verdicts[form][aspect]) for form in FORMATS for aspect in ASPECTS)
    print("\n".join(lost + [f"{count * len(FORMATS)} round trips of {count} captures below {corpus}: "
                            f"{len(lost)} of {kept} promises of the table broken"]))
    return 1 if lost else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--corpus", type=pathlib.Path, action="append", default=[])
    parser.add_argument("-v", dest="verbose", action="store_true")
    given = parser.parse_args()
    program, source = given.program.resolve(), given.source.resolve()
    verdicts = fresh()
    with tempfile.TemporaryDirectory() as root:
        for name in CAPTURES:
            folder = pathlib.Path(root) / name.replace("/", "_")
            folder.mkdir()
            compare(program, source / "testdata" / name, name, folder, verdicts, given.verbose)
        for name, text in WRITTEN.items():
            folder = pathlib.Path(root) / name
            folder.mkdir()
            (folder / name).write_text(text)
            compare(program, folder / name, name, folder, verdicts, given.verbose)
    found = written(verdicts)
    document = source / "docs/exports.md"
    text = document.read_text()
    stored = text[text.index(BEGIN):text.index(END) + len(END)] if BEGIN in text else ""
    if given.write:
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
    return max((check_corpus(program, corpus.resolve(), verdicts, given.verbose) for corpus in given.corpus), default=0)


if __name__ == "__main__":
    sys.exit(main())
