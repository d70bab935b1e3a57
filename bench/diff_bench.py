#!/usr/bin/env python3
"""How often `diff` is wrong, and what it finds.

    bench/diff_bench.py unchanged FOLDER [--program FILE] [--small N] [--middle N] [--large N] [--runs N]... [--disjoint]
    bench/diff_bench.py planted FOLDER [--program FILE] [--pairs N] [--recordings N]
    bench/diff_bench.py renamed FOLDER [--program FILE]
    bench/diff_bench.py builds OLD NEW COMMAND... [--program FILE]
    bench/diff_bench.py speed OLD.spk NEW.spk [--program FILE]

unchanged: recordings of one Python program (json, re, zlib, hashlib of the standard library) in three lengths; 200
pairs of each, one run a side and five. A pair in which any figure of any function is a change is a false alarm. Pairs
of one run are disjoint as far as recordings reach, the others are drawn; the output says how many are independent.
With --disjoint there are no others.
planted: bench/load/planted.cc, whose functions of 20, 5, 1 and 0.2 % take twice what is visible more. Counts how often
the function's own figure is `more`, and how often that of another function is. Five runs a side are drawn from half
as many recordings.
renamed: bench/load/renamed.cc in two builds whose compilers name things differently (a lambda's number, .cold, .constprop,
.isra), three functions taking twice as long in the newer one. Five runs a side; each must be one `more`, and none `less`.
builds: the share of samples that two builds of a program have in common functions; COMMAND has {} for the program.
speed: seconds and memory of one comparison, the best of five.

Recordings stay in FOLDER and are made once; perf and permission to use cpu-clock are needed.
"""
import argparse
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = """
import json, re, sys, random, zlib, hashlib
random.seed(1)
doc = {"k%d" % i: [random.random() for _ in range(20)] for i in range(200)}
total = 0
for turn in range(int(sys.argv[1])):
    text = json.dumps(doc)
    data = json.loads(text)
    total += len(re.findall(r"k[0-9]+", text))
    total += sum(len(v) for _, v in sorted(data.items(), key=lambda kv: kv[1][3]))
    total += zlib.crc32(zlib.compress(text.encode(), 1)) + len(hashlib.sha256(text.encode()).hexdigest())
    total += sum([i * i % 7 for i in range(3000)])
open(sys.argv[2], "w").close()
"""
PLANTS = {"plant_20": 20, "plant_5": 5, "plant_1": 1, "plant_02": 0.2}
CHANGES = ("more", "less", "appeared", "disappeared")


