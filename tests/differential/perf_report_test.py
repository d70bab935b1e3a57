#!/usr/bin/env python3
"""`stackpack top` beside `perf report --stdio`: the same rows in the same order, percent to 0.01.

    perf_report_test.py STACKPACK CAPTURE...            by module, self and children, each event
    perf_report_test.py STACKPACK --self CAPTURE...     self alone
    perf_report_test.py STACKPACK --folder FOLDER        all captures of a folder that this perf reads, by module, self
    perf_report_test.py STACKPACK --record COMPILER     a program recorded here, all functions that both name alike as well

What is recorded here has every value of a callchain that is no context replaced by an address of no code first: perf throws
all of a callchain away for one such value, and stackpack only the value, which it counts.

Children by module are compared where perf knows no symbols: where it does, it counts a module once for each of its functions in
some callchains. What is called otherwise here is made alike: modules of the kernel are files
(`ath9k.ko`, in perf `[ath9k]`), and code made at run time has the name of its process and not the number of its thread.

Exit code: 0 they agree, 1 they do not, 77 perf is not there or may not record.
"""
import collections
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern "C" {
static volatile unsigned long sink;
__attribute__((noinline)) void leaf(int n) { for (int i = 0; i < n * 1000; ++i) sink += (unsigned long)i * 7; }
__attribute__((noinline)) void touch(size_t bytes) { char* p = (char*)malloc(bytes); memset(p, 1, bytes); sink += (unsigned char)p[9]; free(p); }
__attribute__((noinline)) void recurse(int n) { leaf(1); if (n > 0) recurse(n - 1); sink += 1; }
__attribute__((noinline)) void half(int n) { leaf(n); touch(1 << 22); sink += 1; }
int main(void) { for (int i = 0; i < 300; ++i) { half(40); recurse(20); leaf(90); } return (int)(sink & 1); }
}
"""


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip()[-400:]}")
    return done.stdout


def perf_tables(capture, key, children, more=()):
    """By event: [(name, percent...)] in perf's order."""
    fields = "overhead_children,overhead" if children else "overhead"
    text = run("perf", "report", "-i", capture, "--stdio", "--children" if children else "--no-children", "-g", "none",
               "--no-inline", "--no-group", "-s", key, "--percent-limit", "0", "-F", f"{fields},{key}", "-t", "|", *more)
    tables = {}
    for line in text.splitlines():
        event = re.match(r"# Samples: .* of events? '(.*)'", line)
        if event:
            rows = tables.setdefault(event[1], [])
        elif line.strip() and not line.startswith("#"):
            *shares, name = line.split("|")
            name = re.sub(r"^\[[.kgH]\] ", "", name.strip())
            if "N/A" not in "".join(shares):  # children of events without callchains
                rows.append((name, *(float(share.strip().rstrip("%")) for share in shares)))
    return tables


def our_table(program, spk, event, grain, by_self):
    text = run(program, "top", spk, "--by", grain, "--event", event, "--idle", "-n", "0", "--json",
               "--self" if by_self else "--total")
    found = json.loads(text)
    whole = found["weight"]
    return [(row["name"], 100 * row["total"] / whole, 100 * row["self"] / whole) for row in found["rows"]], found


def alike(name):
    """A module as both call it."""
    kernel = re.match(r"\[kernel\.(vmlinux|kallsyms)\]", name)
    module = re.fullmatch(r"(?:.*/)?([^/]+)\.ko(?:\.\w+)?", name)
    made = name.startswith("[JIT]") or name in ("//anon", "anon")
    return "[kernel.kallsyms]" if kernel else f"[{module[1].replace('-', '_')}]" if module else "[JIT]" if made else name


def made_alike(rows):
    """Rows of self under the names that both have."""
    sums = {}
    for name, share in rows:
        sums[alike(name)] = sums.get(alike(name), 0) + share
    return sums


def compare_folder(program, folder, work):
    """Of each capture that this perf reads: modules by self, each event. How many differ, and how many captures were compared."""
    bad = compared = 0
    nothing = work / "nothing"
    nothing.mkdir()
    for capture in sorted(pathlib.Path(folder).glob("*.perf.data")):
        spk = work / "out.spk"
        run(program, "convert", capture, "-o", spk, "-q", "--force")
        try:
            tables = perf_tables(capture, "dso", False, ["--no-branch-stack", "--symfs", nothing, "--kallsyms", "/dev/null"])
        except RuntimeError as refused:
            print(f"{capture.name}: not read by this perf: {str(refused)[-60:]}")
            continue
        known = {event["name"] for event in json.loads(run(program, "dump", spk, "--events", "--json"))}
        for event, rows in tables.items():
            perf = made_alike(row for row in rows if not row[0].startswith("0x") and row[0] != "[unknown]")
            if not perf or event not in known:  # an event of hardware traces, which perf decodes
                continue
            ours = sorted(made_alike((name, self) for name, _, self in our_table(program, spk, event, "module", True)[0]).items(),
                          key=lambda row: -row[1])
            problems = differences(sorted(perf.items(), key=lambda row: -row[1]), [(name, self, self) for name, self in ours], False)
            print(f"{capture.name} {event}: {len(perf)} rows: {problems[:4] or 'the same'}")
            bad += len(problems)
        compared += 1
    print(f"{compared} recordings")
    return bad, compared


