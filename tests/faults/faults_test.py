#!/usr/bin/env python3
"""What the program does when the system fails it.

    faults_test.py PROGRAM SHIM TESTDATA [--table] [--part I/N] [COMMAND...]

Runs every command with system calls that fail (fault_shim.c), one after the other, and looks at what
is left: the exit code says I/O error, one line says what happened, nothing of the output is there, no
temporary file is, and what was there before is as it was. What is not an error (an interrupted call,
a short one) must not change anything. Then: signals, full disks, folders that vanish.
--table prints a line per command, call and error.
"""
import collections
import concurrent.futures
import errno
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

IO_ERROR = 4
OLD = struct.pack("<II8s", 0x184D2A5A, 24, b"STACKPAK") + b"what was there before"
ASIDE = {"LC_ALL": "C", "TZ": "UTC", "NO_COLOR": ""}
NOBODY = 65534
MOST_PLACES = 8    # of the calls of one kind, evenly spread
TOLD = re.compile("stackpack: (.* -> .* samples, |[0-9]+ converted)")  # what a batch says of good ones
PERFECT = "as without the fault"

# Per kind of call the errors that a system may give; "stays" as it does on a full disk.
ERRORS = {
    "open": [errno.EIO, errno.EMFILE, errno.EACCES],
    "tmpfile": [errno.EOPNOTSUPP, errno.ENOSPC],
    "stat": [errno.EIO],
    "read": [errno.EIO, errno.EINTR, -1],
    "write": [errno.ENOSPC, errno.EIO, errno.EINTR, -1],
    "fsync": [errno.EIO, errno.ENOSPC],
    "rename": [errno.EIO, errno.EACCES],
    "link": [errno.EIO, errno.ENOSPC],
    "dup": [errno.EMFILE],
    "mkdir": [errno.EACCES, errno.ENOSPC],
    "memory": [errno.ENOMEM],
    "thread": [errno.EAGAIN],
}
HARMLESS = {errno.EINTR, -1}


class Failure(Exception):
    """What went wrong, in a line."""


def need(condition, what):
    if not condition:
        raise Failure(what)


