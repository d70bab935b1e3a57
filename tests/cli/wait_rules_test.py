#!/usr/bin/env python3
"""Reports say which waits are wrong or mostly unknown: those of files of older versions, and those of sampled switches.

    wait_rules_test.py PROGRAM SOURCE_DIR
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

OLD, SAMPLED = "convert the capture again", "switches of threads were sampled"


def run(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done
    return done


def notices(*words):
    """What a report says of a capture: the same as warnings and in JSON."""
    done = run(*words, "--json")
    said = json.loads(done.stdout).get("notices", [])
    assert all(notice in done.stderr for notice in said) and done.stderr.count("warning: ") == len(said), done
    return said


def write(path, **how):
    """A thread that runs, sleeps, runs and ends."""
    system = sc.SwitchCapture()
    system.add_thread(7, 7, "worker")
    system.add_image(7, 0x401000, "/bin/worker")
    system.switch(10, 0, 0, sc.ABLE, 7)
    system.clock(50, 0, 7, [0x401010])
    system.switch(110, 0, 7, sc.SLEEPS, 0, [sc.KERNEL, 0x401030])
    system.wake(160, 0, 0, 7, [sc.KERNEL], sc.HARD_INTERRUPT)
    system.switch(160, 0, 0, sc.ABLE, 7)
    system.exit(170, 7)
    system.switch(180, 0, 7, sc.DEAD, 0, [sc.KERNEL])
    system.write(path, **how)


def main():
    old = SOURCE / "testdata/waits/older-rules.spk"  # as write() makes it, of a version without `waits.rules`
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write("whole.data")
        write("sampled.data", frequency=99)
        sc.write_example("example.data")
        for name in ("whole", "sampled", "example"):
            run("convert", f"{name}.data", "-o", f"{name}.spk")
        run("merge", "whole.spk", "example.spk", "-o", "new.spk")
        run("merge", old, "example.spk", "-o", "mixed.spk")
        run("merge", "whole.spk", SOURCE / "testdata/spk/v1/perf-tiny.spk", "-o", "with-others.spk")
        run("redact", "whole.spk", "-o", "redacted.spk")
        run("symbolize", "whole.spk", "-o", "named.spk")
        expected = {old: OLD, "mixed.spk": OLD, "sampled.spk": SAMPLED, "sampled.data": SAMPLED}
        for file in (old, "mixed.spk", "sampled.spk", "sampled.data", "whole.spk", "whole.data", "new.spk", "with-others.spk", "redacted.spk", "named.spk"):
            for words in (["waits", file], ["top", file, "--wall"], ["top", file, "--event", "blocked"], ["callers", file, "[worker]", "--wall"]):
                if file in ("redacted.spk", "named.spk") and words[0] == "callers":
                    continue
                said = notices(*words)
                wanted = [expected[file]] if file in expected else []
                assert len(said) == len(wanted) and all(text in notice for text, notice in zip(wanted, said)), (words, said)
        assert OLD in run("waits", old, "--list").stderr and OLD in run("diff", old, "--against", "whole.spk", "--event", "blocked").stderr


if __name__ == "__main__":
    main()
