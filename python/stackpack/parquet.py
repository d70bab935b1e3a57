"""Captures as Parquet, for engines that ask many of them: python -m stackpack.parquet IN... -o DIR

docs/fleet.md has the tables, their columns and queries. DIR/TABLE/date=YYYY-MM-DD/host=HOST/CAPTURE.parquet; CAPTURE is
the identity of the capture: a digest of its bytes, whatever packed it and named its functions, so that a capture that is
packed or named anew takes the place of its rows. What is there of the same .spk file is left alone, which makes every
run restartable: the row of `captures` is written last.
"""
from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import sys
import tempfile
from dataclasses import dataclass
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Set
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from . import StackpackError, UsageError, convert, open as open_capture
from ._capture import Capture

#: Goes up when a column changes its meaning or its type, or goes.
SCHEMA_VERSION = 2
TABLES = ("shares", "samples", "callstacks", "frames", "modules", "processes", "threads", "losses")
#: Folder with a file for each capture: `date=.../host=...` of its rows. Engines pass over names that begin so.
PLACES = "_places"
_ROWS_OF_A_GROUP = 1 << 20
_ORIGINS = {"date": "unknown", "host": "unknown"}


@dataclass(frozen=True)
class Written:
    """What became of one input."""
    input: str
    capture: Optional[str] = None  #: its id
    skipped: bool = False  #: was there, of the same file
    replaced: bool = False  #: was there, packed or named otherwise
    error: Optional[StackpackError] = None


