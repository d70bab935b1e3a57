#!/usr/bin/env python3
"""Ctrl-C and the closing of the window: console_test.py STACKPACK_EXE CAPTURE CONSOLE_EVENT_EXE

Ctrl-C comes from a console as wine makes it from a terminal, while the program waits for input; then all events come as
the system brings them, while the program waits and while it converts. It has to end with the status of an interrupted
program, to say so, and to leave the older output as it was and nothing else.
"""
import os
import pathlib
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import pipe_capture

# The low byte of STATUS_CONTROL_C_EXIT, 0xC000013A, which is what a process of this system can end with.
INTERRUPTED = 0x3A
WHOLE_STATUS = "c000013a"
EVENTS = {"Ctrl-C": "0", "Ctrl-Break": "1", "closing": "2"}
# So much has been read when the event comes; what is fed has no end.
PIECES_BEFORE = 40
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
        if not pressed and b"reading  " in shown:  # the progress, by when the program minds what is pressed
            os.write(screen, b"\x03")
            pressed = True
        if select.select([screen], [], [], 0.1)[0]:
            try:
                shown += os.read(screen, 65536)
            except OSError:
                break
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), shown


class Feeder(threading.Thread):
    """Feeds a pipe, and makes a file when `pieces_before` are through; goes on until the other end is closed, or
    stays silent then."""

    def __init__(self, pipe, flag, pieces_before, goes_on):
        super().__init__()
        self.pipe = pipe
        self.flag = flag
        self.pieces_before = pieces_before
        self.goes_on = goes_on

    def write(self, piece):
        left = memoryview(piece)
        while left:
            left = left[self.pipe.write(left):]

    def run(self):
        piece = b""
        try:
            for piece in pipe_capture.pieces(self.pieces_before):
                self.write(piece)
            time.sleep(0.3)
            self.flag.touch()
            while self.goes_on:
                self.write(piece)
        except OSError:
            pass


def bring(helper, program, event, folder, flag, converts):
    """What the helper says and what the program said, with an event in the middle of the input or while there is none."""
    process = subprocess.Popen([LAUNCHER, helper, event, "Z:" + str(flag).replace("/", "\\"), program,
                                "convert", "-", "-o", "out.spk", "--force"], cwd=folder, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    feeder = Feeder(process.stdin, flag, PIECES_BEFORE if converts else 1, converts)
    feeder.start()
    answer, said = process.stdout.read().decode(), process.stderr.read()
    process.wait(MOST_SECONDS)
    feeder.join(MOST_SECONDS)
    process.stdin.close()
    return answer.strip(), said


def look_for_changes(folder, capture):
    if [path.name for path in folder.iterdir()] != ["out.spk"]:
        return [f"left: {sorted(path.name for path in folder.iterdir())}"]
    if (folder / "out.spk").read_bytes() != pathlib.Path(capture).read_bytes():
        return ["the older output was changed"]
    return []


def main():
    program, capture, helper = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:])
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as flags:
        folder = pathlib.Path(name)
        shutil.copyfile(capture, folder / "out.spk")
        status, shown = press_when_it_reads(program, folder)
        problems = look_for_changes(folder, capture)
        if status != INTERRUPTED:
            problems.append(f"status {status}")
        if b"interrupted; nothing was written" not in shown:
            problems.append(f"shown: {shown[-300:]!r}")
        for what, event in EVENTS.items():
            for converts in (False, True):
                answer, said = bring(helper, program, event, folder, pathlib.Path(flags) / f"{what}-{converts}", converts)
                found = look_for_changes(folder, capture)
                if not answer.startswith(WHOLE_STATUS + " ") or said.count(b"interrupted; nothing was written") != 1:
                    found.append(f"{answer!r} {said[-300:]!r}")
                when = "while it converts" if converts else "while it waits"
                print(f"{what} {when}: {answer.partition(' ')[2]} ms")
                problems += [f"{what} {when}: {problem}" for problem in found]
    print("\n".join(problems) or "interrupted, and nothing is left")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
