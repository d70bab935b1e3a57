"""Parquet tables, and the queries of docs/fleet.md over them."""
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import stackpack

pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")
parquet = pytest.importorskip("stackpack.parquet")

DOCUMENT = pathlib.Path(__file__).parents[2] / "docs" / "fleet.md"


def query(title):
    """The SQL below a title of docs/fleet.md."""
    text = DOCUMENT.read_text().split(f"### {title}\n", 1)[1]
    lines = re.search(r"\n((?:    .*\n|\n)+)", text).group(1).splitlines()
    return "\n".join(line[4:] for line in lines)


def run(*arguments, status=0):
    done = subprocess.run([sys.executable, "-m", "stackpack.parquet", *map(str, arguments)], capture_output=True,
                          text=True, check=False)
    assert done.returncode == status, done.stderr
    return done


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    """Three builds of one program, two captures each; `parse` grows in the second one."""
    folder = tmp_path_factory.mktemp("fleet")
    files = []
    for build, parse in (("1.0", 100), ("1.1", 200), ("1.2", 210)):
        for host in range(2):
            text = folder / f"{build}-{host}.folded"
            text.write_text(f"main;parse {parse + host}\nmain;parse;scan 50\nmain;write {850 - parse + host}\n")
            files.append(folder / f"{build}-{host}.spk")
            stackpack.convert(text, files[-1])
            assert parquet.write_capture(files[-1], folder / "lake", label=build).error is None
    return folder, files


def ask(folder, title):
    return duckdb.sql(query(title).replace("'lake/", f"'{folder}/lake/")).fetchall()


def top_of(files):
    sums = {}
    for path in files:
        with stackpack.open(path) as file:
            for row in file.top().to_arrow().to_pylist():
                sums[row["name"]] = sums.get(row["name"], 0) + row["total"]
    return sums


def test_hottest_functions_are_those_of_top(fleet):
    folder, files = fleet
    rows = ask(folder, "The hottest functions of the fleet")
    assert {row[0]: row[3] for row in rows} == top_of(files)
    assert rows[0][0] == "write"
    assert sum(row[4] for row in rows) == pytest.approx(1)


def test_share_by_version_by_day_and_first_growth(fleet):
    folder, files = fleet
    # Folded text has no date: that of the file is taken.
    today = datetime.datetime.fromtimestamp(files[0].stat().st_mtime, datetime.timezone.utc).date()
    # (parse + scan) of both hosts, of 900 + 902 samples.
    expected = [("1.0", 301 / 1802), ("1.1", 501 / 1802), ("1.2", 521 / 1802)]
    assert ask(folder, "A function's share by version") == [(label, pytest.approx(share)) for label, share in expected]
    assert ask(folder, "A function's share by day") == [(today, pytest.approx((301 + 501 + 521) / (3 * 1802)))]
    assert ask(folder, "The first version in which it grew") == [("parse", "1.1")]


def test_samples_are_there_once_however_often_it_runs(fleet):
    folder, files = fleet
    again = run(*files, "-o", folder / "lake", "--json")
    assert all(json.loads(line)["skipped"] for line in again.stdout.splitlines())
    lake = folder / "lake"
    rows = duckdb.sql(f"SELECT count(*) FROM '{lake}/samples/**/*.parquet'").fetchall()
    assert duckdb.sql(f"SELECT count(*), sum(samples) FROM '{lake}/captures/**/*.parquet'").fetchall() == [
        (len(files), rows[0][0])]


def test_a_run_that_was_killed_is_completed(tmp_path, spk):
    done = parquet.write_capture(spk, tmp_path / "lake")
    table, = (tmp_path / "lake" / "captures").rglob("*.parquet")
    frames, = (tmp_path / "lake" / "frames").rglob("*.parquet")
    before = frames.read_bytes()
    table.unlink()  # as if it had been killed before the last step
    frames.write_bytes(b"half")
    again = parquet.write_capture(spk, tmp_path / "lake")
    assert again.capture == done.capture and not again.skipped
    assert frames.read_bytes() == before
    assert parquet.write_capture(spk, tmp_path / "lake").skipped


