"""Identity, labels, dates, deletion and versions of the tables of a fleet."""
import datetime
import json
import os
import pathlib
import subprocess
import sys

import pytest

import stackpack

pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")
parquet = pytest.importorskip("stackpack.parquet")
import pyarrow.parquet as pq  # noqa: E402  pylint: disable=wrong-import-position
from stackpack import lake as lakes  # noqa: E402  pylint: disable=wrong-import-position
from stackpack._shares import shares  # noqa: E402  pylint: disable=wrong-import-position


def rows(lake, table="captures"):
    start = " REPLACE (CAST(start AS TIMESTAMPTZ)::TIMESTAMP AS start)" if table == "captures" else ""
    found = duckdb.sql(f"SELECT *{start} FROM read_parquet('{lake}/{table}/**/*.parquet', union_by_name = true, hive_types_autocast = false)")
    return [dict(zip(found.columns, row)) for row in found.fetchall()]


def run(module, *arguments, status=0):
    done = subprocess.run([sys.executable, "-m", f"stackpack.{module}", *map(str, arguments)], capture_output=True, text=True,
                          check=False)
    assert done.returncode == status, done.stderr
    return done


@pytest.mark.parametrize("name", [
    "events.perf.data", "file.perf.data", "threads.perf.data", "group.perf.data", "named/words.perf.data", "sampled.x64.etl",
    "small.nettrace", "unwind/dumps.data", "no-chains.perf.data"])
@pytest.mark.parametrize("samples", [True, False])
def test_shares_add_up_to_what_top_shows(tmp_path, captures, name, samples):
    stackpack.convert(captures / name, tmp_path / "a.spk", samples=samples)
    with stackpack.open(tmp_path / "a.spk") as file:
        found = shares(file).to_pylist()
        events = [row["name"] for row in file.events().to_arrow().to_pylist() if row["samples"]]
        tops = {event: file.top(event=event).to_arrow().to_pylist() for event in events}
    assert {row["event"] for row in found} <= set(events) and any(tops.values())
    for event, top in tops.items():
        sums = {}
        for row in found:
            if row["event"] == event and not row["idle"]:
                own, total = sums.get((row["name"], row["image"]), (0, 0))
                sums[row["name"], row["image"]] = (own + row["self"], total + row["total"])
                assert (row["value"], row["unit"]) == (top[0]["value"], top[0]["unit"])
        assert sums == {(row["name"], row["module"]): (row["self"], row["total"]) for row in top}


def test_shares_tell_processes_threads_and_idle_apart(tmp_path, captures):
    # The samples of the second half are of the idle thread of a processor.
    recorded = (captures / "file.perf.data").read_bytes()
    middle, thread = len(recorded) // 2, (6).to_bytes(4, "little") * 2
    (tmp_path / "idle.perf.data").write_bytes(recorded[:middle] + recorded[middle:].replace(thread, bytes(8)))
    stackpack.convert(tmp_path / "idle.perf.data", tmp_path / "a.spk")
    with stackpack.open(tmp_path / "a.spk") as file:
        found, samples = shares(file).to_pylist(), file.samples().to_arrow().to_pylist()
        top = {by: file.top(by).to_arrow().to_pylist() for by in ("process", "thread")}
    by_process = {}
    for row in samples:
        if row["callstack"] is not None:
            key = (row["pid"], bool(row["flags"] & 2), row["event"])
            by_process[key] = by_process.get(key, 0) + 1
    own = {}
    for row in found:
        key = (row["pid"], row["idle"], row["event"])
        own[key] = own.get(key, 0) + row["self_samples"]
    assert own == by_process and {row["idle"] for row in found} == {True, False}
    shown = {}
    for row in found:
        if not row["idle"]:
            name = f"{row['process']} ({row['pid']})"
            shown[name] = shown.get(name, 0) + row["self"]
    assert shown == {row["name"]: row["self"] for row in top["process"]} and len(shown) == 3
    assert {row["thread"] for row in found if not row["idle"]} == {row["name"].split(" (")[0] for row in top["thread"]}


def test_a_function_that_calls_itself_counts_once(named_spk):
    with stackpack.open(named_spk) as file:
        found = {row["name"]: (row["self"], row["total"]) for row in shares(file).to_pylist()}
    assert found == {"main": (0, 55), "parse": (0, 50), "read": (30, 30), "scan": (20, 20), "write": (5, 5), "idle": (45, 45)}


