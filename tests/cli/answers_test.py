#!/usr/bin/env python3
"""Over many captures, all questions to the program, and the laws that each answer keeps: answers_test.py PROGRAM ROOT GROUP

Transcripts (cases) show a few answers to people, the model (tests/model) says what figures mean, figures_test.py what is read of captures.
Here each capture of a group is packed, and every listing, report and export of it is asked for; answer_laws.py has what is wanted of
every answer. No answer is stored. scripts/compare asks two builds the same questions.
"""
import argparse
import base64
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import zipfile

import large_captures
import more_questions
import symbolized_captures
from answer_laws import Laws
from used_options import IMAGE, LISTINGS, command_names, options_used, symbolized, written

HERE = pathlib.Path(__file__).resolve().parent
# What differs with the version, names of temporary files, and of commands that pack with how things are packed: sizes, seconds. Other tests are for these.
VERSIONS = [
    (rb"stackpack-\w{6}\.html", b"stackpack-XXXXXX.html"),
    (rb"stackpack [0-9]+\.[0-9]+\.[0-9]+[\w.+-]*", b"stackpack VERSION"),
    (rb'"(version|producer|generator|exporter)": ?"[^"]*[0-9]+\.[0-9]+\.[0-9]+[^"]*"', rb'"\1":"VERSION"'),
]
SIZES = [
    (rb" to [0-9.]+ [KMG]?i?B \([0-9.]+x\)", b" to SIZE"),
    (rb", [0-9.]+ s\b", b", TIME"),
    (rb'"(seconds|output_bytes|file_bytes|packed_bytes|bytes|dag|total|file)": ?[0-9.e+-]+', rb'"\1":0'),
    (rb"[0-9,.]+ ([KMG]i)?B\b|[0-9,]+ bytes", b"SIZE"),
    (rb" +[0-9.]+x\b", b" RATIO"),
]
PACKING = ("convert", "stats", "verify", "merge", "cut", "redact", "symbolize", "collect", "baseline")
GRAINS = ("function module line file process thread comm event callstack source type waker reason cgroup package").split()


def questions(file, rich):
    """Commands about a packed file; a rich one has what the last ones ask for."""
    for listing in LISTINGS:
        yield ["dump", file, f"--{listing}"]
    yield from (["stats", file], ["stats", file, "--json", "--by-process"], ["verify", file, "--json"])
    yield from (["top", file, "-n", "0"], ["top", file, "--json", "--all-events"], ["top", file, "--tree", "-n", "4"])
    for form in ("folded", "pprof", "speedscope", "firefox", "otlp", "html"):
        yield ["export", file, "--format", form, "-o", "-"]
    yield from (["show", file, "0", "1", "--json"], ["show", file, "0", "--frames", "address", "--limit", "3"], ["waits", file])
    if not rich:
        return
    for listing in LISTINGS:
        yield ["dump", file, f"--{listing}", "--json"]
    for grain in GRAINS:
        yield ["top", file, "--by", grain, "--total", "-n", "6"]
        yield ["top", file, "--by", grain, "--json", "--count", "samples", "--idle"]
    for report in ("gc", "exceptions", "jit", "mem", "io", "branches"):
        yield [report, file, "--limit", "3"]
        yield [report, file, "--json"]
    yield from (["io", file, "--order", order] for order in ("latency", "count"))
    yield from (["mem", file, "--order", order] for order in ("count", "shared"))
    for report in ("callers", "callees"):
        yield [report, file, "*", "-n", "5"]
        yield [report, file, "*", "--json", "--self", "--all-events"]
    yield from (["waits", file, "--list"], ["waits", file, "--json"], ["waits", file, "--list", "--json", "--longer-than", "20us"],
                ["waits", file, "--state", "blocked", "-n", "2", "--idle-pools"])
    yield from (["export", file, "--format", "folded", "--root", "thread", "--annotate-kernel", "--all-events", "-o", "-"],
                ["export", file, "--format", "folded", "--with-process", "--frames", "module", "--inline", "-o", "-"],
                ["export", file, "--format", "folded", "--frames", "address", "--count", "weight", "-o", "-"],
                ["export", file, "--format", "speedscope", "--aggregate", "-o", "-"],
                ["export", file, "--format", "otlp", "--otlp-stack-tree", "-o", "-"],
                ["export", file, "--format", "pprof", "--all-events", "--from", "+1ms", "-o", "-"],
                ["export", file, "--format", "csv", "-o", "tables"])
    yield from (["dump", file, "--samples", "--from", "+1ms", "--to", "+2ms"], ["dump", file, "--stacks", "--ids", "--cpu", "0"],
                ["dump", file, "--samples", "--module", "*lib*", "--exclude-comm", "*a*"],
                ["stats", file, "--tid", "100", "--json"], ["top", file, "--focus", "*a*", "--hide", "*e*", "--ignore", "*x*"],
                ["top", file, "--event", "blocked"], ["top", file, "--wall"], ["top", file, "--event", "blocked", "--wakers"],
                ["show", file, "0", "2", "--frames", "module", "--function-names", "short"])
    yield from (["diff", file, "--against", file, *form] for form in (
        ["--json", "-n", "3"], ["--by", "module", "--markdown"], ["--by", "callstack", "--per", "time", "-n", "2"], ["--folded"]))


