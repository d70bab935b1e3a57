"""The folder that the Parquet tables of many captures are in."""
from __future__ import annotations

import contextlib
import functools
import json
import posixpath
from dataclasses import dataclass
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ._errors import UsageError
from ._store import Place, Store

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

#: Goes up when a column changes its meaning or its type, or goes; `migrated` says what becomes of older files.
SCHEMA_VERSION = 4
TABLES = ("shares", "waits", "samples", "callstacks", "frames", "modules", "processes", "threads", "losses")
#: Folders with a file for each capture: where its rows are; why it was deleted. Engines pass over both.
PLACES, TOMBSTONES = "_places", "_tombstones"
VERSION, LOCK = "_stackpack_schema", "_lock"
#: Begins the name of a file with rows of many captures.
PART = "p-"

LABELS = pa.map_(pa.string(), pa.string())
#: Columns that came with version 3, and what they are for rows of version 2.
_ADDED: Dict[str, List[Any]] = {
    "captures": [("path", pa.string(), None), ("service", pa.string(), None), ("labels", LABELS, None),
                 ("date_source", pa.string(), None), ("kernel", pa.string(), None), ("generation", pa.int64(), 0)],
    "shares": [("service", pa.string(), None), ("idle", pa.bool_(), False), ("pid", pa.int64(), None),
               ("process", pa.string(), None), ("thread", pa.string(), None),
               ("self_samples", pa.int64(), None),
               ("total_samples", pa.int64(), None)],
}


def migrated(table: str, rows: pa.Table, host: str, capture: str) -> pa.Table:
    """Rows of versions 2 and 3 as those of version 4: of version 2 nobody knows the process; idle threads were left out."""
    for name, kind, value in _ADDED.get(table, []):
        if name not in rows.column_names:
            column = pa.nulls(rows.num_rows, kind) if value is None else pa.array([value] * rows.num_rows, kind)
            rows = rows.append_column(name, column)
    for number, (name, text) in enumerate((("part", capture), ("host", host))):
        if name not in rows.column_names:
            rows = rows.add_column(number + 1, name, pa.array([text] * rows.num_rows, pa.string()))
    return rows.replace_schema_metadata({**(rows.schema.metadata or {}), b"stackpack.lake": str(SCHEMA_VERSION).encode()})


@dataclass(frozen=True)
class Rows:
    """Where the rows of a capture are: `TABLE/date=DATE/PART.parquet`, and how often they were written before."""
    stem: str  #: date=DATE/PART
    generation: int

    @property
    def date(self) -> str:
        """The day, or `unknown`."""
        return self.stem.split("/")[0].partition("=")[2]

    @property
    def is_shared(self) -> bool:
        """Whether other captures have rows in the same files."""
        return self.stem.split("/")[1].startswith(PART)


