#!/usr/bin/env python3
"""Asks the program and the model the same questions, drawn at random, and prints each that they answer differently.

usage: model_test.py STACKPACK [--root DIR] [--seed N] [--questions N] [--seconds N] [CAPTURE...]

Captures are those given, else those of testdata and generated ones. A question that fails is made smaller, one filter at a time,
as long as it still fails; what is printed is a command and the rows that differ. Status 1 if any does.
"""
import argparse
import collections
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import properties  # noqa: E402
import reports  # noqa: E402
import runtime  # noqa: E402
import schedules  # noqa: E402
import shapes  # noqa: E402
import waits  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import memory_capture  # noqa: E402
import read_page  # noqa: E402
from pprof import stacks as pprof_stacks  # noqa: E402
from store import NONE, WAITS, Store  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
TESTDATA = ("*.perf.data", "*.etl", "*.nettrace", "*.netperf", "tiny.script.txt", "jfr/*.jfr.gz", "named/*.perf.data", "memory/script.txt", "branches/*.perf.data.gz",
            "unwind/*.perf.data")
NOT_ASKED = {surface: ("focus", "ignore", "hide") for surface in ("folded", "pprof", "page")} | {"diff": ("focus", "ignore", "hide", "count")}
OF_CAPTURES = {"loop.perf.data.gz": "branches", "memory.perf.data": "mem"}
SCHEDULES = SHAPES = 12
FILTERS = ("pid", "tid", "comm", "from", "to", "idle", "focus", "ignore", "hide", "count")


class Failed(Exception):
    """The program did not answer."""


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, check=False)
    if done.returncode != 0:
        raise Failed(done.stderr.decode("utf-8", "replace").strip())
    return done.stdout.decode("utf-8", "replace")


def pack(*command):
    """Runs a command whose last word is an output, which verify accepts."""
    run(*command)
    try:
        run(command[0], "verify", command[-1])
    except Failed as refused:
        sys.exit(f"verify refuses what {' '.join(map(str, command[1:]))} has written: {refused}")


def exactly(name):
    """A pattern that means functions of this name alone."""
    return "/^" + re.sub(r"([^\w ])", lambda m: f"\\x{{{ord(m[1]):x}}}" if ord(m[1]) > 126 else "\\" + m[1], name) + "$/"


def options(question, to="--to"):
    words = ["--event", question["event"]]
    for key in ("pid", "tid", "comm", "count"):
        if key in question:
            words += [f"--{key}", str(question[key])]
    for key, option in (("from", "--from"), ("to", to)):
        if key in question:
            words += [option, str(question[key])]
    for key in ("focus", "ignore", "hide"):
        if key in question:
            words += [f"--{key}", exactly(question[key])]
    return words + (["--idle"] if question.get("idle") else [])


def shown(question):
    """Reports leave out threads that wait for work."""
    return ["--idle-pools"] if question["event"] in WAITS else []


# Surfaces: each gives the command, the program's answer and the model's, both as {key: figure}.

def ask_top(program, store, question):
    command = [program, "top", store.path, "--by", question["grain"], "-n", "0", "--json", *options(question), *shown(question)]
    yield command
    answer = json.loads(run(*command))
    of_program = collections.Counter()
    for row in answer["rows"]:
        key = (row["name"], row.get("module", ""), row.get("place", "") if question["grain"] == "line" else "")
        of_program[key, "self"] += row["self"]
        of_program[key, "total"] += row["total"]
    report = reports.Report(store, question)
    of_model = {(key, which): getattr(sums, which) for key, sums in report.top().items() for which in ("self", "total")}
    of_program["", "whole"], of_model["", "whole"] = answer["weight"], report.whole()
    yield of_program, of_model


def ask_neighbours(above):
    def ask(program, store, question):
        command = [program, "callers" if above else "callees", store.path, exactly(question["function"]), "-n", "0", "--json",
                   *options(question), *shown(question)]
        yield command
        rows = json.loads(run(*command))["rows"]
        report = reports.Report(store, {**question, "grain": "function"})
        of_program = collections.Counter()
        for row in rows:
            of_program[row["name"], row.get("module", ""), ""] += row["total"]
        yield of_program, report.neighbours(question["function"], above)
    return ask


def ask_folded(program, store, question):
    command = [program, "export", store.path, "--format", "folded", "-o", "-", "--keep-broken", "--inline", *export_options(question)]
    yield command
    of_program = collections.Counter()
    for line in run(*command).splitlines():
        stack, _, count = line.rpartition(" ")
        of_program[stack] += int(count)
    yield of_program, reports.Report(store, {**question, "grain": "offset"}).folded(by_image=True)


