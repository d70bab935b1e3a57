#!/usr/bin/env python3
"""`--wakers`, `--by waker` and `--by reason` on a system whose schedule is known.

    wakers_test.py PROGRAM SOURCE_DIR
"""
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
sys.path.insert(0, str(SOURCE / "tests/support"))
import switch_capture as sc  # pylint: disable=wrong-import-position

# us of blocked time by who ended it, and by reason.
WAKERS = {"server (201)": 610, "client (101)": 85, "locker (301)": 70, "[interrupt]": 60, "[not recorded]": 320}
REASONS = {"S": 1000, "D": 60, "?": 85}
# Callstacks, root first, of frames by module and offset.
KERNEL = "0xffffffff81000010"
MARK = " (READIED_BY)"
FOLDED = {
    f"client+0x1210;{KERNEL};READIED BY server (201);server+0x1330{MARK};{KERNEL}{MARK}": 370,
    f"server+0x1300;{KERNEL};READIED BY [interrupt]": 60,
    f"server+0x1320;{KERNEL};READIED BY locker (301);locker+0x1400{MARK};{KERNEL}{MARK}": 70,
    f"server+0x1300;{KERNEL}": 120,
    f"READIED BY client (101);client+0x1200{MARK};{KERNEL}{MARK}": 85,
    f"locker+0x1050;{KERNEL};READIED BY server (201);server+0x1310{MARK};{KERNEL}{MARK}": 240,
    f"locker+0x1410;{KERNEL}": 200,
}


def run(*words):
    return subprocess.run([PROGRAM, *map(str, words)], check=False, capture_output=True, text=True)


def rows_of(*words):
    done = run("top", "--event", "blocked", "--json", *words)
    assert done.returncode == 0, done.stderr
    return {row["name"]: row for row in json.loads(done.stdout)["rows"]}


def folded(*words):
    done = run("export", *words, "--format", "folded", "--frames", "module", "-o", "-")
    assert done.returncode == 0, done.stderr
    return {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in done.stdout.splitlines()}


def check(file, prefix=""):
    assert {name: row["self"] for name, row in rows_of(file, "--by", "waker").items()} == {name: us * 1000 for name, us in WAKERS.items()}
    assert {name: row["self"] for name, row in rows_of(file, "--by", "reason").items()} == {name: us * 1000 for name, us in REASONS.items()}
    got = folded(file, "--event", "blocked", "--wakers", *(["--root", "none"] if prefix else []))
    assert got == {stack: us * 1000 for stack, us in FOLDED.items()}, got
    rows = rows_of(file, "--wakers", "--frames", "module", "-n", 0)
    assert rows["READIED BY server (201)"]["total"] == 610_000, rows
    assert rows[f"server+0x1330{MARK}"]["total"] == 370_000 and f"server+0x1330{MARK}" not in rows_of(file, "--frames", "module", "-n", 0), rows
    # Who calls the frame that names the waker is where the thread waited.
    callers = json.loads(run("callers", file, "READIED BY server (201)", "--event", "blocked", "--wakers", "--frames", "module", "--json").stdout)
    assert {(row["name"], row["total"]) for row in callers["rows"]} == {(KERNEL, 610_000)}, callers
    assert sum(row["self"] for row in rows_of(file, "--by", "waker", "--longer-than", "100us").values()) == 930_000


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sc.write_example("waits.perf.data")
        assert run("convert", "waits.perf.data", "-o", "waits.spk").returncode == 0
        check("waits.spk")
        # Not of an interval that the event leaves out: threads that were woken have the waker, too.
        woken = folded("waits.spk", "--event", "woken", "--wakers")
        assert woken[f"client+0x1210;{KERNEL};READIED BY server (201);server+0x1330{MARK};{KERNEL}{MARK}"] == 5_000, woken
        assert sum(woken.values()) == 5_000 + 5_000 + 10_000 + 10_000 + 20_000, woken
        # Other exports go the same road.
        assert run("export", "waits.spk", "--event", "blocked", "--wakers", "--format", "pprof", "-o", "waits.pb.gz").returncode == 0
        assert b"READIED BY server (201)" in gzip.decompress(pathlib.Path("waits.pb.gz").read_bytes())
        # Without an event it is that of threads that blocked.
        for words in (["--by", "waker"], ["--by", "reason"], ["--wakers"], ["--by", "waker", "waits.spk"]):
            named = run("top", "waits.spk", *words, "--event", "blocked")
            assert named.returncode == 0 and run("top", "waits.spk", *words).stdout == named.stdout, named
        assert folded("waits.spk", "--wakers") == folded("waits.spk", "--event", "blocked", "--wakers")
        for words in (["top", "--by", "waker", "--all-events"], ["top", "--by", "reason", "--event", "cpu-clock"],
                      ["export", "--wakers", "--event", "cpu-clock", "--format", "folded", "-o", "-"]):
            failed = run(words[0], "waits.spk", *words[1:])
            assert failed.returncode == 1 and "have wakers and reasons" in failed.stderr, failed


if __name__ == "__main__":
    main()
