"""The comparison that `stackpack diff` makes, of sums that the tables of many captures have."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import numpy
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset

from ._errors import UsageError
from ._lake import Lake
from ._library import check, ffi, lib, struct, text_of
from ._work import VERDICTS

#: Columns that a comparison takes, as the table `shares` has them; `is_new`: of the side after.
_TAKEN = ("capture", "is_new", "value", "samples", "squares", "name", "image", "build_id", "self", "total", "unit")
_FIGURE = ("old_value", "new_value", "old_share", "new_share", "low", "high", "least_visible", "p", "verdict")
_RESULT = (("name", pa.string()), ("image", pa.string()), ("figure", pa.string()), ("change", pa.float64()),
           *((name, pa.string() if name == "verdict" else pa.float64()) for name in _FIGURE), ("level", pa.float64()))


def _comparison(rows: pa.Table, event: str) -> Any:
    """The library's comparison of the captures of two sides by the sums of their functions.

    `rows` has the columns of `shares` that are not idle, and `is_new`; a capture whose `squares` are null is taken for one whose
    samples weigh the same. Raises UsageError where a side has no samples.
    """
    functions, numbers = _numbered(rows)
    run_of = _encoded(rows["capture"])[0]
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
    made = ffi.new("stackpack_diff **")
    check(lib.stackpack_compare_counts(given, options, made))
    return ffi.gc(made[0], lib.stackpack_free_diff)


def _run(row: Dict[str, Any], weighted: bool) -> Tuple[int, int, int, float]:
    """A stackpack_counted_run. A row of folded text is one that stands for as many samples as it counts for."""
    value, samples, squares = row["value"], row["samples"], row["squares"]
    if not weighted:
        return int(row["is_new"]), value, value, value
    return int(row["is_new"]), value, samples, value**2 / max(samples, 1) if squares is None else squares


def _encoded(column: pa.ChunkedArray) -> Tuple[Any, List[Optional[str]]]:
    """The number of the text of each row, from 0 on without a gap, and the texts; null is one of them."""
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # of no chunk, in older versions
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], pa.string())
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    # Of a dictionary that other rows share few texts are used here.
    used, codes = numpy.unique(array.indices.fill_null(-1).to_numpy(zero_copy_only=False), return_inverse=True)
    return codes.reshape(-1), array.dictionary.take(pa.array([None if code < 0 else code for code in used.tolist()], pa.int64())).to_pylist()


def _numbered(rows: pa.Table) -> Tuple[List[Tuple[Optional[str], ...]], Any]:
    """Functions by name, image and build, and the number of that of each row."""
    (names, name_texts), (images, image_texts), (builds, build_texts) = (_encoded(rows[name]) for name in ("name", "image", "build_id"))
    sizes = len(image_texts), len(build_texts)
    keys = (names.astype(numpy.int64) * sizes[0] + images) * sizes[1] + builds
    distinct, numbers = numpy.unique(keys, return_inverse=True)
    return [(name_texts[key // sizes[1] // sizes[0]], image_texts[key // sizes[1] % sizes[0]], build_texts[key % sizes[1]])
            for key in distinct.tolist()], numbers.reshape(-1)


def _summed(column: pa.ChunkedArray, runs: Any, functions: Any, count: int) -> Tuple[Any, Any]:
    """Sums over processes and threads: keys of run and function, in order, and what they have."""
    keys = runs.astype(numpy.int64) * max(count, 1) + functions
    order = numpy.argsort(keys, kind="stable")
    begins = numpy.flatnonzero(numpy.concatenate(([True], keys[order][1:] != keys[order][:-1]))) if len(keys) else order
    values = column.to_numpy().astype(numpy.int64)[order]
    return keys[order][begins], numpy.add.reduceat(values, begins) if len(begins) else values


#: A stackpack_diff_figure, as numpy reads it.
_FIGURE_TYPE = numpy.dtype([(name, numpy.uint64 if name == "verdict" else numpy.float64)
                            for name, _ in ffi.typeof("stackpack_diff_figure").fields])


def compared(rows: pa.Table, event: str) -> pa.Table:
    """Compares the captures of two sides: two rows a function, its self and its total; the surest differences first."""
    comparison = _comparison(rows, event)
    head = struct("stackpack_event_diff")
    check(lib.stackpack_get_event_diff(comparison, 0, head))
    # An object for each of some thousand functions of each service would take longer than the comparison.
    made = ffi.new("stackpack_diff_row[]", head.rows)
    for number in range(head.rows):
        made[number].struct_size = ffi.sizeof("stackpack_diff_row")
        check(lib.stackpack_get_diff_row(comparison, 0, number, made + number))
    return _table_of(made, head.rows, head.level)


def _table_of(made: Any, count: int, level: float) -> pa.Table:
    size = ffi.sizeof("stackpack_diff_row")
    places = {name: field.offset for name, field in ffi.typeof("stackpack_diff_row").fields}
    raw = numpy.frombuffer(ffi.buffer(made, count * size), numpy.uint8).reshape(count, size)
    figures = numpy.stack([raw[:, places[of]:places[of] + _FIGURE_TYPE.itemsize].copy().view(_FIGURE_TYPE)[:, 0] for of in ("self", "total")],
                          axis=1).reshape(-1)
    verdicts = pa.array(VERDICTS).take(pa.array(numpy.minimum(figures["verdict"], len(VERDICTS) - 1)))
    columns: Dict[str, Any] = {
        "name": pa.array([text_of(made[row].name) for row in range(count)], pa.string()),
        "image": pa.array([text_of(made[row].module) or None for row in range(count)], pa.string()),
        "figure": pa.array(["self", "total"] * count, pa.string()), "change": figures["new_share"] - figures["old_share"],
        "level": numpy.full(2 * count, level), **{name: figures[name] for name in _FIGURE}, "verdict": verdicts}
    twice = pa.array(numpy.repeat(numpy.arange(count), 2))
    columns.update({name: columns[name].take(twice) for name in ("name", "image")})
    return pa.table({name: pa.array(columns[name], kind) for name, kind in _RESULT})


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
    rows = _table(lake, "shares", ["service", "date", "part", *columns], chosen).unify_dictionaries()
    # Of each capture the rows in the part that counts.
    part_of = pa.array([best.get(capture, (0, None))[1] for capture in _dictionary(rows["capture"])], pa.string())
    parts = _dictionary(rows["part"])
    number_of = {part: number for number, part in enumerate(parts)}
    right = numpy.array([number_of.get(part, -1) for part in part_of.to_pylist()], dtype=numpy.int64)
    captures_of, parts_of = (_codes(rows[name]) for name in ("capture", "part"))
    return rows.filter(pa.array(right[captures_of] == parts_of)) if rows.num_rows else rows


def _dictionary(column: pa.ChunkedArray) -> List[str]:
    """Of a column whose chunks have the same one."""
    return list(column.chunk(0).dictionary.to_pylist()) if column.num_chunks else []


def _codes(column: pa.ChunkedArray) -> Any:
    """Numbers in that; -1: null."""
    return numpy.concatenate([chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False) for chunk in column.chunks] or [numpy.empty(0, numpy.int64)])


def _table(lake: Lake, table: str, columns: List[str], chosen: Any) -> pa.Table:
    # The name of the folder says the day.
    kind = pa.dataset.partitioning(pa.schema([("date", pa.string())]), flavor="hive")
    files = [lake.store.full(path) for path in lake.store.sizes(table) if path.endswith(".parquet")]
    if not files:
        raise UsageError("no captures are here", path=lake.store.place)
    # Texts repeat over and over: as numbers they are compared once for each text.
    texts = [name for name in columns if name in ("capture", "part", "service", "name", "image", "build_id", "unit")]
    options = pa.dataset.ParquetReadOptions(dictionary_columns=texts)
    found = pa.dataset.dataset(files, filesystem=lake.store.system, format=pa.dataset.ParquetFileFormat(read_options=options), partitioning=kind,
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
    names, numbers = _dictionary(rows["service"]), _codes(rows["service"])
    order = numpy.argsort(numbers, kind="stable")
    rows, numbers = rows.take(pa.array(order)), numbers[order]
    found = []
    for number in sorted(numpy.unique(numbers).tolist(), key=lambda number: str(None if number < 0 else names[number])):
        begin, end = numpy.searchsorted(numbers, (number, number + 1)).tolist()
        of_service = rows.slice(begin, end - begin)
        if len(of_service["is_new"].unique()) == 2:
            table = compared(of_service, event)
            service_of = pa.array([None if number < 0 else names[number]] * table.num_rows, pa.string())
            found.append(table.add_column(0, "service", service_of))
    nothing = pa.table({name: pa.array([], kind) for name, kind in (("service", pa.string()), *_RESULT)})
    return pa.concat_tables(found) if found else nothing


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
        results, ends = [], [0]
        for rows, event in zip(lists, events.to_pylist()):
            table = pa.Table.from_struct_array(rows.values)
            if rows.is_valid and len(table["is_new"].unique()) == 2:
                results.append(compared(table, event))
            ends.append(sum(each.num_rows for each in results))
        kind = pa.struct(list(_RESULT))
        joined = pa.concat_tables(results).combine_chunks().to_struct_array() if results else []
        values = pa.concat_arrays(joined.chunks) if isinstance(joined, pa.ChunkedArray) else pa.array(joined, kind)
        return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values)

    connection.create_function("stackpack_diff", compare, [connection.type(taken), "VARCHAR"], connection.type(given), type="arrow")
