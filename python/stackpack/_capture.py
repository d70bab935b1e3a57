"""Open files and their tables."""
from __future__ import annotations

import ctypes
import html
import os
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple, TypeVar, Union, cast

from ._errors import StackpackError, UsageError
from ._library import check, ffi, lib, path_bytes, struct

if TYPE_CHECKING:
    from ._program import Filter

PathLike = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]

_capsule_new = ctypes.pythonapi.PyCapsule_New
_capsule_new.restype = ctypes.py_object
_capsule_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

_STREAM_NAME = b"arrow_array_stream"
_STREAM_BYTES = ffi.sizeof("struct ArrowArrayStream")
_malloc = ctypes.CDLL(None).malloc
_malloc.restype = ctypes.c_void_p
_malloc.argtypes = [ctypes.c_size_t]
_free = ctypes.CDLL(None).free
_free.argtypes = [ctypes.c_void_p]


Item = TypeVar("Item")


def several(name: str, given: Iterable[Item]) -> List[Item]:
    """The items of an argument that is a list. Raises TypeError for a text or a path, whose items would be its letters."""
    if isinstance(given, (str, bytes, os.PathLike)) or not isinstance(given, Iterable):
        raise TypeError(f"{name} is a list, not {given!r}")
    return list(given)


_SHOWN_ROWS = 10
_TOP_BY = ("function", "module", "line", "file", "process", "thread", "comm", "pool", "event", "callstack", "source", "type", "cgroup",
           "package", "waker", "reason")


