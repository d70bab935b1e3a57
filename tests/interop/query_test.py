#!/usr/bin/env python3
"""`stackpack query` with DuckDB's library: its sums are those of the other commands. query_test.py PROGRAM CACHE SOURCE"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clients  # noqa: E402
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from schemas_test import validate  # noqa: E402

PROGRAM, CACHE, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
WITHOUT = {key: value for key, value in os.environ.items() if key != "STACKPACK_DUCKDB"}


def run(*arguments, library=None, status=0):
    words = [PROGRAM, *map(str, arguments), *(["--duckdb", str(library)] if library else [])]
    done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", check=False, env=WITHOUT)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done.stdout if status == 0 else done.stderr


def check_missing(file):
    said = run("query", file, "SELECT 1", library="/nowhere/libduckdb.so", status=1)
    assert said.count("\n") == 1 and "/nowhere/libduckdb.so" in said and "--duckdb" in said, said


def check_answers(file, library):
    schema = json.loads((SOURCE / "docs/schemas/query.schema.json").read_text())

    def ask(sql, *options):
        answer = json.loads(run("query", file, sql, "--json", *options, library=library))
        assert validate(answer, schema, schema) == [], answer
        return answer

    # What SHOW TABLES lists can be asked, and a name that is no table leads to that list.
    listed = [row[0] for row in ask("SHOW  tables;")["rows"]]
    assert {"samples", "callstacks", "frames", "intervals"} < set(listed), listed
    for table in listed:
        if table != "provider_events":  # of captures
            ask(f"SELECT * FROM {table}", "--limit", "1")
    said = run("query", file, "SELECT * FROM nosuch", library=library, status=1)
    assert said.count("\n") == 1 and "nosuch" in said and all(table in said for table in listed), said
    events = {event["name"]: event["samples"] for event in json.loads(run("stats", "--json", file))["events"]}
    asked = ask("SELECT event, count(*) FROM samples GROUP BY event;")
    assert dict(asked["rows"]) == {name: count for name, count in events.items() if count}, (asked, events)
    top = json.loads(run("top", file, "--json", "--by", "thread", "--count", "samples", "--all-events"))
    by_thread = ask("SELECT tid, count(*) AS n FROM Samples GROUP BY tid ORDER BY n DESC -- it's \"$x\"", "--limit", 1)
    deeper = [subprocess.run(f"{PROGRAM} {command} --duckdb {library}", shell=True, check=True, capture_output=True).stdout for command in by_thread["next"]]
    assert len(deeper) == 2 + by_thread["rows_left_out"] and b"time_ns" in deeper[-2] and b"frame" in deeper[-1], (by_thread, deeper)
    assert by_thread["rows"][0][1] == top["rows"][0]["self"] and by_thread["rows_left_out"] == (len(top["rows"]) > 1), (by_thread, top)
    # A table may be read several times.
    twice = ask("SELECT (SELECT count(*) FROM samples) - (SELECT count(*) FROM samples), NULL, 1 < 2, 0.5, 'a\tb'")
    assert twice["rows"] == [[0, None, True, 0.5, "a\tb"]], twice
    text = run("query", file, "SELECT 'a\tb' AS x, NULL AS y UNION ALL SELECT 'c', 1", "--limit", "1", library=library)
    assert text == "#x\ty\na\\tb\t-\n... more rows; --limit N\n", text
    for sql in ("SELECT * FROM read_csv('/etc/passwd')", "COPY (SELECT 1) TO 'x.csv'", "INSTALL httpfs", "SELEC 1", "SELECT * FROM nothing"):
        said = run("query", file, sql, library=library, status=1)
        assert said.startswith("stackpack: query: ") and said.count("\n") == 1, said
    bad = file.parent / "bad.spk"
    bad.write_bytes(file.read_bytes()[:-40])
    run("query", bad, "SELECT 1", library=library, status=2)


def check_provider_events(name, library):
    """The table has a row for each value that `dump --events-of` lists."""
    capture = SOURCE / "testdata" / name
    expected = []
    for number, event in enumerate(json.loads(run("dump", capture, "--events-of", "*", "--json"))):
        for field, value in event["fields"].items() or [(None, None)]:
            for position, one in enumerate(value or [None]) if isinstance(value, list) else [(None, value)]:
                expected.append([number, event["time"], event.get("pid"), event.get("tid"), event["event"], field, position, one])
    rows = json.loads(run("query", capture, "SELECT event, time_ns, pid, tid, name, field, position, type, text FROM provider_events", "--json",
                          "--limit", 0, library=library))["rows"]
    values = {"unsigned": int, "signed": int, "hex": lambda text: int(text, 16), "real": float, "bool": lambda text: text == "true",
              "text": str, None: lambda text: text}
    found = [[*row[:7], values[row[7]](row[8])] for row in rows]
    assert len(expected) > 0 and found == expected, (name, len(found), len(expected), [pair for pair in zip(found, expected) if pair[0] != pair[1]][:3])
    provider = expected[0][4].split("/")[0]
    asked = run("query", capture, "SELECT DISTINCT provider FROM provider_events", "--events-of", provider, library=library)
    assert asked == f"#provider\n{provider}\n", asked


def main():
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "events.spk"
        run("convert", "-q", SOURCE / "testdata/events.perf.data", "-o", file)
        check_missing(file)
        try:
            library = clients.duckdb_library(CACHE)
        except clients.Missing as missing:
            print(f"skipped: {missing}")
            return 1 if os.environ.get("STACKPACK_REQUIRE_CLIENTS") == "1" else 77
        check_answers(file, library)
        for name in ("small.nettrace", "small.v6.nettrace", "sampled.x64.etl"):
            check_provider_events(name, library)
        said = run("query", file, "SELECT * FROM provider_events", library=library, status=1)
        assert "give the capture" in said, said
    return 0


if __name__ == "__main__":
    sys.exit(main())
