"""What the captures of a service have in each function: sums of the table `shares`, as a comparison takes them."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple

import numpy
import pyarrow as pa
import pyarrow.dataset

from ._store import Store

Function = Tuple[Optional[str], Optional[str], Optional[str]]  #: name, image, build id

_TEXT = pa.dictionary(pa.int32(), pa.string())
#: What is read of `shares`; a file of an older version has null for what it lacks.
_READ = pa.schema([("capture", _TEXT), ("part", _TEXT), ("event", _TEXT), ("idle", pa.bool_()), ("name", _TEXT), ("image", _TEXT),
                   ("build_id", _TEXT), ("unit", _TEXT), ("self", pa.int64()), ("total", pa.int64()), ("value", pa.int64()),
                   ("samples", pa.int64()), ("squares", pa.float64())])
_ROWS_AT_ONCE = 1 << 18
_DENSE = 1 << 22  #: numbers up to this are counted in a table of all of them


@dataclass(frozen=True)
class Run:
    """A capture to be compared, and where its rows are."""
    capture: str
    part: str
    date: str
    is_new: bool


@dataclass
class Counts:
    """Sums by run and function, each pair once."""
    functions: List[Function] = field(default_factory=list)
    is_new: Any = None  #: of the runs that have rows
    value: Any = None
    samples: Any = None
    squares: Any = None  #: NaN: not known
    unit: Optional[str] = None  #: of the values
    rows: Any = None  #: run, function, self, total, as columns

    @property
    def has_both_sides(self) -> bool:
        """Whether there is anything to compare."""
        return bool(len(self.is_new)) and bool(self.is_new.any()) and not bool(self.is_new.all())


def encoded(column: pa.ChunkedArray) -> Tuple[Any, List[Optional[str]]]:
    """The number of the text of each row, and the texts; null is the last of them."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    chunks = column.unify_dictionaries().chunks
    if not chunks:
        return numpy.empty(0, dtype=numpy.int64), [None]
    texts = chunks[0].dictionary.to_pylist()
    return numpy.concatenate([chunk.indices.cast(pa.int64()).fill_null(len(texts)).to_numpy(zero_copy_only=False)
                              for chunk in chunks]), [*texts, None]


def _dense(numbers: Any, limit: int) -> Tuple[Any, Any]:
    """Distinct numbers below a limit, in order, and the place of each row's among them."""
    if limit > _DENSE:
        distinct, places = numpy.unique(numbers, return_inverse=True)
        return distinct, places.reshape(-1)
    seen = numpy.zeros(limit, dtype=bool)
    seen[numbers] = True
    distinct = numpy.flatnonzero(seen)
    place = numpy.empty(limit, dtype=numpy.int64)
    place[distinct] = numpy.arange(len(distinct))
    return distinct, place[numbers]


def _sums(places: Any, values: Any, count: int) -> Any:
    """Of 64-bit values, exact: halves of 32 bits add up to less than the 53 bits of a double."""
    high, low = (numpy.bincount(places, half.astype(numpy.float64), count) for half in (values >> 32, values & 0xFFFFFFFF))
    return (high.astype(numpy.int64) << 32) + low.astype(numpy.int64)


