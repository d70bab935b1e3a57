"""Verdicts over tables are those of `stackpack diff` over the captures themselves."""
import json
import random
import subprocess

import pytest

import stackpack
from conftest import ROOT
from stackpack import _program

pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")
parquet = pytest.importorskip("stackpack.parquet")
from stackpack import lake as lakes  # noqa: E402  pylint: disable=wrong-import-position

OLD, NEW = ("2026-11-09", "2026-11-15"), ("2026-11-16", "2026-11-22")
SPANS = f"'{OLD[0]}', '{OLD[1]}', '{NEW[0]}', '{NEW[1]}'"


def captures_of(folder, name, shares, count, chance, whole=3000):
    """Folded captures whose functions have about these shares."""
    paths = []
    for number in range(count):
        scatter = {function: max(0.0, share * chance.gauss(1, 0.03)) for function, share in shares.items()}
        counts = {function: int(whole * share) for function, share in scatter.items()}
        text = folder / f"{name}-{number}.folded"
        text.write_text("".join(f"{function} {counts[function] + chance.randint(0, 3)}\n" for function in shares))
        paths.append(text.with_suffix(".spk"))
        stackpack.convert(text, paths[-1])
    return paths


@pytest.fixture(scope="module", name="fleet")
def make_fleet(tmp_path_factory):
    """Two services of six and five captures a week; `parse` of one grows by 3 points, `gone` disappears."""
    folder, chance, files = tmp_path_factory.mktemp("fleet"), random.Random(3), {}
    shares = {"main;parse": 0.2, "main;parse;parse;scan": 0.3, "main;write": 0.45, "main;gone": 0.05}
    later = {"main;parse": 0.23, "main;parse;parse;scan": 0.3, "main;write": 0.42, "main;fresh": 0.05}
    for service, new in (("cart", shares), ("shop", later)):
        for day, of in ((OLD[0], shares), (NEW[1], new)):
            paths = captures_of(folder, f"{service}-{day}", of, 6 if service == "cart" else 5, chance)
            files.setdefault(service, []).append(paths)
            for path in paths:
                labels = parquet.Labels.of({"service": service, "date": day})
                assert parquet.write_capture(path, folder / "lake", tables=["shares"], labels=labels).error is None
    return folder / "lake", files


def database_of(lake):
    database = duckdb.connect()
    lakes.register(database)
    database.execute(f"SET VARIABLE lake = '{lake}'")
    for name in ("lake.sql", "verdicts.sql"):
        database.execute((ROOT / "examples" / "fleet" / name).read_text(encoding="utf-8"))
    return database


def told(event):
    """Figures of a comparison of files, by name, image and figure."""
    return {(row.name, row.module or None, of): figure for row in event.rows
            for figure, of in ((row.self, "self"), (row.total, "total"))}


def check_rows(rows, event):
    expected = told(event)
    assert {(row["name"], row["image"], row["figure"]) for row in rows} == set(expected) and len(rows) == len(expected)
    for row in rows:
        figure = expected[row["name"], row["image"], row["figure"]]
        assert row["verdict"] == figure.verdict
        for name in ("old_value", "new_value", "old_share", "new_share", "low", "high", "least_visible", "p"):
            assert row[name] == pytest.approx(getattr(figure, name), rel=1e-9, abs=1e-12), (row["name"], name)
        assert row["change"] == pytest.approx(figure.new_share - figure.old_share)


def check_same(one, other):
    def key(row):
        return str(row["service"]), row["name"], row["figure"]
    for first, second in zip(sorted(one, key=key), sorted(other, key=key)):
        assert first == {name: value if isinstance(value, str) or value is None else pytest.approx(value, rel=1e-9, abs=1e-12)
                         for name, value in second.items()}
    assert len(one) == len(other)


def asked(database, text):
    found = database.sql(text)
    return [dict(zip(found.columns, row)) for row in found.fetchall()]


def test_sql_and_python_say_what_diff_says(fleet):
    lake, files = fleet
    rows = asked(database_of(lake), f"FROM changed('samples', {SPANS})")
    table = lakes.changes(lakes.open_lake(str(lake)), "samples", OLD, NEW)
    check_same(table.to_pylist(), rows)
    assert len(rows) > 10
    verdicts = set()
    for service, (before, after) in files.items():
        [event] = stackpack.diff(before, after)
        check_rows([row for row in rows if row["service"] == service], event)
        verdicts |= {row["verdict"] for row in rows if row["service"] == service}
    assert {"more", "less", "appeared", "disappeared", "not seen"} <= verdicts
    one = lakes.changes(lakes.open_lake(str(lake)), "samples", OLD, NEW, service="shop")
    check_same(one.to_pylist(), [row for row in table.to_pylist() if row["service"] == "shop"])


