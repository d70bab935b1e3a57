"""Groups of answers_test.py: two filters at once, reports of captures that are not packed, batches of every kind of input, what is left of
damaged captures as one file, schedules and tracepoints that support/ makes."""
import gzip
import itertools
import json
import shutil
import sys
import zipfile

from used_options import ASKED, IMAGE, LISTINGS, everything

FILTERS = [["--cpu", "1"], ["--comm", "demo"], ["--exclude-comm", "w*"], ["--module", "demo"],
           ["--exclude-module", "*kernel*"], ["--event", "cpu-clock"], ["--exclude-event", "cpu-clock"], ["--from", "+1ms"], ["--to", "+2ms"],
           ["--idle"], ["--focus", "*demo*"], ["--ignore", "*kernel*"]]
SHOWN = [["--hide", "*r*"], ["--count", "weight"], ["--count", "samples"], ["--frames", "address"], ["--frames", "module"], ["--all-events"],
         ["--by", "module"], ["--by", "thread"], ["--function-names", "short"], ["--self"], ["--total"], ["-n", "3"], ["--keep-broken"]]
GRAINS = "function module line process thread comm event callstack type reason cgroup".split()
FORMS = ("folded", "pprof", "speedscope", "firefox", "otlp", "html", "perfetto")
CAPTURES = ("group.perf.data", "pipe.perf.data", "zstd.perf.data", "sampled.x64.etl", "kernel.x64.etl", "small.nettrace", "small.netperf",
            "jfr/async.jfr.gz", "tiny.script.txt", "named/words.perf.data")


def filtered(tools):
    """Two filters at once: the samples that pass both; and forms of the answer together."""
    everything(tools)
    for file in ("rich.spk", "all.spk", "loops.spk"):
        numbered = [["--pid", "2"], ["--tid", "3"]] if file == "rich.spk" else [["--pid", "100"], ["--tid", "101"]]
        for one, other in itertools.combinations(numbered + FILTERS, 2):
            yield ["top", file, "--json", *one, *other]
            if not {one[0], other[0]} & {"--focus", "--ignore"}:
                yield ["dump", file, "--samples", "--limit", "30", *one, *other]
        for one, other in itertools.combinations(SHOWN, 2):
            if one[0] != other[0] and {one[0], other[0]} != {"--self", "--total"}:
                yield ["top", file, *one, *other]
        for limit in ("1", "2", "5"):
            yield from ([command, file, *ASKED.get(command, []), "--limit", limit] for command in
                        ("top", "callers", "callees", "branches", "waits", "gc", "exceptions", "jit", "mem", "io", "show", "dump"))
            yield from (["dump", file, f"--{listing}", "--limit", limit, "--json"] for listing in LISTINGS)
        for one in numbered + FILTERS:
            yield ["stats", file, "--json", "--by-process", *one]
            yield ["cut", file, "-o", "made.spk", "--force", "--json", *one]
            yield ["dump", "made.spk", "--samples"]
            yield from (["export", file, "--format", form, "-o", "-", *one] for form in ("folded", "pprof", "otlp"))


def unpacked(tools):
    """Reports of captures that are not packed before, by every command that takes one."""
    for name in tools.inputs([f"testdata/{name}" for name in CAPTURES]):
        here = ["--sysroot", "nowhere"]
        yield from (["top", name, *here, *words] for words in (["--json"], ["--tree", "-n", "3"], ["--no-symbolize", "--by", "module"]))
        yield from ([report, name, *here] for report in ("waits", "gc", "exceptions", "jit", "mem", "io", "branches"))
        yield from ([report, name, "*", "-n", "4", *here] for report in ("callers", "callees", "annotate"))
        yield from (["export", name, "--format", form, "-o", "-", *here] for form in FORMS)
        yield from (["stats", name, "--json", "--by-process"], ["show", name, "0", "1", *here], ["dump", name, "--events-of", "*", "--limit", "9"])
        yield from (["diff", name, "--against", name, "--json", "-n", "2", *here], ["merge", name, name, "-o", "made.spk", "--json"])
        yield ["dump", "made.spk", "--stacks"]