def _digest(path: pathlib.Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()[:32]


def _date_of(start_ns: Optional[int]) -> str:
    if start_ns is None or not 0 <= start_ns < 2**63:
        return _ORIGINS["date"]
    return datetime.datetime.fromtimestamp(start_ns // 10**9, datetime.timezone.utc).strftime("%Y-%m-%d")


def _facts(file: Capture) -> Dict[str, Any]:
    """Date, host and the rest of what a row of `captures` has."""
    sources = file.sources().to_arrow().to_pylist()
    hosts = {source["host"] for source in sources}
    first = sources[0]
    # Times of a capture whose clock nobody knows are those since its machine started.
    dated = [source["start_ns"] for source in sources if source["wall_offset_ns"] is not None and source["start_ns"]]
    start = min(dated) if dated else None
    return {
        "date": _date_of(start),
        "host": (hosts.pop() or _ORIGINS["host"]) if len(hosts) == 1 else "various",
        "start_ns": start,
        "wall_offset_ns": 0 if len(sources) > 1 else first["wall_offset_ns"],
        "kind": first["kind"],
        "command_line": first["command_line"],
        "sources": len(sources),
        "identity": _identity([source["digest"] for source in sources]),
    }


def _identity(digests: Sequence[Optional[str]]) -> Optional[str]:
    """Of the captures that a file was made of; None: not all of them have one."""
    known = [digest for digest in digests if digest is not None]
    if len(known) < len(digests):
        return None
    return known[0] if len(known) == 1 else hashlib.sha256(" ".join(sorted(known)).encode()).hexdigest()[:32]


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """As engines without unsigned numbers have it: 64 bits signed, the same bits; texts as such."""
    if pa.types.is_dictionary(column.type):
        return column.cast(pa.string())
    if column.type == pa.uint64():
        return pa.chunked_array([chunk.view(pa.int64()) for chunk in column.chunks], pa.int64())
    return column.cast(pa.int64()) if pa.types.is_unsigned_integer(column.type) else column


def _with_facts(table: pa.Table, facts: Dict[str, Any]) -> pa.Table:
    """The plain table, behind the columns that say which capture a row is of."""
    columns = {"capture": pa.array([facts["capture"]] * table.num_rows, pa.string())}
    for name in table.column_names:
        columns[name] = _plain(table[name])
    if "time_ns" in columns and facts["wall_offset_ns"] is not None:
        shift = pa.scalar(facts["wall_offset_ns"], pa.int64())
        wall = pa.compute.add(columns["time_ns"], shift)
        columns["time"] = wall.cast(pa.timestamp("ns", "UTC"))
    elif "time_ns" in columns:
        columns["time"] = pa.nulls(table.num_rows, pa.timestamp("ns", "UTC"))
    return pa.table(columns)


def _shares(file: Capture) -> Iterator[pa.Table]:
    """What `top` shows of each event, with the build ids of images that have one."""
    modules = file.modules(columns=["image", "build_id"]).to_arrow().to_pylist()
    builds: Dict[str, Set[Optional[str]]] = {}
    for module in modules:
        builds.setdefault(module["image"], set()).add(module["build_id"])
    for event in file.events().to_arrow().to_pylist():
        if event["samples"] == 0:
            continue
        rows = file.top(event=event["name"]).to_arrow()
        images = rows["module"].cast(pa.string())
        known = [builds.get(image, set()) for image in images.to_pylist()]
        yield pa.table({
            "event": pa.array([event["name"]] * rows.num_rows, pa.string()),
            "name": rows["name"],
            "image": images,
            "build_id": pa.array([next(iter(ids)) if len(ids) == 1 else None for ids in known], pa.string()),
            "self": rows["self"],
            "total": rows["total"],
            "value": rows["value"],
            "samples": rows["samples"],
            "unit": rows["unit"].cast(pa.string()),
        })


def _groups(file: Capture, table: str) -> Iterator[pa.Table]:
    """The rows of a table, as many at a time as a row group has."""
    if table == "shares":
        yield from _shares(file)
        return
    held: List[pa.RecordBatch] = []
    rows = 0
    for batch in getattr(file, table)().to_reader():
        held.append(batch)
        rows += batch.num_rows
        if rows >= _ROWS_OF_A_GROUP:
            yield pa.Table.from_batches(held)
            held, rows = [], 0
    if held:
        yield pa.Table.from_batches(held)


class _Lake:
    """The folder that the tables are in."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        version = folder / "_stackpack_schema"
        if not version.exists():
            self._appear(version, lambda path: path.write_text(f"{SCHEMA_VERSION}\n"))
        found = version.read_text().strip()
        if found != str(SCHEMA_VERSION):
            raise UsageError(f"{folder} has tables of schema {found}, this writes {SCHEMA_VERSION}")

    def written(self, capture: str) -> Optional[str]:
        """Digest of the .spk file that the capture's rows are of; None: they are not, or not all there."""
        place = self._place_file(capture)
        path = self.folder / "captures" / place.read_text() / f"{capture}.parquet" if place.exists() else place
        if not path.exists():
            return None
        with pq.ParquetFile(path) as file:
            digest: str = file.read(columns=["file_digest"])["file_digest"][0].as_py()
            return digest

    def remove(self, capture: str) -> bool:
        """Takes the rows of a capture away, whatever date and host it was given: whether there were some."""
        place = self._place_file(capture)
        if not place.exists():
            return False
        folders = [self.folder / table / place.read_text() for table in ("captures", *TABLES)]
        return [_unlinked(folder / f"{capture}.parquet") for folder in folders][0]

    def note_place(self, facts: Dict[str, Any]) -> None:
        """Before the first row: what a run that is killed leaves behind is found again."""
        place = self.path("captures", facts).relative_to(self.folder / "captures").parent.as_posix()
        self._appear(self._place_file(facts["capture"]), lambda path: path.write_text(place))

    def _place_file(self, capture: str) -> pathlib.Path:
        return self.folder / PLACES / capture

    def path(self, table: str, facts: Dict[str, Any]) -> pathlib.Path:
        """Where the rows of a capture are."""
        host = quote(facts["host"], safe="")
        return self.folder / table / f"date={facts['date']}" / f"host={host}" / f"{facts['capture']}.parquet"

    @staticmethod
    def _appear(path: pathlib.Path, write: Any) -> None:
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

    def write(self, table: str, facts: Dict[str, Any], groups: Iterable[pa.Table]) -> None:
        """A file of a table; none when there is no row."""
        groups = iter(groups)
        first = next(groups, None)
        if first is None:
            return

        def fill(path: pathlib.Path) -> None:
            begin = _with_facts(first, facts)
            schema = begin.schema.with_metadata({b"stackpack.lake": str(SCHEMA_VERSION).encode(),
                                                 b"stackpack.table": table.encode()})
            with pq.ParquetWriter(path, schema, compression="zstd") as writer:
                writer.write_table(begin.cast(schema))
                for group in groups:
                    writer.write_table(_with_facts(group, facts).cast(schema))

        self._appear(self.path(table, facts), fill)


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


def _captures_row(facts: Dict[str, Any], file: Capture) -> pa.Table:
    summary = file.summary
    start = facts["start_ns"]
    row = {
        "input": pa.array([facts["input"]], pa.string()),
        "label": pa.array([facts["label"]], pa.string()),
        "kind": pa.array([facts["kind"]], pa.string()),
        "command_line": pa.array([facts["command_line"]], pa.string()),
        "start": pa.array([start], pa.timestamp("ns", "UTC")),
        "wall_offset_ns": pa.array([facts["wall_offset_ns"]], pa.int64()),
        "sources": pa.array([facts["sources"]], pa.int64()),
    }
    row["file_digest"] = pa.array([facts["file_digest"]], pa.string())
    for name in ("samples", "recorded_samples", "unique_stacks", "source_bytes", "file_bytes"):
        row[name] = pa.array([summary[name]], pa.int64())
    return pa.table(row)


def write_capture(path: "os.PathLike[str] | str", folder: "os.PathLike[str] | str", *,
                  tables: Sequence[str] = TABLES, label: Optional[str] = None) -> Written:
    """Writes the tables of one .spk file or capture below `folder`; a capture is packed first, into a scratch file.

    `label`: a text for the row of `captures`, such as the version that ran. An input that is bad comes back as
    Written.error, and nothing of it is in `captures`.
    """
    unknown = set(tables) - set(TABLES)
    if unknown:
        raise UsageError(f"no table {', '.join(sorted(unknown))}; there are {', '.join(TABLES)}")
    lake = _Lake(pathlib.Path(folder))
    try:
        with tempfile.TemporaryDirectory(prefix="stackpack-") as scratch:
            packed = pathlib.Path(path)
            if not _is_packed(packed):
                packed = pathlib.Path(scratch) / "packed.spk"
                convert(path, packed)
            return _write_packed(lake, str(path), packed, tables, label)
    except StackpackError as error:
        return Written(str(path), error=error)
    except (pa.ArrowException, OSError) as error:  # of a stream that ended early
        return Written(str(path), error=StackpackError(str(error), path=str(path)))


def _is_packed(path: pathlib.Path) -> bool:
    return path.suffix == ".spk"


def _write_packed(lake: _Lake, name: str, path: pathlib.Path, tables: Sequence[str], label: Optional[str]) -> Written:
    with open_capture(path) as file:
        facts = _facts(file)
        digest = _digest(path)
        facts.update(capture=facts["identity"] or digest, file_digest=digest, input=pathlib.Path(name).name, label=label)
        if lake.written(facts["capture"]) == digest:
            return Written(name, facts["capture"], skipped=True)
        replaced = lake.remove(facts["capture"])
        lake.note_place(facts)
        has_samples = bool(file.summary["has_samples"])
        for table in tables:
            if table != "samples" or has_samples:
                lake.write(table, facts, _groups(file, table))
        lake.write("captures", facts, [_captures_row(facts, file)])
        return Written(name, facts["capture"], replaced=replaced)


def _inputs(paths: Sequence[str]) -> Iterator[str]:
    """Files; of folders every .spk file below, by name."""
    for path in paths:
        if os.path.isdir(path) and not os.path.exists(os.path.join(path, "data")):  # that is perf record --threads
            yield from sorted(str(found) for found in pathlib.Path(path).rglob("*.spk"))
        else:
            yield path


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """The command. 0: all is well; 2: an input is bad, the others are written."""
    parser = argparse.ArgumentParser(
        prog="python -m stackpack.parquet", description="Captures and .spk files as Parquet tables; docs/fleet.md",
        epilog="example: python -m stackpack.parquet packed/ -o lake --label 1.4.2")
    parser.add_argument("inputs", nargs="+", metavar="IN", help=".spk files, captures, folders with .spk files")
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="folder of the tables")
    parser.add_argument("--tables", metavar="A,B", help=f"of {', '.join(TABLES)}; all of them by default")
    parser.add_argument("--label", metavar="TEXT", help="column `label` of captures, such as the version that ran")
    parser.add_argument("--json", action="store_true", help="one line of JSON an input on standard output")
    given = parser.parse_args(arguments)
    tables = given.tables.split(",") if given.tables else TABLES
    bad = 0
    try:
        for path in _inputs(given.inputs):
            done = write_capture(path, given.output, tables=tables, label=given.label)
            bad += done.error is not None
            if done.error:
                print(f"stackpack: {done.error}", file=sys.stderr)
            if given.json:
                error = {"code": done.error.code, "offset": done.error.offset, "text": done.error.what} if done.error else None
                print(json.dumps({"input": done.input, "capture": done.capture, "skipped": done.skipped,
                                  "replaced": done.replaced, "error": error}))
    except UsageError as error:
        print(f"stackpack: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 2 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
