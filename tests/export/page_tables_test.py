#!/usr/bin/env python3
"""page_tables_test.py STACKPACK SOURCE_DIR: the tables of events that a page has are those of gc, exceptions and io.

Captures with input and output are looked for in $STACKPACK_CORPUS, or else in ../shared/corpus beside the source.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import read_page  # noqa: E402

PROGRAM, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
TESTDATA = SOURCE / "testdata"
CORPUS = pathlib.Path(os.environ.get("STACKPACK_CORPUS") or SOURCE.parent / "shared" / "corpus")
UNITS = {"", "count", "bytes", "ns"}


def tables_of(capture, folder):
    page = folder / "page.html"
    subprocess.run([PROGRAM, "export", capture, "--format", "html", "-o", page, "--force", "--quiet"], check=True)
    tables = read_page.Page(page).head["tables"]
    for title, _, columns, rows in tables:
        assert rows, title
        assert {unit for _, unit in columns} <= UNITS, columns
        for row in rows:
            assert len(row) == len(columns), (title, row)
            for cell, (_, unit) in zip(row, columns):
                assert cell is None or isinstance(cell, str) and (unit == "" or cell == str(int(cell))), (title, row)
    assert len({title for title, *_ in tables}) == len(tables)
    return {title: ([name for name, _ in columns], rows, note) for title, note, columns, rows in tables}


def answer(command, capture):
    return json.loads(subprocess.run([PROGRAM, command, capture, "--json", "--limit", "0"], check=True, stdout=subprocess.PIPE).stdout)


def sums(rows, *keys):
    return [[str(row[key]) for key in keys] + [row["name"]] for row in rows]


def check_dotnet(folder):
    capture = TESTDATA / "small.nettrace"
    tables, gc = tables_of(capture, folder), answer("gc", capture)
    columns, rows, _ = tables["Garbage collection"]
    assert columns == ["Paused", "Longest", "Pauses", "Collections", "Allocated", "Largest heap", "Process"]
    assert rows == [[str(process["pause_ns"]), str(process["longest_pause_ns"]), str(process["pauses"]),
                     str(len(process["collections"])), str(process["allocated_bytes"]), str(process["largest_heap_bytes"]),
                     process["process"]] for process in gc["processes"]]
    _, rows, _ = tables["Collections"]
    expected = [[str(one["pause_ns"]), str(one["number"]), None if one["generation"] is None else str(one["generation"])]
                for process in gc["processes"] for one in process["collections"]]
    assert [row[:3] for row in rows] == expected and len(expected) > 1
    assert tables["Allocations by type"][:2] == (["Allocated", "Samples", "Type"], sums(gc["allocations_by_type"], "bytes", "count"))
    assert tables["Allocations by function"][1] == sums(gc["allocations_by_function"], "bytes", "count")
    thrown = answer("exceptions", capture)["exceptions"]
    assert thrown
    assert tables["Exceptions"][1] == [[str(row["count"]), row["type"], row["message"], row["function"]] for row in thrown]
    print(f"small.nettrace: {len(tables)} tables")


def check_io(folder):
    captures, found = sorted(CORPUS.glob("etl/net.4.5*.etl")), 0
    for capture in captures:
        tables, io = tables_of(capture, folder), answer("io", capture)
        for title, key in (("Input and output", "operations"), ("Input and output by file", "files"),
                           ("Input and output by function", "functions"), ("Input and output by process", "processes")):
            expected = sums(io[key], "bytes", "latency_ns", "longest_ns", "count")
            _, rows, note = tables.get(title, ([], [], ""))
            assert rows == expected[:200], (capture, title)
            assert (note != "") == (len(expected) > 200)
            found += len(rows)
    assert found or not captures
    print(f"rows of input and output: {found} of {len(captures)} captures")


def check_plain(folder):
    assert tables_of(TESTDATA / "tiny.perf.data", folder) == {}


with tempfile.TemporaryDirectory() as scratch:
    check_dotnet(pathlib.Path(scratch))
    check_io(pathlib.Path(scratch))
    check_plain(pathlib.Path(scratch))
