"""Care of the tables that stackpack.parquet writes: python -m stackpack.lake delete|restore|deleted|expire|migrate LAKE

docs/fleet.md says what each does. One of them at a time; captures may be written meanwhile.
"""
from __future__ import annotations

import argparse
import datetime
import json
import pathlib
import sys
from typing import Iterator, Optional, Sequence, Tuple

from ._errors import StackpackError, UsageError
from ._labels import date_of
from ._lake import TOMBSTONES, Lake


def open_lake(folder: str) -> Lake:
    """The tables below a folder, of the newest version. Raises UsageError where there are none."""
    if not (pathlib.Path(folder) / "_stackpack_schema").exists():
        raise UsageError("no tables of captures are here", path=folder)
    return Lake(pathlib.Path(folder))


def expired(lake: Lake, before: str) -> Iterator[str]:
    """Captures of days before one (YYYY-MM-DD); those without a day stay."""
    for capture, place in lake.captures().items():
        day = place.split("/")[0].partition("=")[2]
        if day[:1].isdigit() and day < before:
            yield capture


def deleted(lake: Lake) -> Iterator[Tuple[str, str, str]]:
    """Capture, time and reason of each deletion, by capture."""
    folder = lake.folder / TOMBSTONES
    for path in sorted(folder.iterdir()) if folder.exists() else []:
        if not path.name.startswith("."):
            note = json.loads(path.read_text(encoding="utf-8"))
            yield path.name, note["time"], note["why"]


def _delete(given: argparse.Namespace) -> int:
    lake = open_lake(given.lake)
    unknown = 0
    known = lake.captures()
    for capture in given.captures:
        if capture in known:
            lake.delete(capture, given.why)
        else:
            unknown += 1
            print(f"stackpack: {given.lake}: no capture {capture}", file=sys.stderr)
    return 2 if unknown else 0


def _restore(given: argparse.Namespace) -> int:
    lake = open_lake(given.lake)
    missing = [capture for capture in given.captures if not lake.restore(capture)]
    for capture in missing:
        print(f"stackpack: {given.lake}: {capture} was not deleted", file=sys.stderr)
    return 2 if missing else 0


def _deleted(given: argparse.Namespace) -> int:
    for capture, time, why in deleted(open_lake(given.lake)):
        print(json.dumps({"capture": capture, "time": time, "why": why}))
    return 0


def _expire(given: argparse.Namespace) -> int:
    lake = open_lake(given.lake)
    today = datetime.datetime.now(datetime.timezone.utc).date()
    before = date_of(given.before, "--before") if given.before else (today - datetime.timedelta(days=given.days)).isoformat()
    old = list(expired(lake, before))
    print(f"{len(old)} of {len(lake.captures())} captures are of days before {before}", file=sys.stderr)
    for capture in [] if given.dry_run else old:
        lake.delete(capture, f"of a day before {before}")
    return 0


def _migrate(given: argparse.Namespace) -> int:
    open_lake(given.lake)
    return 0


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """The command. 0: all is well; 1: it makes no sense; 2: a capture is not there."""
    parser = argparse.ArgumentParser(prog="python -m stackpack.lake", description="Care of Parquet tables; docs/fleet.md",
                                     epilog="example: python -m stackpack.lake expire lake --days 90")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, function, text in (("delete", _delete, "take captures away, for good"),
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
