#!/usr/bin/env python3
"""Many .spk files to one, as a tree of merges on Spark.

    spark-submit spark_merge.py PACKED SCRATCH OUT.spk [--fan-in 32]

Groups of at most --fan-in files are merged by tasks, then their outputs, until one is left: the bytes are those of one
`stackpack merge` of all. PACKED, SCRATCH and OUT.spk are places that every worker sees, or URLs of an object store. A file
in SCRATCH is named by what it was made of, so that a job that is started again goes on where it was.
"""
import argparse
import sys

from pyspark.sql import SparkSession

from stackpack import fleet


def main():
    """Prints a line a round."""
    parser = argparse.ArgumentParser(description="a tree of merges, on Spark")
    parser.add_argument("packed")
    parser.add_argument("scratch")
    parser.add_argument("output")
    parser.add_argument("--fan-in", type=int, default=32)
    given = parser.parse_args()
    files = [place for place, _ in fleet.files_below(given.packed, ".spk")]
    if not files:
        sys.exit(f"spark_merge: no .spk file in {given.packed}")
    spark = SparkSession.builder.appName("stackpack merge").getOrCreate()
    scratch = given.scratch  # what the tasks take along
    while True:
        groups = fleet.groups_of(files, given.fan_in)
        print(f"{len(files)} files in {len(groups)} merges", flush=True)
        rows = spark.sparkContext.parallelize(groups, len(groups))
        files = rows.map(lambda group: fleet.merge_group(group, scratch)).collect()
        if len(files) == 1:
            break
    fleet.finish_merge(files[0], given.output)
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