def export_options(question):
    """Exports have idle samples and threads unless told otherwise."""
    words = [word for word in options(question, "--to-time") if word != "--idle"]
    return words if question.get("idle") or question["event"] in WAITS else [*words, "--no-idle"]


def ask_tree(program, store, question):
    command = [program, "top", store.path, "--tree", "--keep-broken", "-n", "0", "--json", *options(question), *shown(question)]
    yield command
    of_program, path = collections.Counter(), []
    for row in json.loads(run(*command))["rows"]:
        path[row["depth"]:] = [(row["name"], row.get("module", ""))]
        of_program[tuple(path), "self"] += row["self"]
        of_program[tuple(path), "total"] += row["total"]
    yield of_program, reports.Report(store, {**question, "grain": "function"}).tree()


def ask_pprof(program, store, question):
    command = [program, "export", store.path, "--format", "pprof", "-o", "-", *export_options(question)]
    yield command
    done = subprocess.run([str(word) for word in command], capture_output=True, check=False)
    if done.returncode != 0:
        raise Failed(done.stderr.decode("utf-8", "replace").strip())
    yield pprof_stacks(done.stdout, question.get("count") == "samples"), reports.Report(store, {**question, "grain": "offset"}).named_stacks()


def ask_page(program, store, question):
    """Callstacks of the flame graph, of the first measure."""
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "page.html"
        command = [program, "export", store.path, "-q", "--format", "html", "-o", output, "--keep-broken", "--inline", *options(question, "--to-time"),
                   *shown(question)]
        yield command
        run(*command)
        page = read_page.Page(output)
    paths, of_program = [()], collections.Counter()
    for node in range(1, len(page.parents)):
        paths.append((*paths[page.parents[node]], page.functions[page.fn[node]][0]))
    report = reports.Report(store, {**question, "grain": "offset"})
    measures = [(measure["unit"] == "samples", i) for i, measure in enumerate(page.head["measures"]) if measure["name"] == question["event"]]
    _, measure = (min if report.measured else max)(measures, default=(0, None))
    for path, value in zip(paths, [] if measure is None else page.self[0][measure]):
        of_program[";".join(path) or "[no callstack]"] += value
    yield of_program, report.folded()


SPLIT_OFF = re.compile(r"(\.(cold|localalias|(part|constprop|isra|lto_priv|llvm|__uniq)\.\d+))+$")


def without_build(name, module):
    """A function as comparisons name it; what other languages add is left to the sums."""
    image = lambda text: re.sub(r"\.so\.[0-9.]+(?=\]?$)", ".so", text)
    return SPLIT_OFF.sub("", image(name) if name.startswith("[") else name), image(module)


def ask_diff(program, store, question):
    """The sums of functions that a comparison is made of; where it pairs names of two builds, those of all functions."""
    other = question["other"]
    command = [program, "diff", store.path, "--against", other.path, "--json", "--rows", "0", *options(question), *shown(question)]
    yield command
    answer = json.loads(run(*command))["events"][0]
    paired = answer["renames"] or any(str(one.source).endswith((".jfr.gz", ".nettrace", ".etl")) for one in (store, other))
    of_program, of_model = collections.Counter(), collections.Counter()
    for row in answer["rows"]:
        for number, side in enumerate(("old", "new")):
            key = () if paired else without_build(row["name"], row.get("module", ""))
            of_program[key, side, "self"] += row["self"][side + "_value"]
            of_program[key, side, "total"] += 0 if paired else row["total"][side + "_value"]
    for side, one in (("old", store), ("new", other)):
        for sample, names in (report := reports.Report(one, {**question, "grain": "function"})).rows:
            keys = [() if paired else without_build(name, module) for name, module, _ in names]
            for index, key in enumerate(dict.fromkeys(keys)):
                of_model[key, side, "self"] += report.value(sample) if index == 0 else 0
                of_model[key, side, "total"] += 0 if paired else report.value(sample)
    yield of_program, of_model


def ask_gc(program, store, _question):
    command = [program, "gc", store.path, "--json", "--limit", "0"]
    yield command
    of_program, (sums, generations) = {}, runtime.garbage(store.values)
    for row in json.loads(run(*command))["processes"]:
        for name in ("pauses", "pause_ns", "longest_pause_ns", "other_suspensions", "other_suspension_ns", "allocated_bytes", "largest_heap_bytes"):
            of_program[row["pid"], name] = row[name]
        for collected in row["collections"]:
            key = row["pid"], collected["generation"]
            of_program[key] = of_program.get(key, 0) + 1
    yield of_program, {(pid, name): value for pid, row in sums.items() for name, value in row.items()} | generations


