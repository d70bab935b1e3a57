"""Who notices when a line of the page's modules is wrong? mutate_page.py ROOT [--check]

As scripts/mutate for C++: tests/breaks/page_modules lists breaks in the form of mutate.py, in files of src/export/page. Each is made
in a copy, one after the other, and the unit tests of the modules (tests/page) run on it. Prints what no test noticed,
and exits with 1 if there is such a break or one that does not apply exactly once.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import mutate

PAGE = pathlib.Path("src/export/page")
TESTS = pathlib.Path("tests/page")


def breaks_of(root):
    """(where, file, what stands there, what shall stand there)"""
    file = None
    for source in sorted((root / "tests/breaks/page_modules").glob("*.txt")):
        text = source.read_text()
        for match in re.finditer(r"(?:^(?!\s*$).*\n?)+", text, re.MULTILINE):
            lines = [line for line in match[0].splitlines() if not line.startswith("#")]
            old, new, odd = mutate.sides_of(lines)
            where = f"{source.name}:{text[:match.start()].count(chr(10)) + 1}"
            if len(lines) == 1 and not old:
                file = PAGE / lines[0].strip()
            elif not old or odd or file is None:
                raise mutate.Unusable(f"{where}: neither a file nor a break")
            else:
                yield where, file, "\n".join(old), "\n".join(new)


def broken(text, where, old, new):
    place = mutate.place_of(text, old)
    if isinstance(place, int):
        raise mutate.Unusable(f"{where}: stands {place} times: {old}")
    return text[:place[0]] + new + text[place[1]:]


def is_noticed(copy):
    tests = sorted((copy / TESTS).glob("*_test.mjs"))
    # The first failure is enough, and a broken loop may never end.
    for test in tests:
        try:
            if subprocess.run(["node", "--test", test], capture_output=True, timeout=300, check=False).returncode != 0:
                return True
        except subprocess.TimeoutExpired:
            return True
    return False


def main():
    root = pathlib.Path(sys.argv[1])
    breaks = list(breaks_of(root))
    changed = [broken((root / file).read_text(), where, old, new) for where, file, old, new in breaks]
    if "--check" in sys.argv:
        print(f"{len(breaks)} breaks of the page's modules")
        return 0
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for part in (PAGE, TESTS):
            shutil.copytree(root / part, copy / part)
        if is_noticed(copy):
            raise mutate.Unusable("the tests fail without a break")
        for (where, file, old, _), text in zip(breaks, changed, strict=True):
            (copy / file).write_text(text)
            if not is_noticed(copy):
                missed += 1
                print(f"{where}: nobody notices: {file.name}: {old}", flush=True)
            shutil.copyfile(root / file, copy / file)
    print(f"{len(breaks)} breaks, {missed} not noticed")
    return 1 if missed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except mutate.Unusable as problem:
        sys.exit(os.linesep.join(["mutate_page:", str(problem)]))
