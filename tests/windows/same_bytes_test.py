#!/usr/bin/env python3
"""Compares the program for Windows, run by wine, with the one of this system: the same captures must give
the same bytes, the same listings and the same exit status.

  same_bytes_test.py PROGRAM STACKPACK_EXE CAPTURE_FOLDER...

Ends with 77 where there is no wine.
"""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CAPTURE = re.compile(r"\.(etl|etl\.zip|perf\.data|data|zip|diagsession)$")
# Names that file systems and shells of Windows have had trouble with.
NAMES = ["Änderung.perf.data", "プロファイル.perf.data", "🔥 hot.perf.data", "a" * 200 + ".perf.data"]


class Pair:
    def __init__(self, here, there):
        self.here = [here]
        self.there = [str(pathlib.Path(__file__).with_name("wine_program.sh")), there]
        self.problems = []

    def run(self, program, arguments, folder):
        return subprocess.run(program + arguments, cwd=folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)

    def both(self, arguments, folders):
        """Runs both, each in its folder: the same status and the same standard output."""
        ends = [self.run(program, arguments, folder)
                for program, folder in zip((self.here, self.there), folders)]
        if ends[0].returncode != ends[1].returncode or ends[0].stdout != ends[1].stdout:
            self.problems.append(f"{arguments}: {ends[0].returncode} here, {ends[1].returncode} on Windows: "
                                 + ends[1].stderr.decode(errors="replace").strip()[-300:])
        return ends


def digests(folder):
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*")) if path.is_file()}


def compare_files(pair, folders, what):
    here, there = (digests(folder) for folder in folders)
    for name in sorted(here.keys() | there.keys()):
        if here.get(name) != there.get(name):
            pair.problems.append(f"{what}: {name} differs, or only one has it")
    return len(here)


def check_captures(pair, captures, work):
    folders = [work / "here", work / "there"]
    for folder in folders:
        folder.mkdir()
    for number, capture in enumerate(captures):
        pair.both(["convert", str(capture), "-o", f"{number:03}.spk"], folders)
    count = compare_files(pair, folders, "convert")
    print(f"{len(captures)} captures, {count} files")
    for name in sorted(path.name for path in folders[0].glob("*.spk")):
        pair.both(["dump", "--stacks", name], folders)
    pair.both(["verify"] + sorted(path.name for path in folders[0].glob("*.spk")), folders)


def check_batches(pair, source, work):
    folders = [work / "batch-here", work / "batch-there"]
    for folder in folders:
        (folder / "in" / "below").mkdir(parents=True)
        for number, capture in enumerate(source):
            shutil.copyfile(capture, folder / "in" / ("below" if number % 2 else ".") / capture.name)
    pair.both(["convert", "in", "--recursive", "--out-dir", "out", "-j", "2"], folders)
    pair.both(["merge", "out", "--recursive", "-o", "all.spk"], folders)
    print(f"batch and merge: {compare_files(pair, folders, 'batch')} files")


def check_paths(pair, capture, work):
    folder = work / "names"
    folder.mkdir()
    long = folder / ("b" * 150) / ("c" * 150)
    long.mkdir(parents=True)
    pair.run(pair.here, ["convert", str(capture), "-o", "plain.spk"], folder)
    expected = (folder / "plain.spk").read_bytes()
    for name in NAMES + [str((long / "x.perf.data").relative_to(folder))]:
        shutil.copyfile(capture, folder / name)
        end = pair.run(pair.there, ["convert", name, "-o", name + ".spk"], folder)
        packed = folder / (name + ".spk")
        if end.returncode != 0 or not packed.exists() or packed.read_bytes() != expected:
            pair.problems.append(f"name {name[:40]}: {end.returncode} {end.stderr.decode(errors='replace')[-200:]}")
    print(f"{len(NAMES) + 1} names and long paths")


def check_care(pair, capture, work):
    """Files of the user stay as they are."""
    folder = work / "care"
    folder.mkdir()
    own = folder / "own.perf.data"
    shutil.copyfile(capture, own)
    (folder / "notes.txt").write_bytes(b"mine")
    cases = [(["convert", "own.perf.data", "-o", "own.perf.data"], 1),
             (["convert", "own.perf.data", "-o", "notes.txt"], 1),
             (["convert", "own.perf.data", "-o", "missing/x.spk"], 4),
             (["convert", "missing.perf.data", "-o", "x.spk"], 2),
             (["convert", "notes.txt", "-o", "x.spk"], 2)]
    for arguments, status in cases:
        end = pair.run(pair.there, arguments, folder)
        here = pair.run(pair.here, arguments, folder)
        # An input that is no capture gets a line for each format besides.
        lines = [each.stderr.count(b"\n") for each in (end, here)]
        if {end.returncode, here.returncode} != {status} or lines[0] != lines[1] or not lines[0]:
            pair.problems.append(f"{arguments}: {end.returncode}, here {here.returncode}: {end.stderr!r}")
    if own.read_bytes() != capture.read_bytes() or (folder / "notes.txt").read_bytes() != b"mine":
        pair.problems.append("a file of the user was changed")
    left = sorted(path.name for path in folder.iterdir())
    if left != ["notes.txt", "own.perf.data"]:
        pair.problems.append(f"left behind: {left}")
    print(f"{len(cases)} slips")


def check_imports(pair, program):
    """One program alone: it asks for no library but the system's."""
    listing = subprocess.run(["x86_64-w64-mingw32-objdump", "-p", program], capture_output=True, text=True,
                             check=True).stdout
    names = {name.lower() for name in re.findall(r"DLL Name: (\S+)", listing)}
    system = {"kernel32.dll", "msvcrt.dll", "advapi32.dll", "shell32.dll", "user32.dll", "bcrypt.dll",
              "ole32.dll", "ws2_32.dll"}
    print(f"{os.path.getsize(program)} bytes; imports {', '.join(sorted(names))}")
    if names - system:
        pair.problems.append(f"imports {sorted(names - system)}")


def main():
    if shutil.which("wine") is None:
        print("no wine: the program for Windows is not tried")
        return 77
    pair = Pair(str(pathlib.Path(sys.argv[1]).resolve()), str(pathlib.Path(sys.argv[2]).resolve()))
    captures = sorted(path.resolve() for folder in sys.argv[3:] for path in pathlib.Path(folder).rglob("*")
                      if CAPTURE.search(path.name) and path.is_file())
    if not captures:
        print("no captures there")
        return 1
    check_imports(pair, sys.argv[2])
    small = next(path for path in captures if path.name.endswith("perf.data"))
    with tempfile.TemporaryDirectory() as work:
        check_captures(pair, captures, pathlib.Path(work))
        check_batches(pair, captures[:12], pathlib.Path(work))
        check_paths(pair, small, pathlib.Path(work))
        check_care(pair, small, pathlib.Path(work))
    print("\n".join(pair.problems) or "the same on both systems")
    return 1 if pair.problems else 0


if __name__ == "__main__":
    sys.exit(main())
