"""Captures as Parquet, for engines that ask many of them: python -m stackpack.parquet IN... -o DIR

docs/fleet.md has the tables, their columns and queries. DIR/TABLE/date=YYYY-MM-DD/CAPTURE.parquet; CAPTURE is
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
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

import pyarrow as pa
import pyarrow.parquet as pq

from . import StackpackError, UsageError, convert, open as open_capture, symbolize
from ._capture import Capture
from ._labels import DATE, HOST, SERVICE, Labels
from ._lake import LABELS, PLACES, SCHEMA_VERSION, TABLES, Lake
from ._shares import shares
from ._wait_rows import wait_rows

__all__ = ["PLACES", "SCHEMA_VERSION", "TABLES", "Labels", "Naming", "Written", "capture_of", "main", "write_capture"]

_ROWS_OF_A_GROUP = 1 << 20
_ORIGINS = {"date": "unknown", "host": "unknown"}


@dataclass(frozen=True)
class Written:
    """What became of one input."""
    input: str
    capture: Optional[str] = None  #: its id
    skipped: bool = False  #: was there, of the same file
    replaced: bool = False  #: was there, packed or named otherwise
    deleted: bool = False  #: was taken out of the tables, and stays so
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
    # Times of a capture whose clock is not known are those since its machine started.
    dated = [source["start_ns"] for source in sources if source["wall_offset_ns"] is not None and source["start_ns"]]
    start = min(dated) if dated else None
    return {
        "date": _date_of(start),
        "host": (hosts.pop() or _ORIGINS["host"]) if len(hosts) == 1 else "various",
        "start_ns": start,
        "wall_offset_ns": 0 if len(sources) > 1 else first["wall_offset_ns"],
        "kind": first["kind"],
        "kernel": _metadata(file).get("os.release"),
        "command_line": first["command_line"],
        "sources": len(sources),
        "identity": _identity([source["digest"] for source in sources]),
    }


def _metadata(file: Capture) -> Dict[str, str]:
    return {row["key"]: row["value"] for row in file.metadata().to_arrow().to_pylist()}


def capture_of(path: "os.PathLike[str] | str") -> str:
    """The name that the tables have for the capture of a .spk file. Raises StackpackError and OSError."""
    with open_capture(path) as file:
        return _facts(file)["identity"] or _digest(pathlib.Path(path))


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
    """The plain table, after the columns that say which capture a row is of."""
    columns = {name: pa.array([facts[name]] * table.num_rows, pa.string()) for name in ("capture", "part", "host")}
    if facts["table"] in ("captures", "shares", "waits"):
        columns["service"] = pa.array([facts["service"]] * table.num_rows, pa.string())
    for name in table.column_names:
        columns[name] = _plain(table[name])
    if "time_ns" in columns and facts["wall_offset_ns"] is not None:
        shift = pa.scalar(facts["wall_offset_ns"], pa.int64())
        wall = pa.compute.add(columns["time_ns"], shift)
        columns["time"] = wall.cast(pa.timestamp("ns", "UTC"))
    elif "time_ns" in columns:
        columns["time"] = pa.nulls(table.num_rows, pa.timestamp("ns", "UTC"))
    return pa.table(columns)


def _groups(file: Capture, table: str) -> Iterator[pa.Table]:
    """The rows of a table, as many at a time as a row group has."""
    if table == "shares":
        yield shares(file)
        return
    if table == "waits":
        rows = wait_rows(file)
        if rows.num_rows:
            yield rows
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


def _captures_row(facts: Dict[str, Any], file: Capture) -> pa.Table:
    summary = file.summary
    labels = facts["labels"]
    row = {name: pa.array([facts[name]], pa.string()) for name in ("input", "path", "label", "kind", "command_line", "kernel")}
    row["labels"] = pa.array([None if labels is None else list(labels.items())], LABELS)
    row["date_source"] = pa.array([facts["date_source"]], pa.string())
    row["start"] = pa.array([facts["start_ns"]], pa.timestamp("ns", "UTC"))
    for name in ("wall_offset_ns", "sources", "generation"):
        row[name] = pa.array([facts[name]], pa.int64())
    row["file_digest"] = pa.array([facts["file_digest"]], pa.string())
    for name in ("samples", "recorded_samples", "unique_stacks", "source_bytes", "file_bytes"):
        row[name] = pa.array([summary[name]], pa.int64())
    return pa.table(row)


def _write_table(lake: Lake, table: str, facts: Dict[str, Any], groups: Iterable[pa.Table]) -> None:
    """A file of a table; none when there is no row."""
    groups = iter(groups)
    first = next(groups, None)
    path = lake.path(table, facts)
    if first is None:
        lake.store.drop(path)  # of an earlier version of the capture
        return

    def fill(made: pathlib.Path) -> None:
        begin = _with_facts(first, {**facts, "table": table})
        schema = begin.schema.with_metadata({b"stackpack.lake": str(SCHEMA_VERSION).encode(),
                                             b"stackpack.table": table.encode()})
        with pq.ParquetWriter(made, schema, compression="zstd") as writer:
            writer.write_table(begin.cast(schema))
            for group in groups:
                writer.write_table(_with_facts(group, {**facts, "table": table}).cast(schema))

    lake.store.put(path, fill)


@dataclass(frozen=True)
class Naming:
    """Symbolising as a step before the rows are made; the fields are as of :func:`stackpack.symbolize`."""
    symbols: Sequence[str] = ()
    sysroot: Optional[str] = None


def write_capture(path: "os.PathLike[str] | str", folder: "os.PathLike[str] | str", *,
                  tables: Sequence[str] = TABLES, label: Optional[str] = None, labels: Optional[Labels] = None,
                  naming: Optional[Naming] = None, recorded: "Optional[Tuple[str, float]]" = None) -> Written:
    """Writes the tables of one .spk file or capture below `folder`, a path or a URL that pyarrow.fs or fsspec knows.

    A capture is packed first, into a scratch file.

    Args:
        label: a text for the row of `captures`, such as the version that ran.
        labels: service, host, date and others; None: those that the capture has there already.
        naming: names functions first.
        recorded: path and time of change (s since 1970) of the capture, where `path` is a copy; None: those of `path`.

    An input that is bad comes back as Written.error, and nothing of it is in `captures`.
    """
    unknown = set(tables) - set(TABLES)
    if unknown:
        raise UsageError(f"no table {', '.join(sorted(unknown))}; there are {', '.join(TABLES)}")
    lake = Lake(folder)
    try:
        about = recorded or (str(path), os.stat(path).st_mtime)
        found = None if labels is None else labels.for_input(os.path.abspath(about[0]) if "://" not in about[0] else about[0])
        with tempfile.TemporaryDirectory(prefix="stackpack-") as scratch:
            packed = pathlib.Path(path)
            if not _is_packed(packed):
                packed = pathlib.Path(scratch) / "packed.spk"
                convert(path, packed)
            if naming is not None:
                named = pathlib.Path(scratch) / "named.spk"
                symbolize(packed, named, symbols=naming.symbols, sysroot=naming.sysroot)
                packed = named
            return _write_packed(lake, _Input(str(path), about[0], about[1], label, found), packed, tables)
    except StackpackError as error:
        return Written(str(path), error=error)
    except (pa.ArrowException, OSError) as error:  # of a stream that ended early
        return Written(str(path), error=StackpackError(str(error), path=str(path)))


@dataclass(frozen=True)
class _Input:
    """What is known of an input besides what is in it."""
    name: str
    path: str
    changed: float  #: s since 1970
    label: Optional[str]
    labels: Optional[Dict[str, str]]


def _is_packed(path: pathlib.Path) -> bool:
    return path.suffix == ".spk"


def _write_packed(lake: Lake, given: _Input, path: pathlib.Path, tables: Sequence[str]) -> Written:
    with open_capture(path) as file:
        facts = _facts(file)
        digest = _digest(path)
        facts.update(capture=facts["identity"] or digest, file_digest=digest, input=pathlib.Path(given.name).name)
        capture = facts["capture"]
        if lake.is_deleted(capture):
            return Written(given.name, capture, skipped=True, deleted=True)
        before = lake.row_of(capture)
        _add_labels(facts, given, before)
        if before is not None and all(before.get(name) == facts[name] for name in _SAME):
            return Written(given.name, capture, skipped=True)
        has_samples = bool(file.summary["has_samples"])
        wanted = [table for table in tables if table != "samples" or has_samples]
        with lake.locked(shared=True):
            replaced = lake.make_room(facts, wanted)
            for table in wanted:
                _write_table(lake, table, facts, _groups(file, table))
            _write_table(lake, "captures", facts, [_captures_row(facts, file)])
        return Written(given.name, capture, replaced=replaced)


#: Of a row of `captures`: rows are left alone where these are the same.
_SAME = ("file_digest", "label", "service", "labels", "date", "host")


def _add_labels(facts: Dict[str, Any], given: _Input, before: Optional[Dict[str, Any]]) -> None:
    """Who and when: what the caller says, then what the capture says, then what was known before, then the file's time."""
    labels = given.labels
    known = before or {}
    if labels is None:
        labels = {**({SERVICE: known["service"]} if known.get("service") else {}), **(known.get("labels") or {})}
    rest = {name: value for name, value in sorted(labels.items()) if name not in (SERVICE, DATE)}
    facts.update(service=labels.get(SERVICE), labels=rest or None, path=given.path,
                 label=given.label if given.label is not None else known.get("label"))
    if given.labels is None and known:
        facts["path"] = known.get("path") or given.path
    if HOST in labels:
        facts["host"] = labels[HOST]
    if facts["date"] != _ORIGINS["date"]:
        facts["date_source"] = "capture"
    elif DATE in labels:
        facts.update(date=labels[DATE], date_source="label")
    elif known and known["date"] != _ORIGINS["date"]:
        facts.update(date=known["date"], date_source=known.get("date_source"))
    else:
        facts.update(date=_date_of(int(given.changed) * 10**9), date_source="file")