def of_captures(rich, plain):
    """Commands that pack captures, and ask; a capture is a path below the source folder, or NAME: and options of make_capture.py."""
    def commands(tools):
        for kind, captures in (("rich", rich), ("plain", plain)):
            for name in tools.inputs(captures):
                packed = name if name.endswith(".spk") else f"{name}.spk"
                if packed != name:
                    yield ["convert", name, "-o", packed, "--json", "--unwind", "--sysroot", "nowhere"]
                if (tools.work / packed).exists():
                    yield from questions(packed, kind == "rich")
    return commands


def of_damage(*captures):
    """Each capture cut short, and with a byte changed, in many places: one batch, and what its files have lost."""
    def commands(tools):
        for name in tools.inputs(captures):
            data = (tools.work / name).read_bytes()
            if name.endswith(".gz"):
                data, name = gzip.decompress(data), name[:-3]
            stem = re.sub(r"\W", "_", name.removesuffix(".spk"))
            folder = tools.work / f"{stem}.damaged"
            folder.mkdir()
            places = 64 if len(data) < 4096 else 48
            for i in range(places):
                at = len(data) * i // places
                (folder / f"{i:03}-cut.{name}").write_bytes(data[:at + i % 7])
                changed = bytearray(data)
                changed[(at + i % 5) % len(data)] ^= (1, 0x80, 0xff, 0x10, 0x41)[i % 5]
                (folder / f"{i:03}-changed.{name}").write_bytes(changed)
            files = sorted(str(file.relative_to(tools.work)) for file in folder.iterdir())
            if name.endswith(".spk"):
                yield ["verify", *files]
                yield ["stats", "--json", *files]
                for file in files[::3]:
                    yield ["dump", file, "--samples"]
                    yield ["top", file, "--json"]
                continue
            yield ["convert", *files, "--out-dir", f"{stem}.packed", "--json", "--jobs", "1"]
            for file in sorted((tools.work / f"{stem}.packed").glob("*.spk"))[::8]:
                name_of_file = str(file.relative_to(tools.work))
                yield ["dump", name_of_file, "--losses"]
                yield ["dump", name_of_file, "--samples"]
    return commands


def explained(tools):
    """Help of everything."""
    yield ["help"]
    for topic in [*command_names(tools), "man", "nothing", "completions", "completions bash", "completions zsh", "completions fish"]:
        yield ["help", *topic.split()]


def mistakes(first, step):
    """Every option of every command with words that are none, and too many."""
    def commands(tools):
        tools.made("one.perf.data", "6")
        tools.run(["convert", "one.perf.data", "-o", "one.spk"])
        for command in command_names(tools)[first::step]:
            for name in ("zzz", "-1", "1"):
                shutil.rmtree(tools.work / name, ignore_errors=True)  # of --out-dir; files stay
            yield [command]
            yield [command, "--nonsense"]
            yield [command, "none.spk", "none.spk", "none.spk", "none.spk"]
            text = tools.run(["help", command])[1].decode()
            for option in sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))):
                for words in ([], ["zzz"], ["-1"], ["1", option, "1"]):
                    yield [command, "one.spk", option, *words]
    return commands


