#!/usr/bin/env python3
"""A capture gives the same file compressed or not, but for the fingerprint: compressed_bytes_test.py PROGRAM SOURCE_DIR

docs/format.md says so of gzip around a capture. Sections are read by tests/support/read_spk.py.
"""
import gzip
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import read_spk  # noqa: E402

CAPTURES = ("file.perf.data", "pipe.perf.data", "killed.perf.data", "sampled.x64.etl", "runtime.nettrace", "pipe.script.txt")


def summary_without_fingerprint(file):
    content = file.contents[read_spk.SUMMARY]
    block = read_spk.Bytes(content)
    block.take(8 * block.varint())
    block.take(block.varint())
    before = block.at
    block.take(block.varint())
    return content[:before], content[block.at:]


def main():
    program, source = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    problems = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for capture in CAPTURES:
            plain = (source / "testdata" / capture).read_bytes()
            # The first half, too: a capture that is cut is cut at the same place.
            for what, content in ((capture, plain), (f"half of {capture}", plain[:len(plain) // 2])):
                files = []
                for ending, written in (("", content), (".gz", gzip.compress(content, mtime=0))):
                    (folder / (capture + ending)).write_bytes(written)
                    out = folder / f"out{ending}.spk"
                    subprocess.run([program, "convert", folder / (capture + ending), "-o", out, "--quiet", "--force"], check=True)
                    files.append(read_spk.File(out))
                same = all(files[0].contents[kind] == files[1].contents.get(kind) for kind in files[0].contents if kind != read_spk.SUMMARY)
                same = same and summary_without_fingerprint(files[0]) == summary_without_fingerprint(files[1])
                print(("ok    " if same else "WRONG ") + what)
                problems += not same
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
