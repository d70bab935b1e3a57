"""Rows of the table `shares`: what `top` shows, apart by process, thread name and idle threads."""
from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

import numpy
import pyarrow as pa
import pyarrow.compute

from ._capture import Capture

_IDLE = 2  #: flag of a sample
_UNKNOWN = -1
_JIT = "[JIT]"  #: image of code made at run time; followed by the name of its process
#: How the names of memory that is not an image begin, without their folders.
_MEMORY = ("anon", "[anon", "[heap]", "[stack", "memfd:", "SYSV", "anon_inode:", _JIT)


def _is_memory(image: Optional[str]) -> bool:
    return not image or image == "zero" or image.startswith(_MEMORY)


class Lives:
    """Names of processes or threads over time."""

    def __init__(self, rows: List[Dict[str, Any]], key: Tuple[str, ...]):
        by_key: Dict[Tuple[Any, ...], List[Tuple[int, str]]] = {}
        for row in rows:
            by_key.setdefault(tuple(row[name] for name in key), []).append((row["start_ns"] or 0, row["name"]))
        self._by_key = {each: sorted(lives, key=lambda life: life[0]) for each, lives in by_key.items()}

    def names(self, key: Tuple[Any, ...], times: Any) -> Any:
        """The name at each time: of the life that began last before it, else of the first one."""
        lives = self._by_key.get(key)
        if lives is None:
            return numpy.full(len(times), None, dtype=object)
        found = numpy.searchsorted(numpy.array([start for start, _ in lives], dtype=numpy.uint64), times, "right")
        return numpy.array([name for _, name in lives], dtype=object)[numpy.maximum(found.astype(numpy.int64) - 1, 0)]


class Tree:
    """The tree of callstacks: of each node its function, and whether no caller is the same function."""

    def __init__(self, file: Capture):
        frames = file.frames(columns=["name", "image", "function_id"]).to_arrow()
        of_processes = pa.compute.equal(file.functions(columns=["owner"]).to_arrow()["owner"].cast(pa.string()), "process")
        made_at_run_time = of_processes.take(frames["function_id"]).fill_null(False).to_pylist()
        numbers: Dict[Tuple[str, Optional[str]], int] = {}
        of_frame = numpy.empty(frames.num_rows, dtype=numpy.int64)
        names, images = (frames[name].cast(pa.string()).to_pylist() for name in ("name", "image"))
        for row, (name, image, made) in enumerate(zip(names, images, made_at_run_time)):
            of_frame[row] = numbers.setdefault((name, _JIT if made and _is_memory(image) else image), len(numbers))
        self.functions = list(numbers)
        nodes = file.callstacks(columns=["id", "parent", "frame", "depth"]).to_arrow()
        count = nodes.num_rows
        ids = nodes["id"].to_numpy()
        self.parent = numpy.full(count, _UNKNOWN, dtype=numpy.int64)
        self.parent[ids] = nodes["parent"].fill_null(2**32 - 1).to_numpy().astype(numpy.int64)
        self.parent[self.parent == 2**32 - 1] = _UNKNOWN
        self.function = numpy.zeros(count, dtype=numpy.int64)
        self.function[ids] = of_frame[nodes["frame"].to_numpy()] if count else []
        self.depth = numpy.zeros(count, dtype=numpy.int64)
        self.depth[ids] = nodes["depth"].to_numpy()
        self.is_outermost = self._outermost()

    @staticmethod
    def shown_image(image: Optional[str], process: Optional[str]) -> Optional[str]:
        """The image that rows have: of code made at run time with its process."""
        return f"{_JIT} {process}" if image == _JIT and process else image

    def _outermost(self) -> Any:
        """A walk over the tree, callers first, that counts how often each function is on the way."""
        count = len(self.parent)
        order = numpy.argsort(self.parent, kind="stable")
        first = numpy.searchsorted(self.parent[order], numpy.arange(_UNKNOWN, count + 1)).tolist()
        children, function = order.tolist(), self.function.tolist()
        on_the_way = [0] * len(self.functions)
        outermost = [False] * count
        # A node that was entered stands in the list again, as its complement, to be left.
        waiting = children[first[0]:first[1]]
        while waiting:
            node = waiting.pop()
            if node < 0:
                on_the_way[function[~node]] -= 1
                continue
            outermost[node] = on_the_way[function[node]] == 0
            on_the_way[function[node]] += 1
            waiting.append(~node)
            waiting.extend(children[first[node + 1]:first[node + 2]])
        return numpy.array(outermost, dtype=bool)


def added(keys: Any, values: Any) -> Tuple[Any, Any]:
    """Distinct keys, in order, and the sums of their rows of values, which are (n, k)."""
    order = numpy.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    if len(keys) == 0:
        return keys, values
    begins = numpy.flatnonzero(numpy.concatenate(([True], keys[1:] != keys[:-1])))
    return keys[begins], numpy.add.reduceat(values, begins, axis=0)


