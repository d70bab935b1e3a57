#!/usr/bin/env python3
"""What perf records here is named and unwound as `perf report` does: pipes and compressed captures, whose kernel has
no build id; dumps of programs without build ids; callstacks through code of a run-time compiler.

    recorded_here_test.py PROGRAM COMPILER SOURCES

Skipped where perf, perf events or the compiler are not there.
"""
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
DEEP = """
__attribute__((noinline)) long leaf(long n) { for (int i = 0; i < 9000; ++i) { n = n * 31 + i; __asm__ volatile("" : "+r"(n)); } return n; }
__attribute__((noinline)) long part(long n) { return leaf(n) + 1; }
__attribute__((noinline)) long whole(long n) { long s = 0; for (int i = 0; i < 40000; ++i) s += part(n); return s; }
int main(void) { return whole(3) == 7; }
"""


CLOCKS = """
#include <fcntl.h>
#include <time.h>
#include <unistd.h>
int main(void) {
  const int sink = open("/dev/null", O_WRONLY);
  struct timespec now;
  for (int i = 0; i < 150000; ++i) {
    if (write(sink, "text", 4) != 4) return 1;
    for (int k = 0; k < 30; ++k) clock_gettime(CLOCK_MONOTONIC, &now);
  }
  return 0;
}
"""


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def top(program, capture, *options):
    """Shares of samples by function: in it alone, and beneath it. And what was said."""
    run = subprocess.run([program, "top", capture, "-n", "0", "--json", *options], check=True, capture_output=True, text=True)
    rows = json.loads(run.stdout)["rows"]
    whole = sum(float(row["self"]) for row in rows)
    shares = {}
    for row in sorted(rows, key=lambda row: float(row["total"])):  # of one name in several images the largest
        shares[row["name"]] = (100 * float(row["self"]) / whole, 100 * float(row["total"]) / whole)
    return shares, run.stderr


def perf_shares(capture, *options):
    """Shares of perf's report by symbol."""
    command = ["perf", "report", "-i", capture, "--stdio", "-g", "none", "--no-inline", "--sort", "sym", *options]
    text = subprocess.run(command, capture_output=True, text=True).stdout
    shares = {}
    for share, mode, name in re.findall(r"^\s+([\d.]+)%.*\[([k.])\] (\S+)", text, re.M):
        shares.setdefault(name, (float(share), mode))  # the largest comes first
    return shares


def kernel_is_shown():
    try:
        with open("/proc/kallsyms", encoding="ascii") as symbols:
            return any(line.split()[2] == "_text" and int(line.split()[0], 16) for line in symbols)
    except (OSError, PermissionError):
        return False


def check_kernel(program, compiler, folder):
    """A pipe, a compressed pipe and a compressed file of a program that is in the kernel most of the time."""
    if not kernel_is_shown():
        print("kernel: left out, /proc/kallsyms hides its addresses")
        return
    work = ["dd", "if=/dev/zero", "of=/dev/null", "bs=4k", "count=150000"]
    for number, options in enumerate((["-o", "-"], ["-z", "-o", "-"], ["-z", "-o"])):
        capture = folder / f"kernel-{number}.data"
        record = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "2000", "-g", *options]
        if options[-1] == "-":
            with open(capture, "wb") as out:
                done = subprocess.run([*record, *work], stdout=out, stderr=subprocess.DEVNULL)
        else:
            done = subprocess.run([*record, capture, *work], capture_output=True)
        if done.returncode:
            print(f"kernel: perf record {options} records nothing")
            continue
        theirs = {name: share for name, (share, mode) in perf_shares(capture, "--no-children").items() if mode == "k" and share >= 5}
        ours, said = top(program, capture)
        assert theirs, capture
        for name, share in theirs.items():
            assert name in ours and abs(ours[name][0] - share) <= 1, (options, name, share, ours.get(name))
        assert "believed by its release and the address of _text" in said, said
        # Of another release it would be believed by nothing: here by the list of the user.
        named, said = top(program, capture, "--kallsyms", "/proc/kallsyms")
        assert named.keys() == ours.keys() and "believed" not in said, said
    # A vmlinux by its path, which says one name for all.
    source = folder / "kernel.s"
    source.write_text(".text\n.globl _text\n_text:\n.globl all_of_it\n.type all_of_it, @function\nall_of_it: .skip 0x1800000\n"
                      ".size all_of_it, .-all_of_it\n")
    vmlinux = folder / "vmlinux"
    link = [compiler, "-nostdlib", "-static", "-Wl,--build-id=none", "-Wl,-Ttext=0xffffffff81000000", "-Wl,-e,_text", source, "-o", vmlinux]
    if platform.machine() == "x86_64" and subprocess.run(link, capture_output=True).returncode == 0:
        named, said = top(program, capture, "--symbols", vmlinux)
        assert named["all_of_it"][0] >= sum(theirs.values()), named
        assert "believed as it was named" in said, said
    print("kernel: named as perf does in pipes and compressed captures")


