"""The comparison that `stackpack diff` makes, of sums that the tables of many captures have."""
from __future__ import annotations

import concurrent.futures
import functools
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy
import pyarrow as pa
import pyarrow.dataset

from ._counts import Counts, Run, counted, files_by_part, portions
from ._errors import UsageError
from ._lake import Lake
from ._library import check, ffi, lib, struct
from ._store import Store
from ._work import VERDICTS

_FIGURE = ("old_value", "new_value", "old_share", "new_share", "low", "high", "least_visible", "p", "verdict")
_RESULT = (("name", pa.string()), ("image", pa.string()), ("figure", pa.string()), ("change", pa.float64()),
           *((name, pa.string() if name == "verdict" else pa.float64()) for name in _FIGURE), ("level", pa.float64()))
#: Services that are compared at once: what is read of each is in memory.
_AT_ONCE = 2


def _comparison(counts: Counts, event: str) -> Any:
    """The library's comparison. Of a run whose `squares` are not known all samples weigh the same."""
    given = struct("stackpack_counted")
    weighted = counts.unit not in (None, "", "samples")
    samples = counts.samples if weighted else counts.value
    squares = counts.squares if weighted else counts.value.astype(numpy.float64)
    squares = numpy.where(numpy.isnan(squares), counts.value.astype(numpy.float64)**2 / numpy.maximum(samples, 1), squares)
    c_runs = ffi.new("stackpack_counted_run[]", list(zip(counts.is_new.tolist(), counts.value.tolist(), samples.tolist(), squares.tolist())))
    held = [[ffi.NULL if text is None else ffi.new("char[]", text.encode()) for text in function] for function in counts.functions]
    c_functions = ffi.new("stackpack_counted_function[]", [tuple(texts) for texts in held])
    rows = numpy.ascontiguousarray(counts.rows)
    c_counts = ffi.from_buffer("stackpack_function_count[]", rows)
    texts = [ffi.new("char[]", event.encode()), ffi.new("char[]", counts.unit.encode()) if weighted and counts.unit else ffi.NULL]
    given.event, given.measure = texts
    given.runs, given.run_count = c_runs, len(counts.is_new)
    given.functions, given.function_count = c_functions, len(held)
    given.counts, given.count_count = c_counts, len(rows)
    options = struct("stackpack_diff_options")
    made = ffi.new("stackpack_diff **")
    check(lib.stackpack_compare_counts(given, options, made))
    return ffi.gc(made[0], lib.stackpack_free_diff)


#: A stackpack_diff_figure, as numpy reads it.
_FIGURE_TYPE = numpy.dtype([(name, numpy.uint64 if name == "verdict" else numpy.float64)
                            for name, _ in ffi.typeof("stackpack_diff_figure").fields])


def compared(counts: Counts, event: str) -> pa.Table:
    """Compares the captures of two sides: two rows a function, its self and its total; the surest differences first.

    Raises UsageError where a side has no samples, or counts do not add up.
    """
    comparison = _comparison(counts, event)
    head = struct("stackpack_event_diff")
    check(lib.stackpack_get_event_diff(comparison, 0, head))
    # An object for each of some thousand functions of each service would take longer than the comparison.
    made = ffi.new("stackpack_diff_row[]", head.rows)
    size = ffi.sizeof("stackpack_diff_row")
    raw = numpy.frombuffer(ffi.buffer(made, head.rows * size), numpy.uint8).reshape(head.rows, size)
    raw[:, :8].view(numpy.uint64)[:] = size  # struct_size
    for number in range(head.rows):
        if lib.stackpack_get_diff_row(comparison, 0, number, made + number) != lib.STACKPACK_OK:
            check(lib.stackpack_get_diff_row(comparison, 0, number, made + number))
    return _table_of(raw, head.level)


def _texts(raw: Any, place: int) -> List[str]:
    """Of the stackpack_text at this byte of each row."""
    pointers, sizes = (raw[:, at:at + 8].copy().view(numpy.uint64)[:, 0].tolist() for at in (place, place + 8))
    unpack, cast = ffi.unpack, functools.partial(ffi.cast, ffi.typeof("char *"))
    return [unpack(cast(pointer), size).decode("utf-8", "replace") if size else "" for pointer, size in zip(pointers, sizes)]


def _table_of(raw: Any, level: float) -> pa.Table:
    count = len(raw)
    places = {name: field.offset for name, field in ffi.typeof("stackpack_diff_row").fields}
    figures = numpy.stack([raw[:, places[of]:places[of] + _FIGURE_TYPE.itemsize].copy().view(_FIGURE_TYPE)[:, 0] for of in ("self", "total")],
                          axis=1).reshape(-1)
    verdicts = pa.array(VERDICTS).take(pa.array(numpy.minimum(figures["verdict"], len(VERDICTS) - 1)))
    columns: Dict[str, Any] = {
        "name": pa.array(_texts(raw, places["name"]), pa.string()),
        "image": pa.array([text or None for text in _texts(raw, places["module"])], pa.string()),
        "figure": pa.array(["self", "total"] * count, pa.string()), "change": figures["new_share"] - figures["old_share"],
        "level": numpy.full(2 * count, level), **{name: figures[name] for name in _FIGURE}, "verdict": verdicts}
    twice = pa.array(numpy.repeat(numpy.arange(count), 2))
    columns.update({name: columns[name].take(twice) for name in ("name", "image")})
    return pa.table({name: pa.array(columns[name], kind) for name, kind in _RESULT})


