"""Rows of the table `waits`: how long threads waited, by function and by how long a wait was."""
from __future__ import annotations

from typing import Any, Dict, Iterator, List, Set, Tuple

import numpy
import pyarrow as pa
import pyarrow.compute as pc

from ._capture import Capture
from ._shares import Groups, Tree, added, builds_of_images, numbers_of, over_tree

#: States in which a thread does not run, and whose callstack is where it left its processor.
STATES = ("blocked", "woken", "preempted")
#: Bits of a length that its step keeps besides the highest one: a step is at most a sixteenth of what lies in it wide.
_BITS = 4
_NODE_COUNT = 2**32
_TAKEN = ("state", "reason", "pid", "tid", "to_ns", "length_ns", "callstack")
_IDLE = 2  #: flag of a sample
#: One part in so many of its time a thread that waits for work is able to run.
_IDLE_PARTS = 100
_COLUMNS = (("state", pa.string()), ("reason", pa.string()), ("idle", pa.bool_()), ("pid", pa.int64()), ("process", pa.string()), ("thread", pa.string()),
            ("name", pa.string()), ("image", pa.string()), ("build_id", pa.string()), ("at_least_ns", pa.uint64()),
            ("self_waits", pa.uint64()), ("waits", pa.uint64()), ("self_ns", pa.uint64()), ("ns", pa.uint64()))


def step_of(lengths: Any) -> Any:
    """The shortest length of the step in which each length (uint64, ns) lies; below 32 ns each length is a step."""
    # Without the bit below the highest one nothing is rounded up to the next power of two.
    rough = (lengths & ~(lengths >> numpy.uint64(1))).astype(numpy.float64)
    shift = numpy.maximum(numpy.frexp(rough)[1] - 1 - _BITS, 0).astype(numpy.uint64)
    return (lengths >> shift) << shift


def _waiting_for_work(file: Capture) -> Set[Tuple[Any, int]]:
    """Threads (pid, tid) that wait for work, by the rule of docs/waits.md: reports leave them out."""
    sums: Dict[Tuple[Any, int], List[int]] = {}
    idle_workers: Set[Tuple[Any, int]] = set()
    for batch in file.intervals(columns=["pid", "tid", "state", "reason", "length_ns"]).to_reader():
        table = pa.Table.from_batches([batch])
        states, reasons = (table[name].cast(pa.string()) for name in ("state", "reason"))
        blocked = pc.equal(states, "blocked")
        known = table.select(["pid", "tid"]).append_column("blocked", blocked).append_column("length", pc.cast(table["length_ns"], pa.float64()))
        known = known.append_column("worker", pc.and_(blocked, pc.fill_null(pc.equal(reasons, "I"), False)))
        known = known.filter(pc.not_equal(states, "unknown")).group_by(["pid", "tid", "blocked"]).aggregate([("length", "sum"), ("worker", "any")])
        for row in known.to_pylist():
            sums.setdefault((row["pid"], row["tid"]), [0, 0])[row["blocked"]] += int(row["length_sum"])
            if row["worker_any"]:
                idle_workers.add((row["pid"], row["tid"]))
    return idle_workers | {thread for thread, (able, blocked) in sums.items() if blocked and able < (able + blocked) // _IDLE_PARTS}


class _Kinds:
    """Numbers of (state, reason, idle, pid, process, thread, step)."""

    def __init__(self, file: Capture):
        self._groups = Groups(file)
        self._idle = _waiting_for_work(file)
        self._numbers: Dict[Tuple[int, Any, int], int] = {}

    def of(self, table: pa.Table) -> Any:
        """The number of each row."""
        # Names are those at the end of the wait, as `top --event blocked` has them.
        renamed = table.rename_columns(["event" if name == "state" else "time_ns" if name == "to_ns" else name for name in table.column_names])
        flags = [_IDLE * (thread in self._idle) for thread in zip(table["pid"].to_pylist(), table["tid"].to_pylist())]
        groups = self._groups.of(renamed.append_column("flags", pa.array(flags, pa.uint8())))
        reasons = table["reason"].cast(pa.string()).to_pylist()
        steps = step_of(table["length_ns"].to_numpy()).tolist()
        return numpy.array([self._numbers.setdefault(key, len(self._numbers)) for key in zip(groups.tolist(), reasons, steps)],
                           dtype=numpy.int64)

    def texts(self) -> Iterator[Tuple[Any, ...]]:
        """State, reason, idle, pid, process, thread and step of each number."""
        known = list(self._groups.known)
        for group, reason, step in self._numbers:
            state, idle, pid, process, thread, _ = known[group]
            yield state, reason, idle, pid, process, thread, step


def _collected(file: Capture, kinds: _Kinds) -> Tuple[Any, Any]:
    """Kinds and callstacks, as one number, and (waits, ns): those that are the same added up."""
    keys, values = numpy.empty(0, dtype=numpy.int64), numpy.empty((0, 2), dtype=numpy.uint64)
    for batch in file.intervals(columns=_TAKEN).to_reader():
        table = pa.Table.from_batches([batch])
        table = table.filter(pc.is_in(table["state"].cast(pa.string()), pa.array(STATES)))
        if table.num_rows == 0:
            continue
        fresh = kinds.of(table) * _NODE_COUNT + numbers_of(table["callstack"]) + 1
        sums = numpy.stack((numpy.ones(table.num_rows, dtype=numpy.uint64), table["length_ns"].to_numpy()), axis=1)
        keys, values = added(numpy.concatenate((keys, fresh)), numpy.concatenate((values, sums)))
    return keys, values


def wait_rows(file: Capture) -> pa.Table:
    """One row for each (state, reason, idle, pid, process, thread, function, step).

    Sums of `self_ns` and `ns` over what is not idle are those of `top --event blocked`.
    A wait without a callstack has a row without name, so that sums of `self_waits` and `self_ns` are those of all waits.
    """
    kinds = _Kinds(file)
    keys, values = _collected(file, kinds)
    if len(keys) == 0:
        return pa.table({name: pa.array([], kind) for name, kind in _COLUMNS})
    tree = Tree(file)
    kind, node = keys // _NODE_COUNT, keys % _NODE_COUNT - 1
    texts, builds = list(kinds.texts()), builds_of_images(file)
    rows: List[Tuple[Any, ...]] = []

    def add(number: int, name: Any, image: Any, own: List[int], total: List[int]) -> None:
        found = builds.get(image, set()) if image is not None else set()
        *labels, step = texts[number]
        rows.append((*labels, name, image, next(iter(found)) if len(found) == 1 else None, step, own[0], total[0], own[1], total[1]))

    named = node >= 0
    if named.any():
        functions = len(tree.functions)
        for key, own, total in zip(*(column.tolist() for column in over_tree(tree, kind[named], node[named], values[named]))):
            name, image = tree.functions[key % functions]
            add(key // functions, name, tree.shown_image(image, texts[key // functions][4]), own, total)
    for number, sums in zip(kind[~named].tolist(), values[~named].tolist()):
        add(number, None, None, sums, sums)
    return pa.table({name: pa.array(list(column), of) for (name, of), column in zip(_COLUMNS, zip(*rows))})
