#!/usr/bin/env python3
"""`perf script` in the field sets that perf prints, against what perf's own default text and the recording say: a fresh recording of software
events, and of each text the samples, weights and callstacks.

    perf_script_fields_test.py PROGRAM COMPILER

Skipped where perf, perf events or the compiler are not there. Field sets that this perf does not have are left out; 40 must be left.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
WORK = """
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) long leaf(long n) { for (int i = 0; i < 900; ++i) { n = n * 31 + i; __asm__ volatile("" : "+r"(n)); } return n; }
__attribute__((noinline)) long touch(long n) { char* pages = malloc(1 << 20); memset(pages, (int)n, 1 << 20); n += pages[9]; free(pages); return n; }
__attribute__((noinline)) long part(long n) { return leaf(n) + (n % 3000 ? 0 : touch(n)) + 1; }
int main(void) { long s = 0; for (int i = 0; i < 200000; ++i) s += part(i); return s == 7; }
"""
USUAL = "comm,tid,time,event,period,ip,sym,dso"
LEAST = 40
# Fields, and further options. A plus or minus changes the usual fields.
SETS = [
    *((fields,) for fields in (
        USUAL, "-time", "-event", "-period", "-comm", "-tid", "-dso", "-time,-event", "-time,-period", "-event,-period", "-time,-event,-period", "-comm,-tid",
        "-comm,-time", "-tid,-time", "-comm,-tid,-time", "-comm,-tid,-event", "-comm,-time,-event,-period", "-tid,-time,-event,-period", "-time,-dso",
        "-event,-dso", "+pid", "+cpu", "+misc", "+symoff", "+srcline", "+pid,+cpu", "+misc,+pid", "+misc,-time", "+misc,+cpu,-event", "+symoff,+srcline",
        "+symoff,-dso", "+srcline,-time", "+pid,-time,-event", "+cpu,-comm", "+addr", "+brstack", "+flags", "+tod", "+ipc", "+weight", "+data_src", "+phys_addr",
        "+callindent", "+insnlen", "+addr,-time", "+addr,-event", "+synth", "+metric", "+insn", "ip,sym", "ip", "ip,dso", "ip,sym,dso", "ip,sym,symoff", "comm,ip,sym", "tid,ip,sym", "pid,ip,sym",
        "pid,tid,ip,sym", "time,ip,sym", "event,ip,sym", "cpu,ip,sym", "cpu,time,ip,sym", "time,event,ip,sym", "comm,event,ip,sym,dso", "period,ip,sym",
        "comm,tid,period,ip,sym", "event,period,ip,sym", "comm,tid,cpu,time,period,event,ip,sym,dso,symoff,misc,srcline")),
    *((USUAL, *options) for options in (
        ["--ns"], ["--reltime"], ["--deltatime"], ["--ns", "--reltime"], ["--show-task-events"], ["--show-mmap-events"], ["--show-switch-events"],
        ["--show-namespace-events"], ["--show-lost-events"], ["--show-round-events"], ["--show-bpf-events"], ["--show-cgroup-events"],
        ["--show-task-events", "--show-mmap-events", "--ns"], ["--header"], ["--no-inline"], ["--show-kernel-path"], ["--full-source-path"], ["--no-demangle"],
        ["--header", "--show-mmap-events", "--deltatime"], ["-I"], ["--max-stack", "2"])),
    ("-time", "--show-mmap-events"), ("-event", "--show-task-events"), ("-comm,-time", "--show-mmap-events"), ("+pid,+misc", "--show-task-events"),
    ("+srcline", "--full-source-path"), ("+symoff", "--ns"), ("-G", "-G"), ("+cpu", "-G"), ("+symoff", "-G"), ("-period", "-G"), ("-event", "-G"), ("-time", "-G"), ("-time,-period", "-G"), ("ip,sym", "-G"), ("ip,sym,dso", "-G"), ("+addr", "-G"), ("-comm,-time", "-G"),
    ("comm,ip,sym", "-G"), ("comm,ip", "-G"), ("tid,ip,sym", "-G"), ("cpu,ip", "-G"), ("event,ip", "-G"), ("event,period,ip,sym", "-G"), ("time,ip,insn", "-G"),
    ("comm,tid,ip,sym,insn",), ("+insn,+insnlen",), ("+insn,+insnlen,-time",), ("ip,sym,insn",), ("tid,ip,insnlen",),
]


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def perf_text(capture, fields, *options):
    """The text, or what perf says against it."""
    if fields[0] in "+-" and fields != "-G":
        changes = [] if fields == USUAL else fields.split(",")
        kept = [field for field in USUAL.split(",") if f"-{field}" not in changes] + [change[1:] for change in changes if change[0] == "+"]
        fields = ",".join(kept)
    fields = USUAL if fields == "-G" else fields
    run = subprocess.run(["perf", "script", "-i", capture, "-F", fields, *options], capture_output=True, text=True, timeout=120, check=False)
    return fields.split(","), run.stdout, (run.stderr.strip().splitlines() or [""])[0] if run.returncode else ""


def samples_of(text):
    """Of perf's usual text: event, period and frames of each sample, leaf first; frames without a name are `?`."""
    samples = []
    for block in filter(str.strip, text.split("\n\n")):
        head, *frames = block.strip("\n").splitlines()
        match = re.match(r".* +[\d.]+: +(\d+) +([^ ]+): *$", head)
        if not match:
            continue
        names = [re.sub(r" \([^()]*\)$", "", re.sub(r"^\s*[0-9a-f]+ ", "", frame)) for frame in frames]
        samples.append((match[2], int(match[1]), ["?" if name == "[unknown]" else name for name in names]))
    return samples


