#!/usr/bin/env python3
"""`stackpack top` beside `perf report --stdio`: the same rows in the same order, percent to 0.01.

    perf_report_test.py STACKPACK CAPTURE...            by module, self and children, each event
    perf_report_test.py STACKPACK --self CAPTURE...     self alone
    perf_report_test.py STACKPACK --folder FOLDER        all captures of a folder that this perf reads, by module, self
    perf_report_test.py STACKPACK --record COMPILER     a program recorded here, all functions that both name alike as well
    perf_report_test.py STACKPACK --options COMPILER    a program recorded here with each set of options of RECORD_OPTIONS, by module
                                                        and by module and function, self, and what it counts in all; STACKPACK_OPTIONS
                                                        has a part of the words of those that are wanted

What is recorded here has every value of a callchain that is no context replaced by an address of no code first: perf throws
all of a callchain away for one such value, and stackpack only the value, which it counts.

Children by module are compared where perf knows no symbols: where it does, it counts a module once for each of its functions in
some callchains. What is called otherwise here is made alike: modules of the kernel are files
(`ath9k.ko`, in perf `[ath9k]`), and code made at run time has the name of its process and not the number of its thread.

Exit code: 0 they agree, 1 they do not, 77 perf is not there or may not record.
"""
import collections
import itertools
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import perf_directory  # noqa: E402

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

# User code, system calls and page faults, in two threads and a child, and a library that comes late.
BUSY_PROGRAM = r"""
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
extern "C" {
static volatile unsigned long sink;
__attribute__((noinline)) void count(int n) { for (int i = 0; i < n * 1000; ++i) sink += (unsigned long)i * 7; }
__attribute__((noinline)) void touch(size_t bytes) { char* p = (char*)malloc(bytes); memset(p, 1, bytes); sink += (unsigned char)p[9]; free(p); }
__attribute__((noinline)) void fetch(int from) { char bytes[4096]; for (int i = 0; i < 8; ++i) sink += (unsigned long)read(from, bytes, sizeof bytes); }
__attribute__((noinline)) void work(int rounds) {
  const int from = open("/dev/urandom", O_RDONLY);
  for (int i = 0; i < rounds; ++i) { count(30); touch(1 << 22); fetch(from); }
  close(from);
}
int main(void) {
  const pid_t child = fork();
  if (child == 0) { work(20); _exit(0); }
  std::thread other(work, 20);
  void* const math = dlopen("libm.so.6", RTLD_NOW);
  double (*const sine)(double) = (double (*)(double))dlsym(math, "sin");
  for (int i = 0; sine && i < 100000; ++i) sink += (unsigned long)(sine(i) * 9);
  work(20);
  other.join();
  waitpid(child, nullptr, 0);
  return (int)(sink & 1);
}
}
"""

# What changes callchains, instruction pointers and times; words that begin with > are ours.
CHAIN_OPTIONS = [[], ["-g"], ["--call-graph", "fp"], ["--call-graph", "dwarf,4096"], ["-g", "--user-callchains"], ["-g", "--kernel-callchains"],
                 ["--call-graph", "dwarf,4096", "--user-callchains"]]
PLACE_OPTIONS = [["--all-user"], ["--all-kernel"], ["-e", "cpu-clock:u"], ["-e", "cpu-clock:k"], ["-e", "cpu-clock:p"], ["-e", "task-clock"],
                 ["--no-timestamp"], ["-T"], ["-d"], ["-c", "700000"], ["-F", "500"], ["-a"], ["-z"], [">pipe"], [">pipe", "-z"]]
OTHER_OPTIONS = [["-P"], ["-R"], ["-i"], ["-s"], ["--per-thread"], ["--sample-cpu"], ["-B"], ["--buildid-all"], ["--buildid-mmap"], ["--threads"],
                 ["--tail-synthesize"], ["--overwrite"], ["--synth=no"], ["--switch-events"], ["--namespaces"], ["--all-cgroups"], ["-D", "20"],
                 ["-k", "CLOCK_MONOTONIC"], ["-n"], ["--data-page-size", "-d"], ["--code-page-size"], ["--phys-data"], ["-W"], ["--transaction"],
                 ["-I"], ["--user-regs=ip,sp"], ["--kcore"], ["-b"], ["--call-graph", "lbr"], ["-e", "cpu-clock,page-faults"],
                 ["-e", "{cpu-clock,page-faults}:S"], ["-e", "cpu-clock/max-stack=3/", "-g"], ["-e", "cpu-clock/call-graph=no/,page-faults/call-graph=fp/"],
                 ["-a", "--no-timestamp"], ["--threads", "--no-timestamp"], ["--no-timestamp", "-z"], ["--no-timestamp", ">pipe"], ["-e", "cpu-clock:pu"],
                 ["-e", "cpu-clock:pk"]]
