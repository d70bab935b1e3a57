#!/usr/bin/env python3
"""Merges recorded captures with the program, and works out independently what must be in the result.

    merge_test.py PROGRAM FOLDER_OF_CAPTURES

What a frame is, an offset in an image, is found here from the tables of the inputs (dump --modules,
--processes, --samples) by the rules of docs/format.md, and from those of the merged file; both must
give the same samples. Besides: every order and grouping gives the same bytes, bad inputs, damage that
shows late, another build id, counts, a memory limit, names, the same input twice.
"""
import collections
import hashlib
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

KERNEL = None  # pid of a module that is in every process
UNKNOWN_END = 1 << 64


def run(program, *arguments, status=0):
    result = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if result.returncode != status:
        raise SystemExit(f"{arguments}: exit status {result.returncode}, not {status}\n{result.stderr}")
    return result


def dump(program, file, what):
    return json.loads(run(program, "dump", file, what, "--json").stdout)


def digest(file):
    return hashlib.sha256(pathlib.Path(file).read_bytes()).hexdigest()


class Capture:
    """The samples of one .spk file, with frames as offsets in images."""

    def __init__(self, program, file):
        self.modules = collections.defaultdict(list)
        for module in dump(program, file, "--modules"):
            self.modules[module.get("pid")].append(module)
        self.processes = collections.defaultdict(list)
        for process in dump(program, file, "--processes"):
            self.processes[process["pid"]].append(process)
        facts = {entry["key"]: entry["value"] for entry in dump(program, file, "--metadata")}
        self.reference = int(facts.get("kernel.reference_address", "0"), 16)
        self.offset = int(facts.get("clock.wall_offset_ns", "0"))
        self.samples = dump(program, file, "--samples")

    def module_in(self, pid, address, time):
        best = None
        for module in self.modules[pid]:
            base, size = int(module["base"], 16), int(module["size"], 16)
            start = module.get("start_ns", 0)
            if base <= address < base + size and start <= time <= module.get("end_ns", UNKNOWN_END):
                if best is None or start > best.get("start_ns", 0):
                    best = module
        return best

    def module_at(self, pid, mode, address, time):
        if mode == "k":
            return self.module_in(KERNEL, address, time)
        for _ in range(64):
            if found := self.module_in(pid, address, time):
                return found
            lives = [life for life in self.processes[pid] if life.get("start_ns", 0) <= time]
            if not lives or lives[-1]["mappings"] != "inherited":
                return None
            time, pid = lives[-1]["start_ns"], lives[-1]["parent_pid"]
        return None

    def place(self, pid, frame, time, exact):
        """(mode, image, offset), or (mode, None, address)."""
        mode, address = frame[0], int(frame[1:], 16)
        module = self.module_at(pid, mode, address - (0 if exact else 1), time)
        if module is None and not exact:
            module = self.module_at(pid, mode, address, time)
        path = module["path"] if module else ""
        if not path or path.startswith(("//anon", "[anon", "[heap]", "[stack", "/memfd:")):
            return mode, None, address
        base, size = int(module["base"], 16), int(module["size"], 16)
        origin = base - int(module["file_offset"], 16)
        if mode == "k" and path.startswith("[kernel.kallsyms]"):
            origin = self.reference if base <= self.reference < base + size else base
        image = module.get("build_id") or f"{path} {base + size - origin:x}"
        return mode, image, address - origin

    def listing(self):
        rows = collections.Counter()
        for sample in self.samples:
            frames = sample["frames"]
            places = [self.place(sample["pid"], frame, sample["time_ns"],
                                 i == 0 or frames[i - 1][0] != frame[0])
                      for i, frame in enumerate(frames)]
            rows[(sample["time_ns"] + self.offset, sample["pid"], sample["tid"], sample["event"], sample["weight"],
                  sample["origin"], sample["comm"], tuple(places))] += 1
        return rows