def _rows(lake):
    """(captures, samples that they say they have, samples that there are) and the names of frames."""
    said = duckdb.sql(f"SELECT count(*), sum(samples) FROM '{lake}/captures/**/*.parquet'").fetchall()[0]
    samples = duckdb.sql(f"SELECT count(*) FROM '{lake}/samples/**/*.parquet'").fetchall()[0][0]
    frames = duckdb.sql(f"SELECT DISTINCT name FROM '{lake}/frames/**/*.parquet'").fetchall()
    return (*said, samples), {name for name, in frames}


def test_a_capture_that_is_packed_or_named_anew_takes_the_place_of_its_rows(tmp_path, captures):
    lake, packed, capture = tmp_path / "lake", tmp_path / "packed.spk", captures / "file.perf.data"
    (tmp_path / "map").mkdir()
    seen = set()
    ways = [dict(), dict(level=1), dict(redact=True), dict(time_resolution_ns=1000), dict(samples=False), dict(level=3)]
    for number, options in enumerate(ways):
        stackpack.convert(capture, packed, **options)
        done = parquet.write_capture(packed, lake)
        assert done.error is None and done.replaced == (number > 0) and not done.skipped
        seen.add(done.capture)
    before, names = _rows(lake)
    assert len(seen) == 1 and before == (1, before[2], before[2])
    program = os.environ.get("STACKPACK_PROGRAM")
    if program:
        subprocess.run([program, "symbolize", packed, "-o", tmp_path / "named.spk", "--sysroot", "/", "-q"], check=True)
        done = parquet.write_capture(tmp_path / "named.spk", lake)
        assert done.capture in seen and _rows(lake)[0] == before
    assert parquet.write_capture(capture, lake).capture in seen  # packed on the way
    stackpack.merge([packed], tmp_path / "merged.spk")
    assert parquet.write_capture(tmp_path / "merged.spk", lake).capture in seen
    assert _rows(lake)[0] == before
    assert parquet.write_capture(tmp_path / "merged.spk", lake).skipped
    other = parquet.write_capture(captures / "threads.perf.data", lake)
    assert other.capture not in seen and not other.replaced
    assert _rows(lake)[0][0] == 2


def test_bad_inputs_are_named_and_the_others_written(tmp_path, captures):
    bad = tmp_path / "bad.spk"
    bad.write_bytes(b"nothing")
    done = run(bad, captures / "file.perf.data", "-o", tmp_path / "lake", "--json", status=2)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines[0]["error"]["text"] and lines[0]["capture"] is None
    assert lines[1]["error"] is None
    assert str(bad) in done.stderr
    run(bad, "-o", tmp_path / "lake", "--tables", "nothing", status=1)
    (tmp_path / "captures").mkdir()
    shutil.copy(captures / "file.perf.data", tmp_path / "captures")
    done = run(captures / "file.perf.data", tmp_path / "captures", "-o", tmp_path / "none", status=1)
    assert "no .spk file is below this folder" in done.stderr and not (tmp_path / "none").exists()


def test_dates_hosts_and_types(tmp_path, captures):
    run(captures / "file.perf.data", "-o", tmp_path / "lake")
    schema = {name: kind for name, kind, *_ in
              duckdb.sql(f"DESCRIBE SELECT * FROM '{tmp_path}/lake/samples/**/*.parquet'").fetchall()}
    assert schema["time_ns"] == "BIGINT" and schema["callstack"] == "BIGINT"
    assert schema["event"] == "VARCHAR" and schema["host"] == "VARCHAR"
    assert "date" in schema and "time" in schema
    (tmp_path / "lake" / "_stackpack_schema").write_text("99\n")
    run(captures / "file.perf.data", "-o", tmp_path / "lake", status=1)
