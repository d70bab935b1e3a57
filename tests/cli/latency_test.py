#!/usr/bin/env python3
"""`--latency` on schedules that are known, against the rule in a few lines.

    latency_test.py PROGRAM SOURCE_DIR
"""
import collections
import fractions
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

PROGRAM, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
sys.path.insert(0, str(SOURCE / "tests/support"))
import switch_capture as sc  # pylint: disable=wrong-import-position

REST = ["[nothing runs]", "[not sampled]", "[not recorded]"]


def run(*words):
    return subprocess.run([PROGRAM, *map(str, words)], check=False, capture_output=True, text=True)


def rows_of(*words):
    done = run("top", *words, "--latency", "--json", "--self", "--frames", "module", "-n", 0)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    rows = {row["name"]: row["self"] for row in report["rows"]}
    assert report["unit"] == "ns" and sum(rows.values()) == report["weight"], report
    last = [row["name"] for row in report["rows"] if row["name"] in REST]
    assert last == [row["name"] for row in report["rows"]][len(rows) - len(last):], report
    return rows


def make_schedule(generator, threads):
    """Runs on two processors as (cpu, thread, from, to), and samples as (time, cpu, thread, place); no two events at one time."""
    runs, samples = [], []
    for cpu in range(2):
        at = 10 + cpu
        while at < 1000:
            until = at + 2 * generator.randrange(1, 60)
            thread = generator.choice(threads[cpu::2])
            runs.append((cpu, thread, at, until))
            samples += [(time, cpu, thread, generator.randrange(4)) for time in range(at + 4, until, 26) if generator.random() < 0.7]
            at = until + 2 * generator.choice([0, 0, 10])
    return runs, samples


def write(path, runs, samples, threads):
    system = sc.SwitchCapture()
    for thread in threads:
        system.add_thread(thread, thread, f"t{thread}")
        system.add_image(thread, 0x401000, "/bin/work")
    events = []
    for cpu in range(2):
        mine = sorted(row[2:] + (row[1],) for row in runs if row[0] == cpu)
        for number, (begin, end, thread) in enumerate(mine):
            follows = number > 0 and mine[number - 1][1] == begin
            if not follows:
                events.append((begin, 0, ("switch", cpu, 0, sc.ABLE, thread)))
            following = mine[number + 1] if number + 1 < len(mine) else None
            to = following[2] if following and following[0] == end else 0
            if to != thread:
                events.append((end, 1, ("switch", cpu, thread, sc.SLEEPS, to)))
    for time, cpu, thread, place in samples:
        events.append((time, 0, ("clock", cpu, thread, [0x401100 + 16 * place])))
    for time, _, (kind, *rest) in sorted(events, key=lambda event: event[:2]):
        getattr(system, kind)(time, *rest)
    system.write(path)


def expected(runs, samples, scope):
    """By place: each moment is shared by the threads of the scope that run."""
    whole = collections.defaultdict(list)
    for _, thread, begin, end in sorted(runs, key=lambda row: row[2]):
        if whole[thread] and whole[thread][-1][1] == begin:
            whole[thread][-1][1] = end
        else:
            whole[thread].append([begin, end])
    begin, end = min(row[2] for row in runs), max(row[3] for row in runs)
    sums = collections.Counter()
    owners = collections.defaultdict(list)  # of each moment
    for thread in scope:
        for first, last in whole[thread]:
            taken = sorted((time, place) for time, _, of, place in samples if of == thread and first <= time < last)
            for moment in range(first, last):
                later = [place for time, place in taken if time > moment]
                owners[moment].append(later[0] if later else taken[-1][1] if taken else "[not sampled]")
    for moment in range(begin, end):
        for place in owners[moment] or ["[nothing runs]"]:
            sums[place if isinstance(place, str) else f"work+0x{0x1100 + 16 * place:x}"] += fractions.Fraction(1000, max(1, len(owners[moment])))
    return sums


def check_equal(got, wanted):
    assert got.keys() == {name for name, value in wanted.items() if value}, (got, wanted)
    assert all(abs(got[name] - wanted[name]) < 100 for name in got), (got, wanted)
    assert sum(got.values()) == sum(wanted.values()), (got, wanted)


def check_worked_example():
    """One thread works for 400 us, then two for 300, then nothing runs for 200: of 900 the first has 400, the others 150 each."""
    samples = [(time + 10, 0, 11, 0) for time in range(10, 401, 10)] + [(time + 10, 0, 11, 1) for time in range(410, 700, 10)]
    samples += [(time + 10, 1, 12, 1) for time in range(410, 700, 10)]
    write("example.data", [(0, 11, 10, 710), (1, 12, 410, 710), (0, 11, 910, 911)], samples, [11, 12])
    assert run("convert", "example.data", "-o", "example.spk").returncode == 0
    assert rows_of("example.spk") == {"work+0x1100": 400_000, "work+0x1110": 300_000, "[nothing runs]": 200_000, "[not sampled]": 1_000}
    assert rows_of("example.spk", "--by", "thread") == {"t11 (11)": 551_000, "t12 (12)": 150_000, "[nothing runs]": 200_000}
    assert rows_of("example.spk", "--by", "module") == {"work": 700_000, "[nothing runs]": 200_000, "[not sampled]": 1_000}
    # Of some threads the others do not share it; with a name as by number.
    alone = {"work+0x1110": 300_000, "[nothing runs]": 601_000}
    assert rows_of("example.spk", "--comm", "t12") == rows_of("example.spk", "--tid", 12) == alone
    # A part of the time.
    part = rows_of("example.spk", "--from", "5.00032", "--to", "5.00072")
    assert sum(part.values()) == 400_000 and part["[nothing runs]"] == 10_000, part


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_worked_example()
        for seed in range(12):
            generator = random.Random(seed)
            threads = [11, 12, 13, 14, 15]
            runs, samples = make_schedule(generator, threads)
            write("perf.data", runs, samples, threads)
            assert run("convert", "perf.data", "-o", "out.spk", "--force").returncode == 0
            check_equal(rows_of("out.spk"), expected(runs, samples, threads))
            check_equal(rows_of("out.spk", "--tid", 11), expected(runs, samples, [11]))
            # Other numbers of threads change nothing but the rounding.
            new = dict(zip(threads, [threads[i] + 40 for i in (3, 2, 4, 0, 1)]))
            write("perf.data", [(cpu, new[thread], *rest) for cpu, thread, *rest in runs], [(time, cpu, new[thread], place) for time, cpu, thread, place in samples],
                  sorted(new.values()))
            assert run("convert", "perf.data", "-o", "new.spk", "--force").returncode == 0
            before, after = rows_of("out.spk"), rows_of("new.spk")
            assert before.keys() == after.keys() and all(abs(before[name] - after[name]) < 100 for name in before), (seed, before, after)
        for words in (["--event", "cpu-clock"], ["--longer-than", "1ms"]):
            failed = run("top", "out.spk", "--latency", *words)
            assert failed.returncode == 1 and "latency is all of the clock" in failed.stderr, failed


if __name__ == "__main__":
    main()