def table_html(caption: str, names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A small table for a notebook: texts to the left, numbers to the right."""
    texts = [any(isinstance(row[place], str) for row in rows) for place in range(len(names))]
    # Notebooks set all cells to the right.
    sides = [f' style="text-align: {"left" if text else "right"}"' for text in texts]
    head = "".join(f"<th{side}>{html.escape(name)}</th>" for side, name in zip(sides, names))
    body = "".join("<tr>" + "".join(f"<td{side}>{'' if value is None else html.escape(str(value))}</td>" for side, value in zip(sides, row)) + "</tr>"
                   for row in rows)
    title = f'<caption style="text-align: left">{html.escape(caption)}</caption>'
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _size_text(size: int) -> str:
    """Bytes for people: of three or four digits."""
    for unit in ("bytes", "kB", "MB"):
        if size < 10_000:
            return f"{size:,} {unit}"
        size = (size + 500) // 1000
    return f"{size:,} GB"


def _address_of(function: Any) -> int:
    return int(ffi.cast("uintptr_t", function))


# What ends a stream runs no Python: it may be called while an exception is on its way.
_drop_capsule = _address_of(ffi.addressof(lib, "stackpack_drop_stream_capsule"))
lib.stackpack_set_capsule_pointer(ffi.cast(
    "void *(*)(void *, const char *)", ctypes.cast(ctypes.pythonapi.PyCapsule_GetPointer, ctypes.c_void_p).value))


def _pandas_column(field: Any, column: Any) -> Any:
    """A column of a pyarrow.Table as pandas has it without rounding."""
    import pandas  # pylint: disable=import-outside-toplevel
    import pyarrow  # pylint: disable=import-outside-toplevel
    if (field.metadata or {}).get(b"unit") == b"ns":
        try:
            return column.cast(pyarrow.int64()).cast(pyarrow.duration("ns")).to_pandas()
        except pyarrow.ArrowInvalid:
            pass  # beyond 292 years
    if field.nullable and pyarrow.types.is_integer(field.type):
        sign = "" if pyarrow.types.is_signed_integer(field.type) else "U"
        dtype = getattr(pandas, f"{sign}Int{field.type.bit_width}Dtype")()
        return pandas.Series(dtype.__from_arrow__(column))
    return column.to_pandas()


def _stream_options(options: Dict[str, Any]) -> Tuple[Any, Any]:
    """A struct of the C API, and what it points to."""
    given = struct("stackpack_stream_options")
    kept = []
    columns: Optional[Sequence[str]] = options.get("columns")
    if columns is not None:
        kept = [ffi.new("char[]", column.encode()) for column in columns]
        names = ffi.new("char *[]", kept)
        kept.append(names)
        given.columns = ffi.cast("const char *const *", names)
        given.column_count = len(columns)
    given.idle = bool(options.get("idle"))
    for text in ("by", "event", "count"):
        if options.get(text):
            kept.append(ffi.new("char[]", options[text].encode()))
            setattr(given, text, kept[-1])
    given.batch_rows = options.get("batch_rows", 0)
    given.any_order = bool(options.get("any_order"))
    given.from_ns = options.get("from_ns") or 0
    given.to_ns = options.get("to_ns") or 0
    given.ends = options.get("to_ns") is not None
    return given, kept


def _columns_of(make_stream: Callable[[Dict[str, Any], Any], None], options: Dict[str, Any]) -> List[str]:
    """Names of all columns of a table; no row is read."""
    stream, schema = ffi.new("struct ArrowArrayStream *"), ffi.new("struct ArrowSchema *")
    make_stream({each: value for each, value in options.items() if each not in ("columns", "where")}, stream)
    try:
        if stream.get_schema(stream, schema) != 0:
            raise MemoryError("no memory for a schema")
        found = [ffi.string(schema.children[number].name).decode() for number in range(schema.n_children)]
        schema.release(schema)
        return found
    finally:
        stream.release(stream)


def _wanted_columns(columns: Optional[Iterable[str]]) -> Optional[List[str]]:
    wanted = None if columns is None else several("columns", columns)
    if wanted is not None and not wanted:
        raise ValueError("no columns")
    return wanted


def _check_columns(there: Sequence[str], name: str, wanted: Sequence[str], path: str) -> None:
    for column in wanted:
        if column not in there:
            raise UsageError(f"{name} has no column '{column}'; there are {', '.join(there)}", path=path)


class Table:
    """Rows of a file that are read as they are asked for.

    Any consumer of the Arrow PyCapsule protocol takes it: ``pyarrow.table(t)``, ``polars.DataFrame(t)``,
    ``pandas.DataFrame.from_arrow(t)``, and DuckDB by the name of the variable. Each time it is taken it is read
    anew. docs/arrow.md has the columns of each table, their types and units.
    """

    def __init__(self, capture: "Union[Capture, _Events]", name: str, options: Dict[str, Any]):
        self._capture = capture
        self._name = name
        self._options = options

    def __repr__(self) -> str:
        return f"<stackpack table {self._name!r} of {self._capture.path!r}: {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        """For a notebook: the first rows."""
        try:
            first = next(iter(self.to_reader()), None)
        except ImportError:
            return html.escape(repr(self))
        names = first.schema.names if first is not None else self.columns
        rows = [] if first is None else first.slice(0, _SHOWN_ROWS).to_pylist()
        return table_html(f"{self._name} of {os.path.basename(self._capture.path)}", names, [list(row.values()) for row in rows])

    @property
    def columns(self) -> List[str]:
        """Names, in their order."""
        wanted = self._options.get("columns")
        return list(wanted) if wanted is not None else self._capture._columns_of(self._name, self._options)  # pylint: disable=protected-access

    @property
    def schema(self) -> Any:
        """A pyarrow.Schema: names, types, units; no row is read for it."""
        return self.to_reader().schema

    @property
    def name(self) -> str:
        """Of the table: 'samples', 'callstacks', ..."""
        return self._name

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        """A PyCapsule with an ArrowArrayStream. `requested_schema` is not looked at, as the protocol allows."""
        if self._options.get("where") is not None:
            return self._filtered().__arrow_c_stream__()
        address = _malloc(_STREAM_BYTES)
        if not address:
            raise MemoryError("no memory for a stream")
        stream = ffi.cast("struct ArrowArrayStream *", address)
        try:
            stream.release = ffi.NULL
            self._capture._make_stream(self._name, self._options, stream)  # pylint: disable=protected-access
            return _capsule_new(address, _STREAM_NAME, _drop_capsule)
        except BaseException:
            if stream.release != ffi.NULL:
                stream.release(stream)
            _free(address)
            raise

    def _filtered(self) -> Any:
        """A reader or a table of pyarrow: what `where` leaves."""
        from . import _filtered  # pylint: disable=import-outside-toplevel,cyclic-import
        options = {name: value for name, value in self._options.items() if name != "where"}
        where: "Filter" = self._options["where"]
        if self._name == "samples":
            return _filtered.Samples(cast("Capture", self._capture), where, options).reader()
        return _filtered.top_rows(cast("Capture", self._capture), where, options)

    def to_arrow(self) -> Any:
        """The whole table as a pyarrow.Table."""
        import pyarrow  # pylint: disable=import-outside-toplevel
        return pyarrow.table(self)

    def to_reader(self) -> Any:
        """A pyarrow.RecordBatchReader: one batch in memory at a time."""
        import pyarrow  # pylint: disable=import-outside-toplevel
        return pyarrow.RecordBatchReader.from_stream(self)

    def to_pandas(self) -> Any:
        """The whole table as a pandas.DataFrame, every value exact.

        Times are durations (timedelta64[ns]) since the zero of their clock, NaT where unknown; numbers that may be
        missing are nullable integers (UInt32, UInt64); texts that repeat are categories.
        """
        import pandas  # pylint: disable=import-outside-toplevel
        table = self.to_arrow()
        return pandas.DataFrame({field.name: _pandas_column(field, column)
                                 for field, column in zip(table.schema, table.columns)})

    def to_polars(self) -> Any:
        """The whole table as a polars.DataFrame."""
        import polars  # pylint: disable=import-outside-toplevel
        return polars.DataFrame(self)


class Capture:
    """An open .spk file; make it with :func:`open`. Any number of threads may use it.

    Tables of it stay good when it is closed as far as they were taken; after that a table can no longer be taken.
    """

    def __init__(self, path: PathLike, cache_bytes: int = 0):
        self.path = os.fsdecode(path)
        handle = ffi.new("stackpack_reader **")
        check(lib.stackpack_open(path_bytes(path), cache_bytes, handle), self.path)
        self._reader = ffi.gc(handle[0], lib.stackpack_close)

    def __repr__(self) -> str:
        if self._reader is None:
            return f"<stackpack capture {self.path!r}, closed>"
        facts = self.summary
        return f"<stackpack capture {self.path!r}: {facts['samples']} samples, {facts['unique_stacks']} callstacks>"

    def _repr_html_(self) -> str:
        """For a notebook: what it is of, and its page with the flame graph in a frame."""
        from ._reports import view  # pylint: disable=import-outside-toplevel,cyclic-import
        summary = self.summary
        head = (f'<p title="{html.escape(self.path)}"><b>{html.escape(os.path.basename(self.path))}</b>: {summary["samples"]:,} samples, '
                f'{summary["unique_stacks"]:,} callstacks, {_size_text(summary["file_bytes"])}, '
                f'of a capture of {_size_text(summary["source_bytes"])}</p>')
        try:
            page: str = view(self)._repr_html_()  # pylint: disable=protected-access
        except StackpackError as error:
            page = f"<p>{html.escape(error.what)}</p>"
        return head + page

    def __enter__(self) -> "Capture":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Gives the file back. Twice is fine."""
        if self._reader is not None:
            ffi.release(self._reader)
            self._reader = None

    def _open_reader(self) -> Any:
        if self._reader is None:
            raise ValueError(f"{self.path} is closed")
        return self._reader

    def _make_stream(self, name: str, options: Dict[str, Any], stream: Any) -> None:
        given, kept = _stream_options(options)
        table = getattr(lib, f"STACKPACK_TABLE_{name.upper()}")
        check(lib.stackpack_stream_table(self._open_reader(), table, given, stream), self.path)
        del kept

    def _columns_of(self, name: str, options: Dict[str, Any]) -> List[str]:
        """Names of all columns of a table; no row is read."""
        return _columns_of(lambda all_columns, stream: self._make_stream(name, all_columns, stream), options)

    def _check_columns(self, name: str, wanted: Sequence[str]) -> None:
        try:
            there = self._columns_of(name, {})
        except StackpackError:
            return  # it says so itself when it is taken
        _check_columns(there, name, wanted, self.path)

    def _table(self, name: str, columns: Optional[Iterable[str]], **options: Any) -> Table:
        wanted = _wanted_columns(columns)
        self._open_reader()
        if wanted is not None:
            self._check_columns(name, wanted)
        return Table(self, name, dict(options, columns=wanted))

    def samples(self, *, columns: Optional[Iterable[str]] = None, from_ns: Optional[int] = None,
                to_ns: Optional[int] = None, any_order: bool = False, batch_rows: int = 0,
                where: "Optional[Filter]" = None) -> Table:
        """One row a sample: time_ns, pid, tid, cpu, event, weight, origin, flags, callstack, stack, source.

        Args:
            columns: names of those wanted, in this order; None: all.
            from_ns, to_ns: times of the capture's clock in ns, both inclusive; None: no bound.
            any_order: not by time, which is cheaper.
            batch_rows: rows of a batch at most; 0: 65,536.
            where: those alone for which this holds; takes pyarrow and numpy. Its times go before from_ns and to_ns.

        Raises UsageError, when it is taken, for a file that has counts only: see :meth:`counts`.
        """
        return self._table("samples", columns, from_ns=from_ns, to_ns=to_ns, any_order=any_order,
                           batch_rows=batch_rows, where=where)

    def counts(self, *, columns: Optional[Iterable[str]] = None, from_ns: Optional[int] = None,
               to_ns: Optional[int] = None) -> Table:
        """Samples added up: callstack, event, pid, origin, samples, weight. Of any file."""
        return self._table("counts", columns, from_ns=from_ns, to_ns=to_ns)

    def callstacks(self, *, columns: Optional[Iterable[str]] = None) -> Table:
        """The tree of callstacks, callers first: id, parent, frame, depth, stack."""
        return self._table("callstacks", columns)

    def frames(self, *, columns: Optional[Iterable[str]] = None) -> Table:
        """What nodes of callstacks are, one row a frame: id, name, image, function, file, line, address (u64), ..."""
        return self._table("frames", columns)

    def functions(self, *, columns: Optional[Iterable[str]] = None) -> Table:
        """All functions that the file names: id, name, linkage, image, build_id, start, size (bytes), ..."""
        return self._table("functions", columns)

    def modules(self, *, columns: Optional[Iterable[str]] = None) -> Table:
        """Mapped images: id, pid, path, image, build_id, base, size (bytes), start_ns, end_ns, ..."""
        return self._table("modules", columns)

    def processes(self, *, columns: Optional[Iterable[str]] = None) -> Table:
        """Lives of processes: pid, parent_pid, start_ns, end_ns, name, command_line, source, recorded_pid."""
        return self._table("processes", columns)

    def threads(self, *, columns: Optional[Iterable[str]] = None) -> Table:
        """Lives of threads: pid, tid, start_ns, end_ns, name, source."""
        return self._table("threads", columns)

    def events(self, *, columns: Optional[Iterable[str]] = None) -> Table:
        """What was counted: id, name, has_weight, samples."""
        return self._table("events", columns)

    def sources(self, *, columns: Optional[Iterable[str]] = None) -> Table:
        """Captures that the file was made of: id, kind, host, start_ns, wall_offset_ns, samples, ..."""
        return self._table("sources", columns)

    def losses(self, *, columns: Optional[Iterable[str]] = None) -> Table:
        """What was lost or is odd: name, kind, count, first_offset (bytes in the capture)."""
        return self._table("losses", columns)

    def metadata(self, *, columns: Optional[Iterable[str]] = None) -> Table:
        """Facts about the capture: key, value."""
        return self._table("metadata", columns)

    def top(self, by: str = "function", *, event: Optional[str] = None, from_ns: Optional[int] = None,
            to_ns: Optional[int] = None, count: Optional[str] = None, idle: bool = False,
            columns: Optional[Iterable[str]] = None, where: "Optional[Filter]" = None) -> Table:
        """What `stackpack top` shows: event, name, module, place, self, total, value (of all samples), samples, unit.

        Args:
            by: function, module, line, file, process, thread, comm, pool, event, callstack, source, type (of allocations,
                exceptions), cgroup, package, waker or reason (of waits), label:KEY, or field:NAME of tracepoints.
            event: a pattern of events; None: the one that samples where time goes.
            from_ns, to_ns: times of the capture's clock in ns, both inclusive.
            count: 'samples' or 'weight'; None: what the event measures. `unit` says what self, total and value are in.
            idle: with the idle threads of processors.
            where: of those samples alone for which this holds; asks the program, and takes pyarrow.

        Rows with most `self` come first; `self / value` is the share.
        """
        if by not in _TOP_BY and not by.startswith(("field:", "label:")):
            raise UsageError(f"by is '{by}'; it is one of {', '.join(_TOP_BY)}", path=self.path)
        if count not in (None, "samples", "weight"):
            raise UsageError(f"count is '{count}'; it is samples or weight", path=self.path)
        return self._table("top", columns, by=by, event=event, from_ns=from_ns, to_ns=to_ns, count=count, idle=idle, where=where)

    def branches(self, *, columns: Optional[Iterable[str]] = None) -> Table:
        """Branches of `perf record -b`, summed up: event, from_image, from (offset), to_image, to, type, count, ..."""
        return self._table("branches", columns)

    def ranges(self, *, columns: Optional[Iterable[str]] = None) -> Table:
        """How often code between taken branches ran through: event, image, begin, end (offsets), count, ..."""
        return self._table("ranges", columns)

    def sample_fields(self, *, columns: Optional[Iterable[str]] = None) -> Table:
        """Accesses to memory and control groups, by the numbers of samples in the order of ``samples()``."""
        return self._table("sample_fields", columns)

    def branch_stacks(self, *, columns: Optional[Iterable[str]] = None) -> Table:
        """Branches before each sample, of files of ``convert(keep_branches=True)``: sample, stack, position (0: the newest), from, to, ...

        `sample` is the number of a row of ``samples()``, `stack` the same where the branches are the same.
        """
        return self._table("branch_stacks", columns)

    def intervals(self, *, columns: Optional[Iterable[str]] = None, from_ns: Optional[int] = None,
                  to_ns: Optional[int] = None) -> Table:
        """When threads ran and waited: tid, from_ns, to_ns, length_ns, state, reason, callstack, woken_by, waker_callstack, ..."""
        return self._table("intervals", columns, from_ns=from_ns, to_ns=to_ns)

    def event_values(self, *, columns: Optional[Iterable[str]] = None, from_ns: Optional[int] = None,
                     to_ns: Optional[int] = None) -> Table:
        """What events say, a row for each field of each event: event, time_ns, tid, kind, field, number, real, text, ..."""
        return self._table("event_values", columns, from_ns=from_ns, to_ns=to_ns)

    def verify(self) -> None:
        """Reads everything and checks it. Raises CorruptFile and others."""
        check(lib.stackpack_verify(self._open_reader()), self.path)

    @property
    def summary(self) -> Dict[str, int]:
        """Counts and bytes of the file: file_bytes, source_bytes, samples, unique_stacks, nodes, ..."""
        found = struct("stackpack_summary")
        check(lib.stackpack_get_summary(self._open_reader(), found), self.path)
        names = [name for name, _ in ffi.typeof("stackpack_summary").fields if name != "struct_size"]
        return {name: getattr(found, name) for name in names}


def open(path: PathLike, *, cache_bytes: int = 0) -> Capture:  # pylint: disable=redefined-builtin
    """Opens a .spk file. `cache_bytes`: bound of the cache of callstacks; 0: 64 MiB. Raises NotFound, CorruptFile, ..."""
    return Capture(path, cache_bytes)


class _Events:
    """A capture whose events have fields."""

    def __init__(self, path: PathLike, providers: str):
        self.path = os.fsdecode(path)
        self._path = path_bytes(path)
        self._providers = providers.encode()

    def _make_stream(self, _name: str, options: Dict[str, Any], stream: Any) -> None:
        given, kept = _stream_options(options)
        check(lib.stackpack_stream_provider_events(self._path, self._providers, given, stream), self.path)
        del kept

    def _columns_of(self, name: str, options: Dict[str, Any]) -> List[str]:
        return _columns_of(lambda all_columns, stream: self._make_stream(name, all_columns, stream), options)


def provider_events(path: PathLike, providers: str = "*", *, columns: Optional[Iterable[str]] = None, from_ns: Optional[int] = None,
                    to_ns: Optional[int] = None, batch_rows: int = 0) -> Table:
    """Events of a capture (.etl, .nettrace) with the fields that it describes itself, a row for each value.

    Columns: event, time_ns, pid, tid, provider, name, field, position, type, number, real, text. What
    ``stackpack dump CAPTURE --events-of PROVIDERS`` lists.

    Args:
        path: of the capture: a .spk file does not keep these fields.
        providers: whose events, by name or GUID; `*` stands for any characters.
        columns: names of those wanted, in this order; None: all.
        from_ns, to_ns: times of the capture's clock in ns, both inclusive; None: no bound.
        batch_rows: rows of a batch at most; 0: 65,536.

    The capture is read each time the table is taken, batch by batch. Raises UsageError, NotFound, UnsupportedFile.
    """
    events = _Events(path, providers)
    wanted = _wanted_columns(columns)
    there = events._columns_of("provider_events", {})  # pylint: disable=protected-access
    _check_columns(there, "provider_events", wanted or [], events.path)
    return Table(events, "provider_events", {"columns": wanted, "from_ns": from_ns, "to_ns": to_ns, "batch_rows": batch_rows})