class Bench:
    """A folder with inputs, outputs of earlier runs, and a place for temporary files."""

    def __init__(self, program, shim, testdata):
        self.program, self.shim, self.testdata = program, shim, testdata
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="stackpack-faults-"))
        self.packed = self.folder / "ready.spk"
        self.zip = self.folder / "two.zip"
        with zipfile.ZipFile(self.zip, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(testdata / "sampled.x64.etl", "capture.etl")
        self.folded = self.folder / "stacks.folded"
        self.folded.write_text("main;work;leaf 3\nmain;idle 4\n" * 50)
        self.long = self.folder / "long.perf.data"
        maker = pathlib.Path(__file__).resolve().parent.parent / "cli" / "make_capture.py"
        subprocess.run([sys.executable, str(maker), str(self.long), "20000"], check=True)
        subprocess.run([str(program), "convert", str(self.long), "-o", str(self.packed)], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def close(self):
        shutil.rmtree(self.folder)

    def environment(self, extra, scratch):
        return {**os.environ, **ASIDE, "TMPDIR": str(scratch), **extra}


# name, arguments ({out}: the output, {folder}: a folder for outputs), standard input, kind of output
COMMANDS = [
    ("convert perf file", ["convert", "{testdata}/file.perf.data", "-o", "{out}"], None, "file"),
    ("convert perf, many samples", ["convert", "{long}", "-o", "{out}"], None, "file"),
    ("convert perf directory", ["convert", "{testdata}/threads.perf.data", "-o", "{out}"], None, "file"),
    ("convert perf pipe", ["convert", "-", "-o", "{out}"], "zstd-pipe.perf.data", "file"),
    ("convert etl", ["convert", "{testdata}/sampled.x64.huffman.etl", "-o", "{out}"], None, "file"),
    ("convert etl from a pipe", ["convert", "-", "-o", "{out}"], "sampled.x64.etl", "file"),
    ("convert zip", ["convert", "{zip}", "-o", "{out}"], None, "file"),
    ("convert folded", ["convert", "{folded}", "-o", "{out}"], None, "file"),
    ("convert to standard output", ["convert", "{testdata}/file.perf.data", "-o", "-"], None, "stdout"),
    ("convert a batch", ["convert", "{testdata}/file.perf.data", "{testdata}/sampled.x64.etl", "--out-dir",
                         "{folder}", "-j", "1"], None, "folder"),
    ("merge", ["merge", "-q", "{packed}", "{testdata}/file.perf.data", "-o", "{out}"], None, "file"),
    # What the disk lacks is no fault of an input: none may be left out for it.
    ("merge what is good", ["merge", "-q", "--keep-going", "{packed}", "{testdata}/file.perf.data", "-o",
                            "{out}"], None, "file"),
    ("dump", ["dump", "--stacks", "{packed}"], None, "stdout"),
    ("dump samples", ["dump", "--samples", "{packed}"], None, "stdout"),
    ("stats", ["stats", "--json", "{packed}"], None, "stdout"),
    ("stats of a capture", ["stats", "--json", "{testdata}/file.perf.data"], None, "stdout"),
    ("verify", ["verify", "{packed}"], None, "stdout"),
    ("export folded", ["export", "{packed}", "--to", "folded", "-o", "{out}", "--force"], None, "file"),
    ("export pprof", ["export", "{packed}", "--to", "pprof", "-o", "{out}", "--force"], None, "file"),
    ("export speedscope", ["export", "{packed}", "--to", "speedscope", "-o", "{out}", "--force"], None, "file"),
    ("export firefox", ["export", "{packed}", "--to", "firefox", "-o", "{out}", "--force"], None, "file"),
    ("export otlp", ["export", "{packed}", "--to", "otlp", "-o", "{out}", "--force"], None, "file"),
    ("export perfetto", ["export", "{packed}", "--to", "perfetto", "-o", "{out}", "--force"], None, "file"),
    ("export cpuprofile", ["export", "{packed}", "--to", "cpuprofile", "-o", "{out}", "--force"], None, "file"),
    ("export csv", ["export", "{packed}", "--to", "csv", "-o", "{folder}/csv"], None, "folder"),
]

# Commands that go on when an input cannot be read are asked about these calls alone.
CALLS = {"merge what is good": ("tmpfile", "write", "fsync", "rename", "link", "mkdir")}


IN_PLACE = "the new file is in place, but may not survive a power cut"


class Run:
    """One run of a command in a folder of its own."""

    def __init__(self, bench, command, extra):
        self.bench, self.command = bench, command
        self.call = extra.get("FAULT_CALL")
        _, arguments, stdin, self.kind = command
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=bench.folder))
        self.scratch = self.folder / "scratch"
        self.outputs = self.folder / "outputs"
        self.scratch.mkdir()
        self.outputs.mkdir()
        self.out = self.outputs / "out"
        if self.kind == "file":
            self.out.write_bytes(OLD)
        names = {"testdata": bench.testdata, "out": self.out, "folder": self.outputs, "zip": bench.zip,
                 "long": bench.long, "folded": bench.folded, "packed": bench.packed}
        filled = [argument.format(**names) for argument in arguments]
        feeder = None
        source = subprocess.DEVNULL
        if stdin:
            feeder = subprocess.Popen(["cat", str(bench.testdata / stdin)], stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL)
            source = feeder.stdout
        done = subprocess.run([str(bench.program)] + filled, stdin=source, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=bench.environment(extra, self.scratch), timeout=60,
                              check=False)
        if feeder:
            feeder.stdout.close()
            feeder.wait()
        self.code = done.returncode
        self.lines = done.stderr.decode(errors="replace").splitlines()
        self.stdout = done.stdout
        self.files = {str(path.relative_to(self.outputs)): path.read_bytes()
                      for path in sorted(self.outputs.rglob("*")) if path.is_file()}
        self.left = [path.name for path in self.scratch.iterdir()]
        shutil.rmtree(self.folder)

    def result(self):
        return self.files, self.stdout if self.kind == "stdout" else b""


