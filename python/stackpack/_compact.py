"""Compaction and deletion: many small files of a day and a service as few large ones.

What readers count is decided by rows of `captures`: each names the part in which the capture's rows are, and of several the one
of the highest generation holds. So a part is written whole, table by table, then its file of `captures`, which changes over all
its captures at once; only then what it was made of is taken away, `captures` first. A run that is killed in between leaves files
that do not count, which the next one removes.
"""
from __future__ import annotations

import concurrent.futures
import datetime
import functools
import hashlib
import json
import pathlib
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Set, Tuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ._lake import PART, PLACES, SCHEMA_VERSION, TABLES, TOMBSTONES, Lake, Rows

#: Bytes of a file, about: engines read files of this size well.
TARGET = 128 << 20
_LOCK = "_compact_lock"
_ROWS_OF_A_GROUP = 1 << 20
_NO_END = 1 << 62


@dataclass(frozen=True)
class Group:
    """Parts of a day and a service that become one; a task of its own."""
    date: str
    service: Optional[str]
    parts: Tuple[str, ...]  #: their stems
    keep: Tuple[Tuple[str, str, int], ...]  #: capture, stem and generation of what counts, by capture

    @property
    def stem(self) -> str:
        """Of what is made; the same for the same captures."""
        digest = hashlib.sha256(repr((self.service, [(capture, number) for capture, _, number in self.keep])).encode())
        return f"date={self.date}/{PART}{digest.hexdigest()[:32]}"


@dataclass(frozen=True)
class Compacted:
    """What became of a group."""
    date: str
    service: Optional[str]
    captures: int
    files_before: int
    files_after: int
    bytes_before: int
    bytes_after: int
    changed: bool = False  #: a capture was written meanwhile: nothing was done


@dataclass
class _Known:
    """What the rows of `captures` say."""
    rows: Dict[str, List[Tuple[str, int]]] = field(default_factory=dict)  #: by stem: captures, generations
    services: Dict[str, Optional[str]] = field(default_factory=dict)
    holds: Dict[str, Tuple[int, bool, str]] = field(default_factory=dict)  #: by capture: generation, is a shared part, stem
    deleted: Set[str] = field(default_factory=set)

    def kept(self, stem: str) -> List[Tuple[str, str, int]]:
        """What of a part counts."""
        return [(capture, stem, generation) for capture, generation in self.rows[stem]
                if self.holds[capture][2] == stem and capture not in self.deleted]


def _is_shared(stem: str) -> bool:
    return Rows(stem, 0).is_shared


def _stem_of(path: str) -> str:
    """date=DATE/PART of a file of a table."""
    _, date, name = path.split("/")
    return f"{date}/{name.split('.')[0]}"


def _known(lake: Lake, jobs: int) -> _Known:
    known = _Known(deleted={capture for capture, _ in lake.deletions()})

    def read(path: str) -> Tuple[str, pa.Table]:
        with lake.store.parquet(path) as file:
            return _stem_of(path), file.read(columns=["capture", "generation", "service"])

    with concurrent.futures.ThreadPoolExecutor(max(jobs, 1)) as pool:
        for stem, table in pool.map(read, _paths(lake, "captures")):
            rows = table.to_pylist()
            known.rows[stem] = [(row["capture"], row["generation"]) for row in rows]
            known.services[stem] = rows[0]["service"] if rows else None
            for row in rows:
                found = (row["generation"], _is_shared(stem), stem)
                known.holds[row["capture"]] = max(found, known.holds.get(row["capture"], found))
    return known


def _paths(lake: Lake, table: str) -> Dict[str, int]:
    return {path: size for path, size in lake.store.sizes(table).items() if path.endswith(".parquet") and path.count("/") == 2}


def _remove_rests(lake: Lake, known: _Known) -> None:
    """Files of parts without one of `captures` that nobody writes: a run that was killed has left them."""
    rests: Dict[str, bool] = {}
    for table in TABLES:
        for path in _paths(lake, table):
            stem = _stem_of(path)
            if stem not in known.rows:
                if stem not in rests:
                    rows = None if _is_shared(stem) else lake.rows_of(stem.split("/")[1])
                    rests[stem] = rows is None or rows.stem != stem
                if rests[stem]:
                    lake.store.drop(path)