def _latest(lake: Lake) -> List[Tuple[Optional[str], str, str, str]]:
    """Service, capture, part and date of each capture, from the row that counts."""
    files = [lake.store.full(path) for path in lake.store.sizes("captures") if path.endswith(".parquet")]
    if not files:
        raise UsageError("no captures are here", path=lake.store.place)
    # The name of the folder says the day.
    kind = pa.dataset.partitioning(pa.schema([("date", pa.string())]), flavor="hive")
    schema = pa.schema([("date", pa.string()), *((name, pa.string()) for name in ("service", "capture", "part")), ("generation", pa.int64())])
    found = pa.dataset.dataset(files, schema=schema, filesystem=lake.store.system, format="parquet", partitioning=kind,
                               partition_base_dir=lake.store.full("captures")).to_table()
    best: Dict[str, Tuple[int, str, str, Optional[str]]] = {}
    for capture, part, generation, date, service in zip(*(found[name].to_pylist() for name in ("capture", "part", "generation", "date", "service"))):
        row = (generation or 0, part or capture, date, service)
        if capture not in best or row[:2] > best[capture][:2]:
            best[capture] = row
    return [(service, capture, part, date) for capture, (_, part, date, service) in best.items()]


def _compared_all(store: Store, event: str, services: Sequence[List[Run]]) -> Iterator[Optional[pa.Table]]:
    """The comparison of each service; None: one side has no samples. Each is read by itself, and no more than some are at once."""
    files = files_by_part(store, "shares")

    def work(runs: List[Run]) -> Optional[pa.Table]:
        counts = counted(portions(store, files, runs), runs, event)
        return compared(counts, event) if counts.has_both_sides else None

    with concurrent.futures.ThreadPoolExecutor(_AT_ONCE) as pool:
        yield from pool.map(work, services)


def changes(lake: Lake, event: str, old: Tuple[str, str], new: Tuple[str, str], *, service: Optional[str] = None) -> pa.Table:
    """What `stackpack diff` says of the captures of two spans of days, for each service: a pyarrow.Table.

    Args:
        event: as the table `shares` spells it.
        old, new: first and last day of each, inclusive, as '2026-11-09'.
        service: only this one.

    Columns: service, name, image (as they are the same in both builds), figure ('self' or 'total'), change, old_value, new_value,
    old_share, new_share, low, high (of the change), least_visible, p, verdict, level. A service with samples on one side alone is
    left out. Memory: the sums of two services, some 60 bytes for each function of each capture, and the result.
    """
    runs: Dict[Optional[str], List[Run]] = {}
    for of, capture, part, date in _latest(lake):
        is_new = new[0] <= date <= new[1]
        if (is_new or old[0] <= date <= old[1]) and service in (None, of):
            runs.setdefault(of, []).append(Run(capture, part, date, is_new))
    names = sorted(runs, key=str)
    found = []
    for name, table in zip(names, _compared_all(lake.store, event, [runs[name] for name in names])):
        if table is not None:
            found.append(table.add_column(0, "service", pa.array([name] * table.num_rows, pa.string())))
    nothing = pa.table({name: pa.array([], kind) for name, kind in (("service", pa.string()), *_RESULT)})
    return pa.concat_tables(found) if found else nothing


def register(connection: Any) -> None:
    """Gives a DuckDB connection the function `stackpack_diff`, which examples/fleet/verdicts.sql has for its macros.

    It takes the folder or URL of the tables, the event and a list of structs (capture, part, date, is_new), and gives a list of
    structs, two for each function: it reads the rows of these captures itself, and adds them up as they come. Needs duckdb 1.1 or later.
    """
    given = "STRUCT(" + ", ".join(f'"{name}" {"VARCHAR" if kind == pa.string() else "DOUBLE"}' for name, kind in _RESULT) + ")[]"

    def compare(places: Any, events: Any, lists: Any) -> Any:
        results: List[Any] = [None] * len(lists)
        asked: Dict[Tuple[str, str], List[int]] = {}
        for number, about in enumerate(zip(places.to_pylist(), events.to_pylist())):
            if None not in about and lists[number].is_valid:
                asked.setdefault(about, []).append(number)
        for (place, event), numbers in asked.items():
            runs = [[Run(**run) for run in lists[number].as_py()] for number in numbers]
            for number, table in zip(numbers, _compared_all(Store(place), event, runs)):
                results[number] = table
        ends = numpy.cumsum([0, *(0 if table is None else table.num_rows for table in results)])
        parts = [pa.array([], pa.struct(list(_RESULT)))]
        for table in results:
            if table is not None:
                rows = table.combine_chunks().to_struct_array()
                parts += rows.chunks if isinstance(rows, pa.ChunkedArray) else [rows]
        return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pa.concat_arrays(parts))

    taken = 'STRUCT("capture" VARCHAR, "part" VARCHAR, "date" VARCHAR, "is_new" BOOLEAN)[]'
    connection.create_function("stackpack_diff", compare, ["VARCHAR", "VARCHAR", connection.type(taken)], connection.type(given), type="arrow")
