#!/usr/bin/env python3
"""perf_script_pairs_test.py STACKPACK TESTDATA [whole]: `perf script -F SET` is read as the capture that it was printed from.

SET is every field alone, every two that perf prints, and some with instructions; with callstacks and without (-G). A quick run takes a part.
Longer ones, with names, are those of perf_script_fields_test.py. Samples, their events, the frames of their callstacks and their weights, as far as SET has them, are those of the perf.data itself.
A text that has neither addresses nor times nor events may be refused, but is never read in part as such a text. Without perf: skipped.
"""
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CAPTURES = ["events.perf.data", "no-chains.perf.data", "group.perf.data"]
LONGER = ["comm,pid,tid,cpu,time,event,ip,sym,dso,trace", "pid,tid,period,event", "comm,tid,cpu,event", "comm,tid,insn,ip,sym", "comm,tid,time,insnlen,insn,ip"]
# Of these alone a text does not say that its lines are samples.
TELLING = {"time", "event", "ip"}
STEP = 37  # of quick runs: every so many sets


def fields(perf):
    told = subprocess.run([perf, "script", "-F", "help"], capture_output=True, text=True, check=False)
    return re.search(r"Fields: (\S+)", told.stdout + told.stderr).group(1).split(",")


def answer(program, *words):
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False, timeout=60)
    return json.loads(done.stdout) if done.returncode == 0 else None


def figures(program, path, chosen, chains):
    """What a text of these fields has to say as the capture does; None: it is not read."""
    told = answer(program, "stats", path, "--json")
    if told is None or not told["source"]["kind"].startswith("perf"):
        return None
    samples, stacks = told["samples"], told["callstacks"]
    of = {"samples": samples["total"]}
    if "event" in chosen:
        of["events"] = {event["name"]: event["samples"] for event in told["events"]}
    if "ip" in chosen and chains:
        of["callstacks"] = (samples["recorded"], stacks["raw_frames"], stacks["max_depth"])
    elif "ip" in chosen:
        of["addresses"] = samples["recorded"] + samples["ip_only"]
    if {"event", "period"} <= set(chosen):
        of["weights"] = {name: answer(program, "top", path, "--event", name, "--count", "weight", "--idle", "--json")["weight"] for name in of["events"]}
    return of


def sets_of(perf, whole):
    names = fields(perf)
    pairs = list(itertools.combinations(names, 2))
    for chosen in [(name,) for name in names] + (pairs if whole else pairs[::STEP]) + [tuple(text.split(",")) for text in LONGER]:
        for more in ([], ["-G"]):
            yield chosen, more


def main():
    program, testdata, whole = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:] == ["whole"]
    perf = shutil.which("perf")
    if not perf:
        print("skipped: no perf in PATH")
        return 77
    wrong, read, refused, known = [], 0, 0, {}
    with tempfile.TemporaryDirectory() as folder:
        text = pathlib.Path(folder, "script.txt")
        for capture in CAPTURES if whole else CAPTURES[:1]:
            for chosen, more in sets_of(perf, whole):
                printed = subprocess.run([perf, "script", "-i", testdata / capture, "-F", ",".join(chosen), *more], capture_output=True, check=False)
                if printed.returncode or not printed.stdout.strip():
                    continue
                text.write_bytes(printed.stdout)
                chains = more != ["-G"]
                found = figures(program, text, chosen, chains)
                if found is None and not TELLING & set(chosen):
                    refused += 1
                    continue
                read += 1
                key = (capture, "event" in chosen, "ip" in chosen, "period" in chosen, chains)
                if key not in known:
                    known[key] = figures(program, testdata / capture, chosen, chains)
                if found != known[key]:
                    wrong.append(f"{capture} -F {','.join(chosen)} {' '.join(more)}: {found} instead of {known[key]}")
    print(f"{read} texts are read as their captures, {refused} say too little")
    print("\n".join(wrong))
    return 1 if wrong or not read else 0


if __name__ == "__main__":
    sys.exit(main())