def plan(lake: Lake, target: int = TARGET, days: Optional[Iterable[str]] = None, jobs: int = 1) -> List[Group]:
    """What there is to do, a task each, by day and service; nothing where all is as compaction leaves it.

    Removes what killed runs have left; not to be called while a group is at work.
    """
    known = _known(lake, jobs)
    _remove_rests(lake, known)
    largest: Dict[str, int] = {}
    for table in TABLES:
        sums: Dict[str, int] = {}
        for path, size in _paths(lake, table).items():
            sums[_stem_of(path)] = sums.get(_stem_of(path), 0) + size
        for stem, size in sums.items():
            largest[stem] = max(size, largest.get(stem, 0))
    groups: Dict[Tuple[str, Optional[str]], List[str]] = {}
    for stem in sorted(known.rows):
        clean = len(known.kept(stem)) == len(known.rows[stem])
        if not (_is_shared(stem) and clean and largest.get(stem, 0) >= target):
            groups.setdefault((Rows(stem, 0).date, known.services[stem]), []).append(stem)
    wanted = None if days is None else set(days)
    found = [_group(lake, known, date, service, stems) for (date, service), stems in sorted(groups.items(), key=repr)
             if wanted is None or date in wanted]
    return [group for group in found if group is not None]


def _group(lake: Lake, known: _Known, date: str, service: Optional[str], stems: Sequence[str]) -> Optional[Group]:
    """None: there is one part, and all in it counts. What is being written is left alone."""
    stems = [stem for stem in stems if not any(_is_begun(lake, *row) for row in known.kept(stem))]
    if not stems or len(stems) == 1 and len(known.kept(stems[0])) == len(known.rows[stems[0]]):
        return None
    keep = sorted(row for stem in stems for row in known.kept(stem))
    return Group(date, service, tuple(stems), tuple(keep))


class _Writer:
    """A table of a new part, as files of about a size."""

    def __init__(self, lake: Lake, table: str, group: Group, target: int):
        self._lake, self._table, self._target = lake, table, target
        self._stem, self._name = group.stem, group.stem.rsplit("/", maxsplit=1)[1]
        self.paths: List[str] = []
        self._ahead: Any = None

    def write(self, rows: Iterator[pa.Table]) -> None:
        """All of them, in their order."""
        ahead = next(rows, None)
        while ahead is not None:
            number = f".{len(self.paths)}" if self.paths else ""
            self.paths.append(f"{self._table}/{self._stem}{number}.parquet")
            self._ahead = ahead
            self._lake.store.put(self.paths[-1], functools.partial(self._fill, rows))
            ahead = self._ahead

    def _fill(self, rows: Iterator[pa.Table], made: pathlib.Path) -> None:
        """Writes groups of rows until the file is large; the group that did not fit is ahead."""
        first = self._ahead
        schema = first.schema.with_metadata({b"stackpack.lake": str(SCHEMA_VERSION).encode(),
                                             b"stackpack.table": self._table.encode()})
        with open(made, "wb") as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
            begin = file.tell()
            while self._ahead is not None and (file.tell() == begin or file.tell() < self._target):
                group = self._ahead
                part = pa.array([self._name] * group.num_rows, pa.string())
                group = group.set_column(group.column_names.index("part"), "part", part)
                writer.write_table(group.select(schema.names).cast(schema))
                self._ahead = next(rows, None)


def _rows(lake: Lake, table: str, group: Group, paths: Iterable[str]) -> Iterator[pa.Table]:
    """What of the old files counts, as many rows at a time as a group has."""
    kept: Dict[str, List[str]] = {}
    for capture, stem, _ in group.keep:
        kept.setdefault(stem, []).append(capture)
    held: List[pa.Table] = []
    for path in paths:
        captures = pa.array(kept.get(_stem_of(path), []), pa.string())
        with lake.store.parquet(path) as file:
            for number in range(file.num_row_groups if len(captures) else 0):
                rows = file.read_row_group(number)
                held.append(rows.filter(pc.is_in(rows["capture"], captures)).replace_schema_metadata(None))
                if sum(each.num_rows for each in held) >= _ROWS_OF_A_GROUP:
                    yield pa.concat_tables(held, promote_options="default")
                    held = []
    whole = pa.concat_tables(held, promote_options="default") if held else None
    if whole is not None and whole.num_rows:
        yield whole


