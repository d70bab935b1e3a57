#!/usr/bin/env python3
"""Opens exports of .spk files in the clients they are made for, and compares what these say.

    check_exports.py STACKPACK FILE.spk...        [STACKPACK_CLIENTS=DIR]

The clients: `go tool pprof` and `protoc` from the distribution; from npm, in DIR/node_modules:
speedscope, ajv, @duckdb/node-api, @firefox-devtools/profiler-cli (with node 24). What is not there
is skipped, and said. Exit code 0: every client that ran agreed with `stackpack stats --json`.
"""
import collections
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CLIENTS = pathlib.Path(os.environ.get("STACKPACK_CLIENTS", "."))
problems = 0


def say(name, text):
    print(f"  {name:<28} {text}", flush=True)


def check(name, what, client, expected):
    global problems
    good = client == expected
    problems += not good
    say(name, f"{what} {client}" + (": agrees" if good else f", NOT the {expected} of stackpack"))


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: {done.stderr.strip()[-300:]}")
    return done.stdout


def have_package(name):
    return shutil.which("node") and (CLIENTS / "node_modules" / name).is_dir()


def node_of(package_wants_24):
    own = CLIENTS / "node_modules" / ".bin" / "node"
    return own if package_wants_24 and own.exists() else "node"


class Export:
    """The exports of one file, made on demand."""

    def __init__(self, program, spk, directory):
        self.program, self.spk, self.directory = program, spk, directory
        self.stats = json.loads(run(program, "stats", "--json", spk))
        self.total = self.stats["samples"]["total"]
        # Callstacks that samples have, those made of an instruction pointer included.
        rows = run(program, "dump", "--samples", spk).splitlines()
        column = rows[0].split("\t").index("stack")
        self.callstacks = len({row.split("\t")[column] for row in rows[1:]} - {"-"})
        self.lines = collections.Counter()
        for line in self.text("folded").splitlines():
            stack, count = line.rsplit(" ", 1)
            self.lines[stack] += int(count)
        # The hottest callstack by module+offset; ties by text, so that it is one.
        self.hot, self.hot_count = max(self.lines.items(), key=lambda item: (item[1], item[0]))

    def make(self, kind, *options):
        path = self.directory / ("-".join([kind, *options]).replace("--", ""))
        run(self.program, "export", self.spk, "--to", kind, "-o", path, *options)
        return path

    def text(self, kind, *options):
        return self.make(kind, *options).read_text()


def check_folded(export):
    check("folded (awk's sum)", "samples", sum(export.lines.values()), export.total)
    again = export.directory / "again.spk"
    first = export.make("folded")
    source = export.directory / "again.folded"
    shutil.copy(first, source)
    run(export.program, "convert", source, "-o", again)
    second = export.directory / "again.out"
    run(export.program, "export", again, "--to", "folded", "-o", second)
    same = sorted(first.read_text().splitlines()) == sorted(second.read_text().splitlines())
    check("folded, imported, exported", "same sorted text:", same, True)


def check_go_pprof(export):
    if not shutil.which("go"):
        return say("go tool pprof", "skipped: no go")
    profile = export.make("pprof")
    raw = run("go", "tool", "pprof", "-raw", profile)
    samples = re.findall(r"^ *(\d+)(?: +\d+)*: ?([\d ]*)$",
                         raw.split("Samples:")[1].split("Locations")[0], re.MULTILINE)
    check("go tool pprof -raw", "samples", sum(int(count) for count, _ in samples), export.total)
    check("go tool pprof -raw", "callstacks", len({stack.strip() for _, stack in samples if stack.strip()}),
          export.callstacks)
    top = run("go", "tool", "pprof", "-top", "-addresses", "-sample_index=samples", "-nodecount=1", profile)
    say("go tool pprof -top", " ".join(top.strip().splitlines()[-1].split()))


def decode(message, schema, path):
    opener = gzip.open if path.read_bytes()[:2] == b"\x1f\x8b" else open
    with opener(path, "rb") as data:
        done = subprocess.run(["protoc", f"--proto_path={HERE}", f"--decode={message}", schema],
                              capture_output=True, input=data.read())
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode()[-300:])
    return done.stdout.decode()


