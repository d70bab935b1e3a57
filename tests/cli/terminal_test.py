#!/usr/bin/env python3
"""What reaches a terminal: terminal_test.py PROGRAM

Every name in a capture, its path and the arguments hold what a terminal obeys instead of showing: escape
sequences with C0 and C1 introducers (as UTF-8 and as raw bytes), marks that turn the direction of text, line
separators, invisible characters, bytes that are not UTF-8. None of it may come out of any listing, JSON or message.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import make_capture  # noqa: E402
import read_spk  # noqa: E402

EVIL = {
    "C0": b"\x1b[31m", "C1": b"\xc2\x9b2J", "raw C1": b"\x9b2J", "the last of C1": b"\xc2\x9f",
    "right to left": "\u202e".encode(), "isolate": "\u2066".encode(), "a mark": "\u061c".encode(),
    "a line separator": "\u2028".encode(), "not UTF-8": b"\xff", "DEL": b"\x7f",
    "a tag": "\U000e0041".encode(), "no width": "\u200b\u2060\ufeff".encode(), "a soft hyphen": "\u00ad".encode(),
}


def hidden_in(output, allowed):
    """The first thing in an output that a terminal would not just show."""
    try:
        text = output.decode()
    except UnicodeDecodeError as error:
        return f"a byte that is not UTF-8 ({error})"
    found = [c for c in text if read_spk.is_hidden(ord(c)) and c not in allowed]
    return f"U+{ord(found[0]):04X}" if found else ""


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    problems, runs, values = [], 0, set()

    def run(what, arguments, folder, allowed="\n\t"):
        nonlocal runs
        runs += 1
        done = subprocess.run([os.fsencode(program), *map(os.fsencode, arguments)], cwd=folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for name, output in (("standard output", done.stdout), ("standard error", done.stderr)):
            hidden = hidden_in(output, allowed)
            if hidden:
                problems.append(f"{what}: {' '.join(map(repr, arguments))}: {name} has {hidden}")
        if done.stdout and "--json" in arguments:
            values.add(json.dumps(json.loads(done.stdout), sort_keys=True))
        return done.returncode

    for what, evil in EVIL.items():
        make_capture.text = lambda value, size, evil=evil: (evil + value.encode())[:size - 1].ljust(size, b"\0")
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(os.fsencode(folder), b"in" + evil + b".data")
            sys.argv = ["make_capture.py", source]
            make_capture.main()
            before = len(values)
            if run(what, ["convert", source, "-o", "out.spk"], folder) != 0:
                problems.append(f"{what}: not converted")
            for listing in ("--stacks", "--samples", "--processes", "--threads", "--modules", "--events", "--losses",
                            "--metadata"):
                run(what, ["dump", "out.spk", listing], folder)
                run(what, ["dump", "out.spk", listing, "--json"], folder)
            for command in (["show", "out.spk", "0", "1", "2"], ["stats", source, "--by-process"]):
                run(what, command, folder)
                run(what, [*command, "--json"], folder)
            run(what, ["convert", source, "--out-dir", "many", "--json"], folder)
            run(what, ["stats", source, "out.spk"], folder)
            run(what, ["dump", source, "--stacks"], folder)
            for command in (["verify", source], ["stats", b"missing" + evil],
                            [b"conv" + evil], ["convert", b"--" + evil], ["stats", "out.spk", "--check", evil],
                            ["show", "out.spk", evil], ["help", evil], ["convert", source, source, "-o", "x"],
                            ["export", "out.spk", "--to", evil, "-o", "-"]):
                if run(what, command, folder) == 0:
                    problems.append(f"{what}: {command} is no failure")
            if len(values) < before + 5:
                problems.append(f"{what}: too little JSON")
    for problem in problems:
        print("FAILED " + problem)
    print(f"{runs} runs, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