class Lake:
    """The tables below a folder or URL: `TABLE/date=DATE/PART.parquet`. Any number of processes may write.

    A part is a capture, or what compaction made of several. The rows of a capture that count are those in the part, and of the
    generation, that its latest row of `captures` names: whatever else is there is a rest of work that was killed, or waits for
    compaction to take it away.
    """

    def __init__(self, folder: Place):
        self.store = Store(folder)
        if self._version() != SCHEMA_VERSION:
            self._bring_up_to_date()

    def _version(self) -> Optional[int]:
        text = self.store.text(VERSION)
        return None if text is None else int(text) if text.strip().isdigit() else -1

    def _bring_up_to_date(self) -> None:
        """Rewrites the files of an older version. One process does; others wait, and nobody reads or writes meanwhile."""
        self.store.system.create_dir(self.store.root, recursive=True)
        with self.locked():
            found = self._version()
            if found == SCHEMA_VERSION:
                return
            if found not in (None, 2, 3):
                raise UsageError(f"tables of schema {found}, this writes {SCHEMA_VERSION}", path=self.store.place)
            if found is not None:
                self._migrate()
            self.store.put_text(VERSION, f"{SCHEMA_VERSION}\n")

    def _migrate(self) -> None:
        for path in [path for table in (*TABLES, "captures") for path in self.store.sizes(table)]:
            table, date, *host, name = path.split("/")
            if not host or not name.endswith(".parquet"):
                continue
            with self.store.parquet(path) as file:
                rows = migrated(table, file.read(), unquote(host[0].partition("=")[2]), name[:-len(".parquet")])
            self.store.put(f"{table}/{date}/{name}", functools.partial(pq.write_table, rows, compression="zstd"))
            self.store.drop(path)
        for capture in self._listed(PLACES):
            date = (self.store.text(f"{PLACES}/{capture}") or "").split("/", maxsplit=1)[0]
            self.note(capture, Rows(f"{date}/{capture}", 0))

    @contextlib.contextmanager
    def locked(self, shared: bool = False, name: str = LOCK) -> Iterator[None]:
        """Among the processes of one machine: writers share it, who takes away what they may have written has it alone."""
        if not self.store.local or fcntl is None:
            yield
            return
        with open(self.store.full(name), "a+b") as file:
            fcntl.flock(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
            yield

    def _listed(self, folder: str) -> List[str]:
        return [posixpath.basename(path) for path in self.store.sizes(folder)]

    def rows_of(self, capture: str) -> Optional[Rows]:
        """Where its rows are, or were to be when a run was killed; None: the capture is not there."""
        text = self.store.text(f"{PLACES}/{capture}")
        if text is None:
            return None
        stem, _, generation = text.partition("\n")
        return Rows(stem, int(generation or 0))

    def note(self, capture: str, rows: Rows) -> None:
        """Says where the rows of a capture are."""
        self.store.put_text(f"{PLACES}/{capture}", f"{rows.stem}\n{rows.generation}\n")

    def row_of(self, capture: str) -> Optional[Dict[str, Any]]:
        """The row of `captures`, with its date; None: the capture is not there, or not whole."""
        rows = self.rows_of(capture)
        if rows is None:
            return None
        try:
            with self.store.parquet(f"captures/{rows.stem}.parquet") as file:
                table = file.read()
        except FileNotFoundError:
            return None
        found: List[Dict[str, Any]] = table.filter(pc.equal(table["capture"], capture)).to_pylist()
        labels = found[0]["labels"] if found else None
        return {**found[0], "date": rows.date, "labels": None if labels is None else dict(labels)} if found else None

    def captures(self) -> Dict[str, Rows]:
        """Where the rows of each capture are, also of those that are not whole."""
        found = {name: self.rows_of(name) for name in self._listed(PLACES)}
        return {name: rows for name, rows in found.items() if rows is not None}

    def deletions(self) -> Iterator[Tuple[str, Dict[str, str]]]:
        """Captures that were deleted, and the notes."""
        for name in self._listed(TOMBSTONES):
            yield name, json.loads(self.store.text(f"{TOMBSTONES}/{name}") or "{}")

    def is_deleted(self, capture: str) -> bool:
        """Whether it was taken away for good."""
        return self.store.exists(f"{TOMBSTONES}/{capture}")

    def restore(self, capture: str) -> bool:
        """Lets a deleted capture be written again; whether it was deleted."""
        return self.store.drop(f"{TOMBSTONES}/{capture}")

    def drop_own(self, stem: str, tables: Iterable[str] = ("captures", *TABLES)) -> None:
        """Removes the files of a part of one capture, those of `captures` first."""
        for table in tables:
            self.store.drop(f"{table}/{stem}.parquet")

    def make_room(self, facts: Dict[str, Any], tables: Iterable[str]) -> bool:
        """Before the first row of a capture: whether it had rows, which go unless they are replaced where they are.

        Notes the new place first, so that what a run that is killed leaves behind is found again, and sets the generation.
        Rows in a part that it shares with others stay there, without counting, until compaction.
        """
        capture, stem = facts["capture"], f"date={facts['date']}/{facts['capture']}"
        before = self.rows_of(capture)
        there = self.row_of(capture) is not None
        if before is not None and not before.is_shared and before.stem != stem:
            self.drop_own(before.stem)
        facts.update(part=capture, generation=0 if before is None else before.generation + 1)
        self.note(capture, Rows(stem, facts["generation"]))
        if before is not None and before.stem == stem:
            self.drop_own(stem, sorted(set(TABLES) - set(tables)))
        return there

    @staticmethod
    def path(table: str, facts: Dict[str, Any]) -> str:
        """Where the rows of a capture are written."""
        return f"{table}/date={facts['date']}/{facts['capture']}.parquet"