def spellings(tools):
    """Names of functions in six languages, whole and cut short everywhere, as reports shorten them."""
    names = [line.split("\t")[-1] for line in (tools.root / "testdata/names/function_names.tsv").read_text().splitlines()]
    cut = {name[:end] for name in names[::3] for end in range(1, len(name))} | {name[1:] for name in names} | set(names)
    lines = sorted(name.replace(";", ":") for name in cut if "\n" not in name and not name.startswith("#"))
    (tools.work / "names.folded").write_text("".join(f"{name} {1 + i % 3}\n" for i, name in enumerate(lines)))
    yield ["convert", "names.folded", "-o", "names.spk", "--json"]
    for form in ("short", "full"):
        yield ["top", "names.spk", "-n", "0", "--function-names", form]
        yield ["diff", "names.spk", "--against", "names.spk", "-n", "0", "--function-names", form, "--markdown"]
    yield ["callers", "names.spk", "*operator*", "-n", "0"]
    yield ["export", "names.spk", "--format", "html", "-o", "-"]


def asked_by_agents(tools):
    """Every tool of `stackpack mcp`, right and wrong."""
    tools.made("one.perf.data", "12", "--switches")
    tools.run(["convert", "one.perf.data", "-o", "one.spk"])
    tools.inputs(["testdata/small.nettrace"])
    texts = ["", "x", "{}", '[]', '{"jsonrpc":"2.0","id":1}', '{"jsonrpc":"2.0","id":1,"method":"nothing"}', '{"id":"a","method":"ping"}']
    calls = [("open", {}), ("open", {"file": "one.spk"}), ("nothing", {})]
    for file in ("one.spk", "small.nettrace", "none.spk"):
        calls += [("summary", {"file": file}), ("top", {"file": file, "rows": 3}), ("top", {"file": file, "by": "module", "order": "total"}),
                  ("tree", {"file": file}), ("callers", {"file": file, "function": "*"}), ("callees", {"file": file, "function": "demo*"}),
                  ("source", {"file": file, "function": "*"}), ("callstacks", {"file": file, "rows": 2}),
                  ("callstack", {"file": file, "id": 1, "rows": 2}), ("diff", {"before": [file], "after": [file]}),
                  ("waits", {"file": file}), ("waits", {"file": file, "state": ["blocked"], "longer_than": "20us"}),
                  ("page", {"file": file, "function": "demo"}), ("top", {"file": file, "by": "nothing"}), ("top", {"file": file, "rows": "x"}),
                  ("top", {"file": file, "pid": -1}), ("callstack", {"file": file, "id": 10**9}), ("top", {"file": file, "focus": ["*"], "from": "+1ms"})]
    method = '{"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}'
    start = method % (0, "initialize", '{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}')
    texts += [method % (1, "tools/list", "{}"), method % (2, "tools/call", "{}"), method % (3, "ping", "{}")]
    texts += [method % (i + 4, "tools/call", json.dumps({"name": name, "arguments": arguments})) for i, (name, arguments) in enumerate(calls)]
    for text in texts:
        tools.input = f"{start}\n{text}\n".encode()
        yield ["mcp", "."]
    tools.input = b""
    yield ["mcp", "nowhere"]