def over_tree(tree: Tree, group: Any, node: Any, values: Any) -> Tuple[Any, Any, Any]:
    """(group, function) as one number, and what they have of the values as self and as total.

    From the deepest nodes up: what a node has goes to its caller, and to its function where that is outermost.
    """
    functions, nodes = len(tree.functions), len(tree.parent)
    own_keys, own = added(group * functions + tree.function[node], values)
    keys, sums = added(group * nodes + node, values)
    depths = tree.depth[keys % nodes]
    waiting: Dict[int, Tuple[Any, Any]] = {}
    for depth in numpy.unique(depths).tolist():
        waiting[depth] = (keys[depths == depth], sums[depths == depth])
    all_keys, all_sums = [], []
    for depth in range(max(waiting, default=0), 0, -1):
        if depth not in waiting:
            continue
        here, here_sums = waiting.pop(depth)
        at, of = here % nodes, here // nodes
        outermost = tree.is_outermost[at]
        all_keys.append((of * functions + tree.function[at])[outermost])
        all_sums.append(here_sums[outermost])
        inner = tree.parent[at] != _UNKNOWN
        up, up_sums = (of * nodes + tree.parent[at])[inner], here_sums[inner]
        if depth - 1 in waiting:
            up = numpy.concatenate((up, waiting[depth - 1][0]))
            up_sums = numpy.concatenate((up_sums, waiting[depth - 1][1]))
        if len(up):
            waiting[depth - 1] = added(up, up_sums)
    total_keys, total = added(numpy.concatenate(all_keys), numpy.concatenate(all_sums))
    self_sums = numpy.zeros_like(total)
    self_sums[numpy.searchsorted(total_keys, own_keys)] = own
    return total_keys, self_sums, total


def _samples(file: Capture) -> Iterator[pa.Table]:
    """Event, pid, thread, time, idle, callstack, samples and weight of everything that was recorded."""
    if not file.summary["has_samples"]:
        rows = file.counts(columns=["event", "pid", "callstack", "samples", "weight"]).to_arrow()
        nothing = pa.array(numpy.zeros(rows.num_rows, dtype=numpy.uint64))
        yield rows.append_column("tid", pa.nulls(rows.num_rows, pa.uint32())).append_column("time_ns", nothing).append_column(
            "flags", nothing.cast(pa.uint8()))
        return
    for batch in file.samples(columns=["event", "pid", "tid", "time_ns", "flags", "callstack", "weight"],
                              any_order=True, batch_rows=1 << 20).to_reader():
        table = pa.Table.from_batches([batch])
        yield table.append_column("samples", pa.array(numpy.ones(table.num_rows, dtype=numpy.uint64)))


def numbers_of(column: pa.ChunkedArray) -> Any:
    """Of a column of ids, with -1 for those that are not known."""
    return column.cast(pa.int64()).fill_null(_UNKNOWN).to_numpy()


class Groups:
    """Numbers of (event, idle, pid, process, thread)."""

    def __init__(self, file: Capture):
        self.processes = Lives(file.processes(columns=["pid", "start_ns", "name"]).to_arrow().to_pylist(), ("pid",))
        self.threads = Lives(file.threads(columns=["pid", "tid", "start_ns", "name"]).to_arrow().to_pylist(), ("pid", "tid"))
        self.known: Dict[Tuple[Any, ...], int] = {}

    def of(self, table: pa.Table) -> Any:
        """The number of each row."""
        events = table["event"].cast(pa.string()).to_numpy(zero_copy_only=False)
        pids, tids = numbers_of(table["pid"]), numbers_of(table["tid"])
        times, idle = table["time_ns"].to_numpy(), table["flags"].to_numpy() & _IDLE
        result = numpy.empty(table.num_rows, dtype=numpy.int64)
        keys = numpy.stack((pids, tids), axis=1)
        order = numpy.lexsort((tids, pids))
        begins = numpy.flatnonzero(numpy.concatenate(([True], numpy.any(keys[order][1:] != keys[order][:-1], axis=1))))
        for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(order)]):
            rows = order[begin:end]
            pid, tid = (None if number == _UNKNOWN else number for number in keys[rows[0]].tolist())
            processes = self.processes.names((pid,), times[rows])
            threads = self.threads.names((pid, tid), times[rows])
            numbers = [self.known.setdefault((event, bool(is_idle), pid, process, thread), len(self.known))
                       for event, is_idle, process, thread in zip(events[rows], idle[rows], processes, threads)]
            result[rows] = numbers
        return result


