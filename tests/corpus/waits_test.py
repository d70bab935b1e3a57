#!/usr/bin/env python3
"""Waits of real captures: `dump --intervals` equals the lists that stand beside them, line by line.

    waits_test.py PROGRAM [--list]

The corpus is found as corpus_test.py finds it. CORPUS/waits/NAME.waits.tsv is of NAME.perf.data or NAME.etl beside it; corpus.NAME.waits.tsv.gz of CORPUS/perf/NAME.perf.data or of a file or folder NAME in
it. DIGESTS.sha256 has the SHA-256 of each list without its first line.
"""
import collections
import gzip
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile


sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "model"))
import waits  # pylint: disable=wrong-import-position


def captures(corpus):
    """(name, capture, expected lines)."""
    waits = corpus / "waits"
    for path in sorted(waits.glob("*.waits.tsv*")):
        name = path.name.split(".waits.tsv")[0]
        text = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode()
        folder, stem = (corpus / "perf", name[len("corpus."):]) if name.startswith("corpus.") else (waits, name)
        found = [place for place in (folder / f"{stem}.perf.data", folder / f"{stem}.etl", folder / stem) if place.exists()]
        if found:
            yield name, found[0], [line for line in text.splitlines() if not line.startswith("#")]


def intervals_of(program, capture, folder, *options):
    packed = folder / "out.spk"
    subprocess.run([program, "convert", capture, "-o", packed, "--force", "--quiet", *options], check=True, capture_output=True)
    subprocess.run([program, "verify", packed], check=True, capture_output=True)
    listing = subprocess.run([program, "dump", packed, "--intervals"], check=True, capture_output=True, text=True).stdout
    return packed, [line for line in listing.splitlines() if not line.startswith("#")]


# Its recorder kept nothing for 13 ms in every 15, and says that it lost nothing.
GAPS_UNTOLD = {"record-trace-switches.nettrace"}


def too_many_running(program, corpus, folder):
    """Captures in which more threads run at a time than there are processors: those of the system, else the highest number plus one."""
    wrong = []
    for capture in sorted(path for kind in ("waits", "time", "perf", "etl", "nettrace") for path in (corpus / kind).glob("*")
                          if path.is_file() and path.name not in GAPS_UNTOLD):
        packed = folder / "running.spk"
        words = [program, "convert", capture, "-o", packed, "--force", "--quiet"]
        if subprocess.run(words, check=False, capture_output=True).returncode not in (0, 2) or not packed.exists():
            continue
        file = waits.spk.File(packed)
        rows = list(waits.spk.read_intervals(file))
        if rows and waits.most_running(rows) > waits.processors(file):
            wrong.append(f"{capture.name}: {waits.most_running(rows)} threads run at a time on {waits.processors(file)} processors")
        packed.unlink()
    return wrong


STATES = ("running", "blocked", "woken", "preempted", "awake", "unknown", "exited")


def wrong_sums(program, packed, wanted):
    """Threads whose counts, sums and longest intervals in `waits` are others than those of the lines."""
    sums = {}
    for line in wanted:
        tid, start, end, state, reason, *_ = line.split("\t")
        for key in [state] + (["blocked:" + reason] if state == "blocked" else []):
            count, total, longest = sums.setdefault(int(tid), {}).get(key, (0, 0, 0))
            length = int(end) - int(start)
            sums[int(tid)][key] = (count + 1, total + length, max(longest, length))
    report = json.loads(subprocess.run([program, "waits", packed, "--idle-pools", "--json"], check=True, capture_output=True, text=True).stdout)
    got = {}
    for row in report["threads"]:
        values = {state: row[state] for state in STATES} | {"blocked:" + reason: value for reason, value in row["blocked_by"].items()}
        for key, value in values.items():
            if value["count"]:
                count, total, longest = got.setdefault(row["tid"], {}).get(key, (0, 0, 0))
                got[row["tid"]][key] = (count + value["count"], total + value["ns"], max(longest, value["max_ns"]))
    return [tid for tid in sums.keys() | got.keys() if sums.get(tid) != got.get(tid)]


def wrong_events(program, packed, wanted):
    """Events made of intervals whose folded callstacks do not add up to the ns of the lines."""
    wrong = []
    for state in ("blocked", "woken", "preempted", "wall-time"):
        rows = [line.split("\t") for line in wanted if line.split("\t")[3] == state or state == "wall-time"]
        if total := sum(int(row[2]) - int(row[1]) for row in rows):
            folded = subprocess.run([program, "export", packed, "--format", "folded", "--event", state, "-o", "-"], check=True, capture_output=True, text=True).stdout
            if sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()) != total:
                wrong.append(state)
    return wrong