class _Collector:
    """Takes rows, some at a time, and keeps their sums."""

    def __init__(self, runs: List[Run], event: str):
        self._runs, self._event = runs, event
        self._run_of = {run.capture: number for number, run in enumerate(runs)}
        self._functions: Dict[Function, int] = {}
        self._facts = {name: numpy.zeros(len(runs), dtype=kind) for name, kind in (
            ("value", numpy.int64), ("samples", numpy.int64), ("squares", numpy.float64), ("parts", numpy.int64))}
        self._unit: Optional[str] = None
        self._sums: List[Tuple[Any, Any, Any]] = []  #: run and function as one number, self, total

    def add(self, rows: pa.Table) -> None:
        """Takes those that count."""
        captures, parts = encoded(rows["capture"]), encoded(rows["part"])
        run_of = numpy.array([self._run_of.get(text or "", -1) for text in captures[1]])
        number_of = {text: number for number, text in enumerate(parts[1])}
        right = numpy.array([number_of.get(self._runs[run].part, -1) if run >= 0 else -1 for run in run_of.tolist()])
        events = encoded(rows["event"])
        wanted = numpy.array([text == self._event for text in events[1]])
        counted = (right[captures[0]] == parts[0]) & wanted[events[0]] & ~rows["idle"].fill_null(False).to_numpy()
        if not counted.all():
            rows = rows.filter(pa.array(counted))
        if rows.num_rows:
            self._add(rows, run_of[captures[0][counted]])

    def _add(self, rows: pa.Table, runs: Any) -> None:
        for name, kept in self._facts.items():
            if name != "parts":
                kept[runs] = rows[name].fill_null(numpy.nan if name == "squares" else 0).to_numpy()
        self._unit = self._unit or rows["unit"][0].as_py()
        functions, of_row = self._numbered(rows)
        runs_here, of_run = _dense(runs, len(self._runs))
        self._facts["parts"][runs_here] += 1
        pairs, of_pair = _dense(of_run * len(functions) + of_row, len(runs_here) * len(functions))
        own, total = (_sums(of_pair, rows[name].to_numpy(), len(pairs)) for name in ("self", "total"))
        self._sums.append((runs_here[pairs // len(functions)] << 32 | functions[pairs % len(functions)], own, total))

    def _numbered(self, rows: pa.Table) -> Tuple[Any, Any]:
        """Numbers of the functions here, in the order of their first sight, and which of them each row is of."""
        (names, name_texts), (images, image_texts), (builds, build_texts) = (encoded(rows[name]) for name in ("name", "image", "build_id"))
        places, of_place = _dense(images * len(build_texts) + builds, len(image_texts) * len(build_texts))
        distinct, of_row = _dense(names * len(places) + of_place, len(name_texts) * len(places))
        texts = [(image_texts[place // len(build_texts)], build_texts[place % len(build_texts)]) for place in places.tolist()]
        numbers = [self._functions.setdefault((name_texts[key // len(places)], *texts[key % len(places)]), len(self._functions))
                   for key in distinct.tolist()]
        return numpy.array(numbers, dtype=numpy.int64), of_row

    def counts(self) -> Counts:
        """The sums, functions by their names and runs by their captures: whatever files they were in."""
        keys, own, total = (numpy.concatenate([each[place] for each in self._sums] or [numpy.empty(0, dtype=numpy.int64)]) for place in range(3))
        self._sums.clear()
        if (self._facts["parts"] > 1).any():  # rows of a capture were in two portions
            pairs, places = numpy.unique(keys, return_inverse=True)
            keys, own, total = pairs, *(_sums(places.reshape(-1), values, len(pairs)) for values in (own, total))
        found = self._facts["parts"] > 0
        run_number = numpy.cumsum(found) - 1
        functions = sorted(self._functions, key=lambda texts: tuple(text or "" for text in texts))
        function_number = numpy.empty(len(functions), dtype=numpy.int64)
        function_number[[self._functions[texts] for texts in functions]] = numpy.arange(len(functions))
        rows = numpy.stack((run_number[keys >> 32], function_number[keys & 0xFFFFFFFF], own, total), axis=1).astype(numpy.uint64)
        is_new = numpy.array([run.is_new for run in self._runs], dtype=bool)
        return Counts(functions, is_new[found], self._facts["value"][found], self._facts["samples"][found], self._facts["squares"][found],
                      self._unit, rows)


def counted(portions: Iterable[pa.Table], runs: List[Run], event: str) -> Counts:
    """Sums over processes and threads, of rows that are not idle and in the part that its run says."""
    collector = _Collector(sorted(runs, key=lambda run: run.capture), event)
    for rows in portions:
        collector.add(rows)
    return collector.counts()


def files_by_part(store: Store, table: str) -> Dict[str, List[str]]:
    """Paths of files by `date=DATE/PART`."""
    files: Dict[str, List[str]] = {}
    for path in sorted(store.sizes(table)):
        if path.endswith(".parquet"):
            _, date, name = path.split("/")
            files.setdefault(f"{date}/{name.split('.')[0]}", []).append(path)
    return files


def portions(store: Store, files: Dict[str, List[str]], runs: List[Run]) -> Iterator[pa.Table]:
    """Rows of the files that some runs are in, some hundred thousand at a time."""
    parts = sorted({f"date={run.date}/{run.part}" for run in runs})
    paths = [store.full(path) for part in parts for path in files.get(part, [])]
    if not paths:
        return
    # Texts repeat over and over: as numbers they are compared once for each text.
    options = pa.dataset.ParquetReadOptions(dictionary_columns=[each.name for each in _READ if each.type == _TEXT])
    found = pa.dataset.dataset(paths, schema=_READ, filesystem=store.system, format=pa.dataset.ParquetFileFormat(read_options=options))
    held: List[pa.RecordBatch] = []
    for batch in found.to_batches(batch_size=_ROWS_AT_ONCE, batch_readahead=2, fragment_readahead=4):
        held.append(batch)
        if sum(each.num_rows for each in held) >= _ROWS_AT_ONCE:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)
