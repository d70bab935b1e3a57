"""The table `waits` of many captures: sums are those of `top`, percentiles those of the intervals, to the width of a step."""
import math
import random
import sys

import pytest

import stackpack
from conftest import ROOT

pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")
numpy = pytest.importorskip("numpy")
parquet = pytest.importorskip("stackpack.parquet")
import pyarrow.parquet as pq  # noqa: E402  pylint: disable=wrong-import-position
from stackpack import _wait_rows, lake as lakes  # noqa: E402  pylint: disable=wrong-import-position

sys.path.insert(0, str(ROOT / "tests" / "support"))
import switch_capture as sc  # noqa: E402  pylint: disable=wrong-import-position

DAYS = "'2026-11-16', '2026-11-22'"


def many_blocks(path, seed, count=400):
    """A thread that blocks `count` times, for 10 us to a second, in one of two functions, and one that waits for work all the time."""
    chance = random.Random(seed)
    capture = sc.SwitchCapture()
    for tid, name in ((500, "worker"), (600, "pool")):
        capture.add_thread(tid, tid, name)
        capture.add_image(tid, 0x500000, f"/usr/bin/{name}")
    at = 10
    capture.switch(at, 1, 600, sc.SLEEPS, 0, [sc.KERNEL, 0x500300])
    for number in range(count):
        # At work for as long as it is blocked, about.
        at += int(10 ** chance.uniform(1, 6))
        capture.switch(at, 0, 500, sc.SLEEPS, 0, [sc.KERNEL, 0x500100 if number % 2 else 0x500200])
        at += int(10 ** chance.uniform(1, 6))
        capture.wake(at, 0, 0, 500, [sc.KERNEL], sc.HARD_INTERRUPT)
        at += 1
        capture.switch(at, 0, 0, sc.ABLE, 500)
    capture.switch(at + 5, 0, 500, sc.SLEEPS, 0, [sc.KERNEL, 0x500100])
    capture.wake(at + 10, 1, 0, 600, [sc.KERNEL], sc.HARD_INTERRUPT)
    capture.switch(at + 11, 1, 0, sc.ABLE, 600)
    capture.switch(at + 15, 1, 600, sc.SLEEPS, 0, [sc.KERNEL, 0x500300])
    capture.write(path)


@pytest.fixture(scope="module", name="fleet")
def make_fleet(tmp_path_factory):
    """The example with a schedule that is known, and two captures with many waits; tables in one folder."""
    folder = tmp_path_factory.mktemp("waits")
    files = {}
    for name, service in (("example", "shop"), ("first", "cart"), ("second", "cart")):
        capture = folder / f"{name}.data"
        if name == "example":
            sc.write_example(capture)
        else:
            many_blocks(capture, seed=len(name))
        stackpack.convert(capture, capture.with_suffix(".spk"))
        labels = parquet.Labels.of({"service": service, "date": "2026-11-20"})
        assert parquet.write_capture(capture.with_suffix(".spk"), folder / "lake", labels=labels).error is None
        files.setdefault(service, []).append(capture.with_suffix(".spk"))
    return folder / "lake", files


def ask(lake, text):
    database = duckdb.connect()
    database.execute(f"SET VARIABLE lake = '{lake}'")
    for name in ("lake.sql", "waits.sql"):
        database.execute((ROOT / "examples" / "fleet" / name).read_text(encoding="utf-8"))
    found = database.sql(text)
    return [dict(zip(found.columns, row)) for row in found.fetchall()]


