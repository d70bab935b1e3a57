"""Groups of answers_test.py: every option with a word that means something, and names from files beside the captures."""
import re
import shutil

IMAGE = "--build-id 0102030405060708090a0b0c0d0e0f1011121314"
LISTINGS = ("stacks samples processes threads modules events losses metadata functions names intervals event-values fields "
            "sample-fields sources branches ranges").split()

# Words that options take and that mean something in `everything`; the others of the help take none.
RIGHT = {"--pid": "100", "--tid": "101", "--cpu": "0", "--comm": "demo", "--exclude-comm": "words", "--cgroup": "a", "--module": "demo",
         "--exclude-module": "*kernel*", "--event": "blocked", "--exclude-event": "cpu-clock", "--from": "+1ms", "--to": "+2ms",
         "--time": "+20us,+4ms", "--focus": "*demo*", "--ignore": "*kernel*", "--hide": "*r*", "--count": "weight", "--frames": "module",
         "--function-names": "full", "--limit": "2", "--longer-than": "20us", "--symbols": "words.zip", "--sysroot": "nowhere", "--by": "module",
         "--order": "count", "--state": "running", "--sort": "mispredicted", "--root": "thread", "--weight": "period", "--depth": "2", "--per": "time",
         "--head-duplicates": "drop", "--wrong-path": "keep", "--to-time": "+2ms", "--rename": "a=b", "--of": "demo!*",
         "--fail-if": "share +1pp", "--check": "samples.total>=1", "--against": "all.spk", "--level": "3", "--jobs": "1",
         "--time-resolution": "1ms", "--memory-limit": "64MiB", "--keep-modules": "words", "--mistakes": "10", "--run-variation": "3"}
LEFT_OUT = {"--help", "--json", "--quiet", "--output", "--force", "--debuginfod", "--progress", "--timings", "--unconfined", "--html"}
ASKED = {"show": ["0", "1"], "callers": ["*"], "callees": ["*"], "annotate": ["*"], "diff": ["--against", "all.spk"],
         "export": ["--format", "folded", "-o", "-"], "cut": ["-o", "made.spk"], "redact": ["-o", "made.spk"], "symbolize": ["-o", "made.spk"],
         "merge": ["all.spk", "-o", "made.spk"], "dump": ["--samples"]}


def command_names(tools):
    return re.findall(r"^  ([a-z]+)(?= {2,})", tools.run(["help"])[1].decode(), re.MULTILINE)


def everything(tools):
    """A file with all that files may have."""
    for name, options, more in (("all", f"24 --switches {IMAGE}", []), ("loops", f"12 --branches --memory --cgroups a,b {IMAGE}", ["--keep-branches"])):
        tools.made(f"{name}.perf.data", *options.split())
        tools.run(["convert", f"{name}.perf.data", "-o", f"{name}.spk", *more])
    for name in tools.inputs(["testdata/small.nettrace", "testdata/named/words.perf.data", "testdata/named/words.zip"])[:2]:
        tools.run(["convert", name, "-o", f"{name.split('.')[0]}.spk"])
    tools.run(["symbolize", "words.spk", "-o", "named.spk", "--symbols", "words.zip", "--sysroot", "nowhere"])
    return tools.run(["merge", "all.spk", "loops.spk", "small.spk", "named.spk", "-o", "rich.spk"])


def symbolized(tools):
    """Names and unwound callstacks from files beside the captures: ELF images, bundles of them, kallsyms, maps of code made at run time."""
    for name in ("framed", "stepped", "stepped-signed"):
        capture, image = tools.inputs([f"testdata/unwind/{name}.data", f"testdata/unwind/{name}"])
        (tools.work / f"images-{name}").mkdir()
        shutil.move(tools.work / image, tools.work / f"images-{name}" / image)
        folder = ["--symbols", f"images-{name}", "--sysroot", "nowhere"]
        yield ["collect", capture, "-o", "out.zip", *folder, "--json"]
        tools.run(["collect", capture, "-o", f"{name}.zip", *folder])
        for how, words in (("folder", folder), ("bundle", ["--symbols", f"{name}.zip", "--sysroot", "nowhere"])):
            packed = f"{name}.{how}.spk"
            yield ["convert", capture, "-o", packed, "--unwind", "--symbolize", *words, "--json"]
            yield from (["dump", packed, f"--{listing}"] for listing in ("stacks", "losses", "functions", "names", "metadata"))
            for report in (["top", packed, "--by", "line"], ["top", packed, "--tree"], ["annotate", packed, "*"], ["export", packed, "--format", "pprof", "-o", "-"]):
                yield [*report, *words]
    everything(tools)
    (tools.work / "kallsyms").write_text("ffffffff81000000 T _text\nffffffff81000010 t first\t[ext4]\nffffffff81000180 T second\n"
                                         "ffffffff81000180 W alias\nffffffff82000000 T _end\nnot a line\n")
    for pid in (100, 101, 1):
        (tools.work / f"perf-{pid}.map").write_text("401000 18 jitted one\n0x401018 0x100 other;two\n401010 4 again\nzz\n7f0000000000 10 far\n")
    for file in ("all.spk", "loops.spk", "rich.spk"):
        for words in (["--kallsyms", "kallsyms"], ["--perf-map", "."], ["--kallsyms", "kallsyms", "--perf-map", ".", "--no-inlines"]):
            yield ["symbolize", file, "-o", "named.spk", "--force", "--sysroot", "nowhere", *words, "--json"]
            yield ["dump", "named.spk", "--functions"]
            yield ["dump", "named.spk", "--names"]


