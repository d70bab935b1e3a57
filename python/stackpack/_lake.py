"""The folder that the Parquet tables of many captures are in."""
from __future__ import annotations

import contextlib
import datetime
import json
import os
import pathlib
import tempfile
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from ._errors import UsageError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

#: Goes up when a column changes its meaning or its type, or goes; `migrated` says what becomes of older files.
SCHEMA_VERSION = 3
TABLES = ("shares", "samples", "callstacks", "frames", "modules", "processes", "threads", "losses")
#: Folders with a file for each capture: `date=.../host=...` of its rows; why it was deleted. Engines pass over both.
PLACES, TOMBSTONES = "_places", "_tombstones"
VERSION, LOCK = "_stackpack_schema", "_lock"

LABELS = pa.map_(pa.string(), pa.string())
#: Columns that came with version 3, and what they are for rows of version 2.
_ADDED: Dict[str, List[Any]] = {
    "captures": [("path", pa.string(), None), ("service", pa.string(), None), ("labels", LABELS, None),
                 ("date_source", pa.string(), None), ("kernel", pa.string(), None)],
    "shares": [("service", pa.string(), None), ("idle", pa.bool_(), False), ("pid", pa.int64(), None),
               ("process", pa.string(), None), ("thread", pa.string(), None), ("self_samples", pa.int64(), None),
               ("total_samples", pa.int64(), None)],
}


def migrated(table: str, rows: pa.Table) -> pa.Table:
    """Rows of version 2 as those of version 3: nobody knows their process any more; idle threads were left out."""
    for name, kind, value in _ADDED.get(table, []):
        if name not in rows.column_names:
            column = pa.nulls(rows.num_rows, kind) if value is None else pa.array([value] * rows.num_rows, kind)
            rows = rows.append_column(name, column)
    return rows.replace_schema_metadata({**(rows.schema.metadata or {}), b"stackpack.lake": str(SCHEMA_VERSION).encode()})


class Lake:
    """The tables below a folder: `TABLE/date=DATE/host=HOST/CAPTURE.parquet`. Any number of processes may write."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        if self._version() != SCHEMA_VERSION:
            self._bring_up_to_date()

    def _version(self) -> Optional[int]:
        try:
            text = (self.folder / VERSION).read_text().strip()
        except FileNotFoundError:
            return None
        return int(text) if text.isdigit() else -1

    def _bring_up_to_date(self) -> None:
        """Rewrites the files of an older version. One process does; others wait, and nobody writes meanwhile."""
        with self._locked():
            found = self._version()
            if found == SCHEMA_VERSION:
                return
            if found not in (None, 2):
                raise UsageError(f"tables of schema {found}, this writes {SCHEMA_VERSION}", path=str(self.folder))
            if found is not None:
                for table in _ADDED:
                    for path in sorted((self.folder / table).rglob("*.parquet")):
                        self._migrate(table, path)
            self.appear(self.folder / VERSION, lambda path: _write_text(path, f"{SCHEMA_VERSION}\n"))

    def _migrate(self, table: str, path: pathlib.Path) -> None:
        with pq.ParquetFile(path) as file:
            rows = migrated(table, file.read())
        self.appear(path, lambda made: pq.write_table(rows, made, compression="zstd"))

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        with open(self.folder / LOCK, "a+b") as file:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def written(self, capture: str) -> Optional[str]:
        """Digest of what the capture's rows were made of; None: they are not, or not all there."""
        place = self.place(capture)
        if place is None:
            return None
        path = self.folder / "captures" / place / f"{capture}.parquet"
        if not path.exists():
            return None
        with pq.ParquetFile(path) as file:
            digest: str = file.read(columns=["file_digest"])["file_digest"][0].as_py()
            return digest

    def place(self, capture: str) -> Optional[str]:
        """`date=.../host=...` of its rows; None: there are none."""
        try:
            return (self.folder / PLACES / capture).read_text()
        except FileNotFoundError:
            return None

    def captures(self) -> Dict[str, str]:
        """Places by capture, of those that are not whole, too."""
        folder = self.folder / PLACES
        names = sorted(path.name for path in folder.iterdir() if not path.name.startswith(".")) if folder.exists() else []
        places = {name: self.place(name) for name in names}
        return {name: place for name, place in places.items() if place is not None}

    def remove(self, capture: str) -> bool:
        """Takes the rows of a capture away, whatever date and host it was given: whether there were some."""
        place = self.place(capture)
        if place is None:
            return False
        return [self._drop(table, place, capture) for table in ("captures", *TABLES)][0]

    def _drop(self, table: str, place: str, capture: str) -> bool:
        return _unlinked(self.folder / table / place / f"{capture}.parquet")

    def delete(self, capture: str, why: str) -> bool:
        """Takes a capture away for good: it is not written again until `restore`. Whether it was there."""
        note = {"time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "why": why}
        self.appear(self.folder / TOMBSTONES / capture, lambda path: _write_text(path, json.dumps(note) + "\n"))
        found = self.remove(capture)
        return _unlinked(self.folder / PLACES / capture) and found

    def is_deleted(self, capture: str) -> bool:
        """Whether `delete` took it away."""
        return (self.folder / TOMBSTONES / capture).exists()

    def restore(self, capture: str) -> bool:
        """Lets a deleted capture be written again; whether it was deleted."""
        return _unlinked(self.folder / TOMBSTONES / capture)

    def make_room(self, facts: Dict[str, Any], tables: Iterable[str]) -> bool:
        """Before the first row of a capture: whether it had rows, which go unless they are replaced where they are.

        Notes its place first, so that what a run that is killed leaves behind is found again.
        """
        capture = facts["capture"]
        before = self.place(capture)
        place = self.path("captures", facts).relative_to(self.folder / "captures").parent.as_posix()
        there = before is not None and (self.folder / "captures" / before / f"{capture}.parquet").exists()
        if before != place:
            self.remove(capture)
            self.appear(self.folder / PLACES / capture, lambda path: _write_text(path, place))
        else:
            for table in set(TABLES) - set(tables):
                self._drop(table, place, capture)
        return there

    def path(self, table: str, facts: Dict[str, Any]) -> pathlib.Path:
        """Where the rows of a capture are."""
        host = quote(facts["host"], safe="")
        return self.folder / table / f"date={facts['date']}" / f"host={host}" / f"{facts['capture']}.parquet"

    @staticmethod
    def appear(path: pathlib.Path, write: Callable[[pathlib.Path], Any]) -> None:
        """write(a path), which then appears whole or not at all under its name."""
        path.parent.mkdir(parents=True, exist_ok=True)
        # Engines pass over names that begin with a dot or an underscore.
        handle, name = tempfile.mkstemp(prefix=".", dir=path.parent)
        os.close(handle)
        try:
            write(pathlib.Path(name))
            os.chmod(name, 0o666 & ~_umask())
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise


def _write_text(path: pathlib.Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _unlinked(path: pathlib.Path) -> bool:
    """Whether the file was there."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


def _umask() -> int:
    value = os.umask(0)
    os.umask(value)
    return value
