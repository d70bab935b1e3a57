"""The comparison that `stackpack diff` makes, of sums that the tables of many captures have."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import numpy
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset

from ._errors import UsageError
from ._lake import Lake
from ._library import check, ffi, lib, struct
from ._work import EventDiff, event_diffs

#: Columns that a comparison takes, as the table `shares` has them; `is_new`: of the side after.
_TAKEN = ("capture", "is_new", "value", "samples", "squares", "name", "image", "build_id", "self", "total", "unit")
_FIGURE = ("old_value", "new_value", "old_share", "new_share", "low", "high", "least_visible", "p", "verdict")
_RESULT = (("name", pa.string()), ("image", pa.string()), ("figure", pa.string()), ("change", pa.float64()),
           *((name, pa.string() if name == "verdict" else pa.float64()) for name in _FIGURE), ("level", pa.float64()))


def compare_rows(rows: pa.Table, event: str, accept_single_run: bool = False, mistakes: float = 0.0) -> EventDiff:
    """Compares the captures of two sides by the sums of their functions.

    `rows` has the columns of `shares` that are not idle, and `is_new`; a capture whose `squares` are null is taken for one whose
    samples weigh the same. Raises UsageError where a side has no samples.
    """
    functions, numbers = _numbered(rows)
    captures = rows["capture"].combine_chunks().dictionary_encode()
    run_of = captures.indices.to_numpy(zero_copy_only=False)
    first = numpy.unique(run_of, return_index=True)[1]
    runs = rows.select(["is_new", "value", "samples", "squares"]).take(pa.array(first)).to_pylist()
    own, total = (_summed(rows[name], run_of, numbers, len(functions)) for name in ("self", "total"))
    given = struct("stackpack_counted")
    unit: str = (rows["unit"][0].as_py() if rows.num_rows else None) or "samples"
    weighted = unit != "samples"
    c_runs = ffi.new("stackpack_counted_run[]", [_run(row, weighted) for row in runs])
    held = [[ffi.NULL if text is None else ffi.new("char[]", text.encode()) for text in function] for function in functions]
    c_functions = ffi.new("stackpack_counted_function[]", [tuple(texts) for texts in held])
    keys, own_sums = own
    counts = numpy.stack((keys // max(len(functions), 1), keys % max(len(functions), 1), own_sums, total[1]), axis=1).astype(
        numpy.uint64)
    c_counts = ffi.from_buffer("stackpack_function_count[]", numpy.ascontiguousarray(counts))
    texts = [ffi.new("char[]", event.encode()), ffi.new("char[]", unit.encode()) if weighted else ffi.NULL]
    given.event, given.measure = texts
    given.runs, given.run_count = c_runs, len(runs)
    given.functions, given.function_count = c_functions, len(functions)
    given.counts, given.count_count = c_counts, len(counts)
    options = struct("stackpack_diff_options")
    options.accept_single_run = accept_single_run
    options.mistakes = mistakes
    made = ffi.new("stackpack_diff **")
    check(lib.stackpack_compare_counts(given, options, made))
    [found] = event_diffs(ffi.gc(made[0], lib.stackpack_free_diff))
    return found


def _run(row: Dict[str, Any], weighted: bool) -> Tuple[int, int, int, float]:
    """A stackpack_counted_run. A row of folded text is one that stands for as many samples as it counts for."""
    value, samples, squares = row["value"], row["samples"], row["squares"]
    if not weighted:
        return int(row["is_new"]), value, value, value
    return int(row["is_new"]), value, samples, value**2 / max(samples, 1) if squares is None else squares


def _numbered(rows: pa.Table) -> Tuple[List[Tuple[Optional[str], ...]], Any]:
    """Functions by name, image and build, and the number of that of each row."""
    encoded = [rows[name].combine_chunks().dictionary_encode() for name in ("name", "image", "build_id")]
    codes = [each.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(numpy.int64) + 1 for each in encoded]
    sizes = [len(each.dictionary) + 1 for each in encoded]
    keys = (codes[0] * sizes[1] + codes[1]) * sizes[2] + codes[2]
    distinct, numbers = numpy.unique(keys, return_inverse=True)
    texts = [[None, *each.dictionary.to_pylist()] for each in encoded]
    return [(texts[0][key // sizes[2] // sizes[1]], texts[1][key // sizes[2] % sizes[1]], texts[2][key % sizes[2]])
            for key in distinct.tolist()], numbers


def _summed(column: pa.ChunkedArray, runs: Any, functions: Any, count: int) -> Tuple[Any, Any]:
    """Sums over processes and threads: keys of run and function, in order, and what they have."""
    keys = runs.astype(numpy.int64) * max(count, 1) + functions
    order = numpy.argsort(keys, kind="stable")
    begins = numpy.flatnonzero(numpy.concatenate(([True], keys[order][1:] != keys[order][:-1]))) if len(keys) else order
    values = column.to_numpy().astype(numpy.int64)[order]
    return keys[order][begins], numpy.add.reduceat(values, begins) if len(begins) else values


def table_of(event: EventDiff, extra: Optional[Dict[str, Any]] = None) -> pa.Table:
    """Two rows a function: its self and its total; the surest differences first."""
    columns: Dict[str, List[Any]] = {name: [] for name, _ in _RESULT}
    for row in event.rows:
        for figure, of in ((row.self, "self"), (row.total, "total")):
            values = {"name": row.name, "image": row.module or None, "figure": of, "change": figure.new_share - figure.old_share,
                      "level": event.level, **{name: getattr(figure, name) for name in _FIGURE}}
            for name, value in values.items():
                columns[name].append(value)
    rows = pa.table({name: pa.array(columns[name], kind) for name, kind in _RESULT})
    for name, value in (extra or {}).items():
        rows = rows.add_column(0, name, pa.array([value] * rows.num_rows, pa.string()))
    return rows


def _shares_of(lake: Lake, event: str, days: List[Tuple[str, str]], service: Optional[str]) -> pa.Table:
    """Rows of `shares` that count and are not idle, of some days."""
    captures = _table(lake, "captures", ["capture", "part", "generation"], None)
    best: Dict[str, Tuple[int, str]] = {}
    for row in captures.to_pylist():
        best[row["capture"]] = max((row["generation"], row["part"]), best.get(row["capture"], (-1, "")))
    date = pc.field("date")
    chosen = (pc.field("event") == event) & ~pc.field("idle")
    within = [(date >= first) & (date <= last) for first, last in days]
    chosen = chosen & (within[0] | within[1])
    if service is not None:
        chosen = chosen & (pc.field("service") == service)
    columns = [name for name in _TAKEN if name != "is_new"]
    rows = _table(lake, "shares", ["service", "date", "part", *columns], chosen)
    keys = pc.binary_join_element_wise(rows["capture"], rows["part"], " ")
    return rows.filter(pc.is_in(keys, pa.array([f"{capture} {part}" for capture, (_, part) in best.items()], pa.string())))


def _table(lake: Lake, table: str, columns: List[str], chosen: Any) -> pa.Table:
    # The name of the folder says the day.
    kind = pa.dataset.partitioning(pa.schema([("date", pa.string())]), flavor="hive")
    files = [lake.store.full(path) for path in lake.store.sizes(table) if path.endswith(".parquet")]
    if not files:
        raise UsageError("no captures are here", path=lake.store.place)
    found = pa.dataset.dataset(files, filesystem=lake.store.system, format="parquet", partitioning=kind,
                               partition_base_dir=lake.store.full(table))
    return found.to_table(columns=columns, filter=chosen)


def changes(lake: Lake, event: str, old: Tuple[str, str], new: Tuple[str, str], *, service: Optional[str] = None) -> pa.Table:
    """What `stackpack diff` says of the captures of two spans of days, for each service: a pyarrow.Table.

    Args:
        event: as the table `shares` spells it.
        old, new: first and last day of each, inclusive, as '2026-11-09'.
        service: only this one.

    Columns: service, name, image (as they are the same in both builds), figure ('self' or 'total'), change, old_value, new_value,
    old_share, new_share, low, high (of the change), least_visible, p, verdict, level. A service with samples on one side alone is
    left out.
    """
    rows = _shares_of(lake, event, [old, new], service)
    rows = rows.append_column("is_new", pc.and_(pc.greater_equal(rows["date"], new[0]), pc.less_equal(rows["date"], new[1])))
    found = []
    for each in sorted(set(rows["service"].to_pylist()), key=str):
        fits = pc.is_null(rows["service"]) if each is None else pc.equal(rows["service"], each)
        of_service = rows.filter(fits)
        if len(of_service["is_new"].unique()) == 2:
            found.append(table_of(compare_rows(of_service, event), {"service": each}))
    return pa.concat_tables(found) if found else table_of(EventDiff(event, 0, 0, 0, 0, []), {"service": None})


def register(connection: Any) -> None:
    """Gives a DuckDB connection the function `stackpack_diff`, which examples/fleet/verdicts.sql has for its macros.

    It takes a list of structs (capture, is_new, value, samples, squares, name, image, build_id, self, total, unit) and the event,
    and gives a list of structs, two for each function. Needs duckdb 1.1 or later.
    """
    fields = {"capture": "VARCHAR", "is_new": "BOOLEAN", "value": "BIGINT", "samples": "BIGINT", "squares": "DOUBLE", "name": "VARCHAR",
              "image": "VARCHAR", "build_id": "VARCHAR", "self": "BIGINT", "total": "BIGINT", "unit": "VARCHAR"}
    taken = "STRUCT(" + ", ".join(f'"{name}" {kind}' for name, kind in fields.items()) + ")[]"
    given = "STRUCT(" + ", ".join(f'"{name}" {"VARCHAR" if kind == pa.string() else "DOUBLE"}' for name, kind in _RESULT) + ")[]"

    def compare(lists: Any, events: Any) -> Any:
        results = []
        for rows, event in zip(lists, events.to_pylist()):
            table = pa.Table.from_struct_array(rows.values)
            two = rows.is_valid and len(table["is_new"].unique()) == 2
            results.append(table_of(compare_rows(table, event)).to_pylist() if two else [])
        return pa.array(results, pa.list_(pa.struct(list(_RESULT))))

    connection.create_function("stackpack_diff", compare, [connection.type(taken), "VARCHAR"], connection.type(given), type="arrow")