def check_fault(run, perfect, harmless):
    """What happened, when it was right."""
    need(not run.left, f"temporary files are left: {run.left}")
    if run.code == 0:
        need(run.result() == perfect.result(), "exit code 0, but another output")
        return PERFECT
    need(not harmless, f"exit code {run.code}: {run.lines}")
    need(run.code == IO_ERROR, f"exit code {run.code}: {run.lines}")
    text = [line for line in run.lines if not TOLD.match(line)]
    need(len(text) == 1 or (run.kind == "folder" and 1 <= len(text) <= 2), f"not one line: {run.lines}")
    if run.kind == "file":
        need(list(run.files) == ["out"], f"other files: {list(run.files)}")
        # The output is whole and has its name; that the folder is on disk is not certain.
        done = run.files["out"] == perfect.files["out"] and IN_PLACE in text[0]
        need(done or run.files["out"] == OLD, "the old output is gone")
    elif run.kind == "folder":
        for name, content in run.files.items():
            need(perfect.files.get(name) == content, f"part of {name} is there")
        if run.command[0] == "export csv" and run.call != "rename":
            need(not run.files or run.files == perfect.files, f"some of the tables: {list(run.files)}")
    return f"exit code 4, {text[0].split(': ', 1)[-1]}"


def count_calls(bench, command, call):
    with tempfile.NamedTemporaryFile(dir=bench.folder) as counter:
        Run(bench, command, {"LD_PRELOAD": str(bench.shim), "FAULT_CALL": call, "FAULT_COUNT": counter.name})
        return int(pathlib.Path(counter.name).read_text() or 0)


def places(count):
    if count <= MOST_PLACES:
        return list(range(1, count + 1))
    return sorted({1 + round(i * (count - 1) / (MOST_PLACES - 1)) for i in range(MOST_PLACES)})


def test_command(bench, command):
    """Rows of (command, call, error, outcomes) and problems."""
    rows, problems = [], []
    perfect = Run(bench, command, {})
    if perfect.code != 0 or perfect.left:
        return [], [f"{command[0]}: without a fault: exit code {perfect.code} {perfect.lines} {perfect.left}"]
    for call, errors in ERRORS.items():
        if call not in CALLS.get(command[0], ERRORS):
            continue
        count = count_calls(bench, command, call)
        for error in errors if count else []:
            outcomes = collections.Counter()
            for nth in places(count):
                extra = {"LD_PRELOAD": str(bench.shim), "FAULT_CALL": call, "FAULT_NTH": str(nth),
                         "FAULT_ERRNO": str(error)}
                if error in (errno.ENOSPC, errno.EOPNOTSUPP, errno.EMFILE, errno.ENOMEM, errno.EAGAIN):
                    extra["FAULT_STAYS"] = "1"
                try:
                    outcomes[check_fault(Run(bench, command, extra), perfect, error in HARMLESS)] += 1
                except (Failure, subprocess.TimeoutExpired) as problem:
                    problems.append(f"{command[0]}: {call} {nth} of {count} with {name_of(error)}: {problem}")
            rows.append((command[0], call, name_of(error), count, outcomes))
    return rows, problems


def name_of(error):
    return "one byte" if error == -1 else errno.errorcode[error]


# --- faults that need no shim ---------------------------------------------------------------------


def start(bench, arguments, scratch, **options):
    return subprocess.Popen([str(bench.program)] + [str(a) for a in arguments], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=bench.environment({}, scratch), **options)


class Place:
    """A folder for one test, with an output that is there already."""

    def __init__(self, bench):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=bench.folder))
        self.outputs = self.folder / "outputs"
        self.scratch = self.folder / "scratch"
        self.outputs.mkdir()
        self.scratch.mkdir()
        self.out = self.outputs / "out.spk"
        self.out.write_bytes(OLD)

    def untouched(self):
        need(self.out.read_bytes() == OLD, "the old output is gone")
        need([p.name for p in self.outputs.iterdir()] == ["out.spk"], "other files beside the output")
        need(not list(self.scratch.iterdir()), "temporary files are left")


