#!/usr/bin/env python3
"""Commands that cannot do what they are asked: refusals_test.py PROGRAM ROOT

Every way to read a .spk file is tried on files in which one section is damaged, section by section: the answer is that of the whole
file, because nothing of the section was needed, or an error that names the file and no answer at all. An error that is found deep in
a file and dropped on the way would leave an answer that looks whole. Then the same commands write to a full device, to a closed
standard output and into a folder that is not there: status 4, and one line. And of several inputs the bad one is named.
"""
import concurrent.futures
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
REFUSED, DAMAGED, NOT_WRITTEN = 1, 2, 4
DIRECTORY_ENTRY = struct.Struct("<2I5Q")  # and a hash of 16 bytes
IMAGE = "--build-id 0102030405060708090a0b0c0d0e0f1011121314"
FORMS = ("folded", "pprof", "speedscope", "firefox", "otlp", "perfetto", "html")
LISTINGS = ("stacks samples processes threads modules events losses metadata functions names intervals event-values fields "
            "sample-fields sources branches ranges branch-stacks").split()
PREPARED = [  # by which commands, in order
    "convert all.perf.data -o all.spk", "convert loops.perf.data -o loops.spk --keep-branches", "convert small.nettrace -o runtime.spk",
    "convert words.perf.data -o words.spk", "symbolize words.spk -o named.spk --symbols words.zip --sysroot nowhere"]
GOOD = ("all.spk", "loops.spk", "runtime.spk", "named.spk")  # have all sections between them


class Bench:
    """Small files, and the program in their folder."""

    def __init__(self, program, root, folder):
        self.program, self.folder, self.bundle = program.resolve(), folder, str(folder / "words.zip")
        for name, options in (("all", f"24 --switches {IMAGE}"), ("loops", f"12 --branches --memory --cgroups a,b {IMAGE}")):
            subprocess.run([sys.executable, "-B", HERE / "make_capture.py", folder / f"{name}.perf.data", *options.split()], check=True)
        for name in ("small.nettrace", "named/words.perf.data", "named/words.zip"):
            shutil.copy(root / "testdata" / name, folder)
        for command in PREPARED:
            assert self.run(command.split())[0] == 0, command

    def run(self, words, folder=".", output=None):
        """Exit status, output and messages; `output` is what a shell has after `>`."""
        command = [self.program, *words]
        if output is not None:
            command = ["sh", "-c", f'exec "$@" >{output}', "sh", *command]
        environment = {**os.environ, "LC_ALL": "C", "TZ": "UTC", "NO_COLOR": "", "HOME": str(self.folder), "TMPDIR": str(self.folder)}
        done = subprocess.run(command, cwd=self.folder / folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              check=False)
        return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def sections_of(data):
    """(kind, offset, size) of each section of a .spk file that has bytes; see docs/format.md."""
    offset, size = struct.unpack_from("<2Q", data, len(data) - 56)
    directory = data[offset:offset + size]
    count, = struct.unpack_from("<I", directory, 8)
    found = (DIRECTORY_ENTRY.unpack_from(directory, 16 + 64 * i) for i in range(count))
    return [(kind, at, stored) for kind, _, at, stored, *_ in found if stored != 0]


def reports(file):
    """Each way to read a file once."""
    yield from (["dump", file, f"--{listing}"] for listing in LISTINGS)
    yield from (["export", file, "--format", form, "-o", "-"] for form in FORMS)
    yield from (["stats", file, "--json"], ["top", file], ["top", file, "--by", "line", "--json"], ["top", file, "--tree"],
                ["top", file, "--wall"], ["top", file, "--event", "blocked", "--wakers"], ["callers", file, "*"], ["callees", file, "*"],
                ["show", file, "0"], ["waits", file], ["waits", file, "--list"], ["annotate", file, "*"], ["branches", file],
                ["gc", file], ["exceptions", file], ["locks", file], ["jit", file], ["mem", file], ["io", file],
                ["diff", file, "--against", file], ["diff", file, "--against", file, "--by", "callstack", "--json"])


def writers(file, output, bundle):
    """Each command that writes a file from packed ones."""
    yield from (["export", file, "--format", form, "-o", output, "--force"] for form in FORMS)
    yield from (["merge", file, file, "-o", output, "--force", "-q"], ["cut", file, "--from", "+1ms", "-o", output, "--force"],
                ["redact", file, "-o", output, "--force"],
                ["symbolize", file, "-o", output, "--force", "--symbols", bundle, "--sysroot", "nowhere"])


def is_refused(answer, file, good):
    """Whether an error ends what may have begun as the answer about the whole file."""
    status, output, messages = answer
    named = messages.startswith(("stackpack: diff: ", f"stackpack: {file}: "))
    return status == DAMAGED and good.startswith(output) and named


