#!/usr/bin/env python3
"""Brings an Iceberg table up to date with the table `shares` of a fleet: iceberg_sync.py LAKE CATALOG_URI WAREHOUSE

    iceberg_sync.py lake sqlite:///catalog.db file:///data/warehouse

Captures that are new, were written anew or were deleted since the last run change in one commit, so that a reader sees all of a
run or nothing. It may be run again at any time. Rows of deleted captures stay in older snapshots until those are expired. Needs
pyiceberg[sql-sqlite,pyarrow].
"""
import sys

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.expressions import In

from stackpack import lake as lakes

NAME = "stackpack.shares"


def rows_of(lake):
    """Rows that count, with the generation of their capture."""
    def whole(table):
        paths = [path for path in lake.store.sizes(table) if path.endswith(".parquet")]
        found = []
        for path in paths:
            with lake.store.parquet(path) as file:
                rows = file.read()
            date = path.split("/")[1].partition("=")[2]
            found.append(rows.append_column("date", pa.array([date] * rows.num_rows, pa.string())).replace_schema_metadata(None))
        return pa.concat_tables(found, promote_options="default") if found else None

    captures, shares = whole("captures"), whole("shares")
    if captures is None or shares is None:
        return None
    holds = {}
    for row in captures.select(["capture", "generation", "part"]).to_pylist():
        holds[row["capture"]] = max((row["generation"], row["part"]), holds.get(row["capture"], (-1, "")))
    keys = pc.binary_join_element_wise(shares["capture"], shares["part"], " ")
    shares = shares.filter(pc.is_in(keys, pa.array([f"{capture} {part}" for capture, (_, part) in holds.items()], pa.string())))
    generations = pa.array([holds[capture][0] for capture in shares["capture"].to_pylist()], pa.int64())
    # Where the rows are is no matter of theirs: compaction changes nothing here.
    return shares.drop_columns(["part"]).append_column("generation", generations)


def sync(lake, catalog):
    """One run: how many captures were written and taken away."""
    rows = rows_of(lake)
    try:
        table = catalog.load_table(NAME)
    except NoSuchTableError:
        if rows is None:
            return 0, 0
        catalog.create_namespace_if_not_exists(NAME.split(".", maxsplit=1)[0])
        table = catalog.create_table(NAME, schema=rows.schema)
    known = {(row["capture"], row["generation"])
             for row in table.scan(selected_fields=("capture", "generation")).to_arrow().to_pylist()}
    there = set() if rows is None else {(row["capture"], row["generation"]) for row in rows.select(["capture", "generation"]).to_pylist()}
    fresh, gone = {capture for capture, _ in there - known}, {capture for capture, _ in known - there}
    if not fresh and not gone:
        return 0, 0
    with table.transaction() as change:
        if gone:
            change.delete(In("capture", sorted(gone)))
        if fresh:
            change.append(rows.filter(pc.is_in(rows["capture"], pa.array(sorted(fresh), pa.string()))))
    return len(fresh), len(gone - fresh)


def main():
    """The command."""
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    catalog = SqlCatalog("stackpack", uri=sys.argv[2], warehouse=sys.argv[3])
    written, taken = sync(lakes.open_lake(sys.argv[1]), catalog)
    print(f"written {written}, taken away {taken}")


if __name__ == "__main__":
    main()
