"""The questions of examples/fleet/lake_spark.sql give what those for DuckDB give, on the same tables."""
import datetime
import json
import os
import random
import re
import subprocess
import sys

import pytest

from conftest import ROOT

pytest.importorskip("pyspark")
duckdb = pytest.importorskip("duckdb")
parquet = pytest.importorskip("stackpack.parquet")
from stackpack import lake as lakes  # noqa: E402  pylint: disable=wrong-import-position

sys.path.insert(0, str(ROOT / "tests" / "support"))
import switch_capture as sc  # noqa: E402  pylint: disable=wrong-import-position

FLEET = ROOT / "examples" / "fleet"
WEEK = {"first": "2026-11-16", "last": "2026-11-22"}
#: Name, the parameters in Spark, and the question in DuckDB.
QUESTIONS = [
    ("top_functions", {**WEEK, "service": "cart", "event": "samples"}, "top_functions('cart', 'samples', '2026-11-16', '2026-11-22')"),
    ("top_functions", {**WEEK, "service": None, "event": "cpu-clock"}, "top_functions(NULL, 'cpu-clock', '2026-11-16', '2026-11-22')"),
    ("library_cost", {**WEEK, "image": "libc.so%", "event": "cpu-clock"},
     "library_cost('libc.so%', 'cpu-clock', '2026-11-16', '2026-11-22')"),
    ("share_by_build", {"service": None, "event": "cpu-clock", "function": "[frames]"}, "share_by_build(NULL, 'cpu-clock', '[frames]')"),
    ("brought_by", {"service": "built", "event": "samples", "function": "parse"}, "brought_by('built', 'samples', 'parse')"),
    ("cgroup_cost", {**WEEK, "service": None, "event": "cpu-clock"}, "cgroup_cost(NULL, 'cpu-clock', '2026-11-16', '2026-11-22')"),
    ("by_hours", {**WEEK, "service": None, "event": "samples", "opens": 8, "closes": 18},
     "by_hours(NULL, 'samples', '2026-11-16', '2026-11-22')"),
    ("grew", {"event": "samples", "old_first": "2026-11-09", "old_last": "2026-11-15", "new_first": WEEK["first"], "new_last": WEEK["last"],
              "least": 0.01}, "grew('samples', '2026-11-09', '2026-11-15', '2026-11-16', '2026-11-22', least := 0.01)"),
    ("weight_quantiles", {**WEEK, "service": None, "event": "cpu-clock"},
     "weight_quantiles(NULL, 'cpu-clock', '2026-11-16', '2026-11-22')"),
    ("wait_quantiles", {**WEEK, "service": None, "state": "blocked"}, "wait_quantiles(NULL, '2026-11-16', '2026-11-22')")]
DRIVER = """
import json, sys
from pyspark.sql import SparkSession
views, questions = json.load(sys.stdin)
settings = {"ui.enabled": "false", "sql.shuffle.partitions": "1", "sql.legacy.parquet.nanosAsLong": "true"}
builder = SparkSession.builder.master("local[1]")
for name, value in settings.items():
    builder = builder.config("spark." + name, value)
spark = builder.getOrCreate()
for text in views:
    spark.sql(text)
print(json.dumps([[row.asDict() for row in spark.sql(text, args=given).collect()] for text, given in questions], default=str))
"""


def statements(lake):
    """By name, of the file, for one lake."""
    text = (FLEET / "lake_spark.sql").read_text(encoding="utf-8").replace("LAKE/", f"{lake}/")
    return {name: body.strip().rstrip(";") for name, body in re.findall(r"-- name: (\w+)\n(.*?;)\n", text + "\n", re.S)}


def write_with(lake, text, day, table, **values):
    """Writes a capture, and then in its rows of a table what folded text does not say."""
    import pyarrow as pa  # pylint: disable=import-outside-toplevel
    import pyarrow.parquet as pq  # pylint: disable=import-outside-toplevel
    done = parquet.write_capture(text, lake, labels=parquet.Labels.of({"service": "built", "date": day}))
    path = lake / table / f"date={day}" / f"{done.capture}.parquet"
    with pq.ParquetFile(path) as file:
        rows = file.read()
    for name, value in values.items():
        column = pa.array([value] * rows.num_rows).cast(rows.schema.field(name).type)
        rows = rows.set_column(rows.column_names.index(name), name, column)
    pq.write_table(rows, path, compression="zstd")  # Spark's snappy takes a machine with musl for one of musl