def derived(tools):
    """Files that are made of packed ones, and what is listed of them."""
    for name, options in (("one", f"12 --switches {IMAGE}"), ("two", "7 --branches --moved 7000"), ("three", "9 --cgroups a,b --memory")):
        tools.made(f"{name}.perf.data", *options.split())
        yield ["convert", f"{name}.perf.data", "-o", f"{name}.spk", "--json"]
    lists = ("samples", "threads", "processes", "modules", "sources", "metadata", "losses", "branches", "intervals", "sample-fields", "events")
    for output, words in (
            ("merged", ["merge", "one.spk", "two.spk", "three.spk"]), ("again", ["merge", "merged.spk", "one.spk"]),
            ("counted", ["merge", "one.spk", "two.spk", "--no-samples"]),
            ("rounded", ["convert", "one.perf.data", "--time-resolution", "1ms"]),
            ("summed", ["convert", "one.perf.data", "--no-samples"]), ("still", ["convert", "one.perf.data", "--no-waits"]),
            ("hidden", ["convert", "three.perf.data", "--redact"]), ("less", ["convert", "three.perf.data", "--no-sample-fields"]),
            ("times", ["cut", "one.spk", "--from", "+1ms", "--to", "+2ms"]), ("thread", ["cut", "merged.spk", "--tid", "100"]),
            ("names", ["redact", "one.spk"])):
        yield [*words, "-o", f"{output}.spk", *(["--json"] if words[0] in ("merge", "convert") else [])]
        yield ["verify", f"{output}.spk"]
        yield ["stats", f"{output}.spk", "--json"]
        yield from (["dump", f"{output}.spk", f"--{listing}"] for listing in lists)
        yield ["top", f"{output}.spk", "--json", "--all-events"]
        yield ["export", f"{output}.spk", "--format", "csv", "-o", "tables"]
    for left, right in (("one", "times"), ("merged", "one"), ("two", "three"), ("counted", "one")):
        for form in ([], ["--json"], ["--markdown", "--by", "module", "--fail-if", "share +1pp"], ["--per", "weight", "-n", "3"],
                     ["--folded"], ["--by", "callstack", "--all-events"]):
            yield ["diff", f"{left}.spk", "--against", f"{right}.spk", *form]


def named(tools):
    """Names of a bundle, and reports with them."""
    words, bundle = tools.inputs(["testdata/named/words.perf.data", "testdata/named/words.zip"])
    yield ["convert", words, "-o", "words.spk", "--json"]
    yield ["symbolize", "words.spk", "-o", "named.spk", "--symbols", bundle, "--sysroot", "nowhere", "--json"]
    for listing in ("functions", "names", "modules", "losses"):
        yield ["dump", "named.spk", f"--{listing}"]
        yield ["dump", "named.spk", f"--{listing}", "--json"]
    for grain in GRAINS:
        yield ["top", "named.spk", "--by", grain, "-n", "12"]
        yield ["top", "named.spk", "--by", grain, "--function-names", "linkage", "--json"]
    for report in ("callers", "callees"):
        for function in ("*sort*", "main", "/a.*e/", "words!*"):
            yield [report, "named.spk", function]
    for names in ("short", "full", "linkage"):
        yield ["show", "named.spk", "0", "1", "2", "3", "--function-names", names]
        yield ["top", "named.spk", "--tree", "-n", "6", "--function-names", names]
    for form in ("folded", "pprof", "speedscope", "firefox", "otlp", "html"):
        yield ["export", "named.spk", "--format", form, "-o", "-"]
    yield ["export", "named.spk", "--format", "folded", "--inline", "-o", "-"]
    yield ["diff", "words.spk", "--against", "named.spk", "--json", "-n", "5"]


