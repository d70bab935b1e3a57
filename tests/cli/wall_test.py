#!/usr/bin/env python3
"""`--wall`: all of the time of threads, runs shared out among their samples.

    wall_test.py PROGRAM SOURCE_DIR
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
sys.path.insert(0, str(SOURCE / "tests/support"))
import switch_capture as sc  # pylint: disable=wrong-import-position


def write(path):
    """A thread that runs 100 us with three samples, sleeps 50 us, and runs 20 us with none; a sample lies outside of what is known."""
    system = sc.SwitchCapture()
    system.add_thread(7, 7, "worker")
    system.add_image(7, 0x401000, "/bin/worker")
    system.switch(10, 0, 0, sc.ABLE, 7)
    for us, address in ((20, 0x401010), (50, 0x401010), (80, 0x401020)):
        system.clock(us, 0, 7, [address])
    system.switch(110, 0, 7, sc.SLEEPS, 0, [sc.KERNEL, 0x401030])
    system.wake(160, 0, 0, 7, [sc.KERNEL], sc.HARD_INTERRUPT)
    system.switch(160, 0, 0, sc.ABLE, 7)
    system.switch(180, 0, 7, sc.SLEEPS, 0, [sc.KERNEL, 0x401030])
    system.clock(190, 0, 0, [sc.KERNEL])
    system.write(path)


def run(*words):
    return subprocess.run([PROGRAM, *map(str, words)], check=False, capture_output=True, text=True)


def folded(*words):
    done = run("export", *words, "--format", "folded", "--frames", "module", "-o", "-")
    assert done.returncode == 0, done.stderr
    return {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in done.stdout.splitlines()}


def by_thread(file):
    """Wall time as `top` has it, and the lengths of all intervals."""
    done = run("top", file, "--wall", "--by", "thread", "--json", "-n", 0, "--idle-pools")
    assert done.returncode == 0, done.stderr
    lengths = {}
    for line in run("dump", file, "--intervals").stdout.splitlines()[1:]:
        tid, start, end, *_ = line.split("\t")
        lengths[tid] = lengths.get(tid, 0) + int(end) - int(start)
    rows = {row["name"].rpartition("(")[2].rstrip(")"): row["self"] for row in json.loads(done.stdout)["rows"]}
    return rows, {tid: length for tid, length in lengths.items() if length}


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write("runs.perf.data")
        sc.write_example("example.perf.data")
        for name in ("runs", "example"):
            assert run("convert", f"{name}.perf.data", "-o", f"{name}.spk").returncode == 0
            got, wanted = by_thread(f"{name}.spk")
            assert got == wanted, (name, got, wanted)
        kernel = f"{sc.KERNEL:#x}"
        got = folded("runs.spk", "--wall")
        without = {stack: ns for stack, ns in got.items() if not stack.startswith("worker+")}
        # 100 us among three samples: the first one has what does not divide.
        assert got["worker+0x1010"] == 33_334 + 33_333 and got["worker+0x1020"] == 33_333, got
        assert got[f"worker+0x1030;{kernel}"] == 50_000 and sum(without.values()) == 5_000 + 20_000 - 5_000, got
        assert sum(folded("runs.spk", "--wall", "--tid", 7, "--to", "+1s").values()) == sum(got.values())
        example = folded("example.spk", "--wall", "--wakers")
        assert example["client+0x1100"] == 90_000, example
        assert example[f"server+0x1300;{kernel};READIED BY [interrupt]"] == 70_000, example
        for words in (["--wall", "--event", "blocked"], ["--wall", "--longer-than", "1us"]):
            failed = run("top", "example.spk", *words)
            assert failed.returncode == 1 and "wall time is all of a thread's time" in failed.stderr, failed


if __name__ == "__main__":
    main()
