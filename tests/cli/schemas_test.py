#!/usr/bin/env python3
"""What commands write with --json is as docs/schemas describes it, and has no key that is not described.

    schemas_test.py PROGRAM SOURCE_DIR
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from json_schema import definition, validate  # noqa: E402  pylint: disable=wrong-import-position

PROGRAM, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
RARE = ("names", "functions", "sources", "losses", "sample-fields", "branch-stacks", "intervals", "branches", "ranges", "event-values")


def use_whole_validator(value, schema):
    """python3-jsonschema, where it is installed, says the same."""
    try:
        import jsonschema  # pylint: disable=import-outside-toplevel
    except ImportError:
        return
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(value, schema)


def check_all(folder):
    """Every command on captures of several kinds; the number of outputs."""
    words, events = SOURCE / "testdata/named/words.perf.data", SOURCE / "testdata/events.perf.data"
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    bundle = ["--symbols", SOURCE / "testdata/named/words.zip"]
    checked, asked, deeper = [], set(), set()

    def check(name, *command, kind=None):
        asked.add(command[0])
        text = subprocess.run([PROGRAM, *map(str, command)], check=False, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment).stdout
        value, schema = json.loads(text), json.loads((SOURCE / f"docs/schemas/{name}.schema.json").read_text())
        use_whole_validator(value, schema)
        schema = definition(schema, kind) if kind else schema
        problems = validate(value, schema, schema)
        assert not problems, (command, problems[:5])
        checked.append(name)
        has_next = isinstance(value, dict) or name in ("verify", "convert", "stats")
        for one in value if isinstance(value, list) else [value]:
            bad = one.get("ok") is False or one.get("result") == "failed"
            assert not has_next or "next" in one or bad or one.get("file") == "total" or "filtered" in one, command
            deeper.update(one.get("next", []))
        return value

    check("convert", "convert", "--json", "-q", "-s", words, *bundle, "-o", "words.spk")
    check("convert", "convert", "--json", "-q", events, SOURCE / "testdata/sampled.x64.etl", SOURCE / "README.md", "--out-dir", "out")
    check("convert", "convert", "--json", "-q", SOURCE / "testdata/small.nettrace", "-o", "net.spk")
    etl, perf = "out/sampled.x64.etl.spk", "out/events.perf.data.spk"
    check("merge", "merge", "--json", "words.spk", etl, perf, "-o", "all.spk")
    check("symbolize", "symbolize", "--json", "words.spk", *bundle, "-o", "named.spk")
    check("collect", "collect", "--json", "words.spk", *bundle, "-o", "bundle.zip")
    subprocess.run([sys.executable, "-B", SOURCE / "tests/cli/make_capture.py", folder + "/memory.perf.data", "20", "--memory"], check=True)
    check("mem", "mem", "--json", "memory.perf.data")
    check("mem", "mem", "--json", words)
    assert check("mem", "mem", "--json", "--by", "symbol", "memory.perf.data")["symbols"]
    check("convert", "convert", "--json", "-q", "memory.perf.data", "-o", "memory.spk")
    assert check("dump", "dump", "--sample-fields", "--json", "memory.spk", kind="sample-fields")
    subprocess.run([sys.executable, "-B", SOURCE / "tests/cli/make_capture.py", folder + "/taken.perf.data", "20", "--branches"], check=True)
    check("convert", "convert", "--json", "-q", "--keep-branches", "taken.perf.data", "-o", "taken.spk")
    assert check("dump", "dump", "--branch-stacks", "--json", "taken.spk", kind="branch-stacks")[0]["branches"]
    check_ids(check)
    # Names that a shell would take apart.
    for number, name in enumerate(("it's", 'a "b" $HOME `c`', "-n", "x\\y", "f(int, *)", "id:0123456789abcdef")):
        odd = pathlib.Path(folder) / f"odd '{number}'.folded"
        odd.write_text(f"main;{name} 5\nmain 1\n")
        assert check("report", "top", "--json", odd.name)["rows"][0]["self"] == 5, name
    files = ["words.spk", etl, perf, "net.spk", "all.spk"]
    check("stats", "stats", "--json", "--by-process", *files)
    check("stats", "stats", "--json", "words.spk", "--comm", "words")
    for file in files:
        check("stats", "stats", "--json", file)
        check("report", "top", "--json", file)
        check("report", "top", "--json", "--tree", "-n", 5, file)
        check("report", "top", "--json", "--by", "line", "-n", 3, file)
        check("report", "top", "--json", "--by", "callstack", "--all-events", file)
        check("report", "callers", "--json", file, "*")
        check("report", "callees", "--json", file, "*", "--function-names", "short")
        check("show", "show", "--json", file, 0, 1)
        check("show", "show", "--json", file, 2, "--limit", 1)
        for kind in json.loads((SOURCE / "docs/schemas/dump.schema.json").read_text())["$defs"]:
            rows = check("dump", "dump", f"--{kind}", "--json", file, kind=kind)
            assert rows or kind in RARE, (file, kind)
    verdicts = check("verify", "verify", "--json", perf, SOURCE / "README.md", etl)
    assert [verdict["ok"] for verdict in verdicts] == [True, False, True] and verdicts[0]["samples"] == 72, verdicts
    subprocess.run([sys.executable, SOURCE / "tests/cli/make_capture.py", "waits.perf.data", "12", "--switches"], check=True, cwd=folder)
    for options in ([], ["--list"], ["--path", "100"], ["--path", "101", "--list"]):
        assert check("waits", "waits", "waits.perf.data", "--json", *options), options
    for options in (["--limit", "1"], ["--path", "100", "--limit", "1"]):
        assert check("waits", "waits", "waits.perf.data", "--json", *options)["rows_left_out"], options
    for command in ("gc", "exceptions", "io", "jit", "locks"):
        for file in ("net.spk", etl):
            check(command, command, "--json", file)
    for file in files:
        info = check("info", "info", "--json", file)
        assert info["answers"] and {row["name"] for row in info["events"]}, file
    assert check("locks", "locks", "--json", "net.spk", "--by", "callstack")["rows"]
    assert check("locks", "locks", "--json", "net.spk", "--all", "--list")
    check("branches", "branches", "--json", SOURCE / "testdata/branches/loop.perf.data.gz")
    check("annotate", "top", "--json", "--annotate", "checksum", "words.spk")
    check("annotate", "annotate", "--json", "words.spk", "checksum")
    check("cut", "cut", "--json", "words.spk", "--to", "+1s", "-o", "part.spk")
    check("redact", "redact", "--json", "words.spk", "-o", "redacted.spk")
    check("export", "export", "--json", "words.spk", "--format", "perfetto", "-o", "words.perfetto")
    check("export", "export", "--json", "words.spk", "part.spk", "--format", "html", "-o", "words.html")
    check("export", "export", "--json", SOURCE / "testdata/branches/loop.perf.data.gz", "--format", "autofdo", "--binary", SOURCE / "testdata/branches/loop", "-o", "loop.autofdo")
    page = check("view", "view", "--json", "words.spk")["page"]
    pathlib.Path(page).unlink()
    for number, file in enumerate(("words.spk", "part.spk")):
        check("baseline", "baseline", "--json", "add", "base", file, "--commit", f"commit{number}")
    check("baseline", "baseline", "--json", "show", "base")
    check("trend", "trend", "--json", "base", "--limit", 1)
    check("../diff", "diff", "--json", "words.spk", "--against", "part.spk", "--accept-single-run")
    check_commands_that_go_deeper(folder, deeper)
    check("baseline", "baseline", "--json", "prune", "base", "--keep", 1)
    check_limits(folder)
    check_enumeration(asked)
    return checked


def check_commands_that_go_deeper(folder, deeper):
    """Each can be run as it stands."""
    assert len(deeper) > 40, deeper
    for command in sorted(deeper):
        done = subprocess.run(f"{PROGRAM} {command}", shell=True, check=False, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 0, (command, done.stderr)


def check_limits(folder):
    """--limit shows the first rows, of text and of JSON; -n and --rows are the same."""

    def rows(*words):
        text = subprocess.run([PROGRAM, *words], check=True, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
        return json.loads(text) if "--json" in words else [line for line in text.splitlines() if not line.startswith("#")]

    for listing in ("stacks", "samples", "processes", "threads", "modules", "events", "metadata", "names", "functions"):
        for form in ([], ["--json"]):
            everything = rows("dump", f"--{listing}", "words.spk", *form)
            for limit in (1, 3, len(everything), len(everything) + 1):
                shown = rows("dump", f"--{listing}", "words.spk", f"--limit={limit}", *form)
                assert shown == everything[:limit], (listing, form, limit)
    for form in ([], ["--json"]):
        assert rows("waits", "waits.perf.data", "--list", "--limit=2", *form) == rows("waits", "waits.perf.data", "--list", *form)[:2]
    for option in ("--limit=2", "--rows=2", "-n2"):
        top = rows("top", "words.spk", "--json", option)
        assert len(top["rows"]) == 2 and top == rows("top", "words.spk", "--json", "--limit", "2"), option
    for command in ("top", "callers", "callees", "dump", "show", "branches", "waits", "query", "mem", "gc", "exceptions", "io", "jit", "locks", "info", "diff", "trend"):
        assert any("--limit" in line for line in rows("help", command)), command


def check_ids(check):
    """What an id stands for is what the name stands for, also in another file."""
    top = check("report", "top", "--json", "words.spk")
    by_id = {row["id"]: row for row in top["rows"]}
    assert len(by_id) == len(top["rows"])
    row = next(row for row in top["rows"] if not row["name"].startswith("["))
    named, meant = (check("report", "callers", "--json", "words.spk", word) for word in (row["name"], f"id:{row['id']}"))
    assert named["rows"] == meant["rows"] and meant["function"]["id"] == row["id"], (named, meant)
    assert {row["id"] for row in check("report", "top", "--json", "named.spk")["rows"]} & set(by_id)
    short = check("report", "top", "--json", "words.spk", "--function-names=short")
    assert [row["id"] for row in short["rows"]] == [row["id"] for row in top["rows"]]
    stacks = check("report", "top", "--json", "words.spk", "--by", "callstack", "-n", "0")["rows"]
    assert len({row["id"] for row in stacks}) == len(stacks) and all(len(row["id"]) == 16 for row in stacks)
    everything = {row["id"]: row["name"] for row in check("report", "top", "--json", "words.spk", "-n", "0")["rows"]}
    shown = check("show", "show", "--json", "words.spk", stacks[0]["stack"])[0]["frames"]
    named_frames = [frame for frame in shown if "function_id" in frame]
    assert named_frames, stacks[0]
    for frame in named_frames:
        assert everything[frame["function_id"]] == frame["function"], (frame, stacks[0])


def check_enumeration(asked):
    """Every command answers in JSON, and every one was asked."""
    listed = re.findall(r"^  ([a-z]+) ", subprocess.run([PROGRAM, "--help"], check=True, capture_output=True, text=True).stdout, re.MULTILINE)
    listed = [name for name in listed if name != "stackpack"]
    assert len(listed) > 20, listed
    helps = {name: subprocess.run([PROGRAM, name, "--help"], check=True, capture_output=True, text=True).stdout for name in listed}
    answering = {name for name, text in helps.items() if re.search(r"^ +--json\b", text, re.MULTILINE)}
    assert set(listed) - answering == {"help", "mcp"}, set(listed) - answering
    elsewhere = {"query"}  # interop.query: it needs DuckDB
    assert answering == asked | elsewhere, answering ^ (asked | elsewhere)


def check_the_check():
    """The validator finds what is wrong."""
    schema = json.loads((SOURCE / "docs/schemas/report.schema.json").read_text())
    good = {"samples": 1, "weight": 1, "unit": "ns", "events": [], "events_left_out": [], "idle": {"samples": 0, "share": 0.5}, "rows": [],
            "rows_left_out": 0, "next": []}
    assert validate(good, schema, schema) == []
    for key, value in (("samples", -1), ("samples", True), ("unit", 3), ("rows", [{"name": "f"}]), ("new", 1), ("idle", {})):
        assert validate({**good, key: value}, schema, schema), key
    assert validate({key: value for key, value in good.items() if key != "next"}, schema, schema)


def main():
    check_the_check()
    with tempfile.TemporaryDirectory() as folder:
        checked = check_all(folder)
    schemas = {path.name.removesuffix(".schema.json") for path in (SOURCE / "docs/schemas").iterdir()}
    asked_elsewhere = {"query"}  # interop.query: it needs DuckDB
    assert schemas == (set(checked) - {"../diff"}) | asked_elsewhere, schemas ^ set(checked)
    print(f"{len(checked)} outputs, {len(schemas)} schemas")


if __name__ == "__main__":
    main()
