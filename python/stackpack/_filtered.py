"""Tables of a part of the samples, for `where=Filter(...)`."""
from __future__ import annotations

import fnmatch
import re
from typing import Any, Dict, Iterator, List, Optional, Sequence, Set, Union

from ._capture import Capture
from ._errors import UsageError
from ._program import Filter, filter_options, option, path_of, run

_IDLE = 2  #: flag of a sample
_DISTANCE = re.compile(r"\+?([0-9]+(?:\.[0-9]*)?)(s|ms|us|ns)?")
_UNIT_NS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1, None: 10**9}


def _texts(given: Union[str, Sequence[str]]) -> List[str]:
    return [given] if isinstance(given, str) else list(given)


def _fits(text: Optional[str], patterns: Sequence[str]) -> bool:
    # Brackets are letters to the program, as in [kernel.kallsyms].
    return text is not None and any(fnmatch.fnmatchcase(text, pattern.replace("[", "[[]")) for pattern in patterns)


def _events(names: Sequence[str], patterns: Sequence[str]) -> Set[str]:
    """Those that are spelled so; where none is, those that count it: `cpu-clock` for cpu-clock:pppH."""
    found = set()
    for pattern in patterns:
        spelled = {name for name in names if _fits(name, [pattern])}
        found |= spelled or {name for name in names if _fits(name.split(":")[0], [pattern])}
    if patterns and not found:
        raise UsageError(f"no event {', '.join(patterns)}; there are {', '.join(sorted(names))}")
    return found


