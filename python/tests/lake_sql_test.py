"""The questions of examples/fleet/lake.sql, against what the program says of the same captures."""
import datetime
import random
import subprocess
import sys

import pytest

import stackpack
from conftest import ROOT

pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")
parquet = pytest.importorskip("stackpack.parquet")

QUERIES = ROOT / "examples" / "fleet" / "lake.sql"
SERVICES, DAYS = ("cart", "mail", "shop"), (("2026-11-09", False), ("2026-11-16", True))


@pytest.fixture(scope="module", name="fleet")
def make_fleet(tmp_path_factory):
    """Three services, six captures a week for two weeks; `parse` of shop grows in the second one."""
    folder = tmp_path_factory.mktemp("fleet")
    chance = random.Random(7)
    files = {}
    for service in SERVICES:
        for day, is_new in DAYS:
            for number in range(6):
                parse = 0.10 + (0.05 if is_new and service == "shop" else 0)
                counts = [0, 0, 0]
                for _ in range(2000):
                    counts[chance.choices(range(3), (parse, 0.3, 0.6 - parse + 0.1))[0]] += 1
                text = folder / f"{service}-{day}-{number}.folded"
                text.write_text(f"main;parse {counts[0]}\nmain;parse;parse;scan {counts[1]}\nmain;write_{service} {counts[2]}\n")
                path = text.with_suffix(".spk")
                stackpack.convert(text, path)
                files.setdefault((service, is_new), []).append(path)
                labels = parquet.Labels.of({"service": service, "date": day})
                assert parquet.write_capture(path, folder / "lake", tables=["shares"], labels=labels).error is None
    database = duckdb.connect()
    database.execute(f"SET VARIABLE lake = '{folder / 'lake'}'")
    database.execute(QUERIES.read_text(encoding="utf-8"))
    return database, files


def ask(database, text):
    found = database.sql(text)
    return [dict(zip(found.columns, row)) for row in found.fetchall()]


def sums_of_top(paths):
    sums, whole = {}, 0
    for path in paths:
        with stackpack.open(path) as file:
            rows = file.top().to_arrow().to_pylist()
        whole += rows[0]["value"]
        for row in rows:
            own, total = sums.get(row["name"], (0, 0))
            sums[row["name"]] = (own + row["self"], total + row["total"])
    return sums, whole


@pytest.mark.parametrize("service", [None, "shop"])
def test_top_functions_are_those_of_top(fleet, service):
    database, files = fleet
    name = "NULL" if service is None else f"'{service}'"
    rows = ask(database, f"FROM top_functions({name}, 'samples', '2026-11-16', '2026-11-22')")
    paths = [path for (of, is_new), each in files.items() for path in each if is_new and service in (None, of)]
    sums, whole = sums_of_top(paths)
    assert {row["name"]: (row["self"], row["total"]) for row in rows} == sums
    assert [row["self"] for row in rows] == sorted((row["self"] for row in rows), reverse=True)
    for row in rows:
        assert row["total_share"] == pytest.approx(row["total"] / whole)


def test_what_grew_is_what_diff_says_and_nothing_else(fleet):
    database, files = fleet
    rows = ask(database, "FROM grew('samples', '2026-11-09', '2026-11-15', '2026-11-16', '2026-11-22', least := 0.01)")
    assert {(row["service"], row["name"]) for row in rows} == {("shop", "parse")}
    for service in SERVICES:
        [event] = stackpack.diff(files[service, False], files[service, True])
        told = {row.name: row.total for row in event.rows if row.total.verdict == "more" and
                row.total.new_share - row.total.old_share > 0.01}
        assert set(told) == {row["name"] for row in rows if row["service"] == service}
        for row in rows:
            if row["service"] == service:
                figure = told[row["name"]]
                assert row["change"] == pytest.approx(figure.new_share - figure.old_share)
                assert row["low"] < row["change"] < row["high"]


