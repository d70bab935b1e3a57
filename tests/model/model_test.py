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
from pprof import stacks as pprof_stacks  # noqa: E402
from store import NONE, Store  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
TESTDATA = ("*.perf.data", "*.etl", "*.nettrace", "*.netperf", "tiny.script.txt", "jfr/*.jfr.gz", "named/*.perf.data", "memory/script.txt",
            "unwind/*.perf.data")
FILTERS = ("pid", "tid", "comm", "from", "to", "idle", "focus", "ignore", "hide", "count")


class Failed(Exception):
    """The program did not answer."""


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, check=False)
    if done.returncode != 0:
        raise Failed(done.stderr.decode("utf-8", "replace").strip())
    return done.stdout.decode("utf-8", "replace")


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


# Surfaces: each gives the command, the program's answer and the model's, both as {key: figure}.

def ask_top(program, store, question):
    command = [program, "top", store.path, "--by", question["grain"], "-n", "0", "--json", *options(question)]
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
                   *options(question)]
        yield command
        rows = json.loads(run(*command))["rows"]
        report = reports.Report(store, {**question, "grain": "function"})
        of_program = collections.Counter()
        for row in rows:
            of_program[row["name"], row.get("module", ""), ""] += row["total"]
        yield of_program, report.neighbours(question["function"], above)
    return ask


def ask_folded(program, store, question):
    command = [program, "export", store.path, "--format", "folded", "-o", "-", "--keep-broken", "--inline",
               *options(question, "--to-time")] + ([] if question.get("idle") else ["--no-idle"])
    command = [word for word in command if word != "--idle"]
    yield command
    of_program = collections.Counter()
    for line in run(*command).splitlines():
        stack, _, count = line.rpartition(" ")
        of_program[stack] += int(count)
    yield of_program, reports.Report(store, {**question, "grain": "offset"}).folded()


def ask_tree(program, store, question):
    command = [program, "top", store.path, "--tree", "--keep-broken", "-n", "0", "--json", *options(question)]
    yield command
    of_program, path = collections.Counter(), []
    for row in json.loads(run(*command))["rows"]:
        path[row["depth"]:] = [(row["name"], row.get("module", ""))]
        of_program[tuple(path), "self"] += row["self"]
        of_program[tuple(path), "total"] += row["total"]
    yield of_program, reports.Report(store, {**question, "grain": "function"}).tree()


def ask_pprof(program, store, question):
    command = [program, "export", store.path, "--format", "pprof", "-o", "-", *options(question, "--to-time")]
    command = [word for word in command if word != "--idle"] + ([] if question.get("idle") else ["--no-idle"])
    yield command
    done = subprocess.run([str(word) for word in command], capture_output=True, check=False)
    if done.returncode != 0:
        raise Failed(done.stderr.decode("utf-8", "replace").strip())
    yield pprof_stacks(done.stdout, question.get("count") == "samples"), reports.Report(store, {**question, "grain": "offset"}).named_stacks()


SURFACES = {"tree": ask_tree, "pprof": ask_pprof, "top": ask_top, "callers": ask_neighbours(True), "callees": ask_neighbours(False), "folded": ask_folded}


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
        chosen = reports.Report(store, question).rows
        return command, ["no answer, where the model has samples"] if chosen and "selected" in str(error) else []
    rows = [key for key in {*of_program, *of_model} if of_program.get(key, 0) != of_model.get(key, 0)]
    return command, [f"{key}: program {of_program.get(key, 0)}, model {of_model.get(key, 0)}" for key in sorted(rows, key=str)]


def is_empty(surface, error):
    """Nothing is left to count, or no such function in it."""
    return "no sample of the file is selected" in error or surface in ("callers", "callees") and "no function" in error


class Drawer:
    """Draws questions about a capture."""

    def __init__(self, store, random_numbers):
        self.store, self.random = store, random_numbers
        names = [name for name, _ in store.events]
        self.samples = [s for s in store.samples if names.count(names[s.event]) == 1]
        # Events of one group would be taken together.
        self.functions = sorted({f.name for f in store.functions})

    def question(self):
        sample = self.random.choice(self.samples)
        surface = self.random.choice(("top", "top", "top", "callers", "callees", "folded", "tree", "pprof"))
        question = {"surface": surface, "event": self.store.events[sample.event][0], "grain": self.random.choice(reports.GRAINS)}
        if surface in ("callers", "callees"):
            if not self.functions:
                return self.question()
            question["function"] = self.function_of(sample)
        for name in self.random.sample(FILTERS, self.random.choice((0, 0, 1, 1, 2, 3))):
            value = self.value(name, sample)
            if value is not None and not (surface in ("folded", "pprof") and name in ("focus", "ignore", "hide")):
                question[name] = value
        if question.get("to", 1 << 64) < question.get("from", 0):
            question["from"], question["to"] = question["to"], question["from"]
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
        if name in question:
            less = {key: value for key, value in question.items() if key != name}
            if differences(surface, program, store, less)[1]:
                question = less
    return question


def captures(arguments, folder):
    """Packed captures as Stores."""
    sources = arguments.captures or sorted(path for pattern in TESTDATA for path in (arguments.root / "testdata").glob(pattern))
    for i, source in enumerate(sources):
        packed = pathlib.Path(folder) / f"{i}.spk"
        try:
            if str(source).endswith(".spk"):
                packed = source
            else:
                run(arguments.program, "convert", "-q", "-s", "--unwind", source, "-o", packed)
            store = Store(str(packed))
        except Failed as error:
            print(f"{source}: {error}", file=sys.stderr)
            continue
        if store.samples:
            store.source = source
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
        drawers = [Drawer(store, random.Random(f"{arguments.seed} {i}")) for i, store in enumerate(stores)]
        drawers = [drawer for drawer in drawers if drawer.samples]
        numbers = random.Random(arguments.seed)
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
