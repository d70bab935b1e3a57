#!/usr/bin/env python3
"""Paths that Windows reads otherwise than other systems: paths_test.py STACKPACK_EXE CAPTURE

Each either works, with the bytes of any other, or is refused in one line; what was there stays.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

LAUNCHER = pathlib.Path(__file__).with_name("wine_program.sh")
DEVICE = "keeps for a device"
DROPPED = "which Windows would drop"
CHARACTER = "does not allow"
SAME = "is the input itself"
# An output, the status, and the file that is made or a part of the message.
OUTPUTS = [("NUL", 0, None), ("aux.spk", 4, DEVICE), ("con.spk", 4, DEVICE), ("com1.spk", 4, DEVICE),
           ("LPT9.tar.spk", 4, DEVICE), ("out.spk.", 4, DROPPED),
           ("out.spk ", 4, DROPPED), ("a<b.spk", 4, CHARACTER), ("what?.spk", 4, CHARACTER),
           ("name:stream.spk", 4, CHARACTER), ("Z:drive.spk", 0, "drive.spk"), ("A.PERF.DATA", 1, SAME),
           (".\\a.perf.data", 1, SAME), ("\\\\nowhere\\share\\x.spk", 4, "cannot create the output"),
           ("commander.spk", 0, "commander.spk")]


def run(folder, program, *arguments):
    return subprocess.run([str(LAUNCHER), program, *arguments], cwd=folder, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)


def main():
    program, capture = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:])
    problems = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        own = folder / "a.perf.data"
        shutil.copyfile(capture, own)
        run(folder, program, "convert", own.name, "-o", "plain.spk")
        plain = (folder / "plain.spk").read_bytes()
        expected = {own.name, "plain.spk"}
        absolute = "Z:" + name.replace("/", "\\")
        cases = OUTPUTS + [(absolute + "\\back.spk", 0, "back.spk"),
                           ("\\\\?\\" + absolute + "\\verbatim.spk", 0, "verbatim.spk")]
        for output, status, outcome in cases:
            end = run(folder, program, "convert", own.name, "-o", output, "--force")
            said = end.stderr.decode(errors="replace")
            if end.returncode != status or (status != 0 and (outcome not in said or said.count("\n") != 1)):
                problems.append(f"{output}: {end.returncode} {said}")
            if status == 0 and outcome:
                expected.add(outcome)
                if not (folder / outcome).exists() or (folder / outcome).read_bytes() != plain:
                    problems.append(f"{output}: no {outcome}, or another one")
        for given in (absolute + "\\a.perf.data", "\\\\?\\" + absolute + "\\a.perf.data", "Z:a.perf.data"):
            if run(folder, program, "stats", given).returncode != 0:
                problems.append(f"{given} is not read")
        # Names that differ in case alone are one file.
        for side, name_there in (("one", "a.perf.data"), ("two", "A.PERF.DATA")):
            (folder / side).mkdir()
            shutil.copyfile(capture, folder / side / name_there)
        end = run(folder, program, "convert", "one/a.perf.data", "two/A.PERF.DATA", "--out-dir", "out")
        if end.returncode != 1 or b"would both become" not in end.stderr:
            problems.append(f"names that differ in case: {end.returncode} {end.stderr!r}")
        left = {path.name for path in folder.iterdir() if path.is_file()}
        if left != expected or own.read_bytes() != pathlib.Path(capture).read_bytes():
            problems.append(f"left: {sorted(left ^ expected)}")
    print("\n".join(problems) or f"{len(cases)} outputs, 3 inputs, a pair")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