def write_what_engines_differ_in(folder, lake):
    """Builds of an image, captures that know their hours, control groups."""
    for number, (day, hour, build) in enumerate((("2026-11-16", 10, None), ("2026-11-17", 23, None), ("2026-11-22", 10, None),
                                                 ("2026-11-18", 0, "aa"), ("2026-11-19", 0, "bb"))):
        text = folder / f"built-{number}.folded"
        text.write_text(f"main;parse {100 + 30 * number}\nmain;write {900 - number}\n")
        if build is None:
            start = datetime.datetime.fromisoformat(f"{day}T{hour:02}:00:00+00:00")
            write_with(lake, text, day, "captures", start=start)
        else:
            write_with(lake, text, day, "shares", image="app", build_id=build)
    subprocess.run([sys.executable, ROOT / "tests" / "cli" / "make_capture.py", folder / "groups.perf.data", "60", "--cgroups",
                    f"/system.slice/web.service,/docker/{'4f' * 32}"], check=True)
    labels = parquet.Labels.of({"service": "groups", "date": "2026-11-20"})
    assert parquet.write_capture(folder / "groups.perf.data", lake, labels=labels).error is None


def test_spark_sql_says_what_duckdb_says(tmp_path, captures):
    lake, chance = tmp_path / "lake", random.Random(5)
    for day, parse in (("2026-11-10", 300), ("2026-11-17", 380)):
        for number in range(6):
            text = tmp_path / f"{day}-{number}.folded"
            text.write_text(f"main;parse {parse + chance.randint(0, 20)}\nmain;write {1000 + chance.randint(0, 20)}\n")
            labels = parquet.Labels.of({"service": "cart", "date": day})
            assert parquet.write_capture(text, lake, labels=labels).error is None
    list(lakes.compact(lakes.Lake(lake)))
    for name in ("file", "threads"):
        labels = parquet.Labels.of({"service": name, "date": "2026-11-20"})
        assert parquet.write_capture(captures / f"{name}.perf.data", lake, labels=labels).error is None
    sc.write_example(tmp_path / "switches.data")
    labels = parquet.Labels.of({"service": "switches", "date": "2026-11-20"})
    assert parquet.write_capture(tmp_path / "switches.data", lake, labels=labels).error is None
    write_what_engines_differ_in(tmp_path, lake)
    texts = statements(lake)
    assert set(texts) == {"captures", "shares", *(name for name, _, _ in QUESTIONS)}
    given = json.dumps([[texts["captures"], texts["shares"]], [[texts[name], arguments] for name, arguments, _ in QUESTIONS]])
    done = subprocess.run([sys.executable, "-c", DRIVER], input=given, capture_output=True, text=True, check=False, timeout=900,
                          env=dict(os.environ, PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1"))
    assert done.returncode == 0, done.stderr[-3000:]
    answers = json.loads(done.stdout.strip().splitlines()[-1])
    database = duckdb.connect()
    database.execute(f"SET VARIABLE lake = '{lake}'")
    for name in ("lake.sql", "samples.sql", "waits.sql", "cgroups.sql"):
        database.execute((FLEET / name).read_text(encoding="utf-8"))
    for (name, _, question), answer in zip(QUESTIONS, answers):
        found = database.sql(f"FROM {question}")
        expected = [dict(zip(found.columns, row)) for row in found.fetchall()]
        assert len(answer) == len(expected) > 0, name

        def key(row):
            return [str(row[column]) for column in ("service", "name", "image", "build_id", "cgroup") if column in row]
        for one, other in zip(sorted(answer, key=key), sorted(expected, key=key)):
            for column, value in other.items():
                same = one[column] == pytest.approx(float(value), rel=1e-9) if isinstance(value, (int, float)) else (
                    str(one[column]) == str(value))
                assert same, (name, column, one, other)
