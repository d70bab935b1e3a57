#!/usr/bin/env python3
"""Samples of a file into pyarrow, pandas, Polars and DuckDB: processor time of the process for each sample, all its threads.

    arrow_engines.py FILE.spk [--repeat 3]

Each takes the stream of the table `samples` to its end: pyarrow batch by batch, pandas and Polars into a frame, DuckDB into
an aggregate. The first reading, which numbers callstacks, is not counted. The least of the repetitions is shown.
"""
import argparse
import time

import duckdb
import pandas
import polars
import pyarrow as pa

import stackpack

COLUMNS = {"all columns": None, "time, event, callstack": ["time_ns", "event", "callstack"], "time, event": ["time_ns", "event"]}


def into_pyarrow(table):
    return sum(batch.num_rows for batch in pa.RecordBatchReader.from_stream(table))


def into_pandas(table):
    return len(pandas.DataFrame.from_arrow(table))


def into_polars(table):
    return polars.DataFrame(table).height


def into_duckdb(stream):
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    columns = pa.RecordBatchReader.from_stream(stream).schema.names
    sums = ", ".join(f"max({name})" for name in columns)
    return connection.sql(f"SELECT count(*), {sums} FROM stream").fetchall()[0][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    with stackpack.open(given.file) as file:
        samples = file.summary["samples"]
        into_pyarrow(file.samples(columns=["callstack"], any_order=True))
        for title, columns in COLUMNS.items():
            for any_order in (False, True):
                for name in ("pyarrow", "pandas", "polars", "duckdb"):
                    least = float("inf")
                    for _ in range(given.repeat):
                        table = file.samples(columns=columns, any_order=any_order)
                        begin = time.process_time()
                        rows = globals()[f"into_{name}"](table)
                        least = min(least, time.process_time() - begin)
                        assert rows == samples, (rows, samples)
                    order = "any order" if any_order else "by time"
                    print(f"{title:24} {order:10} {name:8} {least / samples * 1e9:7.1f} ns {samples / least / 1e6:6.2f} M/s", flush=True)


if __name__ == "__main__":
    main()
