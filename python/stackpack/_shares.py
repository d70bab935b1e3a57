"""Rows of the table `shares`: what `top` shows, apart by process, thread name and idle threads."""
from __future__ import annotations

import re
from typing import Any, Dict, Iterator, List, Optional, Sequence, Set, Tuple

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
        self.texts: List[Optional[str]] = [None, *sorted({row["name"] for row in rows})]
        self._numbers = {text: number for number, text in enumerate(self.texts)}

    def numbers(self, key: Tuple[Any, ...], times: Any) -> Any:
        """That of the name at each time among the texts; 0: it is not known."""
        lives = self._by_key.get(key)
        if lives is None or len(lives) == 1:
            return 0 if lives is None else self._numbers[lives[0][1]]
        return numpy.array([self._numbers[name] for _, name in lives])[self._at(lives, times)]

    def names(self, key: Tuple[Any, ...], times: Any) -> Any:
        """The name at each time: of the life that began last before it, else of the first one."""
        lives = self._by_key.get(key)
        if lives is None:
            return numpy.full(len(times), None, dtype=object)
        return numpy.array([name for _, name in lives], dtype=object)[self._at(lives, times)]

    @staticmethod
    def _at(lives: List[Tuple[int, str]], times: Any) -> Any:
        found = numpy.searchsorted(numpy.array([start for start, _ in lives], dtype=numpy.uint64), times, "right")
        return numpy.maximum(found.astype(numpy.int64) - 1, 0)


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
    cgroups = _cgroups(file)
    begin = 0
    for batch in file.samples(columns=["event", "pid", "tid", "time_ns", "flags", "callstack", "weight"],
                              any_order=cgroups is None, batch_rows=1 << 20).to_reader():
        table = pa.Table.from_batches([batch])
        if cgroups is not None:
            numbers, texts = cgroups
            of_rows = pa.array(numpy.full(table.num_rows, len(texts)) if begin >= len(numbers) else _padded(
                numbers[begin:begin + table.num_rows], table.num_rows, len(texts)))
            table = table.append_column("cgroup", pa.array([*texts, None], pa.string()).take(of_rows).dictionary_encode())
        begin += table.num_rows
        yield table.append_column("samples", pa.array(numpy.ones(table.num_rows, dtype=numpy.uint64)))


def _padded(numbers: Any, count: int, rest: int) -> Any:
    return numpy.concatenate((numbers, numpy.full(count - len(numbers), rest)))


def _cgroups(file: Capture) -> Optional[Tuple[Any, List[str]]]:
    """By number of a sample in order of time: the number of its control group, and their paths; None: none was recorded."""
    fields = file.sample_fields(columns=["sample", "cgroup"]).to_arrow()
    fields = fields.filter(pa.compute.is_valid(fields["cgroup"]))
    if fields.num_rows == 0:
        return None
    codes, texts = _texts_of(fields["cgroup"])
    rows = fields["sample"].to_numpy().astype(numpy.int64)
    numbers = numpy.full(int(rows.max()) + 1, len(texts) - 1)
    numbers[rows] = codes
    return numbers, [text for text in texts if text is not None]


def numbers_of(column: pa.ChunkedArray) -> Any:
    """Of a column of ids, with -1 for those that are not known."""
    return column.cast(pa.int64()).fill_null(_UNKNOWN).to_numpy()


def joined(parts: Sequence[Tuple[Any, int]]) -> Any:
    """Several numbers of each row, each below its limit, as one."""
    keys: Any = numpy.int64(0)
    size = 1
    for numbers, limit in parts:
        if size * limit > 2**62:
            distinct, keys = numpy.unique(keys, return_inverse=True)
            size = len(distinct)
        keys, size = keys * limit + numbers, size * limit
    return keys


def _texts_of(column: pa.ChunkedArray) -> Tuple[Any, List[Optional[str]]]:
    """Numbers of texts, of which null is the last, and the texts."""
    array = (column if pa.types.is_dictionary(column.type) else column.dictionary_encode()).unify_dictionaries().combine_chunks()
    array = array if isinstance(array, pa.Array) else pa.concat_arrays(array.chunks)  # of older versions
    numbers = array.indices.cast(pa.int64()).fill_null(len(array.dictionary)).to_numpy(zero_copy_only=False)
    return numbers, [*array.dictionary.to_pylist(), None]