def expected(samples, fields, options):
    """Weights by event and callstack."""
    found = collections.Counter()
    for event, period, names in samples:
        names = names[:1] if "-G" in options else names[:2] if "--max-stack" in options else names
        names = names if "sym" in fields else ["?"] * len(names)
        key = event if "event" in fields else "samples"
        found[key, ";".join(reversed(names))] += period if "period" in fields else 1
    return found


def converted(program, text, folder):
    path = folder / "fields.txt"
    path.write_text(text)
    packed = folder / "fields.spk"
    run = subprocess.run([program, "convert", path, "-o", packed, "--force"], capture_output=True, text=True, timeout=60, check=False)
    if run.returncode:
        return None, run.stderr.strip()
    stats = json.loads(subprocess.run([program, "stats", packed, "--json"], capture_output=True, text=True, timeout=60, check=True).stdout)
    found = collections.Counter()
    for event in stats["events"]:
        if not event["samples"]:
            continue
        command = [program, "export", packed, "--format", "folded", "--event", event["name"], "-o", "-"]
        for line in subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.splitlines():
            stack, _, weight = line.rpartition(" ")
            names = ["?" if re.search(r"(^|\+)0x[0-9a-f]+$", name) else name for name in stack.split(";")]
            found[event["name"], ";".join(names)] += int(weight)
    return found, run.stderr


def record(compiler, folder):
    (folder / "work.c").write_text(WORK)
    build = subprocess.run([compiler, "-x", "c", "-O1", "-g", "-fno-omit-frame-pointer", "work.c", "-o", "work"], cwd=folder, capture_output=True, check=False)
    if build.returncode:
        skip("no compiler")
    command = ["perf", "record", "-q", "-e", "cpu-clock,page-faults", "-F", "400", "-g", "-d", "--sample-cpu", "-o", "perf.data", "./work"]
    try:
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    except FileNotFoundError:
        skip("no perf")
    if run.returncode:
        skip(f"perf record: {run.stderr.strip()[:100]}")
    return folder / "perf.data"


def main():
    program, compiler = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        capture = record(compiler, folder)
        samples = samples_of(perf_text(capture, USUAL)[1])
        stats = json.loads(subprocess.run([program, "stats", capture, "--json"], capture_output=True, text=True, timeout=60, check=True).stdout)
        assert {event["name"]: event["samples"] for event in stats["events"]} == collections.Counter(event for event, _, _ in samples), stats["events"]
        wrong = []
        compared = 0
        for fields, *options in SETS:
            shown, text, refused = perf_text(capture, fields, *options)
            if refused or not text:
                print(f"left out: {fields} {' '.join(options)}: {refused[:100]}")
                continue
            compared += 1
            theirs = expected(samples, shown, options)
            ours, said = converted(program, text, folder)
            if ours != theirs or "unknown_line" in said:
                difference = ours and [list((ours - theirs).items())[:2], list((theirs - ours).items())[:2]]
                wrong.append(f"{fields} {' '.join(options)}: {difference} {said.strip()[:300]}")
        print(f"{compared} field sets of {len(samples)} samples compared")
        if wrong or compared < LEAST:
            sys.exit("\n".join(wrong) or "too few field sets")


if __name__ == "__main__":
    main()