class DamagedSections:
    """Commands about files in each of which one section is damaged."""

    def __init__(self, bench, pool):
        self.bench, self.jobs, self.refused = bench, [], 0
        for file in GOOD:
            data = (bench.folder / file).read_bytes()
            commands = [*reports(file), *writers(file, "-", bench.bundle)]
            whole = self._runs(pool, "whole", file, data, commands)
            for kind, at, stored in sections_of(data):
                changed = bytearray(data)
                changed[at + stored // 2] ^= 0x55
                self.jobs += [(kind, *both) for both in zip(self._runs(pool, kind, file, changed, commands), whole)]

    def _runs(self, pool, name, file, data, commands):
        folder = self.bench.folder / f"{name}-{file}"
        folder.mkdir()
        (folder / file).write_bytes(data)
        return [(file, words, pool.submit(self.bench.run, words, folder.name)) for words in commands]

    # `redact` and `symbolize` copy blocks as they are, with the checksums of what they were, which say so afterwards.
    def _copies_damage(self, words, answer):
        if words[0] not in ("redact", "symbolize") or answer[0] != 0:
            return False
        (self.bench.folder / "copied.spk").write_bytes(answer[1])
        return self.bench.run(["verify", "copied.spk"])[0] == DAMAGED

    def problems(self):
        """Answers that are neither those of the whole file nor a refusal."""
        for kind, (file, words, job), (_, _, whole) in self.jobs:
            answer, good = job.result(), whole.result()
            if is_refused(answer, file, good[1]):
                self.refused += 1
            # `stats` goes on without the figures of what cannot be read.
            elif answer != good and words[0] != "stats" and not self._copies_damage(words, answer):
                yield f"section {kind} of {file} is damaged: {' '.join(words)}: {answer[0]} {answer[1][:80]} {answer[2][:200]}"
        if self.refused < len(self.jobs) / 4:
            yield f"only {self.refused} of {len(self.jobs)} commands have noticed damage"


# Commands that take several inputs; each {} stands for one.
MANY_INPUTS = ["stats {} {} {}", "verify {} {} {}", "merge {} {} {} -o out.spk --force -q", "diff {} {} --against {} {}",
               "diff {} --against {} --json", "export {} {} {} --format html -o -", "top {} {} {}", "top {} {} --all-events --json",
               "collect {} {} -o out.zip --force", "convert {} -o out.spk --force", "dump {} --samples", "cut {} -o out.spk --force", "redact {} -o out.spk --force", "symbolize {} -o out.spk --force", "waits {}", "mcp . {}"]


def inputs_not_named(bench, pool):
    """Errors about one of several inputs that do not say which."""
    data = (bench.folder / "all.spk").read_bytes()
    good = [f"good{i}.spk" for i in range(max(command.count("{}") for command in MANY_INPUTS))]
    for name in good:
        (bench.folder / name).write_bytes(data)
    for bad, content in (("none.spk", None), ("text.spk", b"no such file"), ("cut.spk", data[:len(data) // 2])):
        if content is not None:
            (bench.folder / bad).write_bytes(content)
        jobs = []
        for command in MANY_INPUTS:
            for place in range(command.count("{}")):
                words = command.format(*good[:place], bad, *good[place:]).split()
                jobs.append((words, pool.submit(bench.run, words)))
        for words, job in jobs:
            status, _, messages = job.result()
            if status == 0 or f"stackpack: {bad}: " not in messages or "stackpack: good" in messages:
                yield f"{' '.join(words)}: {status} {messages[:200]}"


def outputs_that_fail(bench, pool):
    """Commands that do not say that they could not write."""
    jobs = []
    for file in GOOD:
        for words in [*reports(file), ["help"], ["help", "top"], ["--version"], ["verify", file]]:
            good = pool.submit(bench.run, words)
            jobs += [(f"> {place} {' '.join(words)}", good, pool.submit(bench.run, words, ".", place)) for place in ("/dev/full", "&-")]
        for place in ("/dev/full", "nowhere/none/out"):
            compare = ["diff", file, "--against", file, "--fail-if", "share +1pp"]
            beside = [[*compare, "--junit", place], [*compare, "--sarif", place], [*compare, "--html", "-o", place]]
            jobs += [(" ".join(words), None, pool.submit(bench.run, words)) for words in [*writers(file, place, bench.bundle), *beside]]
    for what, good, job in jobs:
        status, _, messages = job.result()
        lines = [line for line in messages.splitlines() if ": note: " not in line and ": warning: " not in line]
        if good is not None and not good.result()[1]:
            continue  # there is nothing to write
        wanted = (NOT_WRITTEN, REFUSED) if what.startswith("> &-") else (NOT_WRITTEN,)
        if status not in wanted or len(lines) != 1:
            yield f"{what}: {status} {messages[:200]}"


def main():
    program, root = (pathlib.Path(word) for word in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        bench = Bench(program, root, pathlib.Path(folder))
        problems = [*DamagedSections(bench, pool).problems(), *outputs_that_fail(bench, pool), *inputs_not_named(bench, pool)]
    for problem in problems[:20]:
        print(problem)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
