#!/usr/bin/env python3
"""How often `diff --per run` is wrong, and what it finds.

    bench/cost_bench.py model FOLDER [--program FILE] [--pairs N] [--runs N]
    bench/cost_bench.py recorded FOLDER [--program FILE] [--load NAME]... [--first N] [--each N] [--runs N]

model: runs are drawn. A run of 2,000 samples on average, of 20 functions from 30 to 0.1 %, costs more or less as a whole
by a normal factor (0.5, 2 and 5 %), and each function by one of its own (half of that); samples fall by Poisson's law.
recorded: three programs (C++, Python, Node.js) of fixed work, a quarter of a second each, recorded by perf's cpu-clock;
FIRST recordings say what is visible (in nine of ten pairs), then EACH of the program as it is and with more work are made in turns, so that both
meet the same machine. Recordings that share none are compared first, then as many as 200 pairs are drawn.

Both: pairs without a difference in which the whole, or a figure of a function, is a change; and pairs whose newer side
takes twice what is visible more, in the whole, or (model, C++) in a function of 10 % alone: how often that is `more`. What
is visible depends on the machine of the moment: pairs that themselves call half of the growth visible are counted apart.
Runs of programs that perf ended early are left to the product, which calls such a comparison not comparable.
"""
import argparse
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from diff_bench import CHANGES, ROOT, share_text  # noqa: E402

SHARES = [30, 20, 12, 10, 8, 5, 4, 3, 2, 1.5, 1, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.1]
SAMPLES = 2000
PLANT = "f3"  # 10 %
CPP = """
#include <cstdint>
#include <cstdlib>
volatile std::uint64_t sink;
#define STEP(NAME) extern "C" __attribute__((noinline)) void NAME(double steps) { \\
  std::uint64_t x = sink + 88172645463325252u; \\
  for (double i = 0; i < steps; ++i) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; } \\
  sink = x & 1; }
STEP(parse) STEP(render) STEP(plant) STEP(store)
int main(int, char** arguments) {
  const double whole = std::atof(arguments[1]), own = std::atof(arguments[2]);
  for (int i = 0; i < 1000; ++i) {
    parse(50000 * whole); render(30000 * whole); plant(10000 * whole * own); store(10000 * whole);
  }
}
"""
PYTHON = """
import json, re, sys, random, zlib
random.seed(1)
doc = {"k%d" % i: [random.random() for _ in range(20)] for i in range(100)}
for turn in range(round(100 * float(sys.argv[1]))):
    text = json.dumps(doc)
    data = json.loads(text)
    len(re.findall(r"k[0-9]+", text))
    zlib.crc32(zlib.compress(text.encode(), 1))
    sum([i * i % 7 for i in range(3000)])
"""
NODE = """
const words = [];
for (let i = 0; i < 400; ++i) words.push("k" + (i * 7919 % 1000));
let total = 0;
for (let turn = 0; turn < Math.round(700 * Number(process.argv[2])); ++turn) {
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) || 0) + 1);
  const text = JSON.stringify([...counts.entries()].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)));
  total += JSON.parse(text).length + text.replace(/k[0-9]+/g, "x").length;
}
if (total < 0) console.log(total);
"""


def compare(program, olds, news):
    out = subprocess.run([program, "diff", *olds, "--against", *news, "--json", "--per", "run"], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=True).stdout
    return json.loads(out)["events"][0]


def row_of(event, name):
    return next((row["self"] for row in event["rows"] if row["name"] == name), None)