def batches(tools):
    """Inputs in folders, lists, archives and compressed, one by one and together, and outputs that are kept."""
    names = tools.inputs([f"testdata/{name}" for name in CAPTURES[:7]])
    (tools.work / "in/deep er").mkdir(parents=True)
    for i, name in enumerate(names):
        data = (tools.work / name).read_bytes()
        shutil.copy(tools.work / name, tools.work / ("in" if i % 2 else "in/deep er") / name)
        (tools.work / f"{name}.gz").write_bytes(gzip.compress(data, mtime=0))
    (tools.work / "in/notes.txt").write_text("nothing to convert\n")
    for archive, kept in (("one.zip", names[3:4]), ("more.etl.zip", names[3:5]), ("perf.zip", names[:2])):
        with zipfile.ZipFile(tools.work / archive, "w") as out:
            for name in kept:
                out.writestr(zipfile.ZipInfo(f"inside/{name}"), (tools.work / name).read_bytes())
    for words in ([], ["--recursive"], ["--recursive", "--names", "path"], ["--recursive", "--names", "path", "--skip-existing"],
                  ["--recursive", "--format", "perf", "--force"], ["--recursive", "--verbose", "--skip-existing"]):
        yield ["convert", "in", "--out-dir", "packed", "--json", "--jobs", "1", *words]
        yield ["convert", "in", *names[:2], "--out-dir", "again", "--jobs", "1", "--progress", "never", *words]
    yield from (["convert", f"{name}.gz", "-o", "made.spk", "--json"] for name in names)
    for archive in ("one.zip", "more.etl.zip", "perf.zip"):
        yield from (["convert", archive, "-o", "made.spk", "--json", "--force", *words] for words in (
            [], ["--session"], ["--member", f"inside/{names[0]}"], ["--member", "inside/none"]))
        yield ["dump", "made.spk", "--stacks"]
        yield ["top", archive, "--json"]
    yield from (["convert", "--session", *names[3:5], "-o", "both.spk", "--json"], ["dump", "both.spk", "--samples"], ["dump", "both.spk", "--losses"])
    for words in ([], ["--keep-going"], ["--recursive", "--keep-going"], ["--recursive", "--keep-going", "--no-samples"]):
        yield ["merge", "in", *names[:3], "one.zip", "-o", "all.spk", "--json", *words]
        yield from (["dump", "all.spk", f"--{listing}"] for listing in ("stacks", "sources", "processes", "events", "losses"))
    yield from (["stats", *names, "--json"], ["top", *names[:3], "--all-events", "--json", "--sysroot", "nowhere"],
                ["top", "in", "--by", "source"], ["verify", "all.spk", "in"])
    for text in (b"", b"\0", b"all.perf.data\nnone", ("\n".join(names)).encode(), ("\0".join(names[:3]) + "\0").encode()):
        tools.input = text
        yield ["convert", "--files-from", "-", "--out-dir", "listed", "--force", "--json", "--jobs", "1"]
        yield ["top", "--files-from", "-", "--by", "source", "--all-events"]
    for name in names:
        tools.input = (tools.work / name).read_bytes()
        yield ["convert", "-", "-o", "made.spk", "--json"]
        yield ["top", "-", "--json", "--sysroot", "nowhere"]
    tools.input = b""


def left_of(*captures):
    """What is left of captures that are damaged in many places, as one file."""
    def commands(tools):
        for name in tools.inputs(captures):
            data = (tools.work / name).read_bytes()
            if name.endswith(".gz"):
                data, name = gzip.decompress(data), name[:-3]
            folder = tools.work / f"{name}.left"
            folder.mkdir()
            for i in range(100):
                at, changed = len(data) * i // 100 + i % 13, bytearray(data)
                changed[at % len(data)] ^= (0x20, 1, 0xff, 0x80, 4, 0x55, 2)[i % 7]
                (folder / f"{i:03}.{name}").write_bytes(changed)
            yield ["merge", folder.name, "--recursive", "--keep-going", "-o", f"{name}.spk", "--json"]
            yield from (["dump", f"{name}.spk", f"--{listing}"] for listing in LISTINGS)
            yield from (["stats", f"{name}.spk", "--json"], ["top", f"{name}.spk", "--all-events", "--json"], ["waits", f"{name}.spk", "--json"])
    return commands


def seeds(tools):
    """Captures that fuzzing begins with, as far as they are ones."""
    for path in sorted((tools.root / "fuzz/corpus").glob("perf_*/*")):
        data = path.read_bytes()
        for skipped in (0, 1, 2):
            name = f"{path.parent.name}-{path.name[:12]}.{skipped}.data"
            (tools.work / name).write_bytes(data[skipped:])
            yield ["convert", name, "-o", "made.spk", "--json", "--force"]
            if (tools.work / "made.spk").exists():
                yield from (["dump", "made.spk", f"--{listing}"] for listing in LISTINGS)
                (tools.work / "made.spk").unlink()