def read_half(bench, place):
    """A conversion that has read the first half of its input, and the second half."""
    job = start(bench, ["convert", "-", "-o", place.out, "--format", "perf"], place.scratch,
                stdin=subprocess.PIPE)
    pipe = (bench.testdata / "zstd-pipe.perf.data").read_bytes()
    job.stdin.write(pipe[:len(pipe) // 2])
    job.stdin.flush()
    time.sleep(0.1)
    return job, pipe[len(pipe) // 2:]


def test_signals(bench):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        place = Place(bench)
        job, _ = read_half(bench, place)
        job.send_signal(number)
        job.wait(timeout=20)  # its input stays open: it does not end because of that
        job.stdin.close()
        need(job.returncode == -number, f"{number.name}: ended with {job.returncode}")
        lines = job.stderr.read().decode().splitlines()
        wanted = 0 if number == signal.SIGKILL else 1
        need(len(lines) == wanted and all("interrupted" in line for line in lines), f"{number.name}: {lines}")
        job.stdout.close()
        job.stderr.close()
        place.untouched()
    return "ends by the signal, the old output is untouched, nothing is left"


def test_vanished_folder(bench):
    place = Place(bench)
    job, rest = read_half(bench, place)
    shutil.rmtree(place.outputs)
    _, err = job.communicate(rest, timeout=20)
    need(job.returncode == IO_ERROR, f"exit code {job.returncode}: {err}")
    need(len(err.splitlines()) == 1, f"not one line: {err}")
    need(not place.outputs.exists() and not list(place.scratch.iterdir()), "something is left")
    return f"exit code 4, {err.decode().strip().split(': ', 2)[-1]}"


def test_full_device(bench):
    place = Place(bench)
    job = start(bench, ["convert", bench.long, "-o", "/dev/full"], place.scratch)
    _, err = job.communicate(timeout=20)
    need(job.returncode == IO_ERROR and len(err.splitlines()) == 1, f"exit code {job.returncode}: {err}")
    place.untouched()
    return f"exit code 4, {err.decode().strip().split(': ', 2)[-1]}"


def test_full_file_system(bench):
    place = Place(bench)
    disk = place.folder / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(disk)], check=False,
                      stderr=subprocess.DEVNULL).returncode != 0:
        return "not tried: mounting is not allowed here"
    try:
        (disk / "out.spk").write_bytes(OLD)
        with open(disk / "filler", "wb", buffering=0) as filler:
            try:
                while filler.write(bytes(1024)):
                    pass
            except OSError:
                pass
        job = start(bench, ["convert", bench.long, "-o", disk / "out.spk"], place.scratch)
        _, err = job.communicate(timeout=20)
        need(job.returncode == IO_ERROR and len(err.splitlines()) == 1, f"exit code {job.returncode}: {err}")
        need(sorted(p.name for p in disk.iterdir()) == ["filler", "out.spk"], "other files beside the output")
        need((disk / "out.spk").read_bytes() == OLD, "the old output is gone")
    finally:
        subprocess.run(["umount", str(disk)], check=False)
    return f"exit code 4, {err.decode().strip().split(': ', 2)[-1]}"


def as_other_user(bench, place):
    """Options for a process that may not read everything, in a place that is its own; or why not."""
    if os.geteuid() != 0:
        return {}, None
    for path in (place.folder, place.outputs, place.scratch, place.out):
        os.chown(path, NOBODY, NOBODY)
    bench.folder.chmod(0o755)
    options = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    try:
        start(bench, ["--version"], place.scratch, **options).communicate(timeout=20)
    except OSError as refused:
        return None, f"not tried: this user may read everything, another one not run the program ({refused.strerror})"
    return options, None


def test_unreadable_input(bench):
    place = Place(bench)
    secret = place.folder / "secret.data"
    shutil.copy(bench.long, secret)
    secret.chmod(0)
    options, why_not = as_other_user(bench, place)
    if why_not:
        return why_not
    job = start(bench, ["convert", secret, "-o", place.out], place.scratch, **options)
    _, err = job.communicate(timeout=20)
    need(job.returncode == IO_ERROR and len(err.splitlines()) == 1, f"exit code {job.returncode}: {err}")
    place.untouched()
    return "exit code 4"


def test_order_of_syncing(bench):
    """Content is on disk before it gets the output's name, and the name before the run ends."""
    for name, arguments, wanted in [
            ("convert", ["convert", bench.long, "-o"], ["fsync", "link", "rename", "fsync"]),
            ("export", ["export", bench.packed, "--to", "folded", "--force", "-o"],
             ["fsync", "link", "rename", "fsync"])]:
        place = Place(bench)
        log = place.folder / "log"
        subprocess.run([str(bench.program)] + [str(a) for a in arguments] + [str(place.out)], check=True,
                       stderr=subprocess.DEVNULL,
                       env=bench.environment({"LD_PRELOAD": str(bench.shim), "FAULT_LOG": str(log)}, place.scratch))
        calls = log.read_text().split()
        if "link" not in calls:  # a file system without nameless files
            wanted = [call for call in wanted if call != "link"]
        need(calls == wanted, f"{name}: {calls}")
    return "fsync, link, rename, fsync"


def stopped(bench, arguments, scratch, call, nth):
    """A run that stands still right before its nth call of a kind."""
    fault = {"LD_PRELOAD": str(bench.shim), "FAULT_CALL": call, "FAULT_NTH": str(nth), "FAULT_ERRNO": "-2"}
    job = subprocess.Popen([str(bench.program)] + [str(a) for a in arguments], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, env=bench.environment(fault, scratch))
    end = time.monotonic() + 30
    while time.monotonic() < end and job.poll() is None:
        state = pathlib.Path(f"/proc/{job.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        if state in "Tt":
            return job
        time.sleep(0.005)
    job.kill()
    raise Failure(f"it does not come to {call} {nth}: {job.communicate()}")


def test_killed_before_rename(bench):
    """What a killed run leaves under a temporary name, the next one removes."""
    place = Place(bench)
    job = stopped(bench, ["convert", bench.long, "-o", place.out], place.scratch, "rename", 1)
    job.kill()
    job.communicate(timeout=20)
    left = sorted(path.name for path in place.outputs.iterdir())
    need(len(left) == 2 and re.fullmatch(rf"out\.spk\.tmp-{job.pid}-0-[0-9a-f]{{8}}", left[1]), f"left: {left}")
    need(place.out.read_bytes() == OLD, "the old output is gone")
    others = ["out.spk.tmp-1-0", "out.spk.tmp-99999-0", f"out.spk.tmp-{job.pid}-0", "other" + left[1][3:], f"out.spk.tmp-{job.pid}"]
    for name in others:
        (place.outputs / name).write_bytes(b"another's")
    subprocess.run([str(bench.program), "convert", str(bench.long), "-o", str(place.out)], check=True,
                   stderr=subprocess.DEVNULL, env=bench.environment({}, place.scratch))
    left = sorted(path.name for path in place.outputs.iterdir())
    need(left == sorted(["out.spk"] + others), f"left after the next run: {left}")
    return "removed by the next run; other files stay"


def test_input_changes(bench):
    """An output of an input that changed while it was read is not up to date later."""
    maker = pathlib.Path(__file__).resolve().parent.parent / "cli" / "make_capture.py"
    larger = bench.folder / "larger.perf.data"
    subprocess.run([sys.executable, str(maker), str(larger), "21000"], check=True)

    def grow(path):
        with open(path, "ab") as file:
            file.write(b"\0" * 8192)

    def overwrite(path):
        content = bytearray(path.read_bytes())
        content[4:12], content[2048:2056] = content[4:12], bytes(8)
        with open(path, "r+b") as file:
            file.write(content)

    def replace(path):
        os.replace(shutil.copy(larger, path.with_suffix(".new")), path)

    for change in (grow, overwrite, replace):
        place = Place(bench)
        capture = place.folder / "in.perf.data"
        shutil.copy(bench.long, capture)
        arguments = ["convert", capture, "--out-dir", place.outputs, "--skip-existing", "--json"]
        job = stopped(bench, arguments, place.scratch, "read", 12)
        change(capture)
        job.send_signal(signal.SIGCONT)
        out, err = job.communicate(timeout=60)
        again = subprocess.run([str(bench.program)] + [str(a) for a in arguments], check=False,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=bench.environment({}, place.scratch))
        need(b'"converted"' in again.stdout, f"{change.__name__}: {out} {err}, then {again.stdout}")
        fresh = place.folder / "fresh.spk"
        subprocess.run([str(bench.program), "convert", str(capture), "-o", str(fresh)], check=True,
                       stderr=subprocess.DEVNULL)
        need(fresh.read_bytes() == (place.outputs / "in.perf.data.spk").read_bytes(),
             f"{change.__name__}: not what a fresh conversion gives")
        third = subprocess.run([str(bench.program)] + [str(a) for a in arguments], check=False,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        need(b'"skipped"' in third.stdout, f"{change.__name__}: not up to date in the end: {third.stdout}")
    return "converted anew after growing, overwriting and replacing"


def test_kill_anywhere(bench):
    """Killed at any moment, there is the old file, or a whole one."""
    place = Place(bench)
    begun = time.monotonic()
    start(bench, ["convert", bench.long, "-o", place.out, "--quiet"], place.scratch).communicate(timeout=60)
    takes = time.monotonic() - begun
    kept = replaced = 0
    for i in range(40):
        place.out.write_bytes(OLD)
        job = start(bench, ["convert", bench.long, "-o", place.out, "--quiet"], place.scratch)
        time.sleep(takes * 1.1 * i / 40)
        job.kill()
        job.communicate(timeout=20)
        if place.out.read_bytes() == OLD:
            kept += 1
        else:
            replaced += 1
            check = subprocess.run([str(bench.program), "verify", "--quiet", str(place.out)], check=False)
            need(check.returncode == 0, "a killed run left a file that does not verify")
    return f"{kept} times the old file, {replaced} times a whole new one"


OTHERS = [
    ("SIGINT, SIGTERM, SIGKILL while reading", test_signals),
    ("output folder removed while reading", test_vanished_folder),
    ("output is /dev/full", test_full_device),
    ("output on a full file system", test_full_file_system),
    ("input may not be read", test_unreadable_input),
    ("SIGKILL at 40 moments", test_kill_anywhere),
    ("order of syncing and renaming", test_order_of_syncing),
    ("SIGKILL before the rename", test_killed_before_rename),
    ("the input changes while it is read", test_input_changes),
]


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--table"]
    part, parts = 0, 1
    if "--part" in arguments:
        at = arguments.index("--part")
        part, parts = map(int, arguments[at + 1].split("/"))
        del arguments[at:at + 2]
    program, shim, testdata = (pathlib.Path(argument).resolve() for argument in arguments[:3])
    wanted = arguments[3:]
    table = "--table" in sys.argv
    bench = Bench(program, shim, testdata)
    problems = []
    runs = 0
    try:
        commands = [command for command in COMMANDS if not wanted or command[0] in wanted][part::parts]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for rows, bad in pool.map(lambda command: test_command(bench, command), commands):
                problems += bad
                runs += sum(sum(row[4].values()) for row in rows)
                for name, call, error, count, outcomes in rows if table else []:
                    told = "; ".join(f"{n}x {outcome}" for outcome, n in outcomes.items())
                    print(f"{name} | {call} ({count}) | {error} | {told}")
        for name, test in OTHERS[part::parts] if not wanted else []:
            try:
                print(f"{name}: {test(bench)}")
            except (Failure, subprocess.TimeoutExpired) as problem:
                problems.append(f"{name}: {problem}")
    finally:
        bench.close()
    for problem in problems:
        print("FAILED " + problem)
    print(f"{runs} faults, {len(problems)} problems")
    return 1 if problems or not (runs or wanted) else 0


if __name__ == "__main__":
    sys.exit(main())
