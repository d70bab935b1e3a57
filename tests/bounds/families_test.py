#!/usr/bin/env python3
"""Time and memory of every command grow with its files, whatever they have many of: families_test.py PROGRAM [--table]

Each family has many of one thing, in the way that is the dearest to look it up: deep callstacks of few different frames, threads,
processes, mappings on top of each other, names that begin alike, events, functions at all addresses. The allowance is that
of docs/security.md. A command that takes the square of any of them takes some hundred times as much.
A command without a line in COMMANDS is run with a file as its argument, so that a new one is tried, too.
"""
import argparse
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
sys.dont_write_bytecode = True
import make_capture  # noqa: E402

ROWS = 50_000
# The allowance of docs/security.md.
LEAST_SECONDS, SECONDS_A_ROW, SECONDS_A_BYTE = 1.0, 20e-6, 1 / 30e6
# What else a machine does makes a run longer, never shorter: one that took too long is tried again.
TRIES = 3
LEAST_MEMORY, MEMORY_A_ROW, MEMORY_A_BYTE = 128 << 20, 4 << 10, 8
NO_FILE = {"help"}
FORMATS = ("folded", "pprof", "speedscope", "firefox", "otlp", "csv", "html", "perfetto", "cpuprofile")
LISTINGS = ("stacks", "samples", "processes", "threads", "modules", "events", "losses", "metadata", "functions", "names", "sources")
# With the file packed, the captures, and an output.
COMMANDS = {
    "convert": ["{capture} -o {out}", "{capture} --rebase -o {out}", "{capture} --symbolize --perf-map {maps} -o {out}"],
    "stats": ["{file}", "{file} --json"],
    "dump": [f"{{file}} --{listing}" for listing in LISTINGS],
    "show": ["{file} 0"],
    "top": ["{file}", "{file} --json", "{file} --frames module"],
    "callers": ["{file} {function}"],
    "callees": ["{file} {function}"],
    "diff": ["{file} --against {file}", "{file} --against {file} --html -o {out}"],
    "export": [f"{{file}} --format {form} -o {{out}}" for form in FORMATS],
    "view": [],  # an export that a browser opens
    "symbolize": ["{file} --perf-map {maps} -o {out}"],
    "redact": ["{file} -o {out}"],
    "collect": ["{capture} -o {out}"],
    "cut": ["{file} -o {out}", "{file} --focus {function} -o {out}"],
    "baseline": ["add {out} {file} --commit one", "show {base}"],
    "trend": ["{base}", "{base} --json", "{base} --html -o {out}"],
    "mcp": [],  # answers messages
    "query": [],  # DuckDB's library may not be there
    "merge": ["{file} -o {out}", "{file} {file} -o {out}"],
}
USAGE_OF_NOTHING = {0, 1, 2}  # a selection may be empty: no names, nothing to collect


def number(i):
    return struct.pack("<Q", i)


class Capture:
    """A pipe of perf; all samples are of one event unless told otherwise."""

    def __init__(self):
        self.records, self.count = [], 0

    def attr(self, *ids):
        attr = struct.pack("<IIQQQQQ", 1, 128, 0, 4000, 0x127, 0, make_capture.SAMPLE_ID_ALL | 1 << 10).ljust(128, b"\0")
        self.records.append(make_capture.record(64, 0, attr + b"".join(map(number, ids))))
        return self

    def comm(self, pid, tid, name):
        self.records.append(make_capture.record(3, 0, struct.pack("<II", pid, tid) + make_capture.text(name, 16) +
                                                struct.pack("<IIQ", pid, tid, self.count)))

    def mapping(self, pid, address, size, path):
        body = struct.pack("<IIQQQ", pid, pid, address, size, 0) + make_capture.text(path, 24)
        self.records.append(make_capture.record(1, 2, body + struct.pack("<IIQ", pid, pid, self.count)))

    def sample(self, pid, tid, chain):
        self.count += 1
        body = struct.pack("<QIIQQQQ", chain[0], pid, tid, 10_000 + self.count, 1, 1 + len(chain), 2**64 - 512)
        self.records.append(make_capture.record(9, 2, body + b"".join(map(number, chain))))

    def write(self, path):
        path.write_bytes(b"PERFILE2" + number(16) + b"".join(self.records))