def check_protoc(export):
    if not shutil.which("protoc"):
        return say("protoc --decode", "skipped: no protoc")
    text = decode("pprof.Profile", "profile.proto", export.make("pprof"))
    counts = [int(match) for match in re.findall(r"^sample \{\n(?:  location_id: \d+\n)*  value: (\d+)", text,
                                                 re.MULTILINE)]
    check("protoc, pprof", "samples", sum(counts), export.total)
    check("protoc, pprof", "unknown fields", len(re.findall(r"^ *\d+[:{ ]", text, re.MULTILINE)), 0)
    sizes = []
    for options in ((), ("--otlp-stack-tree",)):
        path = export.make("otlp", *options)
        sizes.append(path.stat().st_size)
        text = decode("otlp.ProfilesData", "otlp_profiles.proto", path)
        name = "protoc, otlp" + (", stack tree" if options else "")
        check(name, "times", text.count("timestamps_unix_nano: "), export.total)
        check(name, "unknown fields", len(re.findall(r"^ *\d+[:{ ]", text, re.MULTILINE)), 0)
    say("otlp", f"{sizes[0]} bytes, {sizes[1]} as a stack tree")


def check_speedscope(export):
    if not (have_package("speedscope") and have_package("ajv")):
        return say("speedscope schema", "skipped: no npm packages speedscope and ajv")
    for options in (("--aggregate",), ()):
        path = export.make("speedscope", *options)
        told = json.loads(run("node", HERE / "speedscope_schema_check.mjs", path))
        if options:
            check("speedscope, aggregated", "valid; weight", told["weight"], export.total)
        else:
            file = json.loads(path.read_text())
            named = [frame["name"] for frame in file["shared"]["frames"]]
            stacks = collections.Counter(
                ";".join(named[i] for i in stack) for profile in file["profiles"] for stack in profile["samples"])
            say("speedscope, timeline", f"valid; {told['profiles']} profiles")
            check("speedscope, timeline", "hottest callstack", stacks[export.hot], export.hot_count)


def check_duckdb(export):
    if not have_package("@duckdb/node-api"):
        return say("DuckDB", "skipped: no npm package @duckdb/node-api")
    tables = export.make("csv")
    told = json.loads(run("node", HERE / "duckdb_check.mjs", tables))
    check("DuckDB", "samples", told["samples"], export.total)
    check("DuckDB", "callstacks", told["stacks"], export.callstacks)
    if export.stats["samples"]["ip_only"] == 0:
        check("DuckDB, recursive", "deepest callstack", told["deepest"], export.stats["callstacks"]["max_depth"])
        check("DuckDB, recursive", "frames", told["frames_of_samples"],
              export.stats["callstacks"]["raw_frames"])
    leaf, count = told["hottest"]["frame"], told["hottest"]["samples"]
    say("DuckDB", f"hottest leaf {leaf} {count}, in {told['module']['path']}")


def check_firefox(export):
    if not have_package("@firefox-devtools/profiler-cli"):
        return say("profiler-cli", "skipped: no npm package @firefox-devtools/profiler-cli")
    path = export.make("firefox")
    profile = export.directory / "profile.json.gz"
    shutil.copy(path, profile)
    client = [str(node_of(True)), str(CLIENTS / "node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js")]
    environment = dict(os.environ, HOME=str(export.directory))
    session = ["--session", "check"]
    run(*client, "load", profile, *session, env=environment)
    try:
        info = json.loads(run(*client, "profile", "info", "--all", "--json", *session, env=environment))
        threads = sum(len(process["threads"]) for process in info["processes"])
        check("profiler-cli", "threads", threads, len(json.loads(gzip.open(path).read())["threads"]))
        hot = run(*client, "thread", "samples", "--limit", "1", *session, env=environment)
        function = re.search(r"f-\d+\. (.*)", hot)
        say("profiler-cli", function[1].strip() if function else "no function")
    finally:
        run(*client, "stop", "check", env=environment)


def main():
    program, files = sys.argv[1], sys.argv[2:]
    for spk in files:
        with tempfile.TemporaryDirectory() as directory:
            export = Export(program, spk, pathlib.Path(directory))
            print(f"{spk}: {export.total} samples, hottest callstack {export.hot_count} x ...{export.hot[-60:]}")
            for one in (check_folded, check_go_pprof, check_protoc, check_speedscope, check_duckdb, check_firefox):
                try:
                    one(export)
                except (RuntimeError, OSError, KeyError, ValueError) as error:
                    global problems
                    problems += 1
                    say(one.__name__, f"FAILED: {type(error).__name__}: {error}")
    print("all agree" if problems == 0 else f"{problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
