"""Groups of answers_test.py: captures with more of everything than a block, a page or a table of a .spk file holds, and their parts."""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
LESS_MEMORY = ["--memory-limit", "16MiB"]
LISTS = {"samples": ("samples", "threads", "processes", "modules", "events"), "waits": ("intervals", "samples"),
         "accesses": ("sample-fields", "samples", "events"), "branches": ("branches", "ranges", "branch-stacks"),
         "processes": ("processes", "threads", "modules", "stacks"), "nodes": ("samples", "stacks")}
GRAINS = {"samples": ("function", "thread", "event", "callstack"), "waits": ("thread", "reason"), "accesses": ("cgroup", "module"),
          "branches": ("process",), "processes": ("process", "comm", "module", "callstack"), "nodes": ("process",)}
FORMS = ("folded", "pprof", "speedscope", "firefox", "otlp", "html", "perfetto")


def made(tools, what, count):
    name = f"{what}{count}.perf.data"
    subprocess.run([sys.executable, "-B", HERE / "make_many.py", tools.work / name, what, str(count)], check=True)
    return name


def filters(what):
    """Parts of a capture: each is asked by itself, and together they are the whole."""
    yield from ([], ["--from", "+300ms"], ["--to", "+300ms"], ["--cpu", "1", "--cpu", "3"], ["--cpu", "0", "--cpu", "2"])
    yield from (["--comm", "p1?"], ["--exclude-comm", "p1?"], ["--event", "cpu-clock"], ["--exclude-event", "cpu-clock"])
    yield from (["--pid", "110"], ["--tid", "111", "--all-events"], ["--time", "+100ms,+101ms"], ["--module", "demo3", "--all-events"])
    if what == "accesses":
        yield from (["--cgroup", "a"], ["--cgroup", "/slice/g", "--cgroup", "b"])
    yield ["--idle", "--from", "+200ms", "--to", "+400ms", "--exclude-module", "demo[12]", "--all-events"]


def of_many(what, count):
    """All lists and reports, packed with much memory and with little, whole and cut."""
    def commands(tools):
        capture, packed = made(tools, what, count), f"{what}.spk"
        kept = ["--keep-branches"] if what == "branches" else []
        for output, words in ((packed, []), ("less.spk", LESS_MEMORY), ("one.spk", ["--encoders", "1", "--level", "3"])):
            yield ["convert", capture, "-o", output, "--json", *kept, *words]
        yield from (["dump", packed, f"--{listing}"] for listing in LISTS[what])
        yield from (["dump", "less.spk", f"--{LISTS[what][-1]}"], ["verify", packed, "--json"], ["stats", packed, "--json", "--by-process"])
        for grain in GRAINS[what]:
            yield ["top", packed, "--by", grain, "-n", "0", "--total"]
        yield from (["top", packed, "--json", "-n", "50", *words] for words in filters(what))
        yield from (["dump", packed, "--stacks", "--limit", "40", *words] for words in filters(what))
        for form in FORMS:
            yield ["export", packed, "--format", form, "-o", "-", "--from", "+100ms", "--to", "+250ms"]
        yield ["export", packed, "--format", "csv", "-o", "tables", "--cpu", "2"]
        yield ["waits", packed, "--json"]
        yield ["cut", packed, "-o", "cut.spk", "--from", "+300ms", "--json"]
        yield ["cut", packed, "-o", "rest.spk", "--to", "+300ms", "--json"]
        yield from (["diff", "cut.spk", "--against", "rest.spk", "--json"], ["diff", packed, "--against", "less.spk", "-n", "5"])
        for output, words in (("merged.spk", ["rest.spk", "cut.spk"]), ("again.spk", ["cut.spk", "rest.spk", *LESS_MEMORY]),
                              ("counts.spk", [packed, "--no-samples"])):
            yield ["merge", *words, "-o", output, "--json"]
            yield ["dump", output, "--stacks"]
            yield ["top", output, "--by", "process", "--json"]
        yield ["convert", capture, "-o", "rounded.spk", "--time-resolution", "100us", "--no-waits", "--no-sample-fields", "--rebase", "--json"]
        yield ["dump", "rounded.spk", "--samples", "--from", "+300ms", "--to", "+310ms"]
        yield ["convert", capture, "-o", "counted.spk", "--no-samples", "--json"]
        yield ["dump", "counted.spk", "--stacks", "--ids"]
    return commands


def many_names(tools):
    """Functions, modules and threads by the thousand, in text and in every format that is read back."""
    lines = []
    for i in range(12_000):
        depth = 2 + i % 9
        frames = (f"ns{(i * 7 + d) % 90}::function_{(i * (d + 3)) % 9001}<{'T' * (i % 40)}>(int)" if d % 3 else f"[lib{(i + d) % 50}.so]"
                  for d in range(depth))
        lines.append(";".join([f"thread-{i % 700}", *frames]) + f" {1 + i % 13}")
    (tools.work / "names.folded").write_text("\n".join(lines) + f"\n{'x' * 70_000};y 3\n")
    for words in ([], LESS_MEMORY):
        yield ["convert", "names.folded", "-o", "names.spk", "--json", *words]
        yield ["dump", "names.spk", "--stacks"]
        yield ["dump", "names.spk", "--functions"]
    for grain in ("function", "module", "callstack"):
        yield ["top", "names.spk", "--by", grain, "-n", "0"]
        yield ["top", "names.spk", "--by", grain, "--json", "-n", "9", "--focus", "*function_77*"]
    yield from (["top", "names.spk", "--tree", "-n", "200"], ["callers", "names.spk", "*function_9*", "-n", "40"], ["verify", "names.spk"])
    yield ["redact", "names.spk", "-o", "hidden.spk", "--json"]
    yield ["merge", "names.spk", "hidden.spk", "-o", "both.spk", "--json", *LESS_MEMORY]
    yield ["dump", "both.spk", "--functions"]
    yield ["diff", "names.spk", "--against", "both.spk", "-n", "20", "--per", "samples"]
    yield from (["export", "names.spk", "--format", form, "-o", "-"] for form in ("html", "firefox", "otlp"))


def round_trips(tools):
    """What every format that is written and read keeps of a capture."""
    for what, count in (("samples", 6000), ("accesses", 2000)):
        capture = made(tools, what, count)
        yield ["convert", capture, "-o", f"{what}.spk", "--json"]
        for form, name in (("folded", "made.folded"), ("pprof", "made.pb.gz"), ("speedscope", "made.speedscope.json"), ("firefox", "made.json.gz"),
                           ("otlp", "made.otlp")):
            for words in ([], ["--all-events"], ["--event", "cache-misses", "--count", "samples"], ["--from", "+50ms", "--to", "+60ms"]):
                yield ["export", f"{what}.spk", "--format", form, "-o", name, "--force", *words]
                yield ["convert", name, "-o", "back.spk", "--json"]
                yield from (["dump", "back.spk", f"--{listing}"] for listing in ("stacks", "samples", "threads", "events", "functions", "losses"))
                yield ["top", "back.spk", "--by", "module", "--json", "--all-events"]


GROUPS = {"many_names": many_names, "round_trips": round_trips, **{f"many_{what}": of_many(what, count) for what, count in (
    ("samples", 70_000), ("waits", 34_000), ("accesses", 18_000), ("branches", 9_000), ("processes", 9_000), ("nodes", 60_000))}}