def interval_of(line):
    tid, start, end, state, reason, _, _, waker, _ = line.split("\t")
    return waits.Interval(int(tid), int(start), int(end), state, reason, 0, None, int(waker.isdigit()), int(waker) if waker.isdigit() else 0, None)


def wrong_paths(program, packed, wanted):
    """Threads whose path is another one than that of the lines: of those that others woke the most."""
    rows, woken = [interval_of(line) for line in wanted], collections.Counter()
    for row in rows:
        woken[row.tid] += row.state == "blocked" and row.waker_kind == 1
    wrong = []
    for tid in sorted(filter(woken.get, woken), key=lambda tid: (-woken[tid], tid))[:3]:
        path = json.loads(subprocess.run([program, "waits", packed, "--path", str(tid), "--list", "--json"], check=True, capture_output=True, text=True).stdout)
        own = [row for row in rows if row.tid == tid]
        if [(step["from_ns"], step["to_ns"], step["tid"], step["state"]) for step in path] != waits.path(rows, tid, own[0].start, own[-1].end):
            wrong.append(tid)
    return wrong


def off_cpu(program, corpus):
    """Samples of perf record --off-cpu: process, thread, ns and callstack of each; times of those that have one."""
    bad = 0
    with tempfile.TemporaryDirectory() as scratch:
        packed = pathlib.Path(scratch) / "out.spk"
        for truth in sorted((corpus / "waits").glob("*.perf.data.truth.tsv")):
            capture = truth.with_name(truth.name[:-len(".truth.tsv")])
            subprocess.run([program, "convert", capture, "-o", packed, "--force", "--quiet"], check=True, capture_output=True)
            listing = subprocess.run([program, "dump", packed, "--samples"], check=True, capture_output=True, text=True).stdout
            rows = [line.split("\t") for line in listing.splitlines()[1:]]
            wanted = [line.split("\t") for line in truth.read_text().splitlines()[1:]]
            got = sorted((row[1], row[2], row[5], row[10]) for row in rows if row[4] == "offcpu-time")
            times = {row[0].rstrip("0") for row in rows}
            known = [f"{int(time) / 1e9:.9f}".rstrip("0") for *_, time in wanted if time != "-"]
            if got != sorted(tuple(row[:4]) for row in wanted) or not times.issuperset(known) or max(map(float, times)) > 10000:
                bad += 1
                print(f"{capture.name}: {got} at {sorted(times)}, wanted {wanted}")
    return bad


def difference(got, wanted):
    for number, (one, other) in enumerate(zip(got, wanted)):
        if one != other:
            return f"line {number}:\n  got    {one[:300]}\n  wanted {other[:300]}"
    return f"{len(got)} lines, wanted {len(wanted)}"


def main():
    program = sys.argv[1]
    beside = pathlib.Path(__file__).resolve().parents[3] / "shared" / "corpus"
    corpus = pathlib.Path(os.environ.get("STACKPACK_CORPUS", beside))
    if not (corpus / "waits").is_dir():
        print("no captures of waits")
        sys.exit(77)
    bad = count = lines = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for name, capture, wanted in captures(corpus):
            packed, got = intervals_of(program, capture, folder)
            count, lines = count + 1, lines + len(wanted)
            if got != wanted:
                bad += 1
                print(f"{name}: {len(set(got) & set(wanted))} of {len(wanted)} lines equal, {len(got)} got; {difference(got, wanted)}")
            elif "--list" in sys.argv:
                print(f"{name}: {len(wanted)} lines, {hashlib.sha256(''.join(line + chr(10) for line in got).encode()).hexdigest()[:16]}")
            if wrong := wrong_sums(program, packed, wanted):
                bad += 1
                print(f"{name}: other sums of threads {wrong[:10]}")
            if wrong := wrong_events(program, packed, wanted):
                bad += 1
                print(f"{name}: other sums of events {wrong}")
            if wrong := wrong_paths(program, packed, wanted):
                bad += 1
                print(f"{name}: other paths of {wrong}")
            # Without the samples of switches the intervals are the same.
            _, fewer = intervals_of(program, capture, folder, "--no-switch-samples")
            if fewer != got:
                bad += 1
                print(f"{name}: other intervals with --no-switch-samples: {difference(fewer, got)}")
        bad += len(wrong := too_many_running(program, corpus, folder))
        for line in wrong:
            print(line)
    bad += off_cpu(program, corpus)
    if not count:
        sys.exit(f"no captures below {corpus}")
    print(f"{count} captures, {lines} intervals, {bad} differ")
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