def compared(tools):
    """Runs of a program before and after a change, compared in every way."""
    old = ["main;serve;parse 4000", "main;serve;render 5000", "main;serve;render.cold 100", "main;idle 900", "main;[libc.so.6] 40"]
    new = ["main;serve;parse 5200", "main;serve;render.constprop.0 5100", "main;serve;fresh 300", "main;idle 900"]
    for side, lines in (("old", old), ("new", new)):
        for run in range(3):
            scaled = (f"{line.rsplit(' ', 1)[0]} {int(line.rsplit(' ', 1)[1]) + run * 13 * (i + 1)}" for i, line in enumerate(lines))
            (tools.work / f"{side}{run}.folded").write_text("\n".join(scaled) + "\n")
            tools.run(["convert", f"{side}{run}.folded", "-o", f"{side}{run}.spk"])
            tools.made(f"{side}{run}.perf.data", str(20 + 4 * run if side == "old" else 30 + 3 * run), "--switches")
            tools.run(["convert", f"{side}{run}.perf.data", "-o", f"{side}{run}.timed.spk"])
    (tools.work / "units").write_text("".join(f"{10 * run + 10} {side}{run}{kind}.spk\n"
                                             for run in range(3) for side in ("old", "new") for kind in ("", ".timed")))
    (tools.work / "allowed").write_text("# known\nparse up to +10pp\nrender*\n")
    (tools.work / "gate.toml").write_text('fail-if = ["share +1pp", "self share +2pp of parse"]\nallow = ["render* up to +5pp"]\n')
    conditions = ["share +1pp", "self share +1pp of parse", "share -1pp", "relative +5% from 1%", "total +1pp", "total cpu +3%", "blocked +10%",
                  "function cpu +50ms", "function of serve!* cpu +5% from 1%", "self relative -10%", "nonsense", "share +0pp", "share +1"]
    forms = [[], ["-n", "2"], ["--json"], ["--markdown"], ["--folded"], ["--html", "-o", "out.html"], ["--allow", "allowed"],
             ["--by", "module"], ["--by", "line"], ["--by", "callstack"], ["--per", "samples"], ["--per", "weight"], ["--per", "time"], ["--per", "run"],
             ["--per", "run", "--unit", "request", "--units", "units"], ["--per", "run", "--unit", "x", "--label-unit", "cpu.count"],
             ["--per", "run", "--label-unit", "nothing"], ["--per", "run", "--runs-by", "context-switches"], ["--of", "serve"], ["--of", "demo!*"],
             ["--rename", "render=render.constprop.0"], ["--mistakes", "10"], ["--run-variation", "3", "--accept-single-run"], ["--gate", "gate.toml"],
             ["--per", "run", "--json"], ["--per", "run", "--markdown"], ["--all-events"], ["--event", "blocked"], ["--tid", "101"], ["--wall"]]
    forms += [["--fail-if", condition, *more] for condition in conditions for more in ([], ["--per", "run"], ["--strict", "--markdown"])]
    forms += [["--fail-if", "share +1pp", "--fail-if", "share +60pp", "--junit", "out.xml", "--sarif", "out.json", "--annotations"]]
    for kind in (".spk", ".timed.spk"):
        sides = [[f"{side}{run}{kind}" for run in range(3)] for side in ("old", "new")]
        for before, after in (sides, sides[::-1], [sides[0][:1], sides[1][:1]]):
            for form in forms:
                yield ["diff", *before, "--against", *after, *form]
    facts = []
    for i, name in enumerate(tools.inputs([f"testdata/{name}.perf.data" for name in ("group", "events", "file", "tiny")])):
        data = (tools.work / name).read_bytes()
        for j, processor in enumerate((b"GenuineIntel,6,207,2", b"GenuineIntel,6,207,3")):
            (tools.work / f"{i}{j}.data").write_bytes(data.replace(b"GenuineIntel,6,207,2", processor))
            facts.append(f"{i}{j}.spk")
            yield ["convert", f"{i}{j}.data", "-o", facts[-1], "--json"]
    for before, after in ((facts[:1], facts[1:2]), (facts[:3], facts[3:5]), (facts[4:6], facts[6:]), (facts[2:4], facts[2:4])):
        for form in ([], ["--json"], ["--markdown"], ["--per", "run"], ["--per", "run", "--unit", "core", "--label-unit", "cpu.count"],
                     ["--per", "run", "--label-unit", "memory.total_kb", "--unit", "kB", "--json"], ["--fail-if", "share +1pp", "--junit", "out.xml"]):
            yield ["diff", *before, "--against", *after, *form]
    for run in range(3):
        for i, side in enumerate(("old", "old", "old", "new", "new", "new")):
            yield ["baseline", "add", "base", f"{side}{run}.timed.spk", "--commit", f"c{i}"]
    for form in ([], ["--by", "total"], ["--by", "module", "--per", "share"], ["--figure", "total", "-n", "2"], ["--json"], ["--html", "-o", "out.html"],
                 ["--last", "3"], ["--event", "blocked"]):
        yield ["trend", "base", *form]
    yield ["diff", "base", "--last", "2", "--against", "new0.timed.spk", "new1.timed.spk", "--per", "run"]
    yield ["baseline", "prune", "base", "--keep", "2"]
    yield ["baseline", "show", "base"]


