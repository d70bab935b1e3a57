"""Care of the tables that stackpack.parquet writes: python -m stackpack.lake compact|delete|restore|deleted|expire|migrate LAKE

docs/fleet.md says what each does. One of them at a time; captures may be written meanwhile.
"""
from __future__ import annotations

import argparse
import dataclasses
import datetime
import json
import sys
from typing import Iterator, Optional, Sequence

from ._errors import StackpackError, UsageError
from ._labels import date_of
from ._compact import TARGET, Compacted, Group, compact, compact_group, delete, plan
from ._lake import VERSION, Lake
from ._store import Store
from ._verdicts import changes, register

__all__ = ["TARGET", "Compacted", "Group", "Lake", "changes", "compact", "compact_group", "delete", "expired", "main", "open_lake",
           "plan", "register"]


def open_lake(folder: str) -> Lake:
    """The tables below a folder or URL, of the newest version. Raises UsageError where there are none."""
    if not Store(folder).exists(VERSION):
        raise UsageError("no tables of captures are here", path=folder)
    return Lake(folder)


def expired(lake: Lake, before: str) -> Iterator[str]:
    """Captures of days before one (YYYY-MM-DD); those without a day stay."""
    for capture, rows in lake.captures().items():
        if rows.date[:1].isdigit() and rows.date < before:
            yield capture


def _delete(given: argparse.Namespace) -> int:
    lake = open_lake(given.lake)
    known = {capture: lake.rows_of(capture) is not None for capture in given.captures}
    for capture, there in known.items():
        if not there:
            print(f"stackpack: {given.lake}: no capture {capture}", file=sys.stderr)
    delete(lake, [capture for capture, there in known.items() if there], given.why)
    return 0 if all(known.values()) else 2


def _restore(given: argparse.Namespace) -> int:
    lake = open_lake(given.lake)
    missing = [capture for capture in given.captures if not lake.restore(capture)]
    for capture in missing:
        print(f"stackpack: {given.lake}: {capture} was not deleted", file=sys.stderr)
    return 2 if missing else 0


def _deleted(given: argparse.Namespace) -> int:
    for capture, note in open_lake(given.lake).deletions():
        print(json.dumps({"capture": capture, "time": note.get("time"), "why": note.get("why")}))
    return 0


def _compact(given: argparse.Namespace) -> int:
    lake = open_lake(given.lake)
    days = [date_of(day, "--day") for day in given.day] if given.day else None
    changed = 0
    for done in compact(lake, int(given.size * (1 << 20)), days, given.jobs):
        changed += done.changed
        if given.json:
            print(json.dumps(dataclasses.asdict(done)), flush=True)
        elif done.changed:
            print(f"{done.date} {done.service or '-'}: left alone, a capture was written meanwhile")
        else:
            print(f"{done.date} {done.service or '-'}: {done.captures} captures, {done.files_before} files to {done.files_after}, "
                  f"{done.bytes_before} bytes to {done.bytes_after}", flush=True)
    return 3 if changed else 0


def _expire(given: argparse.Namespace) -> int:
    lake = open_lake(given.lake)
    today = datetime.datetime.now(datetime.timezone.utc).date()
    before = date_of(given.before, "--before") if given.before else (today - datetime.timedelta(days=given.days)).isoformat()
    old = list(expired(lake, before))
    print(f"{len(old)} of {len(lake.captures())} captures are of days before {before}", file=sys.stderr)
    if old and not given.dry_run:
        delete(lake, old, f"of a day before {before}")
    return 0


def _migrate(given: argparse.Namespace) -> int:
    open_lake(given.lake)
    return 0


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """The command. 0: all is well; 1: it makes no sense; 2: a capture is not there; 3: compact again, what it left alone."""
    parser = argparse.ArgumentParser(prog="python -m stackpack.lake", description="Care of Parquet tables; docs/fleet.md",
                                     epilog="examples: python -m stackpack.lake compact lake -j 2; python -m stackpack.lake expire lake --days 90")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, function, text in (("compact", _compact, "make files of about 128 MB of many small ones, by day and service"),
                                 ("delete", _delete, "take captures away, for good"),
                                 ("restore", _restore, "let deleted captures be written again"),
                                 ("deleted", _deleted, "list what was deleted, a line of JSON each"),
                                 ("expire", _expire, "delete what is older"),
                                 ("migrate", _migrate, "bring tables of an older version up to date, as writing does")):
        command = commands.add_parser(name, help=text)
        command.set_defaults(function=function)
        command.add_argument("lake", metavar="LAKE")
        if name in ("delete", "restore"):
            command.add_argument("captures", nargs="+", metavar="CAPTURE", help="as the column `capture` has it")
        if name == "delete":
            command.add_argument("--why", default="", metavar="TEXT", help="is kept with the deletion")
        if name == "compact":
            command.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="days and services at once")
            command.add_argument("--day", action="append", metavar="DAY", help="only this one; may be given several times")
            command.add_argument("--size", type=float, default=TARGET / (1 << 20), metavar="MIB", help="of a file, about; 128")
            command.add_argument("--json", action="store_true", help="a line of JSON for each day and service")
        if name == "expire":
            age = command.add_mutually_exclusive_group(required=True)
            age.add_argument("--days", type=int, metavar="N", help="days to keep before today (UTC)")
            age.add_argument("--before", metavar="DAY", help="first day to keep")
            command.add_argument("--dry-run", action="store_true", help="only say how many")
    given = parser.parse_args(arguments)
    try:
        return int(given.function(given))
    except StackpackError as error:
        print(f"stackpack: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