def test_the_program_says_the_same(fleet, tmp_path):
    lake, files = fleet
    before, after = files["shop"]
    lists = []
    for name, paths in (("old", before), ("new", after)):
        lists.append(tmp_path / f"{name}.txt")
        lists[-1].write_text("".join(f"{path}\n" for path in paths))
    done = subprocess.run([_program.program(), "diff", "--json", "--files-from", lists[0], "--against-from", lists[1]],
                          capture_output=True, text=True, check=True)
    [event] = json.loads(done.stdout)["events"]
    shown = {row["name"]: row for row in event["rows"]}
    rows = {row["name"]: row for row in asked(database_of(lake), f"FROM changed('samples', {SPANS}, of_service := 'shop')")
            if row["figure"] == "total"}
    assert {row["name"]: row["verdict"] for row in rows.values()} == {name: row["total"]["verdict"] for name, row in shown.items()}


def test_what_grew_by_a_point_and_nothing_else(fleet):
    rows = asked(database_of(fleet[0]), f"FROM grown('samples', {SPANS}, least := 0.01)")
    assert {(row["service"], row["name"]) for row in rows} == {("shop", "parse"), ("shop", "fresh")}
    assert all(row["low"] > 0 for row in rows)


@pytest.mark.parametrize("samples", [True, False])
def test_weights_and_images_of_recordings(tmp_path, captures, samples):
    """Periods that differ, images with versions, several processes: the same figures."""
    sides = [["file", "threads"], ["group", "events"]]
    files = []
    for names, day in zip(sides, (OLD[0], NEW[0])):
        files.append([])
        for name in names:
            files[-1].append(tmp_path / f"{name}.spk")
            stackpack.convert(captures / f"{name}.perf.data", files[-1][-1], samples=samples)
            labels = parquet.Labels.of({"service": "a", "date": day})
            done = parquet.write_capture(files[-1][-1], tmp_path / "lake", tables=["shares"], labels=labels)
            assert done.error is None
    events = {row["event"] for row in asked(database_of(tmp_path / "lake"), "SELECT DISTINCT event FROM shares")}
    compared = 0
    for event in stackpack.diff(*files, all_events=True):
        if event.event in events:
            rows = asked(database_of(tmp_path / "lake"), f"FROM changed('{event.event}', {SPANS})")
            check_rows(rows, event)
            compared += 1
    assert compared


def test_what_is_done_outside_of_hours(fleet, tmp_path):
    """The captures of one day start at ten, those of the other, a Sunday, at three."""
    import pyarrow.parquet as pq  # pylint: disable=import-outside-toplevel
    import shutil  # pylint: disable=import-outside-toplevel
    lake, files = fleet
    shutil.copytree(lake, tmp_path / "lake")
    for path in (tmp_path / "lake" / "captures").rglob("*.parquet"):
        day = path.parent.name.partition("=")[2]
        with pq.ParquetFile(path) as file:
            rows = file.read()
        start = duckdb.sql(f"SELECT TIMESTAMPTZ '{day} {'03' if day == NEW[1] else '10'}:00:00+00' AS start").to_arrow_table()["start"]
        pq.write_table(rows.set_column(rows.column_names.index("start"), "start", start.cast(rows.schema.field("start").type)), path)
    database = database_of(tmp_path / "lake")
    found = asked(database, f"FROM off_hours('samples', '{OLD[0]}', '{NEW[1]}')")
    [event] = stackpack.diff(*files["shop"])
    expected = {(row.name, of) for row in event.rows for of, figure in (("self", row.self), ("total", row.total))
                if figure.verdict in ("more", "appeared") and figure.new_share - figure.old_share >= 0.01}
    assert {(row["name"], row["figure"]) for row in found} == expected and {row["service"] for row in found} == {"shop"}
    # The same hours for all: nothing is outside, and nothing of captures without a time.
    assert not asked(database, f"FROM off_hours('samples', '{OLD[0]}', '{OLD[1]}')")
    assert not asked(database_of(lake), f"FROM off_hours('samples', '{OLD[0]}', '{NEW[1]}')")


