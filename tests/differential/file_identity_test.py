#!/usr/bin/env python3
"""Which file names a program that has no build id: the one that ran, and none that took its place.

    file_identity_test.py PROGRAM COMPILER

Records a program with perf, then puts others at its path whose times are old. Skipped where perf, perf events or
the compiler are not there.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
SOURCE = """
__attribute__((noinline)) static long NAME_step(long n) { for (int i = 0; i < 1000; ++i) n = n * 31 + i; return n; }
__attribute__((noinline)) static long NAME_part(long n) { return NAME_step(n) + 1; }
int main(void) { long n = 1; for (int i = 0; i < 150000; ++i) n += NAME_part(n); return n == 7; }
"""


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def build(compiler, path, name):
    source = path.with_suffix(".c")
    source.write_text(SOURCE.replace("NAME", name))
    command = [compiler, "-x", "c", "-O1", "-fno-omit-frame-pointer", "-Wl,--build-id=none", source, "-o", path]
    if subprocess.run(command, capture_output=True).returncode:
        skip(f"{compiler} does not build the program")


def main():
    program, compiler = sys.argv[1:]
    if not shutil.which("perf"):
        skip("no perf")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        here, there, aside, capture = folder / "here", folder / "there", folder / "aside", folder / "perf.data"
        here.mkdir()
        there.mkdir()
        ran, other = here / "program", there / "program"
        build(compiler, ran, "first")
        build(compiler, other, "second")
        record = ["perf", "record", "-q", "-e", "cpu-clock:u", "-g", "-o", capture, ran]
        if subprocess.run(record, capture_output=True).returncode:
            skip("perf records nothing here")

        def share(name, *options):
            run = subprocess.run([program, "top", capture, "-n", "0", "--json", *options], check=True, capture_output=True)
            rows = json.loads(run.stdout)["rows"]
            return sum(float(row["self"]) for row in rows if name in row["name"]) / sum(float(row["self"]) for row in rows)

        assert share("first_step") > 0.8, share("first_step")
        assert share("first_step", "--sysroot", "/") > 0.8

        # Another file that is as old, as in a chroot. Moving folders leaves the times of files alone.
        here.rename(aside)
        there.rename(here)
        assert share("_step") == 0, share("_step")
        assert share("second_step", "--sysroot", "/") > 0.8  # what the user believes is believed
        here.rename(there)
        aside.rename(here)
        assert share("first_step") > 0.8

        # The same inode, written anew, with its old time, as `cp -p` onto a file that is there.
        before = ran.stat()
        ran.write_bytes(other.read_bytes())
        os.utime(ran, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert ran.stat().st_ino == before.st_ino
        assert share("_step") == 0, share("_step")
    print("one program is named, two that took its place are not")


if __name__ == "__main__":
    main()
