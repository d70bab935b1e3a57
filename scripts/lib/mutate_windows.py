"""The work of scripts/mutate --windows: mutate_windows.py ROOT [--check]

Breaks of tests/breaks/windows, as mutate.py describes them, in the program for Windows. The scripts of tests/windows that
have to do with files and consoles are run under wine. scripts/windows has made the libraries before.
"""
import os
import pathlib
import shutil
import subprocess
import sys

import mutate

SCRIPTS = ("paths", "share", "disk", "console")


def build(root, tree):
    """The programs with all breaks; what has none comes out of the compiler cache."""
    (tree / "build").mkdir(parents=True, exist_ok=True)
    libraries = tree / "build/windows-libraries"
    if not libraries.is_symlink():
        libraries.symlink_to(root / "build/windows-libraries")
    mutate.write_if_changed(tree / "src" / mutate.SWITCH_NAME, mutate.SWITCH.encode())
    environment = os.environ | {"CCACHE_BASEDIR": str(tree), "CCACHE_NOHASHDIR": "1"}
    if shutil.which("ccache"):
        environment["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
    folder = tree / "build/windows"
    with open(tree.parent / "build.log", "w") as out:
        for command in (["cmake", "-S", str(tree), "--preset", "windows"],
                        ["cmake", "--build", str(folder), "--target", "stackpack_cli", "console_event"]):
            if subprocess.run(command, cwd=tree, env=environment, stdout=out, stderr=out, check=False).returncode != 0:
                raise mutate.Unusable(f"the build with the breaks fails: see {out.name}")
    return folder


def tests_of(tree, folder):
    windows, program = tree / "tests/windows", str(folder / "src/cli/stackpack.exe")
    tiny = str(tree / "testdata/tiny.perf.data")
    given = {"paths": [tiny], "share": [tiny], "disk": [str(tree / "testdata")],
             "console": [tiny, str(folder / "tests/windows/console_event.exe")]}
    return [mutate.Test(name, [sys.executable, "-B", str(windows / f"{name}_test.py"), program, *given[name]], "")
            for name in SCRIPTS]


def main():
    root = pathlib.Path(sys.argv[1])
    breaks = mutate.read_breaks(root, "tests/breaks/windows")
    texts = mutate.broken_files(root, breaks)
    print(f"{len(breaks)} breaks in {len(texts)} files for Windows", flush=True)
    if "--check" in sys.argv:
        return 0
    work = root / "build/mutate-windows"
    tree = work / "tree"
    tree.mkdir(parents=True, exist_ok=True)
    # The build lies in the copy, so that it is at the same place there as in the checkout, for the compiler cache.
    mutate.copy_tree(root, tree, texts)
    tests = tests_of(tree, build(root, tree))
    for test in tests:
        if not mutate.run(test, None)[0]:
            raise mutate.Unusable(f"without any break, this fails: {test.name}")
    survivors = 0
    for b in breaks:
        by = next((test.name for test in tests if not mutate.run(test, 300, STACKPACK_BREAK=b.id)[0]), None)
        survivors += by is None
        print(f"{'noticed by ' + by if by else 'SURVIVES'}: {b.line} {b.file.name}: {b.old.splitlines()[0]}", flush=True)
    print(f"{len(breaks) - survivors} of {len(breaks)} are noticed")
    return 1 if survivors else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except mutate.Unusable as wrong:
        print(wrong, file=sys.stderr)
        sys.exit(1)