class Samples:
    """The samples of a capture for which a filter holds, batch by batch, as pyarrow has them."""

    def __init__(self, capture: Capture, where: Filter, options: Dict[str, Any]):
        import pyarrow  # pylint: disable=import-outside-toplevel
        if where.cgroup:
            raise UsageError("where: 'cgroup' does not go with samples; join them with sample_fields", path=capture.path)
        if where.label:
            raise UsageError("where: 'label' does not go with samples; ask top", path=capture.path)
        self._arrow = pyarrow
        self._capture, self._where, self._options = capture, where, options
        names: List[str] = [row["name"] for row in capture.events(columns=["name"]).to_arrow().to_pylist()]
        self._wanted = _events(names, _texts(where.event)) if where.event else set(names)
        self._wanted -= _events(names, _texts(where.exclude_event)) if where.exclude_event else set()
        self._processes, self._threads = self._lives("processes", ["pid"]), self._lives("threads", ["pid", "tid"])
        self._stacks = [(self._running_through(patterns), keep)
                        for patterns, keep in ((_texts(where.module), True), (_texts(where.exclude_module), False)) if patterns]

    def _lives(self, table: str, key: List[str]) -> Any:
        from ._shares import Lives  # pylint: disable=import-outside-toplevel
        if not self._where.comm and not self._where.exclude_comm:
            return None
        return Lives(getattr(self._capture, table)(columns=[*key, "start_ns", "name"]).to_arrow().to_pylist(), tuple(key))

    def _running_through(self, patterns: Sequence[str]) -> Any:
        """By callstack: whether a frame lies in an image of one of these names."""
        import numpy  # pylint: disable=import-outside-toplevel
        modules = self._capture.modules(columns=["id", "path", "image"]).to_arrow().to_pylist()
        paths: Dict[Optional[str], Set[str]] = {}
        for module in modules:
            paths.setdefault(module["image"], set()).add(module["path"])
        images = self._capture.frames(columns=["image"]).to_arrow()["image"].cast(self._arrow.string()).to_pylist()
        known = {image: _fits(image, patterns) or any(_fits(path, patterns) for path in paths.get(image, set()))
                 for image in set(images)}
        nodes = self._capture.callstacks(columns=["id", "parent", "frame"]).to_arrow().to_pydict()
        through = numpy.zeros(len(nodes["id"]), dtype=bool)
        for node, parent, frame in zip(nodes["id"], nodes["parent"], nodes["frame"]):  # callers first
            through[node] = known[images[frame]] or (parent is not None and through[parent])
        return through

    def reader(self) -> Any:
        """A pyarrow.RecordBatchReader of the columns that were asked for."""
        columns = self._options.get("columns")
        needed = ["time_ns", "pid", "tid", "cpu", "event", "flags", "callstack"]
        given = dict(self._options, columns=None if columns is None else [*columns, *(each for each in needed if each not in columns)])
        for name, time in (("from_ns", self._where.begin), ("to_ns", self._where.end)):
            if time is not None:
                given[name] = self._time(time)
        source = self._capture.samples(**given).to_reader()
        schema = source.schema if columns is None else self._arrow.schema([source.schema.field(name) for name in columns])
        return self._arrow.RecordBatchReader.from_batches(schema, self._kept(source, schema))

    def _kept(self, source: Any, schema: Any) -> Iterator[Any]:
        for batch in source:
            rows = batch.filter(self._mask(batch))
            if rows.num_rows:
                yield rows.select(schema.names)

    def _time(self, time: Union[int, str]) -> int:
        if isinstance(time, int):
            return time
        found = _DISTANCE.fullmatch(time)
        if not found:
            raise UsageError(f"time '{time}': ns of the capture's clock as a number, or a text as '+1.5s' from the start")
        first = next(iter(self._capture.samples(columns=["time_ns"], batch_rows=1).to_reader()), None)
        begin: int = 0 if first is None else first["time_ns"][0].as_py()
        return begin + int(float(found[1]) * _UNIT_NS[found[2]])

    def _mask(self, batch: Any) -> Any:
        import numpy  # pylint: disable=import-outside-toplevel
        where = self._where
        events = batch["event"]
        mask = numpy.array([name in self._wanted for name in events.dictionary.to_pylist()], dtype=bool)[events.indices.to_numpy()]
        for name in ("pid", "tid", "cpu"):
            wanted = getattr(where, name)
            if wanted is not None:
                column = batch[name].cast(self._arrow.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
                mask &= column == wanted
        if where.idle is False:
            mask &= (batch["flags"].to_numpy() & _IDLE) == 0
        for through, keep in self._stacks:
            stacks = batch["callstack"].cast(self._arrow.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
            runs = numpy.zeros(len(stacks), dtype=bool)
            runs[stacks >= 0] = through[stacks[stacks >= 0]]
            mask &= runs if keep else ~runs
        if self._processes is not None:
            self._apply_names(batch, mask)
        return self._arrow.array(mask)

    def _apply_names(self, batch: Any, mask: Any) -> None:
        """Names of processes or threads at the time of each sample."""
        import numpy  # pylint: disable=import-outside-toplevel
        wanted, refused = _texts(self._where.comm), _texts(self._where.exclude_comm)
        times = batch["time_ns"].to_numpy()
        pids, tids = (batch[name].to_pylist() for name in ("pid", "tid"))
        rows: Dict[Any, List[int]] = {}
        for row in numpy.flatnonzero(mask).tolist():
            rows.setdefault((pids[row], tids[row]), []).append(row)
        for (pid, tid), at in rows.items():
            names = zip(self._processes.names((pid,), times[at]), self._threads.names((pid, tid), times[at]))
            for row, both in zip(at, names):
                mask[row] = (not wanted or any(_fits(name, wanted) for name in both)) and not any(
                    _fits(name, refused) for name in both)


def top_rows(capture: Capture, where: Filter, options: Dict[str, Any]) -> Any:
    """What `stackpack top` shows of the samples for which a filter holds, as the table `top` has it: a pyarrow.Table."""
    import pyarrow  # pylint: disable=import-outside-toplevel
    given = [option("by", options.get("by") or "function"), *filter_options(where), "--json", "--rows=0", "--function-names=full"]
    if options.get("event"):
        given.append(option("event", options["event"]))
    if options.get("count"):
        given.append(option("count", options["count"]))
    if options.get("idle") and where.idle is None:
        given.append("--idle")
    for name, key in (("from", "from_ns"), ("to", "to_ns")):
        if options.get(key) is not None:
            given.append(option(name, f"{options[key] // 10**9}.{options[key] % 10**9:09}"))
    import json  # pylint: disable=import-outside-toplevel
    found = json.loads(run("top", [path_of(capture)], given)[0])
    rows = sorted(found["rows"], key=lambda row: -row["self"])
    columns = {"event": [found.get("event")] * len(rows), "name": [row["name"] for row in rows],
               "module": [row.get("module") for row in rows], "place": [row.get("place") for row in rows],
               "self": [row["self"] for row in rows], "total": [row["total"] for row in rows],
               "value": [found["weight"]] * len(rows), "samples": [found["samples"]] * len(rows), "unit": [found["unit"]] * len(rows)}
    schema = capture.top().schema
    table = pyarrow.table({name: pyarrow.array(values, pyarrow.string() if pyarrow.types.is_dictionary(schema.field(name).type)
                                               else schema.field(name).type).cast(schema.field(name).type)
                           for name, values in columns.items()}, schema=schema)
    return table if options.get("columns") is None else table.select(options["columns"])