def differences(perf, ours, children):
    """What is not as perf has it; names that perf has none for (addresses) are left out on both sides."""
    by_name = {name: (total, self) for name, total, self in ours}
    problems = []
    for name, *shares in perf:
        if name not in by_name:
            problems.append(f"{name}: perf alone, {shares}")
            continue
        wanted = by_name[name] if children else by_name[name][1:]
        for share, own in zip(shares, wanted):
            if abs(share - own) > 0.0051:
                problems.append(f"{name}: perf {shares}, here {wanted}")
    known = {name for name, *_ in perf}
    column = 1 if children else 2
    order = [row[column] for row in ours if row[0] in known]
    if [f"{share:.1f}" for share in order] != [f"{share:.1f}" for share in sorted(order, reverse=True)]:
        problems.append("not in order")
    perf_order = [row[1] for row in sorted(perf, key=lambda row: -row[1])]
    if any(abs(share - own) > 0.0051 for share, own in zip(perf_order, order)):
        problems.append(f"another order: perf {perf_order}, here {order}")
    return problems


def compare(program, capture, spk, key, grain, kinds, names=None):
    bad = 0
    for children in kinds:
        for event, rows in perf_tables(capture, key, children).items():
            rows = [row for row in rows if not row[0].startswith("0x") and row[0] != "[unknown]"]
            ours, found = our_table(program, spk, event, grain, not children)
            if names is not None:
                wanted = names & {row[0] for row in rows}
                rows, ours = named_alike(rows, ours)
                missing = wanted - {row[0] for row in rows}
                bad += len(missing)
                print(f"{len(rows)} functions that both name alike" + (f", without {missing}" if missing else ""))
            if not rows:
                continue
            problems = differences(rows, ours, children)
            kind = "children" if children else "self"
            print(f"{pathlib.Path(capture).name} {event} {kind} by {grain}: {len(rows)} rows, {found['weight']} {found['unit']}: "
                  f"{'the same' if not problems else problems[:4]}")
            bad += len(problems)
    return bad


def named_alike(perf, ours):
    """The rows whose names stand once on both sides: several functions may have one name, and one address several names."""
    def once(rows):
        counts = collections.Counter(row[0] for row in rows)
        return {name for name, count in counts.items() if count == 1}
    both = once(perf) & once(ours)
    return [row for row in perf if row[0] in both], [row for row in ours if row[0] in both]


def with_known_contexts(capture):
    """Overwrites values of callchains in the range of contexts that are none. perf.data files with samples in plain records."""
    known = {2**64 - value for value in (32, 128, 512, 2048, 2176, 2560)}
    data = bytearray(capture.read_bytes())
    start, size = struct.unpack_from("<QQ", data, 40)
    at, replaced = start, 0
    while at + 8 <= start + size:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        if kind == 9:
            for place in range(at + 8, at + length - 7, 8):
                value = struct.unpack_from("<Q", data, place)[0]
                if value >= 2**64 - 4095 and value not in known:
                    struct.pack_into("<Q", data, place, 0x10)
                    replaced += 1
        at += max(length, 8)
    capture.write_bytes(data)
    print(f"{capture.name}: {replaced} values of callchains are no context")


def record(compiler, folder):
    source, program = folder / "measured.cc", folder / "measured"
    source.write_text(PROGRAM)
    run(compiler, "-g", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", source, "-o", program)
    captures = []
    for name, events in (("clock", ["cpu-clock:u"]), ("faults", ["cpu-clock:u", "page-faults:u"]), ("task", ["task-clock:u"]), ("kernel", ["cpu-clock"])):
        capture = folder / f"{name}.perf.data"
        words = [word for event in events for word in ("-e", event)]
        done = subprocess.run(["perf", "record", "-q", *words, "-F", "1999", "-g", "-o", capture, program],
                              capture_output=True, text=True, check=False)
        if not capture.exists() or capture.stat().st_size == 0:
            print(f"perf may not record here: {done.stderr.strip()[:200]}")
            sys.exit(77)
        with_known_contexts(capture)
        captures.append(capture)
    return captures


def main():
    program, *captures = sys.argv[1:]
    if shutil.which("perf") is None:
        print("perf is not there")
        sys.exit(77)
    bad = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if captures[0] == "--folder":
            corpus = os.environ.get("STACKPACK_CORPUS", "") if len(captures) == 1 else captures[1]
            if not corpus:
                sys.exit(77)
            bad, compared = compare_folder(program, pathlib.Path(corpus) / "perf", folder)
            sys.exit(1 if bad or compared < 20 else 0)
        recorded, kinds = captures[0] == "--record", (False, True)
        if captures[0] == "--self":
            kinds, captures = (False,), captures[1:]
        captures = record(captures[1], folder) if recorded else captures
        for capture in captures:
            spk = folder / "out.spk"
            spk.unlink(missing_ok=True)
            run(program, "convert", capture, "-o", spk, "-q", *(["--symbolize", "--no-inlines"] if recorded else []))
            bad += compare(program, capture, spk, "dso", "module", (False,) if recorded else kinds)
            if recorded:
                bad += compare(program, capture, spk, "sym", "function", kinds, {"main", "half", "recurse", "leaf", "touch"})
    sys.exit(1 if bad else 0)


main()