def rows_of(*rows):
    """Rows of `shares` as a file has them."""
    from stackpack import _counts  # pylint: disable=import-outside-toplevel
    import pyarrow  # pylint: disable=import-outside-toplevel
    whole = {"part": "p-1", "event": "samples", "idle": False, "value": 5, "samples": 5, "squares": 5.0, "name": "f", "image": None,
             "build_id": None, "self": 1, "total": 1, "unit": "samples"}
    plain = pyarrow.schema([(each.name, pyarrow.string() if pyarrow.types.is_dictionary(each.type) else each.type) for each in _counts._READ])
    return pyarrow.Table.from_pylist([{**whole, **row} for row in rows], plain)


def counts_of(*portions):
    from stackpack import _counts  # pylint: disable=import-outside-toplevel
    runs = [_counts.Run("b", "p-1", "2026-11-16", True), _counts.Run("a", "p-1", "2026-11-09", False), _counts.Run("c", "p-1", "2026-11-09", False)]
    return _counts.counted([rows_of(*rows) for rows in portions], runs, "samples")


def test_what_does_not_add_up_is_refused():
    from stackpack._verdicts import compared  # pylint: disable=import-outside-toplevel
    for change, text in (({"self": 6, "total": 6}, "more than their run"), ({"total": 0}, "more than their run"),
                         ({}, None), ({"squares": -1.0, "unit": "ns"}, "squares")):
        counts = counts_of([{"capture": "a", **change}, {"capture": "b", "unit": change.get("unit", "samples")}])
        if text is None:
            assert compared(counts, "samples")["verdict"][0].as_py() in ("too few", "not seen")
        else:
            with pytest.raises(stackpack.UsageError, match=text):
                compared(counts, "samples")


@pytest.mark.parametrize("dense", [0, 1 << 22])
def test_sums_are_exact_and_of_what_counts(monkeypatch, dense):
    """Rows of a capture in two portions, sums beyond what a double holds, other parts, events and captures, idle threads."""
    from stackpack import _counts  # pylint: disable=import-outside-toplevel
    monkeypatch.setattr(_counts, "_DENSE", dense)
    large = 2**61 + 1
    counts = counts_of(
        [{"capture": "b", "name": "g", "self": 3, "total": 4}, {"capture": "b", "name": "g", "self": 5, "total": 6, "build_id": "1"},
         {"capture": "a", "self": large, "total": large}, {"capture": "a", "self": large, "total": large},
         {"capture": "a", "idle": True}, {"capture": "a", "part": "p-2"}, {"capture": "a", "event": "blocked"}, {"capture": "other"}],
        [{"capture": "a", "self": 7, "total": large - 2, "squares": None, "image": None}, {"capture": "b", "name": None, "image": "i"}])
    assert counts.functions == [(None, "i", None), ("f", None, None), ("g", None, None), ("g", None, "1")]
    assert counts.is_new.tolist() == [False, True] and counts.has_both_sides  # of c there are no rows
    assert sorted(counts.rows.tolist()) == [[0, 1, 2 * large + 7, 3 * large - 2], [1, 0, 1, 1], [1, 2, 3, 4], [1, 3, 5, 6]]
    assert not counts_of([{"capture": "a"}, {"capture": "c"}]).has_both_sides and not counts_of().has_both_sides


def test_rows_that_no_longer_count_and_captures_without_service(fleet, tmp_path):
    """A capture that was compacted and labelled anew has rows twice in the files; one service is null, one is on one side alone."""
    _, files = fleet
    lake = tmp_path / "lake"

    def write(paths, service, day, region="one"):
        labels = parquet.Labels.of({"date": day, "region": region, **({"service": service} if service else {})})
        for path in paths:
            assert parquet.write_capture(path, lake, tables=["shares"], labels=labels).error is None
    before, after = files["shop"]
    write(before, None, OLD[0])
    write(files["cart"][0], "lonely", OLD[0])
    list(lakes.compact(lakes.Lake(lake)))
    write(before, None, OLD[0], region="two")
    write(after, None, NEW[1])
    rows = lakes.changes(lakes.open_lake(str(lake)), "samples", OLD, NEW).to_pylist()
    assert {row["service"] for row in rows} == {None}
    [event] = stackpack.diff(before, after)
    check_rows(rows, event)
    check_same(rows, asked(database_of(lake), f"FROM changed('samples', {SPANS})"))
    nothing = lakes.changes(lakes.open_lake(str(lake)), "samples", ("2020-01-01", "2020-01-02"), NEW)
    assert nothing.num_rows == 0 and nothing.column_names[:3] == ["service", "name", "image"]
    assert not asked(database_of(lake), "FROM changed('samples', '2020-01-01', '2020-01-02', '2020-01-03', '2020-01-04')")