def _inputs(paths: Sequence[str]) -> Iterator[str]:
    """Files; of folders every .spk file below, by name."""
    for path in paths:
        if os.path.isdir(path) and not os.path.exists(os.path.join(path, "data")):  # that is perf record --threads
            found = sorted(str(file) for file in pathlib.Path(path).rglob("*.spk"))
            if not found:
                raise UsageError(f"{path}: no .spk file is below this folder; give captures by their names")
            yield from found
        else:
            yield path


def _labels_of(given: argparse.Namespace) -> Optional[Labels]:
    """Those of the command line; None: nothing is said of labels."""
    own = {name: value for name, value in ((DATE, given.date), (SERVICE, given.service)) if value}
    return Labels.of(own, given.labels, given.path) if own or given.labels or given.path else None


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """The command. 0: all is well; 2: an input is bad, the others are written."""
    parser = argparse.ArgumentParser(
        prog="python -m stackpack.parquet", description="Captures and .spk files as Parquet tables; docs/fleet.md",
        epilog="example: python -m stackpack.parquet packed/ -o lake --label 1.4.2")
    parser.add_argument("inputs", nargs="+", metavar="IN", help=".spk files, captures, folders with .spk files")
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="folder of the tables, or its URL (s3://...)")
    parser.add_argument("--tables", metavar="A,B", help=f"of {', '.join(TABLES)}; all of them by default")
    parser.add_argument("--label", metavar="TEXT", help="column `label` of captures, such as the version that ran")
    parser.add_argument("--labels", metavar="FILE", help="CSV: column input (a path or the end of one), then a label each")
    parser.add_argument("--path", metavar="TEMPLATE", help="labels of paths, such as {service}/{date}/{host}/*.perf.data")
    parser.add_argument("--date", metavar="DAY", help="of captures that do not know theirs")
    parser.add_argument("--service", metavar="TEXT", help="label `service` of all inputs")
    parser.add_argument("--symbolize", action="store_true", help="name functions first, by the files of this machine")
    parser.add_argument("--symbols", metavar="DIR", action="append", help="the same, and by files below this folder or bundle")
    parser.add_argument("--sysroot", metavar="DIR", help="the folder below which recorded paths are")
    parser.add_argument("--json", action="store_true", help="one line of JSON an input on standard output")
    given = parser.parse_args(arguments)
    tables = given.tables.split(",") if given.tables else TABLES
    naming = Naming(given.symbols or (), given.sysroot) if given.symbolize or given.symbols or given.sysroot else None
    bad = 0
    try:
        labels = _labels_of(given)
        for path in list(_inputs(given.inputs)):  # one that is wrong is said before anything is written
            done = write_capture(path, given.output, tables=tables, label=given.label, labels=labels, naming=naming)
            bad += done.error is not None
            if done.error:
                print(f"stackpack: {done.error}", file=sys.stderr)
            if given.json:
                error = {"code": done.error.code, "offset": done.error.offset, "text": done.error.what} if done.error else None
                print(json.dumps({"input": done.input, "capture": done.capture, "skipped": done.skipped,
                                  "replaced": done.replaced, "deleted": done.deleted, "error": error}))
    except UsageError as error:
        print(f"stackpack: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 2 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
