"""Intervals of waits as a table, and conversions with and without them."""
import pathlib
import re
import sys

import pytest

import stackpack

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import switch_capture as sc  # pylint: disable=wrong-import-position

pa = pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def switches(tmp_path_factory):
    """A capture whose schedule is known, and its .spk file."""
    folder = tmp_path_factory.mktemp("switches")
    sc.write_example(folder / "perf.data")
    stackpack.convert(folder / "perf.data", folder / "waits.spk")
    return folder


def test_intervals_have_wakers_and_callstacks(switches):
    with stackpack.open(switches / "waits.spk") as file:
        table = file.intervals().to_arrow()
        ends = {row["id"]: row for row in file.callstacks().to_arrow().to_pylist()}
        frames = {row["id"]: row for row in file.frames().to_arrow().to_pylist()}
        some = file.intervals(from_ns=sc.START + 261_000, to_ns=sc.START + 269_000).to_arrow().to_pylist()
    table.validate(full=True)
    rows = table.to_pylist()

    def offsets(node):
        """Of a callstack, leaf first."""
        found = []
        while node is not None:
            found.append((frames[ends[node]["frame"]]["image"], frames[ends[node]["frame"]]["offset"] or frames[ends[node]["frame"]]["address"]))
            node = ends[node]["parent"]
        return found

    wait = next(row for row in rows if row["tid"] == sc.CLIENT and row["state"] == "blocked" and row["length_ns"])
    assert (wait["from_ns"], wait["to_ns"], wait["length_ns"]) == (sc.START + 100_000, sc.START + 470_000, 370_000)
    assert (wait["reason"], wait["woken_by"], wait["waker_tid"], wait["waker_pid"], wait["flags"]) == ("S", "thread", sc.SERVER, sc.SERVER, 0)
    assert offsets(wait["callstack"]) == [(None, sc.KERNEL), ("client", 0x1210)]
    # The waker's addresses are those of its own process.
    assert offsets(wait["waker_callstack"]) == [(None, sc.KERNEL), ("server", 0x1330)]
    disk = next(row for row in rows if row["reason"] == "D" and row["state"] == "blocked")
    assert (disk["woken_by"], disk["waker_pid"], disk["pid"], disk["source"]) == ("interrupt", None, sc.SERVER, 0)
    assert {row["state"] for row in rows if row["callstack"] is None} >= {"running"}
    assert {row["tid"] for row in some} == {sc.CLIENT, sc.SERVER, sc.LOCKER} and len(some) == 3, some


def test_the_percentiles_of_the_document(switches):
    duckdb = pytest.importorskip("duckdb")
    query = re.search(r"^## intervals.*?```sql\n(.*?)```", (ROOT / "docs" / "arrow.md").read_text(encoding="utf-8"), re.M | re.S).group(1)
    with stackpack.open(switches / "waits.spk") as file:
        # The tables of the query, under their names.
        intervals, callstacks, frames = file.intervals(), file.callstacks(), file.frames()  # pylint: disable=unused-variable
        rows = {name: (waits, percentile) for name, waits, percentile in duckdb.sql(query).fetchall()}
    # Two blocks of the locker, 240 and 200 us; three of the server and one of the client.
    assert rows["[locker]"] == (2, pytest.approx(0.2 + 0.99 * 0.04)), rows
    assert rows["[client]"][0] in (1, 2) and rows["[server]"] == (3, pytest.approx(0.07 + 0.98 * 0.05)), rows


def test_waits_switches_and_values_are_left_out_on_request(tmp_path, captures, switches):
    def made(capture, **options):
        stackpack.convert(capture, tmp_path / "made.spk", **options)
        with stackpack.open(tmp_path / "made.spk") as file:
            return file.intervals().to_arrow().num_rows, file.samples().to_arrow().num_rows, (tmp_path / "made.spk").stat().st_size

    waits, samples, size = made(switches / "perf.data")
    assert waits > 0 and samples > 1
    assert made(switches / "perf.data", waits=False)[:2] == (0, samples)
    assert made(switches / "perf.data", switch_samples=False)[:2] == (waits, 1)
    assert made(captures / "small.nettrace", event_values=False)[2] < made(captures / "small.nettrace")[2]
    assert size > 0


def test_top_by_who_ended_waits_and_what_for(switches):
    with stackpack.open(switches / "waits.spk") as file:
        wakers = file.top(by="waker").to_arrow().to_pylist()
        reasons = file.top(by="reason").to_arrow().to_pylist()
        packages = file.top(by="package").to_arrow().to_pylist()
    assert {row["event"] for row in wakers + reasons} == {"blocked"}
    # Of the client 370 us, of the locker 240 us.
    assert [row["self"] for row in wakers if row["name"] == f"server ({sc.SERVER})"] == [610_000]
    assert {"S", "D"} <= {row["name"][0] for row in reasons}
    assert {row["name"] for row in packages} >= {"[client]"}
