#!/usr/bin/env python3
"""A drive that is full, and one that is read-only: disk_test.py STACKPACK_EXE TESTDATA_FOLDER

A small file system is mounted and becomes a drive letter of wine. Whatever happens there, an output is whole or
is what it was before, and nothing else is left. Ends with 77 where nothing may be mounted.
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pipe_capture

LAUNCHER = pathlib.Path(__file__).with_name("wine_program.sh")
SKIPPED = 77
FULL = "No space left on device"
STEP = 896 << 10
DISK_BYTES = 16 << 20
# What the builder has beyond that goes to scratch files beside the output.
LIMIT = ("--memory-limit", "16M")


def mount(image, folder):
    """A small disk with a file system in a file, or else in memory. An error: why there is none."""
    os.truncate(os.open(image, os.O_CREAT | os.O_WRONLY, 0o600), DISK_BYTES)
    said = []
    for commands in ([["mkfs.ext4", "-q", "-F", "-m", "0", "-O", "^has_journal", str(image)],
                      ["mount", "-o", "loop", str(image), str(folder)]],
                     [["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "none", str(folder)]]):
        for command in commands:
            try:
                done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                                      env=os.environ | {"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"})
            except FileNotFoundError as missing:
                said.append(str(missing))
                break
            if done.returncode != 0:
                said.append(done.stderr.decode(errors="replace").strip())
                break
        else:
            return None
    return "; ".join(said)


class Drive:
    """A letter of wine for a folder."""

    def __init__(self, folder):
        prefix = pathlib.Path(os.environ.get("STACKPACK_WINE_PREFIX", pathlib.Path.home() / ".cache/stackpack/wine"))
        for letter in "tuvwxy":
            self.link = prefix / "dosdevices" / f"{letter}:"
            self.letter = f"{letter.upper()}:"
            try:
                self.link.symlink_to(folder)
                return
            except FileExistsError:
                pass
        raise RuntimeError("no letter is free")

    def remove(self):
        self.link.unlink()


class DiskTest:
    def __init__(self, program, testdata, work, disk, drive):
        self.program = program
        self.capture = work / "long.perf.data"
        self.capture.write_bytes(b"".join(pipe_capture.pieces(30)))
        self.small = testdata / "tiny.perf.data"
        self.work = work
        self.disk = disk
        self.drive = drive
        self.problems = []
        self.runs = 0

    def run(self, *arguments):
        self.runs += 1
        return subprocess.run([str(LAUNCHER), self.program, *map(str, arguments)], cwd=self.work,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                              check=False)

    def contents(self):
        return {str(path.relative_to(self.disk)): hashlib.sha256(path.read_bytes()).hexdigest()
                for path in self.disk.rglob("*") if path.is_file() and path.name != "filler"}

    def leave_free(self, size):
        """Fills the disk until about `size` bytes are free."""
        filler = self.disk / "filler"
        filler.unlink(missing_ok=True)
        with open(filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1024))
            except OSError:
                pass
            file.truncate(max(0, file.tell() - size))
            os.fsync(file.fileno())

    def refused(self, what, end, reason, before):
        """Status 4, one line that gives the reason, and everything as it was."""
        said = end.stderr.decode(errors="replace")
        if end.returncode != 4 or reason not in said or said.count("\n") != 1:
            self.problems.append(f"{what}: {end.returncode} {said!r}")
        if self.contents() != before:
            self.problems.append(f"{what}: left {sorted(self.contents().items() ^ before.items())}")

    def check_room_by_room(self):
        """Ever more room, until an older output is replaced: what fails meanwhile is another write each time."""
        whole = self.work / "whole.spk"
        self.run("convert", self.capture, "-o", whole.name, *LIMIT)
        self.run("convert", self.small, "-o", f"{self.drive.letter}\\out.spk")
        before = self.contents()
        refusals = 0
        for free in range(0, DISK_BYTES, STEP):
            self.leave_free(free)
            end = self.run("convert", self.capture, "-o", f"{self.drive.letter}\\out.spk", *LIMIT)
            if end.returncode == 0:
                break
            refusals += 1
            self.refused(f"{free} bytes free", end, FULL, before)
        if (self.disk / "out.spk").read_bytes() != whole.read_bytes() or set(self.contents()) != {"out.spk"}:
            self.problems.append("where it fits: another file, or others beside it")
        if refusals < 5:
            self.problems.append(f"{refusals} refusals: the disk was never full")
        print(f"{refusals} fillings of the disk refused, then {free} bytes were enough")

    def check_full(self):
        """Every command that writes, on a disk without a free byte."""
        self.leave_free(0)
        before = self.contents()
        out = self.drive.letter + "\\new"
        spk = f"{self.drive.letter}\\out.spk"
        cases = [("merge", "whole.spk", spk, "-o", out), ("symbolize", spk, "-o", out),
                 ("export", spk, "--format", "folded", "-o", out), ("export", spk, "--format", "html", "-o", out),
                 ("export", spk, "--format", "pprof", "-o", out), ("convert", self.capture, "--out-dir", out + "\\below")]
        for case in cases:
            self.refused(" ".join(map(str, case)), self.run(*case), FULL, before)
        # Scratch files for a result on standard output are where the system keeps temporary files. wine does not
        # take that from the environment outside.
        program = "Z:" + self.program.replace("/", "\\")
        self.runs += 1
        end = subprocess.run([str(LAUNCHER), "cmd", "/c", f"set TMP={self.drive.letter}\\&&{program}", "convert",
                              self.capture.name, "-o", "-", *LIMIT], cwd=self.work, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
        self.refused("temporary files", end, FULL, before)
        if end.stdout:
            self.problems.append(f"temporary files: {len(end.stdout)} bytes on standard output")

    def check_read_only(self):
        (self.disk / "filler").unlink()
        shutil.copyfile(self.small, self.disk / "capture.perf.data")
        before = self.contents()
        remount = subprocess.run(["mount", "-o", "remount,ro", str(self.disk)], check=False)
        if remount.returncode != 0:
            print("read-only: not allowed here")
            return
        for output in ("out.spk", "new.spk"):
            end = self.run("convert", self.small, "-o", f"{self.drive.letter}\\{output}")
            self.refused(f"read-only, {output}", end, "cannot create the output", before)
        end = self.run("convert", f"{self.drive.letter}\\capture.perf.data", "-o", "read.spk")
        if end.returncode != 0 or end.stderr:
            self.problems.append(f"from a read-only drive: {end.returncode} {end.stderr!r}")
        subprocess.run(["mount", "-o", "remount,rw", str(self.disk)], check=True)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    testdata = pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        disk = work / "disk"
        disk.mkdir()
        if reason := mount(work / "image", disk):
            print(f"nothing may be mounted here, so no disk can be full: {reason}")
            return SKIPPED
        try:
            if (disk / "lost+found").exists():
                (disk / "lost+found").rmdir()
            drive = Drive(disk)
            try:
                test = DiskTest(program, testdata, work, disk, drive)
                test.check_room_by_room()
                test.check_full()
                test.check_read_only()
            finally:
                drive.remove()
        finally:
            subprocess.run(["umount", str(disk)], check=True)
    print("\n".join(test.problems) or f"{test.runs} runs: all or nothing")
    return 1 if test.problems else 0


if __name__ == "__main__":
    sys.exit(main())