def record(program, command, path, ended=None):
    """A recording of a command, packed and with names. `ended`: a file that the command makes at its end. perf takes a
    command that is stopped (SIGSTOP) for one that ended, and ends it: such a recording is made again."""
    if path.exists():
        return
    raw = path.with_suffix(".data")
    for _ in range(10):
        if raw.exists() and (ended is None or ended.exists()):
            break
        subprocess.run(["perf", "record", "-q", "-F", "4000", "-e", "cpu-clock", "-g", "-o", raw, *command], check=ended is None,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    else:
        sys.exit(f"{path}: the command does not come to its end")
    if ended is not None:
        ended.unlink()
    subprocess.run([program, "convert", raw, "-o", path, "--symbolize", "--sysroot", "/", "--no-inlines", "--quiet", "--force"], check=True,
                   stderr=subprocess.DEVNULL)
    raw.unlink()


def compare(program, olds, news, *options):
    # What the statistics say of one run a side, which is no verdict otherwise.
    options = ("--accept-single-run", *options)
    out = subprocess.run([program, "diff", *olds, "--against", *news, "--json", *options], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out)["events"][0]


def changes_of(event):
    return [(row["name"], figure, row[figure]) for row in event["rows"] for figure in ("self", "total")
            if row[figure]["verdict"] in CHANGES]


def binomial_tail(count, size, share):
    """P(X >= count)."""
    return sum(math.comb(size, i) * share**i * (1 - share)**(size - i) for i in range(count, size + 1))


def exact_interval(count, size):
    """Clopper and Pearson, 95 %."""
    def solve(good, low=0.0, high=1.0):
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if good(middle) else (low, middle)
        return low
    low = 0.0 if count == 0 else solve(lambda p: binomial_tail(count, size, p) < 0.025)
    high = 1.0 if count == size else solve(lambda p: 1 - binomial_tail(count + 1, size, p) > 0.025)
    return low * 100, high * 100


def share_text(count, size):
    low, high = exact_interval(count, size)
    return f"{count} of {size} ({100 * count / size:.1f} %, 95 % interval {low:.1f} to {high:.1f})"


def groups(files, runs, pairs, source):
    """Pairs of groups: disjoint ones first, then drawn."""
    order = files[:]
    source.shuffle(order)
    made = [(order[i:i + runs], order[i + runs:i + 2 * runs]) for i in range(0, len(order) - 2 * runs + 1, 2 * runs)][:pairs]
    independent = len(made)
    while len(made) < pairs:
        drawn = source.sample(files, 2 * runs)
        made.append((drawn[:runs], drawn[runs:]))
    return made, independent


def run_unchanged(arguments):
    folder = pathlib.Path(arguments.folder)
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "work.py"
    script.write_text(WORK)
    for name, turns, count in (("small", 60, arguments.small), ("middle", 300, arguments.middle), ("large", 1500, arguments.large)):
        (folder / name).mkdir(exist_ok=True)
        files = [folder / name / f"{i}.spk" for i in range(1, count + 1)]
        for file in files:
            ended = file.with_suffix(".ended")
            record(arguments.program, [sys.executable, script, str(turns), ended], file, ended)
        for runs in (1, 2, 3, 5):
            if len(files) < 2 * runs or runs not in (arguments.runs or (1, 5)):
                continue
            source = random.Random(runs)
            count = len(files) // (2 * runs) if arguments.disjoint else arguments.pairs
            pairs, independent = groups(files, runs, count, source)
            alarms, names, samples = 0, {}, []
            for olds, news in pairs:
                event = compare(arguments.program, olds, news)
                samples.append(event["old"]["samples"])
                found = changes_of(event)
                alarms += bool(found)
                for change in found:
                    names[change[0]] = names.get(change[0], 0) + 1
            often = ", ".join(f"{name} {n}" for name, n in sorted(names.items(), key=lambda item: -item[1])[:4])
            print(f"{name:6} {runs} a side, {statistics.median(samples):,.0f} samples a side: false alarms in "
                  f"{share_text(alarms, len(pairs))}; {independent} pairs share no recording; {often}", flush=True)


def run_planted(arguments):
    folder = pathlib.Path(arguments.folder)
    folder.mkdir(parents=True, exist_ok=True)
    load = folder / "planted"
    subprocess.run(["g++", "-std=c++20", "-O2", "-fno-omit-frame-pointer", "-o", load, ROOT / "bench/load/planted.cc"], check=True)
    pairs = arguments.pairs
    base = [folder / f"base{i}.spk" for i in range(arguments.recordings)]
    for file in base:
        record(arguments.program, [load, "500"], file)
    for runs in (5, 1):
        if runs not in (arguments.runs or (1, 5)):
            continue
        source = random.Random(runs)
        seen = {plant: [] for plant in PLANTS}
        for olds, news in groups(base, runs, 20, source)[0]:
            for row in compare(arguments.program, olds, news)["rows"]:
                if row["name"] in seen:
                    seen[row["name"]].append(row["self"]["least_visible"])
        count = arguments.recordings if runs == 1 else max(2 * runs, arguments.recordings // 2)
        for plant, share in PLANTS.items():
            growth = 2 * statistics.median(seen[plant]) * 100
            files = [folder / f"{plant}.{runs}.{i}.spk" for i in range(count)]
            for file in files:
                record(arguments.program, [load, "500", plant, f"{growth:.4f}"], file)
            found, beside, shares = 0, 0, []
            for i in range(pairs):
                disjoint = runs == 1 and i < count
                olds = [base[i]] if disjoint else source.sample(base, runs)
                news = [files[i]] if disjoint else source.sample(files, runs)
                event = compare(arguments.program, olds, news)
                own = next(row["self"] for row in event["rows"] if row["name"] == plant)
                shares.append(own["new_share"] * 100)
                found += own["verdict"] in ("more", "appeared")
                beside += any(figure["verdict"] in ("more", "appeared") for row in event["rows"] if row["name"] != plant
                              for figure in (row["self"],))
            print(f"{runs} a side, {plant} {share} %: visible {growth / 2:.2f} points, planted {growth:.2f} (seen on average: "
                  f"{statistics.mean(shares):.2f} %): found {share_text(found, pairs)}; another function `more` in {beside}", flush=True)


def run_renamed(arguments):
    folder = pathlib.Path(arguments.folder)
    folder.mkdir(parents=True, exist_ok=True)
    plain, parts = ["-fno-ipa-cp", "-fno-reorder-blocks-and-partition"], ["-DCHANGED"]
    sides = []
    for name, flags in (("old", plain), ("new", parts)):
        subprocess.run(["g++", "-std=c++20", "-O2", "-fno-omit-frame-pointer", *flags, "-o", folder / name, ROOT / "bench/load/renamed.cc"],
                       check=True)
        (folder / name).replace(folder / "renamed")  # the module is a part of what a function is
        symbols = subprocess.run(["nm", "-C", folder / "renamed"], stdout=subprocess.PIPE, text=True, check=True).stdout
        print(f"{name}: " + ", ".join(line.split(" ", 2)[2] for line in symbols.splitlines() if " t (anonymous" in line))
        sides.append([folder / f"{name}{i}.spk" for i in range(5)])
        for file in sides[-1]:
            record(arguments.program, [folder / "renamed", "10000"], file)
    event = compare(arguments.program, *sides)
    found = set()
    for row in event["rows"]:
        planted = [part for part in ("lambda", "specialized", "partly_cold") if part in row["name"]]
        if planted:
            figure = row["self"]
            found |= {planted[0]} if figure["verdict"] == "more" else set()
            print(f"{row['name']}: {100 * figure['old_share']:.2f} % to {100 * figure['new_share']:.2f} %, {figure['verdict']}")
    print(f"on one side alone: {100 * event['old']['unpaired']:.2f} % of {event['old']['samples']:,} samples before, "
          f"{100 * event['new']['unpaired']:.2f} % of {event['new']['samples']:,} now")
    if len(found) != 3:
        sys.exit("diff_bench: a planted change was not found")
    # The lambda that was added has the number of the old one, which it must not make less.
    wrong = [row["name"] for row in event["rows"] if "lambda" in row["name"] and row["self"]["verdict"] in ("less", "appeared", "disappeared")]
    if wrong:
        sys.exit(f"diff_bench: a lambda that was added is taken for another: {wrong}")


def run_builds(arguments):
    files = []
    for build in (arguments.old, arguments.new):
        file = pathlib.Path(build + ".diff_bench.spk")
        file.unlink(missing_ok=True)
        record(arguments.program, [part.replace("{}", build) for part in arguments.command], file)
        files.append(file)
    event = compare(arguments.program, files[:1], files[1:], "--fail-if", "share +100pp")
    exact = [compare(arguments.program, [file], [file])["rows"] for file in files]
    print(f"{len(event['rows'])} functions, {len(exact[0])} and {len(exact[1])} of each build by itself; paired: "
          f"{100 * (1 - event['old']['unpaired']):.2f} % of {event['old']['samples']:,} samples of the old build, "
          f"{100 * (1 - event['new']['unpaired']):.2f} % of {event['new']['samples']:,} of the new one")


def run_speed(arguments):
    best, memory = math.inf, 0
    for _ in range(5):
        started = time.monotonic()
        process = subprocess.Popen([arguments.program, "diff", arguments.old, "--against", arguments.new, "--frames", "module", "-n", "1"],
                                   stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if os.waitstatus_to_exitcode(status) != 0:
            sys.exit("diff failed")
        best, memory = min(best, time.monotonic() - started), max(memory, usage.ru_maxrss / 1024)
        print(f"{time.monotonic() - started:.2f} s wall, {usage.ru_utime + usage.ru_stime:.2f} s of processors, {usage.ru_maxrss / 1024:.0f} MiB")
    print(f"best {best:.2f} s, {memory:.0f} MiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    for name in ("unchanged", "planted", "renamed", "builds", "speed"):
        part = parts.add_parser(name)
        part.add_argument("--program", default=str(ROOT / "build/release/src/cli/stackpack"))
        if name in ("unchanged", "planted", "renamed"):
            part.add_argument("folder")
        if name in ("unchanged", "planted"):
            part.add_argument("--runs", type=int, action="append", choices=(1, 2, 3, 5) if name == "unchanged" else (1, 5),
                              help="a side; may be given several times [default: one, and five]")
            part.add_argument("--pairs", type=int, default=200 if name == "unchanged" else 100)
        if name in ("builds", "speed"):
            part.add_argument("old")
            part.add_argument("new")
        if name == "planted":
            part.add_argument("--recordings", type=int, default=100, help="of each kind for one run a side; half as many for five")
        if name == "unchanged":
            for size, count in (("small", 400), ("middle", 100), ("large", 30)):
                part.add_argument("--" + size, type=int, default=count)
            part.add_argument("--disjoint", action="store_true", help="only pairs that share no recording, as many as there are")
        if name == "builds":
            part.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    {"unchanged": run_unchanged, "planted": run_planted, "renamed": run_renamed, "builds": run_builds, "speed": run_speed}[arguments.part](arguments)


if __name__ == "__main__":
    main()
