"""What events say: garbage collections, exceptions, requests of disks, files and networks (docs/event-values.md)."""
from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Dict, List

from ._program import Input, option, path_of, run


@dataclass(frozen=True)
class Allocated:
    """What was allocated of a type, or by a function, as far as events say it: one for about every 100 KB."""
    name: str
    count: int
    bytes: int


@dataclass(frozen=True)
class Collection:
    """A garbage collection. None: the capture does not say it."""
    number: int
    generation: int
    reason: str
    background: bool
    from_ns: int
    to_ns: int
    pause_ns: int


@dataclass(frozen=True)
class GcProcess:
    """The garbage collector of a process."""
    process: str
    pid: int
    pauses: int
    pause_ns: int
    longest_pause_ns: int
    recorded_ns: int
    allocated_bytes: int
    largest_heap_bytes: int
    collections: List[Collection]


@dataclass(frozen=True)
class GcReport:
    """What ``stackpack gc`` shows. The share of pauses is pause_ns of recorded_ns of the process."""
    from_ns: int
    to_ns: int
    processes: List[GcProcess]
    types: List[Allocated]
    functions: List[Allocated]


@dataclass(frozen=True)
class ThrownException:
    """Exceptions of one type and message that one function threw ('': no callstack)."""
    type: str
    message: str
    function: str
    count: int
    first_ns: int


@dataclass(frozen=True)
class Requests:
    """Requests of one operation, file, function or process."""
    name: str
    count: int
    bytes: int
    latency_ns: int
    longest_ns: int


@dataclass(frozen=True)
class IoReport:
    """What ``stackpack io`` shows: the same requests four times."""
    operations: List[Requests]
    files: List[Requests]
    functions: List[Requests]
    processes: List[Requests]


@dataclass(frozen=True)
class Compiled:
    """Methods of one tier, process, name or caller that were compiled."""
    name: str
    count: int
    code_bytes: int
    duration_ns: int
    longest_ns: int


@dataclass(frozen=True)
class JitReport:
    """What ``stackpack jit`` shows: the same methods four times."""
    count: int
    duration_ns: int
    code_bytes: int
    il_bytes: int
    tiers: List[Compiled]
    processes: List[Compiled]
    methods: List[Compiled]
    callers: List[Compiled]


def _asked(command: str, given: Input, limit: int, *options: str) -> Dict[str, Any]:
    found: Dict[str, Any] = json.loads(run(command, [path_of(given)], [option("limit", limit), "--json", *options])[0])
    return found


def _row(kind: Any, found: Dict[str, Any]) -> Any:
    """A row of a dataclass; what a later program says besides is passed over."""
    return kind(**{name: found.get(name) for name in kind.__dataclass_fields__})


def gc(input: Input, *, limit: int = 0) -> GcReport:  # pylint: disable=redefined-builtin
    """Pauses and collections by process, and who allocates, of a .spk file, a capture or an open one.

    limit: most types and functions; 0: all.
    """
    found = _asked("gc", input, limit)
    processes = [_row(GcProcess, {**each, "collections": [_row(Collection, row) for row in each["collections"]]})
                 for each in found["processes"]]
    return GcReport(found["from_ns"], found["to_ns"], processes,
                    [_row(Allocated, row) for row in found["allocations_by_type"]],
                    [_row(Allocated, row) for row in found["allocations_by_function"]])


def exceptions(input: Input, *, limit: int = 0) -> List[ThrownException]:  # pylint: disable=redefined-builtin
    """Exceptions of .NET by type, message and the function that threw them, the most frequent first."""
    return [_row(ThrownException, row) for row in _asked("exceptions", input, limit, "--by=message")["exceptions"]]


def io(input: Input, *, order: str = "bytes", limit: int = 0) -> IoReport:  # pylint: disable=redefined-builtin
    """Requests of disks, files and networks. order: 'bytes', 'latency' or 'count'."""
    found = _asked("io", input, limit, option("order", order))
    return IoReport(*([_row(Requests, row) for row in found[name]]
                      for name in ("operations", "files", "functions", "processes")))


def jit(input: Input, *, limit: int = 0) -> JitReport:  # pylint: disable=redefined-builtin
    """Methods that .NET compiled while the program ran, the slowest first. limit: most methods and callers; 0: all."""
    found = _asked("jit", input, limit)
    lists = {name: [_row(Compiled, row) for row in found[name]] for name in ("tiers", "processes", "methods", "callers")}
    return JitReport(found["count"], found["duration_ns"], found["code_bytes"], found["il_bytes"], **lists)
