#!/usr/bin/env python3
"""What commands write with --json is as docs/schemas describes it, and has no key that is not described.

    schemas_test.py PROGRAM SOURCE_DIR
"""
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
KINDS = {"object": lambda v: isinstance(v, dict), "array": lambda v: isinstance(v, list), "string": lambda v: isinstance(v, str),
         "null": lambda v: v is None, "boolean": lambda v: isinstance(v, bool), "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
         "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool)}


def validate(value, schema, root, path="$"):
    """The part of JSON Schema that the schemas use; besides, a key without description is a problem."""
    if "$ref" in schema:
        return validate(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, path)
    if "anyOf" in schema:
        tried = [validate(value, one, root, path) for one in schema["anyOf"]]
        return min(tried, key=len)
    if "enum" in schema:
        return [] if value in schema["enum"] else [f"{path}: {value!r} is none of {schema['enum']}"]
    if not KINDS[schema["type"]](value):
        return [f"{path}: {value!r} is not of type {schema['type']}"]
    if value_is_small(value, schema):
        return [f"{path}: {value} is too small"]
    if isinstance(value, list):
        return [problem for i, part in enumerate(value) for problem in validate(part, schema["items"], root, f"{path}[{i}]")]
    if not isinstance(value, dict):
        return []
    problems = [f"{path}: no {name}" for name in schema.get("required", []) if name not in value]
    for name, part in value.items():
        known = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
        problems += [f"{path}: {name} is not described"] if known is None else validate(part, known, root, f"{path}.{name}")
    return problems


def value_is_small(value, schema):
    return "minimum" in schema and value < schema["minimum"]


def use_whole_validator(value, schema):
    """python3-jsonschema, where it is installed, says the same."""
    try:
        import jsonschema  # pylint: disable=import-outside-toplevel
    except ImportError:
        return
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(value, schema)


def definition(schema, name):
    return {"type": "array", "items": {"$ref": f"#/$defs/{name}"}, "$defs": schema["$defs"]}


def check_all(folder):
    """Every command on captures of several kinds; the number of outputs."""
    words, events = SOURCE / "testdata/named/words.perf.data", SOURCE / "testdata/events.perf.data"
    kit = ["--symbols", SOURCE / "testdata/named/words.zip"]
    checked = []

    def check(name, *command, kind=None):
        text = subprocess.run([PROGRAM, *map(str, command)], check=False, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        value, schema = json.loads(text), json.loads((SOURCE / f"docs/schemas/{name}.schema.json").read_text())
        use_whole_validator(value, schema)
        schema = definition(schema, kind) if kind else schema
        problems = validate(value, schema, schema)
        assert not problems, (command, problems[:5])
        checked.append(name)
        return value

    check("convert", "convert", "--json", "-q", "-s", words, *kit, "-o", "words.spk")
    check("convert", "convert", "--json", "-q", events, SOURCE / "testdata/sampled.x64.etl", SOURCE / "README.md", "--out-dir", "out")
    check("convert", "convert", "--json", "-q", SOURCE / "testdata/small.nettrace", "-o", "net.spk")
    etl, perf = "out/sampled.x64.etl.spk", "out/events.perf.data.spk"
    check("merge", "merge", "--json", "words.spk", etl, perf, "-o", "all.spk")
    check("symbolize", "symbolize", "--json", "words.spk", *kit, "-o", "named.spk")
    check("collect", "collect", "--json", "words.spk", *kit, "-o", "kit.zip")
    subprocess.run([sys.executable, "-B", SOURCE / "tests/cli/make_capture.py", folder + "/memory.perf.data", "20", "--memory"], check=True)
    check("mem", "mem", "--json", "memory.perf.data")
    check("mem", "mem", "--json", words)
    assert check("mem", "mem", "--json", "--by", "symbol", "memory.perf.data")["symbols"]
    check("convert", "convert", "--json", "-q", "memory.perf.data", "-o", "memory.spk")
    assert check("dump", "dump", "--sample-fields", "--json", "memory.spk", kind="sample-fields")
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
            assert rows or kind in ("names", "functions", "sources", "losses", "sample-fields"), (file, kind)
    verdicts = check("verify", "verify", "--json", perf, SOURCE / "README.md", etl)
    assert [verdict["ok"] for verdict in verdicts] == [True, False, True] and verdicts[0]["samples"] == 72, verdicts
    subprocess.run([sys.executable, SOURCE / "tests/cli/make_capture.py", "waits.perf.data", "12", "--switches"], check=True, cwd=folder)
    for options in ([], ["--list"], ["--path", "100"], ["--path", "101", "--list"]):
        assert check("waits", "waits", "waits.perf.data", "--json", *options), options
    return checked


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
    assert schemas == set(checked) | asked_elsewhere, schemas ^ set(checked)
    print(f"{len(checked)} outputs, {len(schemas)} schemas")


if __name__ == "__main__":
    main()