def ask_exceptions(program, store, _question):
    command = [program, "exceptions", store.path, "--by", "message", "--json", "--limit", "0"]
    yield command
    rows = json.loads(run(*command))["exceptions"]
    yield ({(row["type"], row["message"], row["function"]): (row["count"], row["first_ns"]) for row in rows}, runtime.exceptions(store, store.values))


def ask_jit(program, store, _question):
    command = [program, "jit", store.path, "--json", "--limit", "0"]
    yield command
    rows = json.loads(run(*command))["methods"]
    yield {row["name"]: (row["count"], row["code_bytes"], row["duration_ns"], row["longest_ns"]) for row in rows}, runtime.compiled(store.values)


def ask_io(program, store, _question):
    command = [program, "io", store.path, "--json", "--limit", "0"]
    yield command
    rows = json.loads(run(*command))["operations"]
    yield {row["name"]: (row["count"], row["bytes"], row["latency_ns"], row["longest_ns"]) for row in rows}, runtime.operations(store.values)


def ask_branches(program, store, _question):
    command = [program, "branches", store.path, "--json", "-n", "0"]
    yield command
    rows = json.loads(run(*command))["branches"]
    yield ({(int(row["from"]["offset"], 16), int(row["to"]["offset"], 16)): tuple(row[name] for name in ("taken", "mispredicted", "taken_to_all_targets", "not_taken"))
            for row in rows}, runtime.branches(store.path))


def ask_mem(program, store, _question):
    command = [program, "mem", store.path, "--json", "--limit", "0"]
    yield command
    answer = json.loads(run(*command))
    of_program = {}

    def add(key, row):
        figures = tuple(row[name] for name in ("samples", "loads", "stores", "latency", "longest_latency"))
        of_program[key] = (*figures, row["shared_locally"] + row["shared_remotely"])

    add(("all", ""), answer)
    for row in answer["functions"]:
        add(("function", row["function"]), row)
    for row in answer["cache_lines"]:
        add(("line", row["address"]), row)
    yield of_program, runtime.accesses(store)


def ask_wait_sums(program, store, question):
    command = [program, "waits", store.path, "--json", "--idle-pools", *wait_options(question)]
    yield command
    of_program = {}
    for row in json.loads(run(*command))["threads"]:
        states = {state: row[state] for state in ("running", "blocked", "woken", "preempted", "awake", "unknown", "exited")}
        for state, value in (states | {"blocked:" + reason: value for reason, value in row["blocked_by"].items()}).items():
            if value["count"]:
                of_program[row["tid"], state] = value["count"], value["ns"], value["max_ns"]
    yield of_program, waits.sums(in_window(store.intervals, question))


def ask_runs(program, store, question):
    command = [program, "waits", store.path, "--list", "--json", *wait_options({"tid": question["tid"]} if "tid" in question else {})]
    yield command
    rows = json.loads(run(*command))
    of_model = waits.runs(store.intervals)
    yield ({(row["tid"], row["time_ns"]): (row["wait_ns"], row["delay_ns"], row["run_ns"]) for row in rows},
           {key: value for key, value in of_model.items() if key[0] == question.get("tid", key[0])})


def ask_path(program, store, question):
    command = [program, "waits", store.path, "--path", str(question["tid"]), "--list", "--json", *wait_options(question)[2:]]
    yield command
    own = in_window(store.intervals, question)
    start, end = own[0].start if own else 0, own[-1].end if own else 0
    of_program = {(step["from_ns"], step["to_ns"], step["tid"], step["state"]): 1 for step in json.loads(run(*command))}
    yield of_program, {tuple(step): 1 for step in waits.path(store.intervals, question["tid"], start, end)}


def wait_options(question):
    return [word for key in ("tid", "from", "to") if key in question for word in (f"--{key}", str(question[key]))]


def in_window(rows, question):
    """Intervals of a question's thread, as far as they lie in its time."""
    first, last = question.get("from", 0), question.get("to", 1 << 64)
    touches = lambda row: row.end != row.start and max(row.start, first) == min(row.end, last)
    return [row._replace(start=max(row.start, first), end=min(row.end, last)) for row in rows
            if row.tid == question.get("tid", row.tid) and first <= row.end and row.start <= last and not touches(row)]