def test_cost_of_a_library_and_share_by_build(tmp_path, captures):
    lake = tmp_path / "lake"
    for name, service in (("file", "a"), ("threads", "a"), ("named/words", "b")):
        labels = parquet.Labels.of({"service": service, "date": "2026-11-20"})
        assert parquet.write_capture(captures / f"{name}.perf.data", lake, labels=labels).error is None
    database = duckdb.connect()
    database.execute(f"SET VARIABLE lake = '{lake}'")
    database.execute(QUERIES.read_text(encoding="utf-8"))
    [row] = [row for row in ask(database, "FROM library_cost('libc.so%', 'cpu-clock', '2026-11-20', '2026-11-20')")]
    own = whole = 0
    for name in ("file", "threads"):
        stackpack.convert(captures / f"{name}.perf.data", tmp_path / "a.spk")
        with stackpack.open(tmp_path / "a.spk") as file:
            modules = file.top("module", event="cpu-clock").to_arrow().to_pylist()
        whole += modules[0]["value"]
        own += sum(each["self"] for each in modules if each["name"] == "libc.so.6")
    assert (row["service"], row["self"], row["value"]) == ("a", own, whole) and own > 0
    builds = ask(database, "FROM share_by_build(NULL, 'cpu-clock', '[frames]')")
    assert [(each["image"], each["captures"]) for each in builds] == [("frames", 2)] and builds[0]["build_id"]
    [share] = [each["total_share"] for each in ask(database, "FROM top_functions('a', 'cpu-clock', '2026-11-20', '2026-11-20')")
               if each["name"] == "[frames]"]
    assert builds[0]["total_share"] == pytest.approx(share)


def test_the_build_that_brought_it(tmp_path):
    """Two builds of a program whose function grows; each capture says its build."""
    import pyarrow as pa  # pylint: disable=import-outside-toplevel
    import pyarrow.parquet as pq  # pylint: disable=import-outside-toplevel
    lake = tmp_path / "lake"
    for number, (parse, build) in enumerate(((10, "aa"), (11, "aa"), (10, "bb"), (30, "cc"), (31, "cc"))):
        text = tmp_path / f"{number}.folded"
        text.write_text(f"main;parse {parse}\nmain;write {100 - parse}\n")
        labels = parquet.Labels.of({"service": "cart", "date": f"2026-11-1{number}"})
        assert parquet.write_capture(text, lake, tables=["shares"], labels=labels).error is None
        [path] = (lake / "shares" / f"date=2026-11-1{number}").glob("*.parquet")
        with pq.ParquetFile(path) as file:
            rows = file.read()
        for column, value in (("image", "app"), ("build_id", build)):
            rows = rows.set_column(rows.column_names.index(column), column, pa.array([value] * rows.num_rows))
        pq.write_table(rows, path)
    database = duckdb.connect()
    database.execute(f"SET VARIABLE lake = '{lake}'")
    database.execute(QUERIES.read_text(encoding="utf-8"))
    rows = ask(database, "FROM brought_by('cart', 'samples', 'parse')")
    assert [(row["build_id"], row["build_before"], str(row["first_day"])) for row in rows] == [
        ("cc", "bb", "2026-11-13"), ("bb", "aa", "2026-11-12")]
    assert rows[0]["change"] == pytest.approx(0.305 - 0.10) and rows[0]["captures"] == 2
    assert ask(database, "FROM brought_by('mail', 'samples', 'parse')") == []


def test_control_groups_cost_what_top_says(tmp_path):
    """Groups of containers and without, samples of no group known, and captures without any."""
    container, lake = "4f" * 32, tmp_path / "lake"
    maker = ROOT / "tests" / "cli" / "make_capture.py"
    for name, more in (("one", ["--cgroups", f"/system.slice/web.service,/docker/{container},/kube/cri-{container}.scope/a"]), ("plain", [])):
        subprocess.run([sys.executable, maker, tmp_path / f"{name}.perf.data", "240", *more], check=True)
        labels = parquet.Labels.of({"service": name, "date": "2026-11-20"})
        assert parquet.write_capture(tmp_path / f"{name}.perf.data", lake, tables=["shares"], labels=labels).error is None
    database = duckdb.connect()
    database.execute(f"SET VARIABLE lake = '{lake}'")
    for name in ("lake.sql", "cgroups.sql"):
        database.execute(QUERIES.with_name(name).read_text(encoding="utf-8"))
    rows = ask(database, "FROM cgroup_cost(NULL, 'cpu-clock', '2026-11-20', '2026-11-20')")
    stackpack.convert(tmp_path / "one.perf.data", tmp_path / "one.spk")
    with stackpack.open(tmp_path / "one.spk") as file:
        expected = {row["name"]: row["self"] for row in file.top("cgroup", event="cpu-clock").to_arrow().to_pylist()}
        functions = {row["name"]: (row["self"], row["total"]) for row in file.top(event="cpu-clock").to_arrow().to_pylist()}
    assert {row["cgroup"]: row["self"] for row in rows if row["service"] == "one"} == expected and len(expected) == 4
    assert {row["container"] for row in rows} == {None, container}
    assert [row["cgroup"] for row in rows if row["service"] == "plain"] == [None]
    assert sum(row["share"] for row in rows if row["service"] == "one") == pytest.approx(1)
    # Apart by group, and the sums are still those of `top`.
    found = ask(database, "FROM top_functions('one', 'cpu-clock', '2026-11-20', '2026-11-20')")
    assert {row["name"]: (row["self"], row["total"]) for row in found} == functions