def listing_of_merged(program, file):
    modules = sorted((int(module["base"], 16), int(module["size"], 16), module)
                     for module in dump(program, file, "--modules") if "pid" not in module)

    def place(frame):
        mode, address = frame[0], int(frame[1:], 16)
        for base, size, module in modules:
            if base <= address <= base + size:
                return mode, module.get("build_id") or f"{module['path']} {size:x}", address - base
        return mode, None, address

    rows = collections.Counter()
    for sample in dump(program, file, "--samples"):
        rows[(sample["time_ns"], sample["recorded_pid"], sample["tid"], sample["event"], sample["weight"],
              sample["origin"], sample["comm"], tuple(place(frame) for frame in sample["frames"]))] += 1
    return rows


def stacks_of(program, file):
    return collections.Counter({line.split(" ", 1)[1]: int(line.split(" ", 1)[0])
                                for line in run(program, "dump", file, "--stacks").stdout.splitlines()})


def check(condition, what):
    if not condition:
        raise SystemExit(f"merge_test: {what}")


def test_listing(program, files, work):
    expected = collections.Counter()
    for file in files:
        expected += Capture(program, file).listing()
    merged = work / "listing.spk"
    report = json.loads(run(program, "merge", *files, "-o", merged, "--json").stdout)
    run(program, "verify", merged)
    found = listing_of_merged(program, merged)
    if found != expected:
        for row in list((expected - found).items())[:3]:
            print("missing:", row)
        for row in list((found - expected).items())[:3]:
            print("too many:", row)
        raise SystemExit("merge_test: the samples of the merged file are not those of the inputs")
    check(sum(place[1] is not None for row in found for place in row[-1]) > 1000, "few frames are in images")
    stacks = {row[-1] for row in found if row[5] == "recorded"}
    check(report["callstacks"]["after"] == len(stacks), "number of callstacks")
    check(report["callstacks"]["after"] < report["callstacks"]["before"], "nothing became the same")
    stats = json.loads(run(program, "stats", merged, "--json").stdout)
    check(stats.get("merge") and stats["merge"]["sources"] == len(files), "number of sources")
    names = collections.Counter(process["name"] for process in dump(program, merged, "--processes"))
    wanted = collections.Counter(process["name"] for file in files for process in dump(program, file, "--processes"))
    check(names == wanted, "processes")


def test_orders_and_groupings(program, files, work):
    wanted = None
    for order in itertools.permutations(files[:4]):
        out = work / "order.spk"
        run(program, "merge", "-q", *order, "-o", out)
        wanted = wanted or digest(out)
        check(digest(out) == wanted, f"the order of the inputs shows: {order}")
    for samples in ([], ["--no-samples"]):
        def merge(name, *inputs):
            out = work / f"{name}.spk"
            run(program, "merge", "-q", *samples, *inputs, "-o", out)
            return out

        wanted = digest(merge("all", *files))
        # One after the other, in pairs, and unevenly with inputs in common.
        chain = files[0]
        for i, file in enumerate(files[1:]):
            chain = merge(f"chain{i}", chain, file)
        level = list(files)
        while len(level) > 1:
            level = [merge(f"pair{len(level)}-{i}", *level[i:i + 2]) for i in range(0, len(level), 2)]
        parts = [merge("part0", *files[2:]), merge("part1", *files[:3]), files[0]]
        uneven = merge("uneven", *reversed(parts))
        for shape, out in ("chain", chain), ("pairs", level[0]), ("uneven", uneven):
            check(digest(out) == wanted, f"the grouping of the inputs shows: {shape} {samples}")
            run(program, "verify", out)
        check(digest(merge("again", work / "all.spk")) == wanted, "merging a merged file changes it")
        check(digest(merge("twice", work / "all.spk", files[1], files[1])) == wanted, "an input counts twice")


