"""Who and when a capture is of, where it does not say so itself: labels of a file, of its path, and of the caller."""
from __future__ import annotations

import csv
import datetime
import pathlib
import re
from dataclasses import dataclass, field
from typing import Dict, List, Mapping, Optional, Tuple

from ._errors import UsageError

#: Labels that are columns of their own.
SERVICE, HOST, DATE = "service", "host", "date"
_FIELD = re.compile(r"\{(\w+)\}")
_DATES = ("%Y-%m-%d", "%Y%m%d", "%Y_%m_%d")


def date_of(text: str, about: str) -> str:
    """A day as YYYY-MM-DD. Raises UsageError, with `about`, for a text that is none."""
    for form in _DATES:
        try:
            return datetime.datetime.strptime(text, form).strftime("%Y-%m-%d")
        except ValueError:
            continue
    raise UsageError(f"{about}: {text!r} is not a date such as 2026-11-24 or 20261124")


def _template(text: str) -> "re.Pattern[str]":
    """What the end of a path must be like: `{name}` is a label, `*` anything, both within a folder's or file's name."""
    names = _FIELD.findall(text)
    if not names:
        raise UsageError(f"the path template {text!r} has no {{label}}")
    if len(set(names)) < len(names):
        raise UsageError(f"the path template {text!r} has a label twice")
    pattern = ""
    for part in re.split(r"(\{\w+\}|\*)", text.strip("/")):
        match = _FIELD.fullmatch(part)
        pattern += f"(?P<{match[1]}>[^/]+)" if match else "[^/]*" if part == "*" else re.escape(part)
    try:
        return re.compile(rf"(?:.*/)?{pattern}")
    except re.error as error:
        raise UsageError(f"the path template {text!r}: {error}") from error


def _read_file(path: pathlib.Path) -> List[Tuple[str, Dict[str, str]]]:
    """Rows of a CSV file (.tsv: by tabs) whose first column is `input`."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ",")
        head = next(rows, [])
        if not head or head[0] != "input" or len(head) < 2 or len(set(head)) < len(head):
            raise UsageError("the first line names the columns: input, then a label each, such as service", path=str(path))
        found = []
        for row in rows:
            if not row:
                continue
            if len(row) != len(head):
                raise UsageError(f"line {rows.line_num} has {len(row)} columns, the first one {len(head)}", path=str(path))
            found.append((row[0], {name: value for name, value in zip(head[1:], row[1:]) if value}))
        return found


@dataclass(frozen=True)
class Labels:
    """Labels by input. Of several that are given, the caller's go before those of the file, and these before the path's."""
    given: Mapping[str, str] = field(default_factory=dict)
    rows: Tuple[Tuple[str, Dict[str, str]], ...] = ()
    template: "Optional[re.Pattern[str]]" = None

    @classmethod
    def of(cls, given: Optional[Mapping[str, str]] = None, file: "Optional[str | pathlib.Path]" = None,
           template: Optional[str] = None) -> "Labels":
        """Reads the file and the template. Raises UsageError for what is wrong with them, OSError of the file."""
        known = dict(given or {})
        if DATE in known:
            known[DATE] = date_of(known[DATE], "date")
        return cls(known, tuple(_read_file(pathlib.Path(file))) if file else (), _template(template) if template else None)

    def for_input(self, path: str) -> Dict[str, str]:
        """The labels of an input. Raises UsageError where its path does not fit the template, or a date is none."""
        whole = path.replace("\\", "/")
        found: Dict[str, str] = {}
        if self.template is not None:
            match = self.template.fullmatch(whole)
            if match is None:
                raise UsageError("the path does not fit the template", path=path)
            found.update(match.groupdict())
        fitting = [(len(name), labels) for name, labels in self.rows if whole == name or whole.endswith("/" + name.lstrip("/"))]
        for _, labels in sorted(fitting, key=lambda row: row[0]):
            found.update(labels)
        if DATE in found:
            found[DATE] = date_of(found[DATE], path)
        return {**found, **self.given}