def _collected(file: Capture, groups: Groups, squares: Dict[str, float]) -> Tuple[Any, Any, Any]:
    """Groups, callstacks and (samples, weight): those that are the same added up; `squares` as in the table, by event."""
    node_count = 2**32
    keys, values = numpy.empty(0, dtype=numpy.int64), numpy.empty((0, 2), dtype=numpy.uint64)
    for table in _samples(file):
        if table.num_rows == 0:
            continue
        node = numbers_of(table["callstack"])
        fresh = groups.of(table) * node_count + node + 1
        _add_squares(table, squares)
        sums = numpy.stack([table[name].to_numpy().astype(numpy.uint64) for name in ("samples", "weight")], axis=1)
        keys, values = added(numpy.concatenate((keys, fresh)), numpy.concatenate((values, sums)))
    return keys // node_count, keys % node_count - 1, values


def _add_squares(table: pa.Table, squares: Dict[str, float]) -> None:
    """Adds the squares of what samples count for; a row of several samples has that of their mean for each."""
    counted = (table["flags"].to_numpy() & _IDLE) == 0
    events = table["event"].combine_chunks().dictionary_encode() if not pa.types.is_dictionary(table["event"].type) else (
        table["event"].unify_dictionaries().combine_chunks())
    numbers = events.indices.to_numpy(zero_copy_only=False)[counted]
    weights, samples = (table[name].to_numpy().astype(numpy.float64)[counted] for name in ("weight", "samples"))
    sums = numpy.bincount(numbers, weights * weights / numpy.maximum(samples, 1), len(events.dictionary))
    for event, value in zip(events.dictionary.to_pylist(), sums.tolist()):
        squares[event] = squares.get(event, 0.0) + value


def builds_of_images(file: Capture) -> Dict[str, Set[Optional[str]]]:
    """The build ids that the images of a capture have."""
    found: Dict[str, Set[Optional[str]]] = {}
    for module in file.modules(columns=["image", "build_id"]).to_arrow().to_pylist():
        found.setdefault(module["image"], set()).add(module["build_id"])
    return found


def _unit_of(file: Capture, event: str) -> str:
    """What `top` counts an event in. Its figures are weights, which are 1 where none was recorded."""
    rows = file.top(by="event", event=event, idle=True, columns=["unit"]).to_arrow()
    return str(rows["unit"][0]) if rows.num_rows else ""


def shares(file: Capture) -> pa.Table:
    """One row for each (event, idle, pid, process, thread, function); sums over what is not idle are those of `top`.

    Memory: some 40 bytes for each sample of a batch, each node of a callstack and each callstack in each group.
    """
    groups = Groups(file)
    squares: Dict[str, float] = {}
    group, node, values = _collected(file, groups, squares)
    tree = Tree(file)
    named = node != _UNKNOWN
    if not named.any():
        return pa.table({name: pa.array([], kind) for name, kind in _COLUMNS})
    keys, own, total = over_tree(tree, group[named], node[named], values[named])
    wholes = _wholes(list(groups.known), group, values)
    units = {event: _unit_of(file, event) for event in {known[0] for known in groups.known}}
    builds = builds_of_images(file)
    columns: Dict[str, List[Any]] = {name: [] for name, _ in _COLUMNS}
    known = list(groups.known)
    for key, own_values, total_values in zip(keys.tolist(), own.tolist(), total.tolist()):
        event, idle, pid, process, thread = known[key // len(tree.functions)]
        name, image = tree.functions[key % len(tree.functions)]
        image = tree.shown_image(image, process)
        builds_of = builds.get(image, set()) if image is not None else set()
        row = (event, idle, pid, process, thread, name, image, next(iter(builds_of)) if len(builds_of) == 1 else None,
               own_values[1], total_values[1], wholes[event][1], own_values[0], total_values[0], wholes[event][0],
               units[event], squares.get(event, 0.0))
        for (column, _), value in zip(_COLUMNS, row):
            columns[column].append(value)
    return pa.table({name: pa.array(columns[name], kind) for name, kind in _COLUMNS})


_COLUMNS = (("event", pa.string()), ("idle", pa.bool_()), ("pid", pa.int64()), ("process", pa.string()), ("thread", pa.string()),
            ("name", pa.string()), ("image", pa.string()), ("build_id", pa.string()), ("self", pa.int64()), ("total", pa.int64()),
            ("value", pa.int64()), ("self_samples", pa.int64()), ("total_samples", pa.int64()), ("samples", pa.int64()),
            ("unit", pa.string()), ("squares", pa.float64()))


def _wholes(known: List[Tuple[Any, ...]], group: Any, values: Any) -> Dict[str, List[int]]:
    """Samples and weight of each event without idle threads: what shares are of."""
    numbers, sums = added(group, values)
    found = {event: [0, 0] for event, *_ in known}
    for number, (samples, weight) in zip(numbers.tolist(), sums.tolist()):
        event, idle = known[number][:2]
        if not idle:
            found[event][0] += samples
            found[event][1] += weight
    return found
