#!/usr/bin/env python3
"""Files on a share, as `SERVER` and `SHARE` after two backslashes: share_test.py STACKPACK_EXE CAPTURE

wine takes shares from the folder `unc` beside its drives, so there is no network in it. Ends with 77 where that folder is
somebody's.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

LAUNCHER = pathlib.Path(__file__).with_name("wine_program.sh")
SKIPPED = 77
ROOT = "\\\\server\\traces\\"
LONG = "\\".join(["d" * 120] * 3) + "\\"
# Input, output, what becomes of it.
CASES = [(ROOT + "a.perf.data", ROOT + "plain.spk", "plain.spk"),
         ("\\\\?\\UNC\\server\\traces\\a.perf.data", "\\\\?\\UNC\\server\\traces\\verbatim.spk", "verbatim.spk"),
         ("//server/traces/a.perf.data", "//server/traces/slashes.spk", "slashes.spk"),
         (ROOT + LONG + "a.perf.data", ROOT + LONG + "long.spk", LONG.replace("\\", "/") + "long.spk")]
# What is refused: arguments, status, a part of the message.
REFUSED = [((ROOT + "a.perf.data", "-o", ROOT + "A.PERF.DATA", "--force"), 1, "is the input itself"),
           ((ROOT + "a.perf.data", "-o", "\\\\?\\UNC\\server\\traces\\a.perf.data", "--force"), 1, "is the input itself"),
           (("\\\\server\\none\\a.perf.data", "-o", "x.spk"), 2, "cannot open"),
           ((ROOT + "a.perf.data", "-o", "\\\\server\\none\\x.spk"), 4, "cannot create the output"),
           ((ROOT + "a.perf.data", "-o", ROOT + "con.spk"), 4, "keeps for a device")]


def run(folder, program, *arguments):
    return subprocess.run([str(LAUNCHER), program, *arguments], cwd=folder, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)


def check(program, capture, work):
    share = work / "share"
    (share / LONG.replace("\\", "/")).mkdir(parents=True)
    for folder in (share, share / LONG.replace("\\", "/")):
        shutil.copyfile(capture, folder / "a.perf.data")
    run(work, program, "convert", capture, "-o", "own.spk")
    expected = (work / "own.spk").read_bytes()
    problems = []
    for given, output, made in CASES:
        end = run(work, program, "convert", given, "-o", output)
        if end.returncode != 0 or not (share / made).exists() or (share / made).read_bytes() != expected:
            problems.append(f"{given} to {output}: {end.returncode} {end.stderr!r}")
    end = run(work, program, "convert", ROOT[:-1], "--recursive", "--out-dir", ROOT + "packed")
    packed = sorted(path.read_bytes() == expected for path in (share / "packed").rglob("*.spk"))
    if end.returncode != 0 or packed != [True, True]:
        problems.append(f"a batch: {end.returncode} {packed} {end.stderr!r}")
    before = sorted(str(path.relative_to(share)) for path in share.rglob("*"))
    for arguments, status, reason in REFUSED:
        end = run(work, program, "convert", *arguments)
        if end.returncode != status or reason not in end.stderr.decode(errors="replace") or end.stderr.count(b"\n") != 1:
            problems.append(f"{arguments}: {end.returncode} {end.stderr!r}")
    if sorted(str(path.relative_to(share)) for path in share.rglob("*")) != before or (work / "x.spk").exists():
        problems.append("something is left behind")
    if (share / "a.perf.data").read_bytes() != pathlib.Path(capture).read_bytes():
        problems.append("the capture was changed")
    return problems


def main():
    program, capture = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:])
    prefix = pathlib.Path(os.environ.get("STACKPACK_WINE_PREFIX", pathlib.Path.home() / ".cache/stackpack/wine"))
    shares = prefix / "dosdevices" / "unc"
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        (work / "unc" / "server").mkdir(parents=True)
        (work / "unc" / "server" / "traces").symlink_to(work / "share")
        try:
            shares.symlink_to(work / "unc")
        except FileExistsError:
            print(f"{shares} is there already")
            return SKIPPED
        try:
            problems = check(program, capture, work)
        finally:
            shares.unlink()
    print("\n".join(problems) or f"{len(CASES)} files of a share, a batch, {len(REFUSED)} refusals")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
