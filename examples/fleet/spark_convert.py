#!/usr/bin/env python3
"""Captures to .spk files and Parquet tables, on Spark.

    spark-submit spark_convert.py CAPTURES PACKED LAKE [--tasks N] [--tables A,B]

CAPTURES, PACKED and LAKE are folders that every worker sees, or URLs of an object store. A capture is a task's work of its
own, with the library in the process of the worker; stackpack.fleet sees to it that a task that is lost and tried again, or
a job that is started again, counts nothing twice. LAKE/errors has a row for each capture that cannot be read, written anew
by each run. Status 2: there are such; 0: all is well.
"""
import argparse
import collections
import dataclasses
import sys

import pyarrow as pa
from pyspark.sql import SparkSession

from stackpack import fleet
from stackpack.parquet import TABLES

RESULT = pa.schema([("input", pa.string()), ("packed", pa.string()), ("done", pa.string()), ("capture", pa.string()),
                    ("code", pa.int32()), ("offset", pa.int64()), ("text", pa.string())])
RESULT_OF_SPARK = "input string, packed string, done string, capture string, code int, offset long, text string"


def packing(packed, lake, tables, schema):
    """A function for mapInArrow: captures in, what became of them out."""
    def pack(batches):
        for batch in batches:
            for capture, relative in zip(batch["input"].to_pylist(), batch["relative"].to_pylist()):
                row = dataclasses.asdict(fleet.pack(capture, relative, packed, lake, tables=tables))
                yield pa.RecordBatch.from_pylist([row], schema)
    return pack


def main():
    """Prints what became of how many."""
    parser = argparse.ArgumentParser(description="captures to .spk files and Parquet tables, on Spark")
    parser.add_argument("captures")
    parser.add_argument("packed")
    parser.add_argument("lake")
    parser.add_argument("--tasks", type=int, default=0, help="how many; 0: one for each capture, at most 10,000")
    parser.add_argument("--tables", default=",".join(TABLES), help="besides `captures`; all of them by default")
    given = parser.parse_args()
    captures = fleet.files_below(given.captures)
    if not captures:
        sys.exit(f"spark_convert: no file in {given.captures}")
    spark = SparkSession.builder.appName("stackpack convert").getOrCreate()
    tasks = given.tasks or min(len(captures), 10_000)
    rows = spark.sparkContext.parallelize(captures, tasks).toDF("input string, relative string")
    tables = [name for name in given.tables.split(",") if name]
    # Counted and written from what one run of the tasks found.
    done = rows.mapInArrow(packing(given.packed, given.lake, tables, RESULT), RESULT_OF_SPARK).cache()
    counts = collections.Counter(row["done"] for row in done.select("done").collect())
    # zstd as the other tables; Spark's own choice, snappy, fails where musl's loader is installed beside glibc's.
    done.where("done = 'failed'").coalesce(1).write.mode("overwrite").parquet(given.lake.rstrip("/") + "/errors",
                                                                            compression="zstd")
    print(" ".join(f"{name} {counts[name]}" for name in ("written", "skipped", "failed")))
    spark.stop()
    return 2 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