class Groups:
    """Numbers of (event, idle, pid, process, thread, cgroup)."""

    def __init__(self, file: Capture):
        self.processes = Lives(file.processes(columns=["pid", "start_ns", "name"]).to_arrow().to_pylist(), ("pid",))
        self.threads = Lives(file.threads(columns=["pid", "tid", "start_ns", "name"]).to_arrow().to_pylist(), ("pid", "tid"))
        self.known: Dict[Tuple[Any, ...], int] = {}

    def of(self, table: pa.Table) -> Any:
        """The number of each row."""
        if table.num_rows == 0:
            return numpy.empty(0, dtype=numpy.int64)
        events, event_texts = _texts_of(table["event"])
        groups, group_texts = _texts_of(table["cgroup"]) if "cgroup" in table.column_names else (numpy.int64(0), [None])
        pids, idle = numbers_of(table["pid"]), (table["flags"].to_numpy() & _IDLE) != 0
        processes, threads = self._lives(pids, numbers_of(table["tid"]), table["time_ns"].to_numpy())
        ids, of_pid = numpy.unique(pids, return_inverse=True)
        keys = joined(((events, len(event_texts)), (idle, 2), (of_pid, len(ids)), (processes, len(self.processes.texts)),
                       (threads, len(self.threads.texts)), (groups, len(group_texts))))
        groups = numpy.broadcast_to(groups, len(pids))
        _, first, numbers = numpy.unique(keys, return_index=True, return_inverse=True)
        of_key = [self.known.setdefault(
            (event_texts[events[row]], bool(idle[row]), None if pids[row] == _UNKNOWN else int(pids[row]),
             self.processes.texts[processes[row]], self.threads.texts[threads[row]], group_texts[groups[row]]), len(self.known))
            for row in first.tolist()]
        return numpy.array(of_key, dtype=numpy.int64)[numbers.reshape(-1)]

    def _lives(self, pids: Any, tids: Any, times: Any) -> Tuple[Any, Any]:
        """Numbers of the names of processes and threads."""
        processes, threads = (numpy.zeros(len(pids), dtype=numpy.int64) for _ in range(2))
        order = numpy.lexsort((tids, pids))
        begins = numpy.flatnonzero(numpy.concatenate(([True], (numpy.diff(pids[order]) != 0) | (numpy.diff(tids[order]) != 0))))
        for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(order)]):
            rows = order[begin:end]
            pid, tid = (None if number == _UNKNOWN else number for number in (int(pids[rows[0]]), int(tids[rows[0]])))
            processes[rows] = self.processes.numbers((pid,), times[rows])
            threads[rows] = self.threads.numbers((pid, tid), times[rows])
        return processes, threads


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
    columns = _columns_of(file, tree, list(groups.known), keys, squares)
    for number, (whole, ending) in enumerate((("samples", "_samples"), ("value", ""))):
        columns[f"self{ending}"], columns[f"total{ending}"] = (pa.array(sums[:, number].astype(numpy.int64)) for sums in (own, total))
        of_group = [wholes[event][number] for event, *_ in groups.known]
        columns[whole] = pa.array(of_group, pa.int64()).take(pa.array(keys // len(tree.functions)))
    return pa.table({name: columns[name].cast(kind) for name, kind in _COLUMNS})


def _columns_of(file: Capture, tree: Tree, known: List[Tuple[Any, ...]], keys: Any, squares: Dict[str, float]) -> Dict[str, Any]:
    """Of (group, function) as one number: what they are called."""
    groups, functions = keys // len(tree.functions), keys % len(tree.functions)
    names = [name for name, _ in tree.functions]
    processes = sorted({process for _, _, _, process, *_ in known if process})
    # Images as they are, then that of code made at run time for each process.
    images = sorted({image for _, image in tree.functions if image is not None})
    shown = dict.fromkeys([*images, *(tree.shown_image(_JIT, process) for process in processes), None])
    number_of = {image: number for number, image in enumerate(shown)}
    of_function = numpy.array([number_of[image] for _, image in tree.functions])
    of_group = numpy.array([number_of[tree.shown_image(_JIT, process)] if process else -1 for _, _, _, process, *_ in known])
    made = (of_function == number_of.get(_JIT, -1))[functions] & (of_group[groups] >= 0)
    of_rows = pa.array(numpy.where(made, of_group[groups], of_function[functions]))
    builds_of = builds_of_images(file)
    builds = [next(iter(found)) if len(found) == 1 else None for found in (builds_of.get(image or "", set()) for image in number_of)]
    units = {event: _unit_of(file, event) for event in {event for event, *_ in known}}
    by_group = {**{name: [each[place] for each in known] for place, name in enumerate(_GROUP)},
                "container": [container_of(each[-1]) for each in known], "unit": [units[each[0]] for each in known],
                "squares": [squares.get(each[0], 0.0) for each in known]}
    kinds = dict(_COLUMNS)
    columns = {name: pa.array(values, kinds[name]).take(pa.array(groups)) for name, values in by_group.items()}
    columns["name"] = pa.array(names, pa.string()).take(pa.array(functions))
    for name, values in (("image", list(number_of)), ("build_id", builds)):
        columns[name] = pa.array(values, pa.string()).take(of_rows)
    return columns


def container_of(cgroup: Optional[str]) -> Optional[str]:
    """The id of the container whose control group this is or is in: 64 hexadecimal digits, as Docker, containerd, CRI-O and Podman name them."""
    found = _CONTAINER.findall(cgroup or "")
    return str(found[-1]) if found else None


#: What a group is by.
_GROUP = ("event", "idle", "pid", "process", "thread", "cgroup")
_CONTAINER = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_COLUMNS = (("event", pa.string()), ("idle", pa.bool_()), ("pid", pa.int64()), ("process", pa.string()), ("thread", pa.string()),
            ("cgroup", pa.string()), ("container", pa.string()), ("name", pa.string()), ("image", pa.string()), ("build_id", pa.string()), ("self", pa.int64()), ("total", pa.int64()),
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