def with_depth(path, rows):
    """The same frames again and again below each root, whose last callstacks begin where others are."""
    lines = (f"root{i};" + "a;b;" * (rows // 2 - 1) + "a;b 1\n" for i in range(16))
    path.write_text("".join(lines))


def with_threads(path, rows):
    capture = Capture().attr()
    for i in range(rows):
        capture.comm(7, 100 + i, f"t{i}")
        capture.sample(7, 100 + i, [0x1000, 0x2000])
    capture.write(path)


def with_processes(path, rows):
    capture = Capture().attr()
    for i in range(rows // 3):
        capture.comm(100 + i, 100 + i, f"p{i}")
        capture.mapping(100 + i, 0x1000, 0x1000, "/bin/one")
        capture.sample(100 + i, 100 + i, [0x1000 + i % 0x1000, 0x2000])
    capture.write(path)


def with_modules(path, rows):
    capture = Capture().attr()
    for i in range(rows // 2):
        capture.mapping(7, 0x1000 * (i + 1), 0x1000 * (rows - i), f"/lib/{i}")
    for i in range(rows // 2):
        capture.sample(7, 7, [0x1000 * (i + 1) + 5, 0x1000 * (rows // 2)])
    capture.write(path)


def with_names(path, rows):
    """Each begins with the one before, up to a hundred."""
    path.write_text("".join(f"main;{'x' * (i % 100)}{i // 100:06} 1\n" for i in range(rows)))


def with_events(path, rows):
    capture = Capture()
    for i in range(rows // 10):
        capture.attr(i + 1)
    capture.sample(7, 7, [0x1000])
    capture.write(path)


def with_functions(path, rows):
    capture = Capture().attr()
    capture.mapping(7, 0x10_0000, 16 * rows, "//anon")
    for i in range(rows // 2):
        capture.sample(7, 7, [0x10_0000 + 32 * i + 5, 0x10_0000 + 8])
    capture.write(path)
    path.with_name("perf-7.map").write_text("".join(f"{0x10_0000 + 16 * i:x} {16 if i % 2 else 16 * rows:x} f{i}\n"
                                                    for i in range(rows)))


# Of each: what writes it, and a function that occurs.
FAMILIES = {"depth": (with_depth, "a"), "threads": (with_threads, "0x1000"), "processes": (with_processes, "one"),
            "modules": (with_modules, "0x5005"), "names": (with_names, "main"), "events": (with_events, "0x1000"),
            "functions": (with_functions, "f0")}


def run(words):
    """Status, seconds of the processor, peak of memory, bytes written to the pipe, the end of the messages."""
    with tempfile.TemporaryFile() as messages:
        child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=messages)
        written = sum(map(len, iter(lambda: child.stdout.read(1 << 20), b"")))
        child.stdout.close()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        messages.seek(0)
        said = messages.read().decode(errors="replace")
    return child.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10, written, said[-300:]


def size_of(path):
    if path.is_dir():
        return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
    return path.stat().st_size if path.exists() else 0


def commands_of(program):
    text = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^  (\w+) ", text[text.index("Commands:"):text.index("Options:")], re.MULTILINE)
    return [command for command in found if command not in NO_FILE]


class Family:
    def __init__(self, program, folder, name, rows):
        write, function = FAMILIES[name]
        self.program, self.folder, self.name, self.rows = program, folder, name, rows
        folder.mkdir()
        self.places = {"capture": folder / "capture", "file": folder / "packed.spk", "out": folder / "out", "maps": folder,
                       "base": folder / "base", "function": function}
        write(self.places["capture"], rows)
        self.worst = []

    def try_one(self, command, arguments):
        """What is wrong, if anything."""
        words = [word.format(**self.places) for word in arguments.split()]
        out = self.places["out"]
        for _ in range(TRIES):
            subprocess.run(["rm", "-rf", str(out)], check=True)
            status, seconds, memory, written, said = run([self.program, command, *words])
            data = written + size_of(out) + sum(size_of(pathlib.Path(word)) for word in words if word != str(out))
            most_seconds = LEAST_SECONDS + SECONDS_A_ROW * self.rows + SECONDS_A_BYTE * data
            if seconds <= most_seconds:
                break
        most_memory = LEAST_MEMORY + MEMORY_A_ROW * self.rows + MEMORY_A_BYTE * data
        what = f"{self.name}: {command} {arguments}"
        self.worst.append((seconds / most_seconds, memory / most_memory, seconds, memory, data, what))
        if status not in USAGE_OF_NOTHING:
            return f"{what}: ended with {status}: {said}"
        if seconds > most_seconds:
            return f"{what}: {seconds:.2f} s, not {most_seconds:.2f}, for {data} bytes"
        if memory > most_memory:
            return f"{what}: {memory >> 20} MiB, not {most_memory >> 20}, for {data} bytes"
        return None

    def try_all(self, commands):
        first = run([self.program, "convert", str(self.places["capture"]), "-o", str(self.places["file"]), "--quiet"])
        if first[0] != 0:
            return [f"{self.name}: convert ended with {first[0]}: {first[4]}"]
        for commit in ("one", "two"):
            run([self.program, "baseline", "add", str(self.places["base"]), str(self.places["file"]), "--commit", commit])
        found = [self.try_one(command, arguments) for command in commands for arguments in COMMANDS.get(command, ["{file}"])]
        return [problem for problem in found if problem]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--table", action="store_true", help="the runs that come closest to what is allowed")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("families", nargs="*", default=list(FAMILIES))
    asked = parser.parse_args()
    problems, runs = [], []
    with tempfile.TemporaryDirectory() as folder:
        commands = commands_of(asked.program)
        for name in asked.families or FAMILIES:
            family = Family(asked.program, pathlib.Path(folder) / name, name, asked.rows)
            problems += family.try_all(commands)
            runs += family.worst
    if asked.table:
        for at in (0, 1):
            for row in sorted(runs, key=lambda row: -row[at])[:12]:
                print(f"{row[at]:6.0%} {row[2]:6.2f} s {row[3] >> 20:5} MiB {row[4]:12,} bytes  {row[5]}")
    for problem in problems:
        print("FAILED " + problem)
    print(f"{len(runs)} runs, at most {max(row[2] for row in runs):.2f} s and {max(row[3] for row in runs) >> 20} MiB, "
          f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
