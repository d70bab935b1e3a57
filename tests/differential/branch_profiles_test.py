#!/usr/bin/env python3
"""Compares profiles of branches with those that LLVM's own tools make of the same capture.

    branch_profiles_test.py PROGRAM TESTDATA

testdata/branches has what the tools of LLVM 19 wrote for loop.perf.data: loop.unsymbolized by llvm-profgen
--skip-symbolization, loop.autofdo by perf2bolt -autofdo, loop.fdata by perf2bolt, loop.no_lbr by perf2bolt -nl. Where
perf2bolt is installed, it makes loop.fdata of our profile, too.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

CODE = 0x401000  # the page of the executable segment, from which llvm-profgen counts


def counted_lists(text, lists):
    """The lists of a text in which each follows its length."""
    lines = text.splitlines()
    found = []
    for _ in range(lists):
        count = int(lines[0])
        found.append(sorted(lines[1:1 + count]))
        del lines[:1 + count]
    assert not lines, lines
    return found


def bolt_lines(unsymbolized):
    """Pairs (addresses, count) of perf2bolt's format, from llvm-profgen's."""
    ranges, branches = counted_lists(unsymbolized, 2)
    for kind, rows, separator in (("F", ranges, "-"), ("B", branches, "->")):
        for row in rows:
            ends, count = row.split(":")
            yield kind, *(int(end, 16) + CODE for end in ends.split(separator)), int(count)


def main():
    program, testdata = sys.argv[1], pathlib.Path(sys.argv[2]) / "branches"
    binary = testdata / "loop"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        def profile(form):
            out = folder / form
            subprocess.run([program, "export", testdata / "loop.perf.data.gz", "--format", form, "--binary", binary,
                            "-o", out, "--quiet", "--force"], check=True)
            return out.read_text()

        unsymbolized = (testdata / "loop.unsymbolized").read_text()
        assert profile("llvm-profgen") == unsymbolized, "llvm-profgen"
        # Addresses of samples, the second list, say less than ranges: ours is empty.
        theirs, ours = (counted_lists(text, 3) for text in ((testdata / "loop.autofdo").read_text(), profile("autofdo")))
        assert ours[0] == theirs[0] and ours[1] == [] and ours[2] == theirs[2], "autofdo"
        lines = [line.split() for line in profile("bolt-preaggregated").splitlines()]
        rows = [(line[0], int(line[1], 16), int(line[2], 16), int(line[3])) for line in lines]
        assert sorted(rows) == sorted(bolt_lines(unsymbolized)), "bolt-preaggregated"
        header, *theirs = (testdata / "loop.no_lbr").read_text().splitlines()
        # perf adds modifiers to the names of events that it makes up.
        assert header.startswith(profile("bolt-no-lbr").splitlines()[0].rstrip(":")), "events"
        assert sorted(profile("bolt-no-lbr").splitlines()[1:]) == sorted(theirs), "bolt-no-lbr"
        perf2bolt = shutil.which("perf2bolt")
        if perf2bolt:
            subprocess.run([perf2bolt, "-pa", "-p", folder / "bolt-preaggregated", "-o", folder / "fdata", binary],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            assert (folder / "fdata").read_text() == (testdata / "loop.fdata").read_text(), "perf2bolt"


if __name__ == "__main__":
    main()
