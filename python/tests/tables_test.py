"""Tables of an open file, in the engines that take them."""
import collections
import json
import os
import subprocess
import sys
import threading

import pytest

import stackpack
from stackpack._program import program

pa = pytest.importorskip("pyarrow")

TABLES = ["samples", "counts", "callstacks", "frames", "functions", "modules", "processes", "threads", "events",
          "sources", "losses", "metadata", "top", "branches", "ranges", "intervals", "event_values",
          "sample_fields", "branch_stacks"]

# As docs/python.md has it.
TOTALS = """
WITH RECURSIVE
leaf AS (SELECT callstack, count(*) AS n FROM samples WHERE event = ? AND callstack IS NOT NULL GROUP BY 1),
walk(callstack, parent, frame) AS (
  SELECT leaf.callstack, c.parent, c.frame FROM leaf JOIN callstacks c ON c.id = leaf.callstack
  UNION ALL
  SELECT walk.callstack, c.parent, c.frame FROM walk JOIN callstacks c ON c.id = walk.parent),
named AS (SELECT DISTINCT walk.callstack, f.name, f.image FROM walk JOIN frames f ON f.id = walk.frame)
SELECT name, image, sum(n) AS total FROM named JOIN leaf USING (callstack) GROUP BY 1, 2
"""


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_valid_arrow(spk, name):
    with stackpack.open(spk) as file:
        table = getattr(file, name)().to_arrow()
    table.validate(full=True)
    assert table.schema.metadata[b"stackpack.table"] == name.encode()
    assert table.num_columns > 1


def test_branch_stacks_are_those_that_the_program_lists(tmp_path, captures):
    path = tmp_path / "loop.spk"
    stackpack.convert(captures / "branches" / "loop.perf.data.gz", path, keep_branches=True)
    done = subprocess.run([program(), "dump", "--branch-stacks", "--json", path], capture_output=True, check=True)
    listed = json.loads(done.stdout)
    with stackpack.open(path) as file:
        rows = file.branch_stacks().to_arrow().to_pylist()
    found = collections.defaultdict(list)
    for row in rows:
        sample, stack, position = (row.pop(name) for name in ("sample", "stack", "position"))
        assert position == len(found[sample, stack])
        found[sample, stack].append({**row, "speculation": row["speculation"] or "-"})
    assert len(rows) > 1000
    assert [{"sample": sample, "stack": stack, "branches": branches} for (sample, stack), branches in found.items()] == listed
    stackpack.convert(captures / "branches" / "loop.perf.data.gz", path, keep_branches=True, sample_fields=False)
    with stackpack.open(path) as file:
        assert file.branch_stacks().to_arrow().num_rows == 0


@pytest.mark.parametrize("name", ["small.nettrace", "sampled.x64.etl"])
def test_provider_events_are_those_that_the_program_lists(captures, name):
    done = subprocess.run([program(), "dump", captures / name, "--events-of", "*", "--json"], capture_output=True, check=True)
    listed = json.loads(done.stdout)
    table = stackpack.provider_events(captures / name)
    found = {}
    for row in table.to_arrow().to_pylist():
        event = found.setdefault(row["event"], {"time": row["time_ns"], "event": row["name"], "fields": collections.defaultdict(list)})
        if row["field"] is not None:
            event["fields"][row["field"]].append(row["text"])
    assert found
    assert [(event["time"], event["event"], list(event["fields"])) for event in found.values()] == [
        (event["time"], event["event"], list(event["fields"])) for event in listed]
    assert table.columns == ["event", "time_ns", "pid", "tid", "provider", "name", "field", "position", "type", "number", "real", "text"]
    provider = listed[0]["event"].split("/")[0]
    some = stackpack.provider_events(captures / name, provider, columns=["provider", "text"], batch_rows=2)
    assert set(some.to_arrow()["provider"].to_pylist()) == {provider}
    assert max(batch.num_rows for batch in some.to_reader()) <= 2
    assert some.to_pandas()["text"].tolist() == some.to_arrow()["text"].to_pylist()
    next(iter(some.to_reader()))  # and left


def test_provider_events_of_what_has_none(spk, captures):
    with pytest.raises(stackpack.UsageError, match="give the capture"):
        stackpack.provider_events(spk)
    with pytest.raises(stackpack.UsageError, match="has no column 'nothing'; there are event, "):
        stackpack.provider_events(captures / "small.nettrace", columns=["nothing"])
    with pytest.raises(stackpack.NotFound):
        stackpack.provider_events("/nowhere/a.etl")


