#!/usr/bin/env python3
"""A capture on standard input is what it is as a file: standard_input_test.py PROGRAM ROOT

Each capture is packed by name, from standard input that is the file, that is a pipe, and that is a file of which others have read a
part already. The first three have the same stacks, samples and tables; the last one is read from where it stands.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

LISTINGS = ("stacks", "samples", "processes", "threads", "modules", "events", "losses", "intervals", "event-values", "branches")
CAPTURES = ("tiny.perf.data", "group.perf.data", "tiny-pipe.perf.data", "zstd.perf.data", "sampled.x64.etl", "sampled.x64.huffman.etl",
            "small.nettrace", "small.v6.nettrace", "small.netperf", "jfr/async.jfr.gz", "tiny.script.txt")


def main():
    program, root = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        packed = pathlib.Path(folder) / "packed.spk"

        def run(*words, **options):
            environment = {**os.environ, "LC_ALL": "C", "TZ": "UTC"}
            return subprocess.run([program, *words], check=False, capture_output=True, env=environment, **options)

        def listed(done):
            if done.returncode != 0:
                return [done.returncode]
            return [run("dump", packed, f"--{listing}").stdout for listing in LISTINGS]

        for name in CAPTURES:
            path = root / "testdata" / name
            content = path.read_bytes()
            expected = listed(run("convert", path, "-o", packed))
            with open(path, "rb") as opened:
                answers = {"file": listed(run("convert", "-", "-o", packed, stdin=opened))}
            answers["pipe"] = listed(run("convert", "-", "-o", packed, input=content))
            longer = pathlib.Path(folder) / "longer"
            longer.write_bytes(b"what others have read" * 50 + content)
            with open(longer, "rb") as opened:
                opened.seek(len(b"what others have read") * 50)
                answers["file from its middle"] = listed(run("convert", "-", "-o", packed, stdin=opened))
            problems += [f"{name}: another content on standard input, a {how}" for how, answer in answers.items() if answer != expected]
            if expected == [0] or not expected[0]:
                problems.append(f"{name}: nothing in it")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