def test_counts(program, files, work):
    run(program, "merge", "-q", *files, "-o", work / "samples.spk")
    run(program, "merge", "-q", "--no-samples", *files, "-o", work / "counts.spk")
    check(stacks_of(program, work / "samples.spk") == stacks_of(program, work / "counts.spk"), "counts of callstacks")
    # A file of counts among others: counts.
    run(program, "merge", "-q", "--no-samples", *files[:2], "-o", work / "some.spk")
    run(program, "merge", "-q", work / "some.spk", *files[2:], "-o", work / "mixed.spk")
    check(digest(work / "mixed.spk") == digest(work / "counts.spk"), "counts and samples")
    a = json.loads(run(program, "stats", work / "samples.spk", "--json").stdout)
    b = json.loads(run(program, "stats", work / "counts.spk", "--json").stdout)
    check(a["samples"] == b["samples"] and a["callstacks"] == b["callstacks"] and a["events"] == b["events"],
          "figures of counts")
    run(program, "verify", work / "counts.spk")


def test_limits(program, files, work):
    run(program, "merge", "-q", *files, "-o", work / "free.spk")
    run(program, "merge", "-q", "--memory-limit", "16MiB", "-j", "0", *files, "-o", work / "limited.spk")
    check(digest(work / "free.spk") == digest(work / "limited.spk"), "the memory limit shows")


def test_bad_inputs(program, files, work):
    wanted = work / "good.spk"
    run(program, "merge", "-q", *files[:2], "-o", wanted)
    content = bytearray(files[2].read_bytes())
    cut = work / "cut.spk"
    cut.write_bytes(content[:len(content) // 2])
    # A page: noticed when callstacks are read.
    late = work / "late.spk"
    section = json.loads(run(program, "stats", files[2], "--json").stdout)["sections"]
    offset = sum(part["stored_bytes"] for part in itertools.takewhile(lambda part: part["name"] != "pages", section))
    content[offset + 12] ^= 0x55
    late.write_bytes(content)
    for bad in cut, late, work / "missing.spk":
        out = work / "bad.spk"
        message = run(program, "merge", "-q", files[0], bad, files[1], "-o", out, status=2).stderr
        check(str(bad) in message and not out.exists(), f"{bad}: {message}")
        result = run(program, "merge", "--json", "--keep-going", files[0], bad, files[1], "-o", out, status=2)
        check(str(bad) in result.stderr, f"{bad} is not named")
        check(json.loads(result.stdout)["bad_inputs"] == 1, "number of bad inputs")
        check(digest(out) == digest(wanted), f"{bad} is not left out")
        out.unlink()


def test_captures_and_rebase(program, captures, files, work):
    run(program, "merge", "-q", *captures[:3], "-o", work / "captures.spk")
    run(program, "merge", "-q", *files[:3], "-o", work / "packed.spk")
    check(digest(work / "captures.spk") == digest(work / "packed.spk"), "captures are not what they are when packed")
    run(program, "merge", "-q", files[0], "-o", work / "one.spk")
    run(program, "convert", "-q", "--rebase", captures[0], "-o", work / "rebased.spk")
    check(digest(work / "one.spk") == digest(work / "rebased.spk"), "convert --rebase is not a merge of one")
    folder = work / "folder"
    (folder / "below").mkdir(parents=True)
    for i, file in enumerate(files[:3]):
        (folder / ("below" if i else "") / file.name).write_bytes(file.read_bytes())
    run(program, "merge", "-q", "--recursive", folder, "-o", work / "folder.spk")
    (work / "list").write_text("".join(f"{file}\n" for file in files[:3]))
    run(program, "merge", "-q", "--files-from", work / "list", "-o", work / "list.spk")
    for name in "folder", "list":
        check(digest(work / f"{name}.spk") == digest(work / "packed.spk"), name)


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        captures = [folder / f"{name}.perf.data" for name in ("file", "events", "group", "pipe", "threads", "dwarf")]
        files = []
        for capture in captures:
            files.append(work / f"{capture.name}.spk")
            run(program, "convert", "-q", capture, "-o", files[-1])
        test_listing(program, files, work)
        test_orders_and_groupings(program, files, work)
        test_counts(program, files, work)
        test_limits(program, files, work)
        test_bad_inputs(program, files, work)
        test_captures_and_rebase(program, captures, files, work)
    print("ok")


if __name__ == "__main__":
    main()