def test_hours_beside_the_others_are_tops_of_each(tmp_path):
    """Two captures of a working day at ten and at three, one of a Sunday at ten."""
    import pyarrow as pa  # pylint: disable=import-outside-toplevel
    import pyarrow.parquet as pq  # pylint: disable=import-outside-toplevel
    lake, sides = tmp_path / "lake", {False: [], True: []}
    for day, hour, parse, outside in (("2026-11-20", 10, 10, False), ("2026-11-20", 3, 40, True), ("2026-11-22", 10, 50, True)):
        text = tmp_path / f"{day}-{hour}.folded"
        text.write_text(f"main;parse {parse}\nmain;write {100 - parse}\n")
        stackpack.convert(text, text.with_suffix(".spk"))
        sides[outside].append(text.with_suffix(".spk"))
        done = parquet.write_capture(text, lake, tables=["shares"], labels=parquet.Labels.of({"service": "cart", "date": day}))
        path = lake / "captures" / f"date={day}" / f"{done.capture}.parquet"
        with pq.ParquetFile(path) as file:
            rows = file.read()
        start = pa.array([datetime.datetime.fromisoformat(f"{day}T{hour:02}:00:00+00:00")]).cast(rows.schema.field("start").type)
        pq.write_table(rows.set_column(rows.column_names.index("start"), "start", start), path)
    database = duckdb.connect()
    database.execute(f"SET VARIABLE lake = '{lake}'")
    database.execute(QUERIES.read_text(encoding="utf-8"))
    rows = {row["name"]: row for row in ask(database, "FROM by_hours('cart', 'samples', '2026-11-20', '2026-11-22')")}
    for side, column in ((False, "share_within"), (True, "share_outside")):
        sums, whole = sums_of_top(sides[side])
        assert {name: row[column] for name, row in rows.items()} == {name: pytest.approx(total / whole) for name, (_, total) in sums.items()}
    assert list(rows)[0] == "parse" and rows["parse"]["change"] == pytest.approx(0.35)
    assert ask(database, "FROM by_hours('cart', 'samples', '2026-11-22', '2026-11-22')") == []  # nothing within


def test_quantiles_of_weights_are_those_of_the_samples(tmp_path, captures):
    lake = tmp_path / "lake"
    weights = []
    for name in ("file", "threads"):
        labels = parquet.Labels.of({"service": "a", "date": "2026-11-20"})
        assert parquet.write_capture(captures / f"{name}.perf.data", lake, labels=labels).error is None
        stackpack.convert(captures / f"{name}.perf.data", tmp_path / "a.spk")
        with stackpack.open(tmp_path / "a.spk") as file:
            weights += [row["weight"] for row in file.samples().to_arrow().to_pylist() if row["event"] == "cpu-clock"]
    database = duckdb.connect()
    database.execute(f"SET VARIABLE lake = '{lake}'")
    database.execute(QUERIES.read_text(encoding="utf-8"))
    database.execute(QUERIES.with_name("samples.sql").read_text(encoding="utf-8"))
    [row] = ask(database, "FROM weight_quantiles('a', 'cpu-clock', '2026-11-20', '2026-11-20')")
    weights.sort()
    assert (row["samples"], row["weight"], row["longest"]) == (len(weights), sum(weights), weights[-1])
    assert row["p99"] == weights[-(-len(weights) * 99 // 100) - 1] and row["p50"] == weights[-(-len(weights) // 2) - 1]
    assert ask(database, "FROM weight_quantiles(NULL, 'blocked', '2026-11-20', '2026-11-20')") == []