OF_VALUES = {"gc": ask_gc, "exceptions": ask_exceptions, "jit": ask_jit, "io": ask_io}
SURFACES = OF_VALUES | {"branches": ask_branches, "mem": ask_mem, "page": ask_page, "diff": ask_diff, "wait sums": ask_wait_sums, "runs": ask_runs, "path": ask_path, "tree": ask_tree, "pprof": ask_pprof, "top": ask_top, "callers": ask_neighbours(True), "callees": ask_neighbours(False), "folded": ask_folded}


def law_broken(law, program, store, stores, numbers, folder):
    if law in properties.OF_SEVERAL:
        return law(program, store, numbers, folder, stores)
    return law(program, store, numbers, folder)


def differences(surface, program, store, question):
    """(command, lines that say what differs)"""
    asked = SURFACES[surface](program, store, question)
    command = next(asked)
    try:
        of_program, of_model = next(asked)
    except Failed as error:
        if not is_empty(surface, str(error)):
            return command, [f"no answer: {error}"]
        chosen = question["event"] and reports.Report(store, question).rows
        if surface == "diff":
            chosen = all(reports.Report(one, question).whole() for one in (store, question["other"]))
        return command, ["no answer, where the model has samples"] if chosen and "selected" in str(error) else []
    rows = [key for key in {*of_program, *of_model} if of_program.get(key, 0) != of_model.get(key, 0)]
    return command, [f"{key}: program {of_program.get(key, 0)}, model {of_model.get(key, 0)}" for key in sorted(rows, key=str)]


def is_empty(surface, error):
    """Nothing is left to count, or no such function in it."""
    if surface == "diff":
        return "no event has selected samples on both sides" in error or "no sample of a side lies in what is to be the whole" in error
    if surface == "path":
        return "the thread has no intervals in the time range" in error
    return "no sample of the file is selected" in error or surface in ("callers", "callees") and "no function" in error