def scheduled(tools):
    """Waits, wakers and fields of tracepoints."""
    sys.path.insert(0, str(tools.root / "tests/support"))
    import switch_capture  # pylint: disable=import-outside-toplevel
    import tracepoint_capture  # pylint: disable=import-outside-toplevel
    switch_capture.write_example(tools.work / "system.data")
    for big in (False, True):
        capture = tracepoint_capture.TracepointCapture(big)
        for i in range(40):
            capture.runtime(10 * i, 50 + i % 3, "worker" if i % 3 else "main", 1000 * i, -5 * i, (0x401000 + 16 * (i % 5),))
            if i % 4 == 0:
                capture.open(10 * i + 5, 50 + i % 2, f"/home/alice/{i % 6}", i, cut=i % 8 == 4)
        capture.write(tools.work / f"fields{big:d}.data")
        capture.write(tools.work / f"bare{big:d}.data", with_formats=False)
    everything(tools)
    for file in ("system", "fields0", "fields1", "bare0", "bare1"):
        yield ["convert", f"{file}.data", "-o", f"{file}.spk", "--json"]
        yield from (["dump", f"{file}.spk", f"--{listing}", *more] for listing in LISTINGS for more in ([], ["--json"]))
        yield from (["export", f"{file}.spk", "--format", form, "-o", "-", "--all-events"] for form in FORMS)
    for field in ("comm", "runtime", "filename", "flags", "none"):
        yield from (["top", "fields0.spk", "--by", f"field:{field}", "--all-events", *words] for words in ([], ["--json"], ["--pid", "50"]))
    for file in ("system.spk", "all.spk", "rich.spk"):
        for words in ([], ["--list"], ["--json"], ["--list", "--json"]):
            for more in ([], ["--state", "blocked"], ["--state", "preempted"], ["--longer-than", "100us"], ["--from", "+100us", "--to", "+400us"],
                         ["--idle-pools"], ["--tid", "101"], ["--thread", "server"], ["-n", "1"]):
                yield ["waits", file, *words, *more]
        for tid in ("101", "201", "301", "100"):
            for words in ([], ["--by", "thread"], ["--json"], ["--limit", "2"], ["--from", "+200us"]):
                yield ["waits", file, "--path", tid, *words]
        for event in ("blocked", "woken", "preempted", "running"):
            for words in ([], ["--wakers"], ["--longer-than", "50us"], ["--by", "reason"], ["--by", "waker"], ["--json", "--tree"], ["--idle-pools"]):
                yield ["top", file, "--event", event, *words]
            yield from (["export", file, "--format", form, "--event", event, "--wakers", "-o", "-"] for form in ("folded", "pprof", "speedscope"))
        yield from (["top", file, "--wall", *words] for words in ([], ["--tree"], ["--by", "thread"], ["--json"], ["--tid", "101"], ["--to", "+300us"]))
        yield from (["export", file, "--format", form, "--wall", "-o", "-"] for form in FORMS)


def asked_in_a_row(tools):
    """Hundreds of questions of an agent in one conversation, a digest for each tool."""
    everything(tools)
    start = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                                                                            "clientInfo": {"name": "t", "version": "1"}}}
    parts = [{}, {"pid": 100}, {"tid": 101}, {"from": "+1ms"}, {"to": "+2ms"}, {"from": "+1ms", "to": "+3ms"}, {"focus": ["*demo*"]},
             {"ignore": ["*kernel*"]}, {"hide": ["*r*"]}, {"comm": ["demo"]}, {"event": "blocked"}, {"event": "context-switches"}, {"pid": 2}]
    more = {"": [part | rows for part in parts for rows in ({}, {"rows": 1}, {"rows": 3})], "summary": [{}], "page": [{}],
            "top": [part | by for part in parts for by in ({}, *({"by": by, "order": order} for by in GRAINS for order in ("self", "total")))],
            "callstack": [{"id": id_, **rows} for id_ in range(30) for rows in ({}, {"rows": 2})], "diff": [{}, {"rows": 1}, {"rows": 5}],
            "waits": [part | which for part in ({}, {"pid": 100}, {"tid": 101}, {"thread": ["w*"]}, {"from": "+1ms"}, {"to": "+2ms"}, {"rows": 1})
                      for which in ({}, {"state": ["blocked"]}, {"state": ["preempted", "woken"]}, {"longer_than": "50us"})]}
    for tool in ("summary", "top", "tree", "callers", "callees", "source", "callstacks", "callstack", "diff", "waits", "page"):
        lines = [start]
        for file in ("rich.spk", "all.spk", "named.spk", "loops.spk"):
            asked = {"before": [file], "after": ["all.spk"]} if tool == "diff" else {"file": file}
            asked |= {"function": "*"} if tool in ("callers", "callees", "source", "page") else {}
            lines += [{"jsonrpc": "2.0", "id": len(lines) + i, "method": "tools/call", "params": {"name": tool, "arguments": asked | words}}
                      for i, words in enumerate(more.get(tool, more[""]))]
        tools.input = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
        yield from (["mcp", "."], ["mcp", ".", "--max-bytes", "1024"], ["mcp", ".", "--redact", "--keep-modules", "words"])
    tools.input = b""


GROUPS = {
    "filtered": filtered,
    "unpacked": unpacked,
    "batches": batches,
    "left_of_perf": left_of("testdata/file.perf.data", "testdata/tiny-pipe.perf.data", "testdata/dwarf.perf.data", f"switches:20 --switches {IMAGE}",
                            "memory:20 --memory --cgroups a,b", "branches:9 --branches"),
    "left_of_traces": left_of("testdata/kernel.x64.etl", "testdata/kernel.x86.etl", "testdata/sampled.x64.keys.xpress.etl", "testdata/small.nettrace",
                              "testdata/small.v6.nettrace", "testdata/jfr/java.jfr.gz"),
    "seeds": seeds,
    "scheduled": scheduled,
    "asked_in_a_row": asked_in_a_row,
}