RECORD_OPTIONS = CHAIN_OPTIONS + [chain + place for chain, place in itertools.product(CHAIN_OPTIONS, PLACE_OPTIONS)] + OTHER_OPTIONS


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip()[-400:] or done.returncode}")
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
    # perf looks a caller up at the address it returns to: behind the call of the dynamic linker's _start.
    perf = [("_start" if row[0] == "_dl_start_user" else row[0], *row[1:]) for row in perf]
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
    program = build(compiler, folder, PROGRAM)
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


def build(compiler, folder, source_text):
    source, program = folder / "measured.cc", folder / "measured"
    source.write_text(source_text)
    run(compiler, "-g", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", source, "-o", program, "-pthread", "-ldl")
    return program


def record_with(options, measured, capture):
    """Records the program. What perf says where it refuses; else nothing."""
    words = [word for word in options if not word.startswith(">")]
    events = [] if "-e" in words else ["-e", "cpu-clock"]
    rate = [] if "-c" in words or "-F" in words else ["-F", "1999"]
    piped = ">pipe" in options
    shutil.rmtree(capture, ignore_errors=True)
    capture.unlink(missing_ok=True)
    command = ["perf", "record", "-q", *events, *rate, *words, "-o", "-" if piped else str(capture), str(measured)]
    with open(capture if piped else os.devnull, "wb") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, check=False, timeout=120)
    said = done.stderr.decode(errors="replace").strip()
    size = sum(part.stat().st_size for part in capture.rglob("*")) if capture.is_dir() else capture.stat().st_size if capture.exists() else 0
    return "" if size > 1000 else said[:200] or f"status {done.returncode}"


def compare_set(program, capture, spk, options):
    """The problems of one set of options, and how many rows were compared."""
    run(program, "convert", capture, "-o", spk, "-q", "--force", "--symbolize", "--no-inlines", *(["--unwind"] if "dwarf,4096" in options else []))
    problems, compared = [], 0
    if capture.is_dir():
        capture = perf_directory.as_perf_reads(capture, capture.with_suffix(".listed"))
    for event, rows in perf_tables(capture, "dso", False).items():
        ours, _ = our_table(program, spk, event, "module", True)
        shares, names = made_alike(rows), made_alike((name, self) for name, _, self in ours)
        problems += [f"{event}: {name}: perf {share:.2f}, here {names.get(name, 0):.4f}" for name, share in shares.items()
                     if abs(share - names.get(name, 0)) > 0.0101]
        compared += len(shares)
    for event, rows in perf_tables(capture, "sym", False).items():
        ours, _ = our_table(program, spk, event, "function", True)
        rows, ours = named_alike([row for row in rows if not row[0].startswith("0x")], ours)
        found = {name: self for name, _, self in ours}
        problems += [f"{event}: {name}: perf {share:.2f}, here {found[name]:.4f}" for name, share in rows if abs(share - found[name]) > 0.0051]
        compared += len(rows)
    return problems, compared


def compare_options(program, compiler, folder):
    measured = build(compiler, folder, BUSY_PROGRAM)
    capture, spk = folder / "recorded.perf.data", folder / "recorded.spk"
    said = record_with([], measured, capture)
    if said:
        print(f"perf may not record here: {said}")
        return 77
    wanted = os.environ.get("STACKPACK_OPTIONS", "")
    bad = compared = 0
    for options in RECORD_OPTIONS:
        name = " ".join(options) or "(none)"
        if wanted not in name:
            continue
        said = record_with(options, measured, capture)
        if said:
            print(f"{name}: perf refuses: {said!r}")
            continue
        try:
            problems, rows = compare_set(program, capture, spk, options)
        except RuntimeError as refused:
            ours = str(refused).startswith(str(program))
            print(f"{name}: {'WRONG' if ours else 'perf does not read it'}: {str(refused)[-200:]!r}")
            bad += ours
            continue
        print(f"{name}: {rows} rows: {problems[:3] or 'the same'}", flush=True)
        bad += len(problems)
        compared += 1
    print(f"{compared} sets of options")
    return 1 if bad or (not wanted and compared < 60) else 0


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
        if captures[0] == "--options":
            sys.exit(compare_options(program, captures[1], folder))
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