def test_units_and_nullability(spk):
    with stackpack.open(spk) as file:
        schema = file.samples().to_reader().schema
    assert schema.field("time_ns").metadata == {b"unit": b"ns"}
    assert schema.field("time_ns").type == pa.uint64()
    assert not schema.field("time_ns").nullable
    assert schema.field("callstack").nullable
    assert schema.field("event").type == pa.dictionary(pa.int32(), pa.string())


def test_columns_times_and_batches(spk):
    with stackpack.open(spk) as file:
        times = file.samples(columns=["time_ns"]).to_arrow()["time_ns"].to_pylist()
        assert times == sorted(times)
        middle = times[len(times) // 2]
        some = file.samples(columns=["tid", "time_ns"], to_ns=middle, batch_rows=10).to_arrow()
        assert some.column_names == ["tid", "time_ns"]
        assert some.num_rows == sum(time <= middle for time in times)
        assert max(len(chunk) for chunk in some["tid"].chunks) == 10
        for table in (file.samples, file.counts):
            assert table(to_ns=0).to_arrow().num_rows == 0, table
        assert file.samples(to_ns=times[0]).to_arrow().num_rows == times.count(times[0])
        assert sorted(file.samples(columns=["time_ns"], any_order=True).to_arrow()["time_ns"].to_pylist()) == times


def test_pandas_polars_and_duckdb_see_the_same(spk):
    polars, duckdb = (pytest.importorskip(name) for name in ("polars", "duckdb"))
    pytest.importorskip("pandas")
    with stackpack.open(spk) as file:
        expected = file.samples().to_arrow()["weight"].to_numpy().sum()
        assert file.samples().to_pandas()["weight"].sum() == expected
        assert polars.DataFrame(file.samples())["weight"].sum() == expected
        samples = file.samples()  # pylint: disable=unused-variable
        assert duckdb.sql("SELECT sum(weight), count(DISTINCT event) FROM samples").fetchall() == [(expected, 1)]


def _exact(values):
    """What pandas has, as Python's own numbers."""
    import pandas
    plain = []
    for value in values:
        if not isinstance(value, (str, bool)) and pandas.isna(value):
            plain.append(None)
        else:
            plain.append(value.value if isinstance(value, pandas.Timedelta) else value)
    return plain


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("fixture", ["spk", "named_spk", "merged_spk"])
def test_pandas_rounds_nothing(request, fixture, name):
    pandas = pytest.importorskip("pandas")
    with stackpack.open(request.getfixturevalue(fixture)) as file:
        table = getattr(file, name)().to_arrow()
        frame = getattr(file, name)().to_pandas()
    assert list(frame.columns) == table.column_names
    for field in table.schema:
        assert _exact(frame[field.name]) == table[field.name].to_pylist(), field.name
        if (field.metadata or {}).get(b"unit") == b"ns":
            assert frame[field.name].dtype == "timedelta64[ns]", field.name
        elif field.nullable and pa.types.is_integer(field.type):
            assert isinstance(frame[field.name].dtype, pandas.api.extensions.ExtensionDtype), field.name


def test_pandas_joins_batches_whose_dictionaries_differ(spk):
    pytest.importorskip("pandas")
    with stackpack.open(spk) as file:
        whole, parts = file.samples().to_pandas(), file.samples(batch_rows=3).to_pandas()
    assert _exact(parts["event"]) == _exact(whole["event"])
    assert parts["event"].dtype == "category"


@pytest.mark.parametrize("fixture", ["spk", "named_spk"])
def test_sql_over_the_tables_gives_what_top_gives(request, fixture):
    duckdb = pytest.importorskip("duckdb")
    with stackpack.open(request.getfixturevalue(fixture)) as file:
        event = file.events().to_arrow()["name"][0].as_py()
        base = duckdb.connect()
        for name in ("samples", "callstacks", "frames"):
            base.register("stream", getattr(file, name)().to_arrow())
            base.execute(f"CREATE TABLE {name} AS FROM stream")
        found = {}
        for count, sums in (("samples", "count(*) AS n"), ("weight", "sum(weight) AS n")):
            query = TOTALS.replace("count(*) AS n", sums)
            found[count] = {(name, image): total for name, image, total in base.execute(query, [event]).fetchall()}
        tops = {count: file.top(event=event, count=count).to_arrow().to_pylist() for count in ("samples", "weight", None)}
    # Without a word it is what the event measures; a sample of an imported profile stands for many.
    assert tops[None] == tops["weight"]
    for count in ("samples", "weight") if fixture == "spk" else ("weight",):
        assert {(row["name"], row["module"]): row["total"] for row in tops[count]} == found[count]
        assert len(found[count]) > 3
    assert {row["unit"] for row in tops[None]} == {"ns" if fixture == "spk" else "samples"}
    assert found["weight"] != found["samples"]


def test_recursion_counts_once(named_spk):
    with stackpack.open(named_spk) as file:
        rows = {row["name"]: row for row in file.top().to_arrow().to_pylist()}
    assert (rows["parse"]["self"], rows["parse"]["total"], rows["parse"]["value"]) == (0, 50, 100)
    assert (rows["scan"]["self"], rows["scan"]["total"]) == (20, 20)


def test_top_by_source_is_a_count_of_samples_by_source(tmp_path, captures):
    stackpack.merge([captures / name for name in ("file.perf.data", "threads.perf.data")], tmp_path / "all.spk")
    with stackpack.open(tmp_path / "all.spk") as file:
        hosts = file.sources().to_arrow()["host"].to_pylist()
        sources = file.samples(columns=["source"]).to_arrow()["source"].to_pylist()
        found = {row["name"]: row["self"] for row in file.top(by="source", count="samples").to_arrow().to_pylist()}
    assert found == {f"{host} ({source})": sources.count(source) for source, host in enumerate(hosts)}
    assert len(set(found.values())) == 2


def test_a_consumer_may_leave_and_come_again(spk):
    file = stackpack.open(spk)
    table = file.samples(batch_rows=1)
    reader = table.to_reader()
    first = reader.read_next_batch()
    file.close()
    assert first.num_rows == 1
    assert reader.read_next_batch().num_rows == 1  # the stream holds what it needs
    del reader
    with pytest.raises(ValueError, match="is closed"):
        table.to_arrow()
    unused = stackpack.open(spk).samples().__arrow_c_stream__()
    del unused  # nobody took it over: its own destructor releases it


def _open_files():
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no list of open files")
def test_an_error_while_a_table_is_read_is_the_consumers_own_and_leaks_nothing(spk, tmp_path):
    content = spk.read_bytes()
    before, read_errors = _open_files(), 0
    for place in range(64, len(content), max(1, len(content) // 300)):
        broken = tmp_path / "broken.spk"
        broken.write_bytes(content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1:])
        try:
            with stackpack.open(broken) as file:
                for name in ("samples", "frames"):
                    getattr(file, name)().to_arrow()
        except stackpack.StackpackError:
            pass  # noticed before a stream was made
        except (pa.ArrowException, OSError) as error:
            read_errors += 1
            assert "checksum" in str(error) or "spk" in str(error)
    assert read_errors > 10
    assert _open_files() == before


def test_dropping_a_stream_runs_no_python(spk):
    # A signal or an exception that met Python code there would be lost.
    capsule = stackpack.open(spk).samples().__arrow_c_stream__()
    called = []
    sys.setprofile(lambda frame, event, _: called.append(frame.f_code.co_name) if event == "call" else None)
    try:
        del capsule
    finally:
        sys.setprofile(None)
    assert called == []


def test_streams_of_one_file_on_several_threads(spk):
    found = []
    with stackpack.open(spk) as file:
        def read():
            for name in TABLES:
                found.append((name, getattr(file, name)().to_arrow().num_rows))

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == 4 * len(TABLES)
    assert len(set(found)) == len(TABLES)


def test_what_makes_no_sense_is_refused(spk):
    with stackpack.open(spk) as file:
        with pytest.raises(TypeError):
            file.samples(columns="time_ns")
        with pytest.raises(ValueError):
            file.samples(columns=[])
        with pytest.raises(stackpack.UsageError, match="samples has no column 'nothing'; there are time_ns"):
            file.samples(columns=["nothing"]).to_arrow()
        with pytest.raises(stackpack.UsageError):
            file.top("nothing").to_arrow()
    with pytest.raises(ValueError, match="is closed"):
        file.samples()