def test_steps_are_a_sixteenth_wide_and_in_order():
    lengths = numpy.unique(numpy.array([0, 1, 15, 16, 17, 31, 32, 33, 2**53 - 1, 2**53 + 1, 2**60 - 1, 2**63 + 12345,
                                        *(int(10 ** (number / 500)) for number in range(9500))], dtype=numpy.uint64))
    steps = _wait_rows.step_of(lengths)
    assert (steps <= lengths).all() and (numpy.diff(steps.astype(numpy.float64)) >= 0).all()
    assert all(length - step <= length // 16 for length, step in zip(lengths.tolist(), steps.tolist()))
    assert all(step == length for length, step in zip(lengths.tolist(), steps.tolist()) if length < 32)


@pytest.mark.parametrize("state", ["blocked", "woken"])
def test_sums_are_those_of_top(fleet, state):
    lake, files = fleet
    for service, paths in files.items():
        expected, whole, waits = {}, 0, 0
        for path in paths:
            with stackpack.open(path) as file:
                rows = file.top(event=state).to_arrow().to_pylist()
            whole, waits = whole + rows[0]["value"], waits + rows[0]["samples"]
            for row in rows:
                own, total = expected.get((row["name"], row["module"]), (0, 0))
                expected[row["name"], row["module"]] = (own + row["self"], total + row["total"])
        rows = ask(lake, f"SELECT name, image, sum(self_ns)::BIGINT AS own, sum(ns)::BIGINT AS total FROM waits "
                         f"WHERE state = '{state}' AND service = '{service}' AND name IS NOT NULL GROUP BY ALL")
        assert {(row["name"], row["image"]): (row["own"], row["total"]) for row in rows} == expected
        [sums] = ask(lake, f"SELECT sum(self_ns)::BIGINT AS ns, sum(self_waits)::BIGINT AS waits FROM waits "
                           f"WHERE state = '{state}' AND service = '{service}'")
        assert (sums["ns"], sums["waits"]) == (whole, waits)


def lengths_of(paths):
    found = []
    for path in paths:
        with stackpack.open(path) as file:
            found += [row["length_ns"] for row in file.intervals().to_arrow().to_pylist() if row["state"] == "blocked" and row["tid"] != 600]
    return sorted(found)


def test_percentiles_are_those_of_the_intervals(fleet):
    lake, files = fleet
    rows = {row["name"]: row for row in ask(lake, f"FROM wait_quantiles('cart', {DAYS})")}
    threads = ask(lake, f"FROM thread_wait_quantiles(NULL, {DAYS})")
    lengths = lengths_of(files["cart"])
    assert len(lengths) > 700 and lengths[-1] > 500_000_000
    assert rows["[worker]"]["waits"] == len(lengths) and rows["[worker]"]["ns"] == sum(lengths)
    [worker] = [row for row in threads if row["thread"] == "worker"]
    for row in (rows["[worker]"], worker):
        for part, column in ((0.5, "p50_ns"), (0.99, "p99_ns")):
            exact = lengths[math.ceil(part * len(lengths)) - 1]
            assert row[column] == pytest.approx(exact, rel=1 / 16), column
    # The thread that waits for work is in the table, and not among the answers.
    assert "pool" not in {row["thread"] for row in threads}
    assert {(row["thread"], row["idle"]) for row in pq.read_table(lake / "waits", columns=["thread", "idle"]).to_pylist()} >= {
        ("worker", False), ("pool", True)}
    # Of the example each thread blocks a few times: steps with one wait are exact.
    assert {row["thread"]: row["p99_ns"] for row in threads if row["service"] == "shop"} == {
        "client": 370000, "server": 120000, "locker": 240000}


def test_compaction_and_deletion_take_waits_along(fleet, tmp_path):
    lake, files = fleet
    for service, paths in files.items():
        labels = parquet.Labels.of({"service": service, "date": "2026-11-20"})
        for path in paths:
            assert parquet.write_capture(path, tmp_path / "lake", labels=labels).error is None
    before = ask(lake, f"FROM wait_quantiles(NULL, {DAYS})")
    assert [done.service for done in lakes.compact(lakes.Lake(tmp_path / "lake"))] == ["cart"]
    assert ask(tmp_path / "lake", f"FROM wait_quantiles(NULL, {DAYS})") == before
    lakes.delete(lakes.Lake(tmp_path / "lake"), [parquet.capture_of(path) for path in files["cart"]], "test")
    assert {row["service"] for row in ask(tmp_path / "lake", f"FROM wait_quantiles(NULL, {DAYS})")} == {"shop"}


def test_captures_without_waits_have_no_file(captures, tmp_path):
    assert parquet.write_capture(captures / "file.perf.data", tmp_path / "lake").error is None
    assert not (tmp_path / "lake" / "waits").exists()