def compact_group(lake: Lake, group: Group, target: int = TARGET) -> Compacted:
    """Does one task of `plan`; groups may be at work at once, on any machine. Raises OSError."""
    old = {table: _paths_of(lake, table, group) for table in ("captures", *TABLES)}
    sizes = [size for paths in old.values() for size in paths.values()]
    made: List[str] = []
    anew = bool(group.keep) and group.stem not in group.parts
    for table in TABLES if anew else ():
        writer = _Writer(lake, table, group, target)
        writer.write(_rows(lake, table, group, old[table]))
        made += writer.paths
    with lake.locked():
        if not _still(lake, group):
            for path in made:
                lake.store.drop(path)
            return Compacted(group.date, group.service, len(group.keep), len(sizes), len(sizes), sum(sizes), sum(sizes), True)
        if anew:
            _Writer(lake, "captures", group, _NO_END).write(_rows(lake, "captures", group, old["captures"]))
        for capture, stem, generation in group.keep:
            if stem != group.stem:
                lake.note(capture, Rows(group.stem, generation))
        for path in [path for paths in old.values() for path in paths if _stem_of(path) != group.stem]:
            lake.store.drop(path)
    after = [size for table in old for size in _paths_of(lake, table, group, {group.stem}).values()]
    return Compacted(group.date, group.service, len(group.keep), len(sizes), len(after), sum(sizes), sum(after))


def _paths_of(lake: Lake, table: str, group: Group, stems: Optional[Set[str]] = None) -> Dict[str, int]:
    """Bytes of the files of a group's parts, or of others of its day, by path."""
    wanted = set(group.parts) if stems is None else stems
    return {path: size for path, size in _paths(lake, f"{table}/date={group.date}").items() if _stem_of(path) in wanted}


def _still(lake: Lake, group: Group) -> bool:
    """Whether all captures have the rows that they had when the group was made up, and none was deleted since."""
    found: Dict[Tuple[str, str], int] = {}
    for stem in {stem for _, stem, _ in group.keep}:
        try:
            with lake.store.parquet(f"captures/{stem}.parquet") as file:
                for row in file.read(columns=["capture", "generation"]).to_pylist():
                    found[row["capture"], stem] = row["generation"]
        except FileNotFoundError:
            return False
    deleted = {capture for capture, _ in lake.deletions()} if group.keep else set()
    return all(capture not in deleted and found.get((capture, stem)) == generation and not _is_begun(lake, capture, stem, generation)
               for capture, stem, generation in group.keep)


def _is_begun(lake: Lake, capture: str, stem: str, generation: int) -> bool:
    """Whether a writer has begun to write a capture's own part anew, and has not ended, or was killed."""
    rows = None if _is_shared(stem) else lake.rows_of(capture)
    return rows is not None and rows.stem == stem and rows.generation > generation


def compact(lake: Lake, target: int = TARGET, days: Optional[Iterable[str]] = None, jobs: int = 1) -> Iterator[Compacted]:
    """Compacts all that there is to do, `jobs` groups at once. One run at a time; captures may be written meanwhile."""
    with lake.locked(name=_LOCK), concurrent.futures.ThreadPoolExecutor(max(jobs, 1)) as pool:
        yield from pool.map(lambda group: compact_group(lake, group, target), plan(lake, target, days, jobs))


def delete(lake: Lake, captures: Sequence[str], why: str) -> None:
    """Takes captures away for good: they are not written again until `restore`. Done again, it ends what was killed."""
    note = {"time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "why": why}
    with lake.locked(name=_LOCK):
        for capture in captures:
            lake.store.put_text(f"{TOMBSTONES}/{capture}", json.dumps(note) + "\n")
        with lake.locked():
            for capture in captures:
                rows = lake.rows_of(capture)
                if rows is not None and not rows.is_shared:
                    lake.drop_own(rows.stem)
        for group in _holding(lake, set(captures)):
            compact_group(lake, group)
        for capture in captures:
            lake.store.drop(f"{PLACES}/{capture}")


def _holding(lake: Lake, captures: Set[str]) -> List[Group]:
    """Shared parts with rows of these captures, each to be made anew without them."""
    known = _known(lake, 1)
    _remove_rests(lake, known)
    return [Group(Rows(stem, 0).date, known.services[stem], (stem,), tuple(sorted(known.kept(stem))))
            for stem, rows in sorted(known.rows.items()) if _is_shared(stem) and captures & {capture for capture, _ in rows}]