class Tally:
    """What pairs without and with a planted difference showed."""

    def __init__(self, plant, growth=0.0):
        self.plant, self.growth, self.pairs, self.doubted = plant, growth, 0, 0
        self.whole, self.rows = 0, 0
        self.visible, self.visible_plant = [], []
        self.more = {"whole": [0, 0, 0], "plant": [0, 0, 0]}  # found; pairs that see half of the growth; found in those

    def note(self, what, visible, found):
        sees = self.growth >= 2 * visible
        self.more[what] = [a + b for a, b in zip(self.more[what], (found, sees, found and sees))]

    def add(self, event):
        self.pairs += 1
        self.doubted += bool(event.get("doubts"))
        self.whole += event["whole"]["verdict"] in CHANGES
        self.rows += any(row[figure]["verdict"] in CHANGES for row in event["rows"] for figure in ("self", "total"))
        self.visible.append(event["whole"]["least_visible"] / event["whole"]["old_share"])
        self.note("whole", self.visible[-1], event["whole"]["verdict"] == "more")
        own = row_of(event, self.plant)
        if own:
            self.visible_plant.append(own["least_visible"] / max(own["old_share"], 1e-9))
            self.note("plant", self.visible_plant[-1], own["verdict"] in ("more", "appeared"))


def tallied(program, pairs, plant, growth=0.0):
    tally = Tally(plant, growth)
    for olds, news in pairs:
        tally.add(compare(program, olds, news))
    return tally


