#!/usr/bin/env python3
"""Reasons of waits beyond those that a file holds become `?` in a merge, and are counted.

    merge_reasons_test.py PROGRAM SOURCE_DIR
"""
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
sys.path.insert(0, str(SOURCE / "tests/support"))
import switch_capture as sc  # pylint: disable=wrong-import-position

MOST = 4095
BITS = 12


def write(path, first, count):
    """A thread that blocks `count` times, each time in another combination of states."""
    system = sc.SwitchCapture({1 << bit: f"{first}{chr(ord('a') + bit)}" for bit in range(BITS)})
    system.add_thread(7, 7, first)
    for state in range(1, count + 1):
        us = state * 10
        system.switch(us, 0, 0, sc.ABLE, 7)
        system.switch(us + 3, 0, 7, state, 0, [sc.KERNEL])
        system.wake(us + 5, 0, 0, 7, [sc.KERNEL], sc.HARD_INTERRUPT)
    system.write(path)


def run(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done
    return done.stdout


def reasons(file):
    return [line.split("\t")[4] for line in run("dump", file, "--intervals").splitlines()[1:]]


def left_out(file):
    return [line.split("\t")[0].strip() for line in run("dump", file, "--losses").splitlines() if "merge_wait_reasons_left_out" in line]


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, count in (("A", 2100), ("B", 2100), ("C", 100)):
            write(f"{name}.perf.data", name, count)
            run("convert", f"{name}.perf.data", "-o", f"{name}.spk", "--quiet")
        run("merge", "A.spk", "B.spk", "-o", "all.spk", "--quiet")
        run("merge", "A.spk", "C.spk", "-o", "few.spk", "--quiet")
        recorded = reasons("A.spk") + reasons("B.spk")
        # Every file has rows for these, whether or not an interval has them; R is of the idle thread.
        each = [(set(reasons(file)) | {"?", "new", "R"}) - {"-"} for file in ("A.spk", "B.spk")]
        names = sorted(each[0] | each[1])
        assert len(names) > MOST, len(names)
        kept = set(names[:MOST]) | {"-"}
        wanted = sorted(reason if reason in kept else "?" for reason in recorded)
        assert sorted(reasons("all.spk")) == wanted
        assert left_out("all.spk") == [str(sum(len(own - kept) for own in each))], left_out("all.spk")
        assert left_out("few.spk") == [] and sorted(reasons("few.spk")) == sorted(reasons("A.spk") + reasons("C.spk"))
        run("verify", "all.spk")


if __name__ == "__main__":
    main()