def record_dumps(folder, name, command):
    capture = folder / f"{name}.data"
    record = ["perf", "record", "-q", "-k", "mono", "-e", "cpu-clock:u", "-F", "999", "--call-graph", "dwarf,8192", "-o", capture, *command]
    if subprocess.run(record, capture_output=True).returncode:
        skip("perf records no dumps here")
    return capture


def build(compiler, source, path, *options):
    command = [compiler, "-x", "c", "-O2", "-fomit-frame-pointer", *options, source, "-o", path]
    if subprocess.run(command, capture_output=True).returncode:
        skip(f"{compiler} does not build the program")


def check_dumps(program, compiler, folder):
    source, path = folder / "deep.c", folder / "deep"
    source.write_text(DEEP)
    build(compiler, source, path, "-Wl,--build-id=none")
    capture = record_dumps(folder, "deep", [path])
    theirs = perf_shares(capture, "--children")
    ours, _ = top(program, capture)
    for name in ("leaf", "whole", "main", "_start"):
        share = theirs.get(name, (0, ""))[0]
        assert ours[name][1] >= max(90, share - 1), (name, ours[name], share)
    packed = folder / "deep.spk"
    os.utime(path)  # changed since: its tables are not believed
    subprocess.run([program, "convert", "-q", "--unwind", capture, "-o", packed, "--force"], check=True, capture_output=True)
    missing = json.loads(subprocess.run([program, "stats", packed, "--json"], check=True, capture_output=True).stdout)["missing_images"]
    assert [(row["path"], row["reason"]) for row in missing] == [(str(path), "changed")], missing
    print("dumps: whole through an image without a build id, none when it was changed since")


def check_vdso(program, compiler, folder):
    """Code that the kernel maps, without a build id: dumps whose root lies behind it. And names that share an address."""
    source, path = folder / "clocks.c", folder / "clocks"
    source.write_text(CLOCKS)
    build(compiler, source, path)
    record = ["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "999", "--call-graph", "dwarf,4096"]
    for number, options in enumerate((["-B", "-o"], ["-o", "-"])):
        capture = folder / f"clocks-{number}.data"
        for _ in range(5):  # on a busy machine perf may end before its program has begun
            with open(capture, "wb") as out:
                if options[-1] == "-":
                    done = subprocess.run([*record, *options, path], stdout=out, stderr=subprocess.DEVNULL)
                else:
                    done = subprocess.run([*record, *options, capture, path], capture_output=True)
            theirs = perf_shares(capture, "--children")
            if done.returncode or {"main", "__GI___libc_write"} & theirs.keys() == {"main", "__GI___libc_write"}:
                break
        if done.returncode:
            print(f"vdso: perf record {options} records nothing")
            continue
        ours, _ = top(program, capture)
        assert ours["main"][1] >= max(95, theirs["main"][0] - 1), (options, ours["main"], theirs["main"])
        clocks = [name for name in theirs if name.startswith("__vdso_clock")]
        assert all(abs(ours[name][1] - theirs[name][0]) <= 1 for name in clocks), (options, clocks, ours)
    writes = [top(program, capture, "--focus", name)[0] for name in ("write", "__write")]
    assert writes[0] == writes[1] and any(name.endswith("write") for name in writes[0]), writes
    print("vdso: dumps are whole behind it; write is found by both of its names")


def check_run_time_code(program, compiler, folder, sources):
    if platform.machine() != "x86_64":
        print("run-time code: left out, the program has code of x86-64")
        return
    path = folder / "compiles"
    build(compiler, sources / "tests/differential/run_time_program.c", path)
    capture = record_dumps(folder, "compiles", [path, folder])
    ours, _ = top(program, capture)
    for name in ("busy_leaf", "compiled_at_run_time", "calls_compiled_code", "main", "_start"):
        assert ours.get(name, (0, 0))[1] >= 95, (name, ours)
    injected = folder / "injected.data"
    if subprocess.run(["perf", "inject", "--jit", "-i", capture, "-o", injected], capture_output=True, cwd=folder).returncode == 0:
        theirs = perf_shares(injected, "--children")
        for name in ("compiled_at_run_time", "main", "_start"):
            assert abs(ours[name][1] - theirs[name][0]) <= 1, (name, ours[name], theirs[name])
    print("run-time code: whole through code that has no frame pointer")


def main():
    program, compiler, sources = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    if not shutil.which("perf"):
        skip("no perf")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        check_dumps(program, compiler, folder)
        check_vdso(program, compiler, folder)
        check_run_time_code(program, compiler, folder, sources)
        check_kernel(program, compiler, folder)


if __name__ == "__main__":
    main()