def pairs_of(olds, news, runs, wanted, source):
    """Disjoint pairs of groups, then drawn ones; how many are disjoint. `news` may be `olds`."""
    same = olds is news
    first, second = olds[:], news[:]
    source.shuffle(first)
    if same:
        second, first = first[len(first) // 2:], first[:len(first) // 2]
    else:
        source.shuffle(second)
    count = min(len(first), len(second)) // runs
    made = [(first[i * runs:(i + 1) * runs], second[i * runs:(i + 1) * runs]) for i in range(count)]
    while len(made) < wanted:
        drawn = source.sample(olds, 2 * runs) if same else source.sample(olds, runs) + source.sample(news, runs)
        made.append((drawn[:runs], drawn[runs:]))
    return made, count


def report(what, tally, plants):
    text = f"{what}: "
    if plants is None:
        text += f"the whole changed in {share_text(tally.whole, tally.pairs)}, a function in {share_text(tally.rows, tally.pairs)}"
    else:
        found, sees, of_those = tally.more[plants]
        text += f"`more` in {share_text(found, tally.pairs)}"
        text += f"; of those that say so: {share_text(of_those, sees)}" if sees else "; no pair says so"
    print(text + (f"; not comparable in {tally.doubted}" if tally.doubted else ""), flush=True)


def poisson(source, mean):
    """Knuth's for small means, the normal law above."""
    if mean > 50:
        return max(0, round(source.gauss(mean, math.sqrt(mean))))
    limit, count, product = math.exp(-mean), -1, 1.0
    while product > limit or count < 0:
        product *= source.random()
        count += 1
    return count


def drawn_runs(program, folder, count, scatter, growth, seed):
    """Packed runs of the model; growth: factor by function."""
    folder.mkdir(parents=True, exist_ok=True)
    source = random.Random(f"{seed}/{scatter}/{growth}")
    paths = []
    for run in range(count):
        whole = math.exp(source.gauss(0, scatter))
        lines = []
        for i, share in enumerate(SHARES):
            mean = SAMPLES * share / 100 * whole * math.exp(source.gauss(0, scatter / 2)) * growth.get(f"f{i}", growth.get("*", 1))
            samples = poisson(source, mean)
            lines.append(f"main;f{i} {samples}\n" if samples else "")
        paths.append(folder / f"{run}.folded")
        paths[-1].write_text("".join(lines), encoding="utf-8")
    for begin in range(0, count, 500):
        subprocess.run([program, "convert", *paths[begin:begin + 500], "--out-dir", folder, "--quiet", "--force"], check=True)
    return [folder / f"{path.name}.spk" for path in paths]


def run_model(arguments):
    folder, runs, pairs = pathlib.Path(arguments.folder), arguments.runs, arguments.pairs
    for scatter in (0.005, 0.02, 0.05):
        def draw(name, growth):
            return drawn_runs(arguments.program, folder / f"{name}{scatter}", pairs * runs, scatter, growth, name)

        def compared(olds, news, growth=0.0):
            return tallied(arguments.program, pairs_of(olds, news, runs, pairs, random.Random(1))[0], PLANT, growth)

        olds, others = draw("old", {}), draw("other", {})
        same = compared(olds, others)
        visible, visible_plant = statistics.median(same.visible), statistics.median(same.visible_plant)
        report(f"model, scatter {100 * scatter:g} %, {runs} runs a side, no difference", same, None)
        report(f"  {200 * visible:.1f} % more everywhere (twice what is visible)",
               compared(olds, draw("whole", {"*": 1 + 2 * visible}), 2 * visible), "whole")
        report(f"  {200 * visible_plant:.1f} % more in a function of 10 %",
               compared(olds, draw("plant", {PLANT: 1 + 2 * visible_plant}), 2 * visible_plant), "plant")


def record(program, command, path):
    raw = path.with_suffix(".data")
    subprocess.run(["perf", "record", "-q", "-F", "2000", "-e", "cpu-clock", "-g", "-o", raw, *command], check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run([program, "convert", raw, "-o", path, "--symbolize", "--no-inlines", "--quiet", "--force"], check=True,
                   stderr=subprocess.DEVNULL)
    raw.unlink()
    return path


def run_recorded(arguments):
    folder, runs, program = pathlib.Path(arguments.folder), arguments.runs, arguments.program
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("load.cc", CPP), ("load.py", PYTHON), ("load.js", NODE)):
        (folder / name).write_text(text, encoding="utf-8")
    subprocess.run(["g++", "-O2", "-g", "-o", folder / "load", folder / "load.cc"], check=True)
    commands = {"C++": [folder / "load"], "Python": [sys.executable, folder / "load.py"], "Node.js": ["node", folder / "load.js"]}
    for name, command in commands.items():
        if name not in (arguments.load or commands):
            continue
        def made(kind, number, whole, own):
            return record(program, [*command, f"{whole:.6f}", f"{own:.6f}"], folder / f"{name}.{kind}{number}.spk")

        plant = "plant" if name == "C++" else None
        first = [made("first", i, 1, 1) for i in range(arguments.first)]
        seen = tallied(program, pairs_of(first, first, runs, 20, random.Random(1))[0], plant)
        whole = 1 + 2 * statistics.quantiles(seen.visible, n=10)[-1]
        own = 1 + 2 * statistics.quantiles(seen.visible_plant, n=10)[-1] if plant else 1
        kinds = {"same": (1, 1), "whole": (whole, 1)} | ({"plant": (1, own)} if plant else {})
        files = {kind: [] for kind in kinds}
        for i in range(arguments.each):
            for kind, (everywhere, there) in kinds.items():
                files[kind].append(made(kind, i, everywhere, there))
        samples = statistics.median(compare(program, files["same"][:1], files["same"][1:2])["old"]["samples"] for _ in range(1))
        for wanted in (0, 200):
            apart, count = pairs_of(files["same"], files["same"], runs, wanted, random.Random(2))
            how = f"{count} of the pairs share no recording" if wanted else "disjoint pairs"
            print(f"{name}, {runs} runs a side of {samples} samples, {how}")
            report("  no difference", tallied(program, apart, plant), None)
            for kind, factor in (("whole", whole), ("plant", own)):
                if kind in files:
                    pairs = pairs_of(files["same"], files[kind], runs, wanted, random.Random(3))[0]
                    report(f"  {100 * factor - 100:.1f} % more {'everywhere' if kind == 'whole' else 'in a function of 10 %'}",
                           tallied(program, pairs, plant, factor - 1), kind)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    for name in ("model", "recorded"):
        part = parts.add_parser(name)
        part.add_argument("folder")
        part.add_argument("--program", default=str(ROOT / "build/release/src/cli/stackpack"))
        part.add_argument("--runs", type=int, default=5 if name == "model" else 3)
        if name == "model":
            part.add_argument("--pairs", type=int, default=400)
        else:
            part.add_argument("--load", action="append", help="C++, Python or Node.js; may be given several times [default: all]")
            part.add_argument("--first", type=int, default=18)
            part.add_argument("--each", type=int, default=42)
    arguments = parser.parse_args()
    {"model": run_model, "recorded": run_recorded}[arguments.part](arguments)


if __name__ == "__main__":
    main()
