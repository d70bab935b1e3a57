#!/usr/bin/env python3
"""The model and the program beside what other tools said of captures of testdata: perf script, go tool pprof, jfr print.

    others_test.py STACKPACK ROOT
    others_test.py --record ROOT        asks perf again, and writes others.tsv

Where the model and the program agree and differ from another tool, both are wrong. Answers of go and jfr stand beside the profiles, as
testdata/*/record.sh made them; those of perf are summed up in others.tsv: capture, event, grain, name, samples and weight in which it is
the leaf, and samples in which it is at all (0: perf unwinds that itself).
"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import reports  # noqa: E402
from store import Store  # noqa: E402

PERF = ("*.perf.data", "named/*.perf.data", "unwind/*.data")
ROW = re.compile(r"\s*(\d+)(?:ns|B)?\s+\S+%\s+\S+%\s+(\d+)(?:ns|B)?\s+\S+%\s+(.*?)(?: \(inline\)| \(partial-inline\))?$")
HEAD = re.compile(r"\s*(.*?)\s+(\d+)/(\d+)\s+(\d+)\s+(\S+?):\s*(.*)$")
PLACE = re.compile(r"\s*[0-9a-f]+ \((.*)\)$")


def event_of(text):
    """Without the letters of who was counted."""
    return re.sub(r":[A-Za-z]*$", "", text)


def module_of(path):
    return path if path.startswith("[") else path.rsplit("/", 1)[-1]


def record(root):
    lines = []
    for path in sorted(path for pattern in PERF for path in (root / "testdata").glob(pattern)):
        if path.is_dir():
            continue
        text = subprocess.run(["perf", "script", "-i", path, "-F", "comm,pid,tid,event,period,ip,dso"], capture_output=True, text=True, check=False).stdout
        sums, unwinds = summed(text), path.parent.name == "unwind" or path.name.startswith("dwarf")
        for (event, grain, name), (samples, weight, total) in sorted(row for row in sums.items() if row[0][2] != "[unknown]"):
            lines.append("\t".join(map(str, (path.relative_to(root / "testdata"), event, grain, name, samples, weight, 0 if unwinds else total))))
    (HERE / "others.tsv").write_text("\n".join(lines) + "\n")


def summed(text):
    """{(event, grain, name): [samples as leaf, weight as leaf, samples in all]} of what perf script prints."""
    sums = collections.defaultdict(lambda: [0, 0, 0])

    def add(event, grain, names, weight):
        for index, name in enumerate(dict.fromkeys(names)):
            row = sums[event, grain, name]
            row[2] += 1
            if index == 0:
                row[0], row[1] = row[0] + 1, row[1] + weight

    event = weight = None
    modules = []
    for line in [*text.splitlines(), " 0/0 0 end:"]:
        place, head = PLACE.match(line), HEAD.match(line)
        if head:
            if modules:
                add(event, "module", modules, weight)
            comm, _, tid, weight, event, rest = head.groups()
            event, weight, modules = event_of(event), int(weight), []
            if event != "end":
                add(event, "comm", [comm], weight)
                add(event, "tid", [tid], weight)
            place = PLACE.match(rest)
        if place:
            modules.append(module_of(place[1]))
    return sums


class Check:
    """Compares figures, and counts."""

    def __init__(self, program, folder):
        self.program, self.folder, self.captures, self.figures, self.wrong = program, folder, 0, 0, 0

    def store(self, capture, *options):
        self.captures += 1
        packed = self.folder / f"{self.captures}.spk"
        subprocess.run([self.program, "convert", "-q", *options, capture, "-o", packed], check=True, capture_output=True)
        return Store(str(packed))

    def answer(self, store, question):
        """{name: (self, total)} of the program."""
        command = [self.program, "top", store.path, "--json", "-n", "0", "--idle", "--event", question["event"], "--by", question["grain"]]
        command += ["--count", "samples"] if question.get("count") else []
        rows = collections.defaultdict(lambda: (0, 0))
        for row in json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["rows"]:
            rows[row["name"]] = rows[row["name"]][0] + row["self"], rows[row["name"]][1] + row["total"]
        return rows

    @staticmethod
    def of_model(store, question):
        rows = collections.defaultdict(lambda: (0, 0))
        for (name, *_), sums in reports.Report(store, {**question, "idle": True}).top().items():
            rows[name] = rows[name][0] + sums.self, rows[name][1] + sums.total
        return rows

    def same(self, what, theirs, program, model):
        self.figures += 1
        if not theirs == program == model:
            self.wrong += 1
            print(f"{what}: {theirs}, the program {program}, the model {model}")


def check_perf(check, root):
    rows = [line.split("\t") for line in (HERE / "others.tsv").read_text().splitlines()]
    for capture in dict.fromkeys(row[0] for row in rows):
        store = check.store(root / "testdata" / capture)
        names = {event_of(name): name for name, _ in store.events}
        for _, event, grain, name, *figures in (row for row in rows if row[0] == capture):
            samples, weight, total = map(int, figures)
            for count in ("samples", None):
                question = {"event": names[event], "grain": "thread" if grain == "tid" else grain} | ({"count": count} if count else {})
                if count is None and not dict(store.events)[names[event]]:
                    continue
                answers = [check.answer(store, question), check.of_model(store, question)]
                own = (lambda key: key.rpartition("(")[2].rstrip(")") == name) if grain == "tid" else lambda key: key == name
                answers = [tuple(map(sum, zip((0, 0), *(sums for key, sums in rows.items() if own(key))))) for rows in answers]
                answers = [rows[:2] if total and count else rows[:1] for rows in answers]
                check.same(f"{capture} {question} {name}: perf", ((samples, total) if total else (samples,)) if count else (weight,), *answers)


def check_go(check, root):
    for top in sorted([*(root / "testdata/pprof").glob("*.top"), *(root / "testdata/foreign").glob("*.top.txt")]):
        profile, event = top.with_suffix(""), None
        if top.suffix == ".txt":
            _, kind, event = top.name.split(".")[:3]
            profile = top.with_name(f"go.{kind}.pprof")
        store = check.store(profile)
        event = event or store.metadata.get("pprof.default_event") or store.events[-1][0]
        question = {"event": event, "grain": "function"}
        program, model = check.answer(store, question), check.of_model(store, question)
        text = top.read_text()
        for fit in map(ROW.match, text[text.index("flat%"):].splitlines()[1:]):
            theirs, name = (int(fit[1]), int(fit[2])), fit[3]
            if name != "<unknown>" and theirs != (0, 0):
                check.same(f"{profile.name} {name}: pprof", theirs, program[name], model[name])


def check_jfr(check, root):
    for printed in sorted((root / "testdata/jfr").glob("*.stacks.txt")):
        store = check.store(printed.with_name(printed.name.replace(".stacks.txt", ".jfr.gz")))
        theirs = collections.defaultdict(dict)
        for line in printed.read_text(encoding="utf-8").splitlines():
            event, weight, samples, stack = line.split(" ", 3)
            theirs[event][stack] = int(weight), int(samples)
        for event, stacks in theirs.items():
            for count in (None, "samples"):
                question = {"event": event, "grain": "callstack"} | ({"count": count} if count else {})
                program, model = check.answer(store, question), check.of_model(store, question)
                for stack, figures in stacks.items():
                    figure = figures[1 if count or not dict(store.events)[event] else 0]
                    check.same(f"{printed.name} {event} {stack}: jfr", figure, program[stack][0], model[stack][0])


def main():
    if sys.argv[1] == "--record":
        record(pathlib.Path(sys.argv[2]))
        return
    with tempfile.TemporaryDirectory() as folder:
        check, root = Check(sys.argv[1], pathlib.Path(folder)), pathlib.Path(sys.argv[2])
        check_perf(check, root)
        check_go(check, root)
        check_jfr(check, root)
    print(f"{check.figures} figures of {check.captures} captures, {check.wrong} differ")
    sys.exit(check.wrong != 0)


if __name__ == "__main__":
    main()
