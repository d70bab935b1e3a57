"""Profiler captures as a compact callstack database.

    import stackpack
    stackpack.convert("perf.data", "run.spk")
    with stackpack.open("run.spk") as file:
        print(file.top().to_pandas().head())
        samples = file.samples(columns=["time_ns", "event", "callstack"])

A table has ``__arrow_c_stream__``: pyarrow, pandas, Polars and DuckDB take it without a copy. docs/python.md
and docs/arrow.md of the project have the rest.
"""
from ._capture import Capture, Table, open, provider_events  # pylint: disable=redefined-builtin
from ._errors import (Cancelled, CorruptFile, FileTooLarge, NotFound, OutOfMemory, StackpackError, TruncatedFile,
                      UnsupportedFile, UsageError)
from ._events import (Allocated, Collection, Compiled, GcProcess, GcReport, IoReport, JitReport, Requests,
                      ThrownException, exceptions, gc, io, jit)
from ._program import Filter
from ._reports import (ImageReport, Lasting, Neighbours, Page, Row, SymbolizeReport, ThreadWaits, Waits, callees, callers, export,
                       symbolize, view, waits)
from ._work import ConvertReport, DiffRow, EventDiff, Figure, MergeReport, Progress, convert, diff, merge

__version__ = "0.1.0"
__all__ = [
    "Allocated", "Cancelled", "Capture", "Collection", "Compiled", "ConvertReport", "CorruptFile", "DiffRow", "EventDiff", "Figure",
    "FileTooLarge", "Filter", "GcProcess", "GcReport", "ImageReport", "IoReport", "JitReport", "Lasting", "MergeReport", "Neighbours",
    "NotFound", "OutOfMemory", "Page", "Progress", "Requests", "Row", "StackpackError", "SymbolizeReport", "Table",
    "ThrownException", "ThreadWaits", "TruncatedFile", "UnsupportedFile", "UsageError", "Waits", "callees", "callers", "convert", "diff",
    "exceptions", "export", "gc", "io", "jit", "merge", "open", "provider_events", "symbolize", "view",
    "waits",
]
