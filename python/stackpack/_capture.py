"""Open files and their tables."""
from __future__ import annotations

import ctypes
import os
from typing import Any, Iterable, Optional, Sequence, Union

from ._library import check, ffi, lib, path_bytes, struct

PathLike = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]

_capsule_new = ctypes.pythonapi.PyCapsule_New
_capsule_new.restype = ctypes.py_object
_capsule_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]

_STREAM_NAME = b"arrow_array_stream"
_STREAM_BYTES = ffi.sizeof("struct ArrowArrayStream")
_malloc = ctypes.CDLL(None).malloc
_malloc.restype = ctypes.c_void_p
_malloc.argtypes = [ctypes.c_size_t]
_free = ctypes.CDLL(None).free
_free.argtypes = [ctypes.c_void_p]


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _destroy_capsule(capsule: int) -> None:
    # A consumer that took the stream over has set its release to NULL.
    address = _capsule_pointer(capsule, _STREAM_NAME)
    stream = ffi.cast("struct ArrowArrayStream *", address)
    if stream.release != ffi.NULL:
        stream.release(stream)
    _free(address)


class Table:
    """Rows of a file that are read as they are asked for.

    Any consumer of the Arrow PyCapsule protocol takes it: ``pyarrow.table(t)``, ``polars.DataFrame(t)``,
    ``pandas.DataFrame.from_arrow(t)``, and DuckDB by the name of the variable. Each time it is taken it is read
    anew. docs/arrow.md has the columns of each table, their types and units.
    """

    def __init__(self, capture: "Capture", name: str, options: dict):
        self._capture = capture
        self._name = name
        self._options = options

    def __repr__(self) -> str:
        return f"<stackpack table {self._name!r} of {self._capture.path!r}>"

    @property
    def name(self) -> str:
        """Of the table: 'samples', 'callstacks', ..."""
        return self._name

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        """A PyCapsule with an ArrowArrayStream. `requested_schema` is not looked at, as the protocol allows."""
        address = _malloc(_STREAM_BYTES)
        if not address:
            raise MemoryError("no memory for a stream")
        stream = ffi.cast("struct ArrowArrayStream *", address)
        try:
            stream.release = ffi.NULL
            self._capture._make_stream(self._name, self._options, stream)  # pylint: disable=protected-access
            return _capsule_new(address, _STREAM_NAME, ctypes.cast(_destroy_capsule, ctypes.c_void_p))
        except BaseException:
            if stream.release != ffi.NULL:
                stream.release(stream)
            _free(address)
            raise

    def to_arrow(self) -> Any:
        """The whole table as a pyarrow.Table."""
        import pyarrow  # pylint: disable=import-outside-toplevel
        return pyarrow.table(self)

    def to_reader(self) -> Any:
        """A pyarrow.RecordBatchReader: one batch in memory at a time."""
        import pyarrow  # pylint: disable=import-outside-toplevel
        return pyarrow.RecordBatchReader.from_stream(self)

    def to_pandas(self) -> Any:
        """The whole table as a pandas.DataFrame; texts that repeat are categories."""
        return self.to_arrow().to_pandas()

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

    def _make_stream(self, name: str, options: dict, stream: Any) -> None:
        given = struct("stackpack_stream_options")
        kept = []  # what `given` points to
        columns: Optional[Sequence[str]] = options.get("columns")
        if columns is not None:
            kept = [ffi.new("char[]", column.encode()) for column in columns]
            names = ffi.new("char *[]", kept)
            kept.append(names)
            given.columns = ffi.cast("const char *const *", names)
            given.column_count = len(columns)
        for text in ("by", "event"):
            if options.get(text):
                kept.append(ffi.new("char[]", options[text].encode()))
                setattr(given, text, kept[-1])
        given.batch_rows = options.get("batch_rows", 0)
        given.any_order = bool(options.get("any_order"))
        given.from_ns = options.get("from_ns") or 0
        given.to_ns = options.get("to_ns") or 0
        table = getattr(lib, f"STACKPACK_TABLE_{name.upper()}")
        check(lib.stackpack_stream_table(self._open_reader(), table, given, stream), self.path)

    def _table(self, name: str, columns: Optional[Iterable[str]], **options: Any) -> Table:
        if isinstance(columns, str):
            raise TypeError("columns is a list of names")
        wanted = None if columns is None else list(columns)
        if wanted is not None and not wanted:
            raise ValueError("no columns")
        self._open_reader()
        return Table(self, name, dict(options, columns=wanted))

    def samples(self, *, columns: Optional[Iterable[str]] = None, from_ns: Optional[int] = None,
                to_ns: Optional[int] = None, any_order: bool = False, batch_rows: int = 0) -> Table:
        """One row a sample: time_ns, pid, tid, cpu, event, weight, origin, flags, callstack, stack, source.

        Args:
            columns: names of those wanted, in this order; None: all.
            from_ns, to_ns: times of the capture's clock in ns, both inclusive; None: no bound.
            any_order: not by time, which is cheaper.
            batch_rows: rows of a batch at most; 0: 65,536.

        Raises UsageError, when it is taken, for a file that has counts only: see :meth:`counts`.
        """
        return self._table("samples", columns, from_ns=from_ns, to_ns=to_ns, any_order=any_order,
                           batch_rows=batch_rows)

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
            to_ns: Optional[int] = None, columns: Optional[Iterable[str]] = None) -> Table:
        """What `stackpack top` shows: event, name, module, place, self, total, value (of all samples), samples.

        Args:
            by: function, module, line, process, thread, event, callstack or source.
            event: a pattern of events; None: the one that samples where time goes.
            from_ns, to_ns: times of the capture's clock in ns, both inclusive.

        Rows with most `self` come first; `self / value` is the share.
        """
        return self._table("top", columns, by=by, event=event, from_ns=from_ns, to_ns=to_ns)

    def verify(self) -> None:
        """Reads everything and checks it. Raises CorruptFile and others."""
        check(lib.stackpack_verify(self._open_reader()), self.path)

    @property
    def summary(self) -> dict:
        """Counts and bytes of the file: file_bytes, source_bytes, samples, unique_stacks, nodes, ..."""
        found = struct("stackpack_summary")
        check(lib.stackpack_get_summary(self._open_reader(), found), self.path)
        names = [name for name, _ in ffi.typeof("stackpack_summary").fields if name != "struct_size"]
        return {name: getattr(found, name) for name in names}


def open(path: PathLike, *, cache_bytes: int = 0) -> Capture:  # pylint: disable=redefined-builtin
    """Opens a .spk file. `cache_bytes`: bound of the cache of callstacks; 0: 64 MiB. Raises NotFound, CorruptFile, ..."""
    return Capture(path, cache_bytes)
