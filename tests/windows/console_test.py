#!/usr/bin/env python3
"""Ctrl-C in a console of Windows, as wine makes it from a terminal: console_test.py STACKPACK_EXE CAPTURE

The program waits for input that does not come. It has to end with the status of an interrupted program, to say so,
and to leave the older output as it was and nothing else.
"""
import os
import pathlib
import pty
import select
import shutil
import sys
import tempfile
import time

# The low byte of STATUS_CONTROL_C_EXIT, 0xC000013A, which is what a process of this system can end with.
INTERRUPTED = 0x3A
LAUNCHER = pathlib.Path(__file__).with_name("wine_program.sh")
MOST_SECONDS = 120


def press_when_it_reads(program, folder):
    """Status and what was on the screen."""
    process, screen = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.environ["TERM"] = "xterm"
        os.execv(LAUNCHER, [str(LAUNCHER), program, "convert", "-", "-o", "out.spk", "--force"])
    shown = b""
    pressed = False
    end = time.monotonic() + MOST_SECONDS
    while time.monotonic() < end:
        if not pressed and b"reading" in shown:
            os.write(screen, b"\x03")
            pressed = True
        if select.select([screen], [], [], 0.1)[0]:
            try:
                shown += os.read(screen, 65536)
            except OSError:
                break
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), shown


def main():
    program, capture = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copyfile(capture, folder / "out.spk")
        status, shown = press_when_it_reads(program, folder)
        problems = []
        if status != INTERRUPTED:
            problems.append(f"status {status}")
        if b"interrupted; nothing was written" not in shown:
            problems.append(f"shown: {shown[-300:]!r}")
        if [path.name for path in folder.iterdir()] != ["out.spk"]:
            problems.append(f"left: {sorted(path.name for path in folder.iterdir())}")
        elif (folder / "out.spk").read_bytes() != pathlib.Path(capture).read_bytes():
            problems.append("the older output was changed")
    print("\n".join(problems) or "interrupted, and nothing is left")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