GROUPS = {
    "perf": of_captures(["testdata/group.perf.data"],
                        [f"testdata/{name}.perf.data" for name in ("events", "file", "pipe", "zstd-pipe", "killed", "no-chains", "threads")]),
    "recorded": of_captures([f"switches:24 --switches {IMAGE}", "memory:30 --memory"],
                            ["tiny:6", "cgroups:20 --cgroups a,b,c", "broken:12 --broken", "lost:9 --lost 7", "one:1"]),
    "branches": of_captures([f"branches:12 --branches {IMAGE}"], ["testdata/branches/loop.perf.data.gz", "testdata/tiny-zstd.perf.data"]),
    "windows": of_captures(["testdata/sampled.x64.etl", "testdata/kernel.x64.etl"],
                           ["testdata/sampled.x86.etl", "testdata/kernel.x86.etl", "testdata/sampled.x64.huffman.etl", "fuzz/corpus/etl_file/*"]),
    "managed": of_captures(["testdata/small.nettrace", "testdata/runtime.nettrace"], ["testdata/*.netperf", "testdata/*.v6.nettrace", "fuzz/corpus/nettrace_file/*"]),
    "java": of_captures(["testdata/jfr/java.jfr.gz"], ["testdata/jfr/async.jfr.gz"]),
    "imported": of_captures(["testdata/tiny.script.txt"], ["testdata/memory/script.txt", "fuzz/corpus/import_*/*"]),
    "packed": of_captures(["testdata/spk/v1/perf-group.spk"], ["testdata/spk/v1*/*.spk"]),
    "unwound": of_captures([], ["testdata/dwarf.perf.data", "testdata/unwind/*.data"]),
    "damaged_perf": of_damage("testdata/tiny.perf.data", "testdata/tiny-pipe.perf.data", "testdata/tiny-zstd.perf.data"),
    "damaged_records": of_damage(f"switches:12 --switches {IMAGE}", f"branches:6 --branches {IMAGE}", "memory:8 --memory"),
    "damaged_traces": of_damage("testdata/sampled.x86.etl", "testdata/small.nettrace", "testdata/small.v6.nettrace", "testdata/small.netperf",
                                "testdata/jfr/async.jfr.gz"),
    "damaged_text": of_damage("testdata/tiny.script.txt", "fuzz/corpus/import_perf_script/*", "fuzz/corpus/import_folded/*"),
    "damaged_profiles": of_damage("fuzz/corpus/import_[!pf]*/*", "fuzz/corpus/import_pprof/*", "fuzz/corpus/import_firefox/*"),
    "damaged_packed": of_damage("testdata/spk/v1/perf-tiny.spk", "testdata/spk/v1/perf-events.spk", "testdata/spk/v1-imported/folded-names.spk"),
    "odd_packed": of_captures([], ["fuzz/corpus/export_spk/*[05af]", "fuzz/corpus/spk_walk/*[16be]"]),
    "explained": explained,
    **{f"mistakes_{first}": mistakes(first, 5) for first in range(5)},
    "derived": derived,
    "compared": compared,
    "options_used": options_used,
    "symbolized": symbolized,
    "written": written,
    "named": named,
    "spellings": spellings,
    "asked_by_agents": asked_by_agents,
    **large_captures.GROUPS,
    **more_questions.GROUPS,
    **symbolized_captures.GROUPS,
}