def test_labels_of_path_file_and_caller(tmp_path, captures):
    place = tmp_path / "in" / "shop" / "20261103" / "web-7"
    place.mkdir(parents=True)
    (place / "a.perf.data").write_bytes((captures / "file.perf.data").read_bytes())
    lake = tmp_path / "lake"
    template = "{service}/{date}/{host}/*.perf.data"
    run("parquet", place / "a.perf.data", "-o", lake, "--path", template)
    [row] = rows(lake)
    assert (row["service"], row["date"], row["date_source"], row["host"]) == ("shop", "2026-11-03", "label", "web-7")
    assert row["path"] == str(place / "a.perf.data") and dict(row["labels"]) == {"host": "web-7"} and row["kernel"]
    assert {row["service"] for row in rows(lake, "shares")} == {"shop"}
    # What a file says goes before the path, what the caller says before both; rows move to their day.
    (tmp_path / "labels.csv").write_text("input,host,region,zone\na.perf.data,web-8,north,\nweb-7/a.perf.data,web-9,south,\n"
                                         "other.data,x,y,z\n")
    run("parquet", place / "a.perf.data", "-o", lake, "--path", template, "--labels", tmp_path / "labels.csv",
        "--date", "2026-11-05", "--service", "cart")
    [row] = rows(lake)
    assert (row["service"], row["date"], row["host"]) == ("cart", "2026-11-05", "web-9")
    assert dict(row["labels"]) == {"host": "web-9", "region": "south"}
    # Packed or named anew without labels: they stay.
    stackpack.convert(place / "a.perf.data", tmp_path / "b.spk", level=1)
    assert parquet.write_capture(tmp_path / "b.spk", lake).replaced
    assert parquet.write_capture(tmp_path / "b.spk", lake).skipped
    [again] = rows(lake)
    assert {name: again[name] for name in ("service", "date", "host", "labels", "path", "date_source")} == {
        name: row[name] for name in ("service", "date", "host", "labels", "path", "date_source")}
    assert [path for path in lake.rglob("date=2026-11-03/**/*") if path.is_file()] == []


def test_what_is_wrong_with_labels_is_said(tmp_path, captures):
    (tmp_path / "a.perf.data").write_bytes((captures / "file.perf.data").read_bytes())
    for template, text in (("x/y", "has no {label}"), ("{a}/{a}", "a label twice")):
        done = run("parquet", tmp_path / "a.perf.data", "-o", tmp_path / "lake", "--path", template, status=1)
        assert text in done.stderr
    done = run("parquet", tmp_path / "a.perf.data", "-o", tmp_path / "lake", "--path", "{date}/*.data", status=2)
    assert "is not a date" in done.stderr
    done = run("parquet", tmp_path / "a.perf.data", "-o", tmp_path / "lake", "--path", "{service}/b.data", status=2)
    assert f"{tmp_path / 'a.perf.data'}: the path does not fit the template" in done.stderr
    (tmp_path / "labels.csv").write_text("input,service\na.perf.data\n")
    done = run("parquet", tmp_path / "a.perf.data", "-o", tmp_path / "lake", "--labels", tmp_path / "labels.csv", status=1)
    assert "labels.csv: line 2 has 1 columns, the first one 2" in done.stderr
    done = run("parquet", tmp_path / "a.perf.data", "-o", tmp_path / "lake", "--date", "yesterday", status=1)
    assert "is not a date" in done.stderr


def test_a_capture_without_a_date_has_that_of_its_file(tmp_path, captures):
    capture = tmp_path / "a.perf.data"
    capture.write_bytes((captures / "file.perf.data").read_bytes())
    day = datetime.datetime(2026, 2, 3, 12, tzinfo=datetime.timezone.utc).timestamp()
    os.utime(capture, (day, day))
    lake = tmp_path / "lake"
    parquet.write_capture(capture, lake)
    [row] = rows(lake)
    assert (row["date"], row["date_source"], row["start"]) == ("2026-02-03", "file", None)
    # Another time of the file moves nothing.
    os.utime(capture, (day + 10**7, day + 10**7))
    assert parquet.write_capture(capture, lake).skipped
    # One that knows its date stays there.
    parquet.write_capture(captures / "sampled.x64.etl", lake, labels=parquet.Labels.of({"date": "2019-05-05"}))
    [row] = [row for row in rows(lake) if row["kind"] == "etl"]
    assert row["date_source"] == "capture" and row["date"] == row["start"].strftime("%Y-%m-%d") != "2019-05-05"


def test_functions_are_named_on_the_way(tmp_path, captures):
    lake = tmp_path / "lake"
    capture = captures / "named" / "words.perf.data"
    run("parquet", capture, "-o", lake, "--sysroot", tmp_path)
    assert not any("Trie" in row["name"] for row in rows(lake, "shares"))
    done = run("parquet", capture, "-o", lake, "--sysroot", tmp_path, "--symbols", captures / "named" / "words.zip", "--json")
    assert json.loads(done.stdout)["replaced"]
    assert any("Trie" in row["name"] for row in rows(lake, "shares")) and len(rows(lake)) == 1


