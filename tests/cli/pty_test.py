#!/usr/bin/env python3
"""What the program does on a terminal: pty_test.py PROGRAM

Binary output is refused there, colours and progress depend on TERM and NO_COLOR.
"""
import os
import pathlib
import pty
import subprocess
import sys
import tempfile
import termios

problems = []


def on_terminal(program, arguments, term, columns=80, **environment):
    """Exit status and what came out of the terminal, of both streams."""
    settings = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM")}
    settings.update(environment)
    if term is not None:
        settings["TERM"] = term
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, columns))
    job = subprocess.Popen([program] + [str(argument) for argument in arguments], stdin=subprocess.DEVNULL,
                           stdout=slave, stderr=slave, env=settings)
    os.close(slave)
    output = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        output += piece
    os.close(master)
    return job.wait(timeout=60), output


def need(condition, what):
    if not condition:
        problems.append(what)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    maker = pathlib.Path(__file__).resolve().parent / "make_capture.py"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        capture, packed = folder / "in.perf.data", folder / "in.spk"
        subprocess.run([sys.executable, str(maker), str(capture), "12"], check=True)
        subprocess.run([program, "convert", str(capture), "-o", str(packed), "--quiet"], check=True)

        binary = [["convert", capture, "-o", "-"]]
        binary += [["export", packed, "--to", kind, "-o", "-"] for kind in ("pprof", "firefox", "otlp")]
        for arguments in binary:
            status, output = on_terminal(program, arguments, "xterm")
            need(status == 1 and b"standard output is a terminal" in output and b"\0" not in output,
                 f"{arguments[0]}: {status} {output[:200]}")
        status, output = on_terminal(program, ["export", packed, "--to", "folded", "-o", "-"], "xterm")
        need(status == 0 and b"demo" in output, f"folded text is for people, too: {status} {output[:200]}")

        bad = ["verify", folder / "missing.spk"]
        need(b"\x1b[" in on_terminal(program, bad, "xterm")[1], "no colour on a terminal")
        for term, more in (("dumb", {}), (None, {}), ("xterm", {"NO_COLOR": "1"})):
            need(b"\x1b" not in on_terminal(program, bad, term, **more)[1], f"colour with TERM={term} {more}")

        names = folder / "names.folded"
        names.write_text("main;" + "\u00e4" * 200 + " 3\nmain;short 1\n", encoding="utf-8")
        for columns in (70, 81, 100):
            status, output = on_terminal(program, ["top", names], "xterm", columns=columns)
            lines = output.decode().splitlines()
            need(status == 0 and any("\u00e4..." in line for line in lines) and
                 all(len(line.encode()) <= max(columns, 74) for line in lines), f"top in {columns} columns: {lines}")
        need("\u00e4" * 200 in subprocess.run([program, "top", names], capture_output=True, check=True,
                                             encoding="utf-8").stdout, "a name is cut in a pipe")

        long = folder / "long.perf.data"
        subprocess.run([sys.executable, str(maker), str(long), "400000"], check=True)
        status, output = on_terminal(program, ["convert", long, "-o", folder / "dumb.spk"], "dumb")
        need(status == 0 and b"\x1b" not in output, f"cursor moves with TERM=dumb: {output[:200]}")
    for problem in problems:
        print("FAILED " + problem)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