def options_used(tools):
    """Every option of every command, alone, with a word that means something."""
    everything(tools)
    for command in command_names(tools):
        if command in ("help", "mcp", "convert", "collect", "baseline", "trend", "view", "query"):
            continue
        text = tools.run(["help", command])[1].decode()
        forms = [[], ["--json"]] if "  --json " in text and ASKED.get(command, [""])[-1] not in ("-", "made.spk") else [[]]
        if command == "dump":
            forms.append(["--stacks"])
        if command == "export":
            forms += [["--format", form] for form in ("pprof", "firefox", "html", "otlp", "perfetto")]
        for options, word in re.findall(r"^ {2,}(?:-\w, )?(--[a-z][a-z-]+(?:, --[a-z][a-z-]+)*)( \S+)?(?=$| {2})", text, re.MULTILINE):
            for option in sorted(set(options.split(", ")) - LEFT_OUT):
                if command == "dump" and option[2:] in LISTINGS or word and option not in RIGHT:
                    continue
                told = [option, *([RIGHT[option]] if word else [])]
                if command == "symbolize" and option != "--sysroot":
                    told += ["--sysroot", "nowhere"]  # files of this machine are others elsewhere
                for form in forms:
                    more = [] if "--format" in form or "--stacks" in form else ASKED.get(command, [])
                    yield [command, "rich.spk", *more, *told, *form, *(["-o", "-"] if "--format" in form else [])]
                yield [command, "all.spk", *ASKED.get(command, []), *told]


def written(tools):
    """What is said of files that are written, by every command that writes one."""
    everything(tools)
    forms = ("folded", "pprof", "speedscope", "firefox", "otlp", "html", "perfetto")
    for file in ("rich.spk", "all.spk", "loops.spk", "small.spk", "named.spk"):
        for report in ([], ["--json"]):
            yield from (["export", file, "--format", form, "-o", "out.x", *more, *report]
                        for form in forms for more in ([], ["--all-events"], ["--count", "weight"]) if form != "html" or not more)
            yield ["export", file, "--format", "csv", "-o", "tables", *report]
            yield from (["cut", file, "--from", "+1ms", "-o", "made.spk", *report], ["redact", file, "-o", "made.spk", *report],
                        ["redact", file, "--keep-modules", "demo", "-o", "made.spk", *report], ["merge", file, "all.spk", "-o", "made.spk", *report],
                        ["merge", file, "none.spk", "small.spk", "--keep-going", "--no-samples", "-o", "made.spk", *report],
                        ["collect", file, "-o", "out.zip", "--symbols", "words.zip", "--sysroot", "nowhere", *report])
            for words in ([], ["--symbols", "words.zip"], ["--symbols", "words.zip", "--no-inlines"]):
                yield ["symbolize", file, "-o", "made.spk", "--sysroot", "nowhere", *words, *report]
                yield ["dump", "made.spk", "--losses"]
    for capture in ("all.perf.data", "loops.perf.data", "small.nettrace", "words.perf.data"):
        for report in ([], ["--json"], ["--strict"]):
            yield ["convert", capture, "-o", "made.spk", *report]
            yield ["convert", capture, capture, "--out-dir", "packed", "--force", "--jobs", "1", *report]
            yield ["convert", capture, "-o", "made.spk", "--symbolize", "--sysroot", "nowhere", *report]
    for ends in ("", "\n", "\0"):  # of lists of inputs
        (tools.work / "list").write_text(("\0" if ends == "\0" else "\n").join(("all.perf.data", "small.nettrace")) + ends)
        yield ["convert", "--files-from", "list", "--out-dir", "packed", "--force", "--json", "--jobs", "1"]
        yield ["merge", "--files-from", "list", "-o", "made.spk", "--json"]
    for files in (["all.spk", "small.spk"], ["rich.spk"], ["small.nettrace", "all.perf.data"]):
        yield from (["stats", *files], ["stats", *files, "--by-process"], ["verify", *files])