class Tools:
    """Captures of a group, in the folder of the test."""

    def __init__(self, program, root, work):
        self.program, self.root, self.work, self.input = program, root, work, b""
        self.alone = None  # what the last command of run() said

    def inputs(self, captures):
        """Brings captures into the folder of the test; their names there."""
        names = []
        for capture in captures:
            name, made, options = capture.partition(":")
            if made:
                names.append(self.made(f"{name}.perf.data", *options.split()))
                continue
            for path in sorted(self.root.glob(capture)):
                in_corpus = "fuzz" in path.relative_to(self.root).parts
                suffix = ".spk" if in_corpus and path.read_bytes().startswith(b"\x5a\x2a\x4d\x18") else ""
                names.append(f"{path.parent.name}-{path.name[:12]}{suffix}" if in_corpus else path.name)
                (shutil.copytree if path.is_dir() else shutil.copy)(path, self.work / names[-1])
        return names

    def made(self, name, *options):
        subprocess.run([sys.executable, "-B", HERE / "make_capture.py", self.work / name, *options], check=True)
        return name

    def run_alone(self, command):
        """Exit status, output and messages as they are; what is written stays."""
        environment = {**os.environ, "LC_ALL": "C", "TZ": "UTC", "NO_COLOR": "", "HOME": str(self.work), "TMPDIR": str(self.work)}
        environment.pop("STACKPACK_CORPUS", None)
        done = subprocess.run([self.program, *command], cwd=self.work, env=environment, input=self.input,
                              capture_output=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def run(self, command):
        """The same with what is written, and the files that only this command is to see are gone afterwards."""
        self.alone = code, output, messages = self.run_alone(command)
        for written in [*sorted((self.work / "tables").glob("*")), *sorted(self.work.glob("out.*"))]:
            output += b"\n# " + written.name.encode() + b"\n" + readable(written.read_bytes())
        self.clear()
        return code, readable(output), messages

    def clear(self):
        shutil.rmtree(self.work / "tables", ignore_errors=True)
        for written in self.work.glob("out.*"):
            written.unlink()


def readable(output):
    """Without compression, whose bytes may be others with another version of a library."""
    if output[:2] == b"\x1f\x8b":
        return gzip.decompress(output)
    if output[:4] == b"PK\3\4":
        archive = zipfile.ZipFile(io.BytesIO(output))
        return b"".join(name.encode() + b"\n" + archive.read(name) for name in archive.namelist())
    return re.sub(rb'(octet-stream" id="profile">)([A-Za-z0-9+/]+=*)(?=<)',
                  lambda match: match[1] + gzip.decompress(base64.b64decode(match[2])), output)


def normal(text, command, work):
    text = text.replace(str(work).encode(), b"WORK")
    for pattern, instead in VERSIONS + (SIZES if command[0] in PACKING or "out.x" in command else []):
        text = re.sub(pattern, instead, text)
    return text


def digest_of_written(command, work):
    """Of the file or folder that a command names as its output."""
    named = [work / word for option, word in zip(command, command[1:]) if option in ("-o", "--out-dir") and word != "-"]
    files = [file for path in named for file in ([path] if path.is_file() else sorted(path.rglob("*"))) if file.is_file()]
    return hashlib.sha256(b"".join(file.name.encode() + file.read_bytes() for file in files)).hexdigest() if files else ""


def answer_to(tools, command):
    """A command's words, exit status, output and messages without what differs from run to run, and a digest of what it writes."""
    code, output, messages = tools.run(command)
    words = " ".join(command) + (f" < {hashlib.sha256(tools.input).hexdigest()[:8]}" if tools.input else "")
    return words, code, normal(output, command, tools.work), normal(messages, command, tools.work), digest_of_written(command, tools.work)


def asked(tools, group):
    """The answers to all commands of a group."""
    for command in GROUPS[group](tools):
        yield answer_to(tools, command)


class Checked:
    """The answers of a group, and which laws they break."""

    def __init__(self, tools):
        self.tools, self.laws = tools, Laws(tools)
        self.commands, self.problems = 0, 0

    def check(self, command, show):
        before = self.laws.state_of_output(command)
        words, _, output, messages, _ = answer_to(self.tools, command)
        self.commands += 1
        if words == show:
            sys.stdout.buffer.write(output + b"\n" + messages)
        for problem in self.laws.problems(command, before, *self.tools.alone):
            self.problems += 1
            print(f"{shlex.join(command)}: {problem}"[:600])


def main():
    if sys.argv[1:] == ["--groups"]:
        print(*GROUPS, sep=";", end="")
        return 0
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("group", choices=GROUPS)
    parser.add_argument("--show", help="print the answer to this command")
    options = parser.parse_args()
    most = int(os.environ.get("STACKPACK_DIFFERENCES", "30"))
    with tempfile.TemporaryDirectory() as work:
        tools = Tools(options.program.resolve(), options.root.resolve(), pathlib.Path(work).resolve())
        checked = Checked(tools)
        for command in GROUPS[options.group](tools):
            checked.check(command, options.show)
            if checked.problems >= most:
                break
    print(f"{checked.commands} commands, {checked.problems} problems")
    return 1 if checked.problems else 0


if __name__ == "__main__":
    sys.exit(main())
