#!/usr/bin/env python3
"""Walks of a person who has never seen the program: first_minutes_test.py PROGRAM SOURCE

A terminal of 80 columns, a fresh home, no options that one would have to look up. No step ends in a dead end: each
message names what to do next, and that exists.
"""
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata

sys.path.insert(0, os.path.dirname(__file__))
import pty_test  # noqa: E402

COLUMNS = 80
problems = []


def need(condition, what):
    if not condition:
        problems.append(what)


class Walk:
    """The program in an empty home, in a folder of its own."""

    def __init__(self, program, source, home):
        self.program, self.data, self.home = str(program), source / "testdata", home
        self.environment = {key: value for key, value in os.environ.items()
                            if key not in ("DISPLAY", "WAYLAND_DISPLAY", "STACKPACK_DUCKDB", "COLUMNS")}
        self.environment.update(HOME=str(home), TMPDIR=str(home), LC_ALL="C")
        os.environ.clear()
        os.environ.update(self.environment)
        os.chdir(home)
        self.commands = re.findall(r"^  ([a-z]+) ", self.run("--help")[1], re.M)

    def run(self, *words):
        done = subprocess.run([self.program, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, cwd=self.home, timeout=60)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def refused(self, *words, told):
        """One line that has all of `told`, and names commands that exist."""
        status, out, error = self.run(*words)
        about = f"{' '.join(map(str, words))}: {status}, {error!r}"
        need(status == 1 and out == "" and error.count("\n") == 1, about)
        for text in told:
            need(text in error, f"{about}: no {text!r}")
        for command in re.findall(r"stackpack ([a-z]+)", error.replace("stackpack: ", "")):
            need(command in self.commands, f"{about}: no command {command}")

    def narrow(self, *words):
        """What a terminal shows has no line that wraps."""
        status, output = pty_test.on_terminal(self.program, words, "xterm", COLUMNS)
        need(status == 0, f"{' '.join(map(str, words))} on a terminal: {status}, {output[:200]!r}")
        text = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", output.decode())
        shown = [line.rsplit("\r", 1)[-1] for line in text.replace("\r\n", "\n").split("\n")]
        for line in shown:
            if width_of(line) > COLUMNS:
                problems.append(f"{' '.join(map(str, words))}: {width_of(line)} columns: {line!r}")
        return "\n".join(shown)


def width_of(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def words_of_other_tools(walk):
    answers = {"record": "perf record", "report": "stackpack top", "script": "stackpack dump", "flamegraph": "stackpack view",
               "sched": "stackpack waits", "lock": "stackpack waits", "c2c": "stackpack mem", "evlist": "stackpack dump",
               "archive": "stackpack collect", "inject": "stackpack symbolize", "buildid-list": "stackpack dump", "web": "stackpack view"}
    for word, answer in answers.items():
        walk.refused(word, told=[answer])
    need("annotate" in walk.commands, "annotate is a command")
    walk.refused("help", "nosuch", told=["format", "losses", "exit-codes", "completions", "man"])


def what_is_missing(walk):
    for command in ("top", "waits", "view"):
        walk.refused(command, told=["no FILE", "perf.data"])
    walk.refused("callers", told=["no FILE", "perf.data", "FILE FUNCTION"])
    walk.refused("callers", "main", told=["'main' is no file", "perf.data"])
    walk.refused("annotate", walk.data / "tiny.perf.data", told=["no FUNCTION given besides the file", "stackpack top"])
    walk.refused("top", "-n", "-5", walk.data / "tiny.perf.data", told=["'-5' is not a whole number from 0 on"])
    shutil.copy(walk.folded, "perf.data")
    # The program that was profiled lies beside its recording and is called as its function.
    shutil.copy(sys.executable, "main")
    status, out, error = walk.run("callees", "main")
    need(status == 0 and "parse" in out, f"callees main beside a program main: {status}, {error!r}")
    walk.refused("callers", told=["no FUNCTION given", "perf.data"])
    os.remove("main")
    os.remove("perf.data")


def outputs_by_name(walk):
    for name, begin in (("x.html", b"<!DOCTYPE html"), ("x.folded", b"main;"), ("x.pb.gz", b"\x1f\x8b"), ("x.speedscope.json", b"{")):
        status, _, error = walk.run("export", walk.folded, "-o", name)
        content = pathlib.Path(name).read_bytes()[:40] if pathlib.Path(name).exists() else b""
        need(status == 0 and content.lower().startswith(begin.lower()), f"export -o {name}: {status}, {error!r}, {content!r}")
    walk.refused("export", walk.folded, "-o", "y.json", told=["--format speedscope"])
    walk.refused("export", walk.folded, "-o", "y", told=["--format", "-o OUT.html"])
    status, out, error = walk.run("view", walk.folded)
    need(status == 0 and pathlib.Path(out.strip()).exists(), f"view: {status}, {out!r}")
    need("no browser" in error and "-o OUT.html" in error, f"view without a display says {error!r}")


def listings_take_captures(walk):
    packed = walk.home / "threads.spk"
    capture = walk.data / "threads.perf.data"
    need(walk.run("convert", capture, "-o", packed, "-q")[0] == 0, "convert")
    for kind in ("--stacks", "--samples", "--processes", "--threads", "--modules", "--events", "--losses", "--metadata",
                 "--intervals", "--event-values", "--fields", "--sample-fields", "--sources", "--branches", "--ranges"):
        of_capture, of_file = walk.run("dump", capture, kind), walk.run("dump", packed, kind)
        need(of_capture == of_file and of_file[0] == 0, f"dump {kind} of a capture and of its file differ")
    status, out, _ = walk.run("dump", walk.data / "branches" / "loop.perf.data.gz", "--branch-stacks", "--limit", "5")
    need(status == 0 and len(out.splitlines()) > 2, f"dump --branch-stacks of a capture: {status}, {out!r}")
    listed = walk.run("dump", packed)[2]
    for option in re.findall(r"^ +(--[a-z-]+)", walk.run("dump", "--help")[1].split("What to list")[1].split("\n\n")[0], re.M):
        need(option in listed, f"dump without a listing does not name {option}")


def tables_without_rows(walk):
    capture = walk.data / "tiny.perf.data"
    for words in (["mem"], ["gc"], ["io"], ["jit"], ["exceptions"], ["locks"], ["locks", "--list"], ["waits"], ["waits", "--list"], ["waits", "--path", "1"],
                  ["branches"], ["mem", "--by", "symbol"]):
        for form in ([], ["--json"]):
            status, out, error = walk.run(*words, capture, *form)
            about = f"{' '.join(words + form)} without data: {status}, {out[:80]!r}, {error!r}"
            need(status == 0 and out, about)
            need(error.count("\n") == 1 and re.search("perf (mem )?record|dotnet-trace|wpr", error), about)
            if form:
                json.loads(out)


def rows_of_code_without_names(walk):
    capture = walk.data / "events.perf.data"
    row = next(line.split()[-1] for line in walk.run("top", "--no-symbolize", capture)[1].splitlines() if line.endswith("]"))
    status, out, _ = walk.run("annotate", "--no-symbolize", capture, row)
    need(status == 0 and "code without names" in out and "symbolize" in out, f"annotate {row}: {status}, {out!r}")


def same_words_everywhere(walk):
    capture = walk.data / "threads.perf.data"
    threads = walk.run("dump", capture, "--threads")[1].splitlines()
    head = threads[0].lstrip("#").split("\t")
    tid = threads[-1].split("\t")[head.index("tid")]
    name = threads[-1].split("\t")[head.index("name")]
    need(walk.run("top", capture, "--thread", tid) == walk.run("top", capture, "--tid", tid), "top --thread TID is --tid TID")
    need(walk.run("top", capture, "--thread", name) == walk.run("top", capture, "--comm", name), "top --thread NAME is --comm NAME")
    for form in ("--thread", "--comm"):
        need(walk.run("waits", walk.switches, form, "work*") == walk.run("waits", walk.switches, "--thread", "work*"),
             f"waits {form}")
    need(walk.run("waits", walk.switches, "--thread", "101") == walk.run("waits", walk.switches, "--tid", "101"),
         "waits --thread TID is --tid TID")


def eighty_columns(walk):
    for command in walk.commands:
        for line in walk.run(command, "--help")[1].splitlines():
            if width_of(line) > COLUMNS:
                problems.append(f"{command} --help: {width_of(line)} columns: {line!r}")
    for line in walk.run("--help")[1].splitlines():
        need(width_of(line) <= COLUMNS, f"--help: {line!r}")
    table = walk.narrow("waits", walk.switches)
    need("blocked" in table and "running" in table and "worker" in table, f"waits: {table!r}")
    rows = [line for line in walk.narrow("waits", walk.switches, "--path", "101").splitlines() if line]
    need(len(rows) > 3 and "where" in rows[1], f"waits --path: {rows}")
    walk.narrow("stats", "threads.spk")
    narrow = walk.narrow("symbolize", "threads.spk", "-o", "named.spk")
    need(not re.search(r"images *[0-9]+ of", narrow), f"progress runs together: {narrow!r}")


def switches_lead_to_waits(walk):
    status, _, error = walk.run("top", walk.switches)
    event = json.loads(walk.run("top", walk.switches, "--json")[1])["event"]
    if event in ("context-switches", "sched:sched_switch"):
        need(status == 0 and "stackpack waits" in error, f"top of switches: {error!r}")
    else:
        problems.append(f"top of switches counts {event}")
    need(walk.run("top", walk.switches, "--event", event)[2] == "", "top --event says nothing of waits")


def a_terminal_as_input(walk):
    master, slave = pty.openpty()
    job = subprocess.Popen([walk.program, "top", "-"], stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    error = job.stderr.readline().decode()
    job.kill()
    job.communicate()
    os.close(master)
    os.close(slave)
    need("standard input, which is this terminal" in error, f"top - on a terminal says {error!r}")
    need("terminal" not in walk.run("top", "-")[2], "top - of a file is quiet")


def main():
    program, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    begun = os.getcwd()
    with tempfile.TemporaryDirectory() as home:
        walk = Walk(program, source, pathlib.Path(home))
        walk.folded = walk.home / "run.folded"
        walk.folded.write_text("main;parse;read 30\nmain;parse 20\nmain;write 5\n", encoding="utf-8")
        walk.switches = walk.home / "switches.perf.data"
        subprocess.run([sys.executable, "-B", str(source / "tests" / "cli" / "make_capture.py"), str(walk.switches), "12", "--switches"],
                       check=True)
        for step in (words_of_other_tools, what_is_missing, outputs_by_name, listings_take_captures, tables_without_rows,
                     rows_of_code_without_names, same_words_everywhere, eighty_columns, switches_lead_to_waits, a_terminal_as_input):
            step(walk)
        os.chdir(begun)
    for problem in problems:
        print("FAILED " + problem)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
