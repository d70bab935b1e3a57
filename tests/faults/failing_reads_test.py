#!/usr/bin/env python3
"""Reports of a .spk file with its n-th read failing, for every n: failing_reads_test.py PROGRAM SHIM ROOT FILE.spk

FILE is one of those of refusals_test.py. Damage is found by the first pass over a section; a disk that fails in the second one is
found by nobody else. The answer is an error and status 4, and before it at most the begin of the answer, or that of the run in which
nothing failed, where what could not be read was of no use.
"""
import concurrent.futures
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import refusals_test  # noqa: E402  pylint: disable=wrong-import-position

MOST_READS = 40  # of a command, evenly spread
IO_ERROR = 4


class Shimmed:
    """Runs of the program whose reads fail."""

    def __init__(self, bench, shim):
        self.bench, self.shim = bench, shim

    def run(self, words, **variables):
        command = ["env", f"LD_PRELOAD={self.shim}", *(f"{name}={value}" for name, value in variables.items()), self.bench.program, *words]
        bench = refusals_test.Bench.__new__(refusals_test.Bench)
        bench.program, bench.folder = command[0], self.bench.folder
        return bench.run(command[1:])

    def reads_of(self, words):
        with tempfile.NamedTemporaryFile(dir=self.bench.folder) as counter:
            good = self.run(words, FAULT_CALL="read", FAULT_COUNT=counter.name)
            return good, int(pathlib.Path(counter.name).read_text() or 0)


def places(count):
    if count <= MOST_READS:
        return range(1, count + 1)
    return sorted({1 + round(i * (count - 1) / (MOST_READS - 1)) for i in range(MOST_READS)})


def problems_of(shimmed, words):
    good, count = shimmed.reads_of(words)
    found, refused = [], 0
    for nth in places(count):
        status, output, messages = shimmed.run(words, FAULT_CALL="read", FAULT_NTH=nth)
        if status == IO_ERROR and good[1].startswith(output) and messages.startswith("stackpack: "):
            refused += 1
        elif (status, output, messages) != good:
            found.append(f"read {nth} of {count} fails: {' '.join(words)}: {status} {output[:80]} {messages[:200]}")
    return found, refused


def main():
    program, shim, root = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    file = sys.argv[4]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        bench = refusals_test.Bench(program, root, pathlib.Path(folder))
        shimmed = Shimmed(bench, shim)
        commands = [*refusals_test.reports(file), *refusals_test.writers(file, "-", bench.bundle)]
        answers = list(pool.map(lambda words: problems_of(shimmed, words), commands))
    problems, refused = [problem for found, _ in answers for problem in found], sum(count for _, count in answers)
    for problem in problems[:20]:
        print(problem)
    print(f"{len(commands)} commands, {refused} refusals, {len(problems)} problems")
    return 1 if problems or refused < len(commands) else 0


if __name__ == "__main__":
    sys.exit(main())
