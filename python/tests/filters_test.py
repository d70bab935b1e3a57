"""Filters of samples and of top, waits, schemas, what notebooks show, errors that name the choices."""
import pytest

import stackpack
from stackpack import Filter

pytest.importorskip("pyarrow")
pytest.importorskip("numpy")


@pytest.fixture(scope="module", name="threads")
def make_threads(tmp_path_factory, captures):
    path = tmp_path_factory.mktemp("threads") / "threads.spk"
    stackpack.convert(captures / "threads.perf.data", path)
    return path


def filters_of(file):
    """Filters that leave something out and something in, by name."""
    rows = file.samples().to_arrow().to_pylist()
    last = rows[-1]
    times = sorted(row["time_ns"] for row in rows)
    middle = times[len(times) // 2]
    threads = sorted({row["name"] for row in file.threads().to_arrow().to_pylist() if row["name"]})
    return {"pid": Filter(pid=last["pid"]), "tid": Filter(tid=last["tid"]), "cpu": Filter(cpu=last["cpu"]),
            "comm": Filter(comm=threads[-1]), "no comm": Filter(exclude_comm=[threads[-1]]), "event": Filter(event="cpu-clock*"),
            "begin": Filter(begin=middle), "end": Filter(end=middle), "idle": Filter(idle=False),
            "module": Filter(module="libc.so*"), "no module": Filter(exclude_module="[kernel.kallsyms]"),
            "both": Filter(pid=last["pid"], begin=middle, comm="*")}


@pytest.mark.parametrize("name", ["pid", "tid", "cpu", "comm", "no comm", "event", "begin", "end", "idle", "module", "no module", "both"])
def test_samples_and_top_count_what_the_program_counts(threads, name):
    with stackpack.open(threads) as file:
        where = filters_of(file)[name]
        weight = file.samples(columns=["weight"], where=where).to_arrow()
        expected = file.top(by="event", where=where, event=None if where.event else "*").to_arrow().to_pylist()
        assert weight.column_names == ["weight"] and weight.num_rows == expected[0]["samples"]
        assert sum(weight["weight"].to_pylist()) == expected[0]["value"]
        functions = file.top(where=where).to_arrow()
        assert functions.schema == file.top().schema
        assert sum(functions["self"].to_pylist()) <= functions["value"][0].as_py()


def test_a_filter_leaves_the_right_rows(threads):
    with stackpack.open(threads) as file:
        rows = file.samples().to_arrow().to_pylist()
        for name, keep in (("pid", lambda row, where: row["pid"] == where.pid), ("cpu", lambda row, where: row["cpu"] == where.cpu),
                           ("begin", lambda row, where: row["time_ns"] >= where.begin)):
            where = filters_of(file)[name]
            expected = [row for row in rows if keep(row, where)]
            assert file.samples(where=where).to_arrow().to_pylist() == expected and 0 < len(expected) <= len(rows)
        first = rows[0]["time_ns"]
        assert file.samples(where=Filter(end="+1ms")).to_arrow().to_pylist() == [row for row in rows if row["time_ns"] <= first + 10**6]
        # The times of the call and of the filter: those of the filter go before.
        assert file.samples(from_ns=2**62, where=Filter(begin=0)).to_arrow().num_rows == len(rows)
        table = file.samples(columns=["event", "pid"], where=Filter(pid=2**31))
        assert table.to_arrow().num_rows == 0 and table.columns == ["event", "pid"]
        with pytest.raises(stackpack.UsageError, match="time 'soon'"):
            file.samples(where=Filter(begin="soon")).to_arrow()
        with pytest.raises(stackpack.UsageError, match="no event nothing; there are .*cpu-clock"):
            file.samples(where=Filter(event="nothing")).to_arrow()


def test_top_of_everything_is_that_without_a_filter(threads):
    with stackpack.open(threads) as file:
        for by in ("function", "module", "thread", "process"):
            def key(row):
                return (-row["self"], row["name"], row["module"] or "", row["place"] or "")
            plain, filtered = (sorted(table.to_arrow().to_pylist(), key=key) for table in (file.top(by), file.top(by, where=Filter())))
            assert [(row["name"], row["self"], row["total"], row["value"], row["samples"], row["unit"]) for row in plain] == [
                (row["name"], row["self"], row["total"], row["value"], row["samples"], row["unit"]) for row in filtered]
        assert file.top(columns=["name", "self"], where=Filter()).to_arrow().column_names == ["name", "self"]


def test_callers_and_callees_are_filtered(threads):
    with stackpack.open(threads) as file:
        pid = file.samples().to_arrow().to_pylist()[-1]["pid"]
        name = next(row["name"] for row in file.top(where=Filter(pid=pid)).to_arrow().to_pylist() if row["total"])
    whole, part = (stackpack.callers(threads, name, where=where) for where in (None, Filter(pid=pid)))
    assert part.samples < whole.samples and part.function.total <= whole.function.total
    assert stackpack.callees(threads, name, where=Filter(pid=pid)).samples == part.samples


def test_waits_of_a_trace(captures):
    found = stackpack.waits(captures / "sampled.x64.etl")
    assert found.threads and found.total.running.ns == sum(thread.running.ns for thread in found) > 0
    thread = max(found, key=lambda each: each.running.ns)
    [alone] = stackpack.waits(captures / "sampled.x64.etl", where=Filter(tid=thread.tid))
    assert alone == thread and thread.running.max_ns <= thread.running.ns
    pytest.importorskip("pandas")
    frame = found.to_pandas()
    assert frame["running_ns"].sum() == found.total.running.ns and list(frame["tid"]) == [each.tid for each in found]
    with pytest.raises(stackpack.UsageError, match="'cpu' does not go here; it is one of pid, tid"):
        stackpack.waits(captures / "sampled.x64.etl", where=Filter(cpu=1))


def test_schema_and_columns(spk):
    with stackpack.open(spk) as file:
        schema = file.samples().schema
        assert schema.field("time_ns").metadata[b"unit"] == b"ns" and file.samples().columns == schema.names
        assert file.samples(columns=["pid"]).schema.names == ["pid"] == file.samples(columns=["pid"]).columns
        assert "time_ns, pid" in repr(file.samples()) and "samples, " in repr(file)
    assert "closed" in repr(file)


def test_errors_name_the_column_and_the_choices(spk):
    with stackpack.open(spk) as file:
        with pytest.raises(stackpack.UsageError, match="samples has no column 'time'; there are time_ns, pid, tid"):
            file.samples(columns=["pid", "time"])
        with pytest.raises(stackpack.UsageError, match="by is 'symbol'; it is one of function, module"):
            file.top("symbol")
        with pytest.raises(stackpack.UsageError, match="count is 'bytes'; it is samples or weight"):
            file.top(count="bytes")


def test_what_a_notebook_shows(spk, tmp_path, captures):
    hostile = tmp_path / "<i>.spk"
    hostile.write_bytes(spk.read_bytes())
    with stackpack.open(hostile) as file:
        shown = file._repr_html_()  # pylint: disable=protected-access
        assert "<iframe" in shown and "sandbox" in shown and "<i>.spk" not in shown and "&lt;i&gt;.spk</b>: 137 samples, " in shown
        table = file.samples(columns=["time_ns", "event"])._repr_html_()  # pylint: disable=protected-access
    assert table.count("<tr>") == 11 and ">event</th>" in table and "<i>.spk" not in table