def test_deleted_captures_stay_away(tmp_path, captures):
    lake = tmp_path / "lake"
    done = parquet.write_capture(captures / "file.perf.data", lake)
    other = parquet.write_capture(captures / "threads.perf.data", lake)
    run("lake", "delete", lake, done.capture, "--why", "has secrets")
    assert [row["capture"] for row in rows(lake)] == [other.capture]
    assert not [path for path in lake.rglob(f"{done.capture}*") if "_tombstones" not in path.parts]
    again = parquet.write_capture(captures / "file.perf.data", lake)
    assert again.deleted and again.skipped and len(rows(lake)) == 1
    listed = json.loads(run("lake", "deleted", lake).stdout)
    assert (listed["capture"], listed["why"]) == (done.capture, "has secrets")
    run("lake", "delete", lake, "0" * 32, status=2)
    run("lake", "restore", lake, done.capture)
    assert parquet.write_capture(captures / "file.perf.data", lake).error is None and len(rows(lake)) == 2


def test_captures_expire_by_age(tmp_path, captures):
    lake = tmp_path / "lake"
    for name, day in (("file", "2026-01-01"), ("threads", "2026-01-31"), ("events", "2026-02-01")):
        parquet.write_capture(captures / f"{name}.perf.data", lake, labels=parquet.Labels.of({"date": day}))
    assert "1 of 3" in run("lake", "expire", lake, "--before", "2026-01-31", "--dry-run").stderr
    assert len(rows(lake)) == 3
    run("lake", "expire", lake, "--before", "2026-01-31")
    assert sorted(row["date"] for row in rows(lake)) == ["2026-01-31", "2026-02-01"]
    run("lake", "expire", lake, "--days", "1")
    assert not list((lake / "captures").rglob("*.parquet"))
    assert parquet.write_capture(captures / "file.perf.data", lake).deleted


NEW_COLUMNS = {"captures": ["path", "service", "labels", "date_source", "kernel"],
               "shares": ["service", "idle", "pid", "process", "thread", "self_samples", "total_samples"]}


def make_older(lake, capture, version):
    """A folder as earlier versions wrote it: host in the names of folders, fewer columns."""
    [day] = {path.parent.name for path in lake.rglob("date=*/*.parquet")}
    for path in list(lake.rglob("date=*/*.parquet")):
        table = path.parent.parent.name
        with pq.ParquetFile(path) as file:
            old = file.read()
        gone = ["part", "host", *(["generation"] if table == "captures" else []),
                *(NEW_COLUMNS.get(table, []) if version == 2 else [])]
        target = path.parent / "host=web%2F7" / path.name
        target.parent.mkdir(exist_ok=True)
        pq.write_table(old.drop_columns(gone).replace_schema_metadata({b"stackpack.lake": str(version).encode()}), target)
        path.unlink()
    (lake / "_places" / capture).write_text(f"{day}/host=web%2F7")
    (lake / "_stackpack_schema").write_text(f"{version}\n")


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("killed", [False, True])
def test_tables_of_older_versions_become_those_of_version_4(tmp_path, captures, version, killed):
    lake = tmp_path / "lake"
    labels = parquet.Labels.of({"service": "cart", "host": "web/7"})
    done = parquet.write_capture(captures / "file.perf.data", lake, labels=labels)
    before, whole = rows(lake, "shares"), {path.parent.parent.name: path for path in lake.rglob("date=*/*.parquet")}
    with pq.ParquetFile(whole["samples"]) as file:
        samples = file.read()
    make_older(lake, done.capture, version)
    if killed:  # once a table was there twice
        [old] = (lake / "frames").rglob("*.parquet")
        (lake / "frames" / old.parent.parent.name / old.name).write_bytes(b"rest of a run")
    run("lake", "migrate", lake)
    assert not list(lake.rglob("host=*/*.parquet")) and (lake / "_stackpack_schema").read_text() == "4\n"
    [row] = rows(lake)
    assert (row["service"], row["host"], row["generation"]) == ("cart" if version == 3 else None, "web/7", 0)
    assert (row["capture"], row["part"]) == (done.capture, done.capture)
    assert sum(row["self"] for row in rows(lake, "shares")) == sum(row["self"] for row in before)
    assert {row["idle"] for row in rows(lake, "shares")} == {False}
    with pq.ParquetFile(whole["samples"]) as file:
        assert file.schema_arrow.metadata[b"stackpack.lake"] == b"4" and file.read().equals(samples)
    # Written anew it is whole.
    stackpack.convert(captures / "file.perf.data", tmp_path / "a.spk", level=1)
    assert parquet.write_capture(tmp_path / "a.spk", lake, labels=labels).replaced
    assert rows(lake, "shares") == before
    (lake / "_stackpack_schema").write_text("5\n")
    assert "schema 5" in run("lake", "migrate", lake, status=1).stderr


def test_the_lake_is_a_folder_that_is_there(tmp_path):
    assert "no tables" in run("lake", "expire", tmp_path / "none", "--days", "1", status=1).stderr
    assert not pathlib.Path(tmp_path / "none").exists()
    with pytest.raises(SystemExit):
        lakes.main(["expire", str(tmp_path)])
