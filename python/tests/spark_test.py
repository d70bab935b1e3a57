"""The examples for Spark, on a local Spark whose workers are processes of their own."""
import hashlib
import os
import pathlib
import subprocess
import sys

import pytest

import stackpack

pytest.importorskip("pyspark")
duckdb = pytest.importorskip("duckdb")

ROOT = pathlib.Path(__file__).parents[2]
COUNT = 24


def test_spark_gives_what_one_machine_gives(tmp_path, captures):
    subprocess.run([sys.executable, ROOT / "bench" / "capture_variants.py", captures / "file.perf.data",
                    tmp_path / "captures", "--count", str(COUNT)], check=True)
    (tmp_path / "captures" / "broken.data").write_bytes(b"PERFILE2 and no more")
    command = [pathlib.Path(sys.executable).parent / "spark-submit", "--master", "local[2,4]", "--conf",
               "spark.ui.enabled=false", ROOT / "python" / "tests" / "spark_session.py", tmp_path, "5"]
    environment = dict(os.environ, PYSPARK_PYTHON=sys.executable, PYSPARK_DRIVER_PYTHON=sys.executable,
                       SPARK_LOCAL_IP="127.0.0.1")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    lines = done.stdout.strip().splitlines()

    # A task that was tried again found what the killed worker had written.
    killed = [line for line in lines if line.startswith("killed after ")]
    assert len(killed) == 1 and int(killed[0].split()[-1]) < COUNT, lines
    first, second = [line.split() for line in lines if line.startswith("written ")]
    assert int(first[1]) + int(first[3]) == COUNT and first[5] == "1"
    assert second == ["written", "0", "skipped", str(COUNT), "failed", "1"]
    assert [line for line in lines if line.startswith("status")] == ["status 2", "status 2", "status 0"]

    lake, packed = tmp_path / "lake", tmp_path / "packed"
    errors = duckdb.sql(f"SELECT input, code, \"offset\" FROM '{lake}/errors/*.parquet'").fetchall()
    assert [(pathlib.Path(name).name, code, offset) for name, code, offset in errors] == [
        ("broken.data", stackpack.UnsupportedFile.code, 8)]
    assert duckdb.sql(f"SELECT count(*), count(DISTINCT capture) FROM '{lake}/captures/**/*.parquet'").fetchall() == [
        (COUNT, COUNT)]
    files = sorted(packed.rglob("*.spk"))
    assert len(files) == COUNT
    stackpack.merge(files, tmp_path / "one.spk")
    assert digest(tmp_path / "spark.spk") == digest(tmp_path / "one.spk")
    with stackpack.open(tmp_path / "one.spk") as file:
        rows = file.top().to_arrow().to_pylist()
        top = [(row["name"], row["self"], row["total"], pytest.approx(row["self"] / row["value"])) for row in rows]
        assert file.summary["samples"] == duckdb.sql(
            f"SELECT count(*) FROM '{lake}/samples/**/*.parquet'").fetchall()[0][0]
    found = [line.split("\t")[1:] for line in lines if line.startswith("row\t")]
    assert sorted((name, int(own), int(total), float(share)) for name, _, own, total, share in found) == sorted(top)


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