class Drawer:
    """Draws questions about a capture."""

    def __init__(self, store, random_numbers, stores):
        self.store, self.random, self.stores = store, random_numbers, stores
        names = [name for name, _ in store.events]
        self.samples = [s for s in store.samples if names.count(names[s.event]) == 1]
        waiting = [s for event in WAITS if event not in names for s in store.samples_of(event)]
        self.samples += waiting * (len(self.samples) // (2 * len(waiting)) + 1 if waiting else 0)  # one question in three, at least
        # Events of one group would be taken together.
        self.functions = sorted({f.name for f in store.functions})

    def question(self):
        if self.store.intervals and self.random.random() < .15:
            return self.of_waits()
        name = pathlib.Path(self.store.source).name
        if name in OF_CAPTURES and self.random.random() < .1:
            return {"surface": OF_CAPTURES[name], "event": ""}
        if self.store.values and self.random.random() < .1:
            return {"surface": self.random.choice(sorted(OF_VALUES)), "event": ""}
        sample = self.random.choice(self.samples)
        surface = self.random.choice(("top", "top", "top", "callers", "callees", "folded", "tree", "pprof", "page", "diff"))
        question = {"surface": surface, "event": sample.event if sample.event in WAITS else self.store.events[sample.event][0]}
        question["grain"] = self.random.choice(reports.GRAINS + (("reason", "waker") * 2 if sample.event in WAITS else ()))
        if surface in ("callers", "callees"):
            if not self.functions:
                return self.question()
            question["function"] = self.function_of(sample)
        for name in self.random.sample(FILTERS, self.random.choice((0, 0, 1, 1, 2, 3))):
            value = self.value(name, sample)
            if value is not None and name not in NOT_ASKED.get(surface, ()):
                question[name] = value
        if surface == "diff":
            question["other"] = self.random.choice([store for store in self.stores if store.samples_of(question["event"])])
        if question.get("to", 1 << 64) < question.get("from", 0):
            question["from"], question["to"] = question["to"], question["from"]
        return question

    def of_waits(self):
        row = self.random.choice(self.store.intervals)
        question = {"surface": self.random.choice(("wait sums", "runs", "path")), "event": "", "tid": row.tid}
        if self.random.random() < .5:
            times = sorted(self.random.choice(self.store.intervals).start + self.random.randrange(-1, 2) for _ in range(2))
            question |= dict(zip(("from", "to"), times))
        if question["surface"] != "path" and self.random.random() < .5:
            del question["tid"]
        return question

    def function_of(self, sample):
        if sample.stack != NONE and self.random.random() < .9:
            stack = self.store.stacks[sample.stack]
            index = self.random.randrange(len(stack))
            use = self.store.use_of(stack, index, sample.pid, sample.time)
            name = self.random.choice(self.store.places_of(stack[index], use, sample.pid, sample.time)).name
            others = sorted(self.store.other_names.get(name, ()))
            if name:
                return self.random.choice((name, *others)) if others else name
        return self.random.choice(self.functions)

    def value(self, name, sample):
        if name in ("pid", "tid"):
            value = getattr(self.random.choice(self.samples), name)
            return None if value == NONE else value
        if name == "comm":
            value = self.store.thread_name(sample.pid, sample.tid, sample.time)
            return value if value and value.isalnum() else None
        if name in ("from", "to"):
            return None if self.store.aggregated else sample.time + self.random.choice((-1, 0, 0, 1))
        if name in ("focus", "ignore", "hide"):
            return self.function_of(sample) if self.functions else None
        return "samples" if name == "count" else True


def smaller(surface, program, store, question):
    """The question without each filter that does not matter for the failure."""
    for name in FILTERS:
        if name in question and (surface, name) != ("path", "tid"):
            less = {key: value for key, value in question.items() if key != name}
            if differences(surface, program, store, less)[1]:
                question = less
    return question


def captures(arguments, folder):
    """Packed captures as Stores."""
    for number in range(0 if arguments.captures else SHAPES):
        shapes.write(pathlib.Path(folder) / f"shape-{number}.txt", random.Random(f"{arguments.seed} shape {number}"))
    if not arguments.captures:
        memory_capture.write(pathlib.Path(folder) / "memory.perf.data", 300, arguments.seed)
    shaped = sorted([*pathlib.Path(folder).glob("shape-*.txt"), *pathlib.Path(folder).glob("memory.perf.data")])
    sources = arguments.captures or shaped + sorted(path for pattern in TESTDATA for path in (arguments.root / "testdata").glob(pattern))
    for i, source in enumerate(sources):
        packed = pathlib.Path(folder) / f"{i}.spk"
        try:
            if str(source).endswith(".spk"):
                packed = source
            else:
                pack(arguments.program, "convert", "-q", "-s", "--unwind", source, "-o", packed)
            store = Store(str(packed))
        except Failed as error:
            print(f"{source}: {error}", file=sys.stderr)
            continue
        if store.samples:
            store.source = source
            yield store
    yield from scheduled(arguments, pathlib.Path(folder))


def scheduled(arguments, folder):
    """Systems whose schedule is drawn: their intervals are those of their switches."""
    for number in range(0 if arguments.captures else SCHEDULES):
        schedule = schedules.draw(random.Random(f"{arguments.seed} {number}"))
        source, packed = folder / f"schedule-{number}.perf.data", folder / f"schedule-{number}.spk"
        schedule.system.write(source)
        pack(arguments.program, "convert", "-q", source, "-o", packed)
        store = Store(str(packed))
        store.source, store.events_of_switches = source, schedule.events
        yield store


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("captures", nargs="*")
    parser.add_argument("--root", type=pathlib.Path, default=HERE.parent.parent)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=1e9, help="of processor time of the model and the program")
    arguments = parser.parse_args()
    asked, wrong = collections.Counter(), 0
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        stores = list(captures(arguments, folder))
        drawers = [Drawer(store, random.Random(f"{arguments.seed} {i}"), stores) for i, store in enumerate(stores)]
        drawers = [drawer for drawer in drawers if drawer.samples]
        numbers = random.Random(arguments.seed)
        for store in stores:
            for line in properties.wrong_intervals(store):
                wrong += 1
                print(f"{store.source}: {line}", flush=True)
        laws = pathlib.Path(folder) / "laws"
        laws.mkdir()
        for _ in range(arguments.questions):
            if time.monotonic() - begin > arguments.seconds:
                break
            drawer = numbers.choice(drawers)
            if numbers.random() < .1:
                law = numbers.choice(properties.OF_ONE + properties.OF_SEVERAL)
                asked[law.__name__] += 1
                command, lines = law_broken(law, arguments.program, drawer.store, stores, numbers, laws)
                if lines:
                    wrong += 1
                    print(f"{drawer.store.source}: {law.__doc__}\n  {' '.join(map(str, command))}", *lines[:6], sep="\n    ", flush=True)
                continue
            question = drawer.question()
            surface = question.pop("surface")
            asked[surface] += 1
            command, lines = differences(surface, arguments.program, drawer.store, question)
            if lines:
                wrong += 1
                question = smaller(surface, arguments.program, drawer.store, question)
                command, lines = differences(surface, arguments.program, drawer.store, question)
                print(f"{drawer.store.source}: {question}\n  {' '.join(map(str, command))}", *lines[:6], sep="\n    ", flush=True)
    print(f"seed {arguments.seed}: {sum(asked.values())} questions about {len(drawers)} captures, {dict(asked)}; {wrong} answered differently")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
