"""Names, exports, pages and callers: what the program does, as calls."""
from __future__ import annotations

import html
import json
import os
import pathlib
import tempfile
import webbrowser
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Sequence, Union, overload

from ._capture import PathLike, several
from ._program import Filter, Input, filter_options, option, path_of, run

_FORMATS = ("folded", "pprof", "speedscope", "firefox", "otlp", "csv", "html", "perfetto", "cpuprofile")


@dataclass(frozen=True)
class ImageReport:
    """An image of a capture, and what named it."""
    path: str
    build_id: str  #: '': not recorded
    found: str  #: the file whose symbols were read; '': none
    debug_file: str
    asked: int  #: distinct addresses
    named: int  #: of them
    lines: int  #: of them, with a line
    reason: str  #: why not, where addresses have no name


@dataclass(frozen=True)
class SymbolizeReport:
    """What got names."""
    output_bytes: int
    asked: int  #: distinct addresses
    named: int  #: of them
    lines: int  #: of them, with a line
    failed_images: int  #: whose symbols could not be read
    images: List[ImageReport]

    @property
    def share(self) -> float:
        """Of the addresses that have a name, 0 to 1."""
        return self.named / self.asked if self.asked else 1.0


def symbolize(input: Input, output: PathLike, *,  # pylint: disable=redefined-builtin
              symbols: Sequence[PathLike] = (), sysroot: Optional[PathLike] = None, kallsyms: Optional[PathLike] = None,
              perf_map: Optional[PathLike] = None, inlines: bool = True, force: bool = False,
              jobs: Optional[int] = None) -> SymbolizeReport:
    """Adds function names from symbol files to a .spk file. Nothing else of it changes, and names that it has are kept.

    Args:
        input: a .spk file, which `output` is not.
        symbols: folders with files that have symbols, and archives of `stackpack collect`.
        sysroot: the folder below which the recorded paths are; None: the root.
        kallsyms: names of the kernel, as /proc/kallsyms of the recorded machine has them.
        perf_map: a folder with perf-PID.map and jit-PID.dump: names of code that was made at run time.
        inlines: False: functions alone, without inlined calls and lines.
        force: replaces an existing output that is neither a .spk file nor empty.
        jobs: images at a time; None: one per processor.

    Nothing is fetched from a network. Raises StackpackError.
    """
    options = [option("symbols", os.fsdecode(folder)) for folder in several("symbols", symbols)]
    for name, path in (("sysroot", sysroot), ("kallsyms", kallsyms), ("perf_map", perf_map)):
        if path is not None:
            options.append(option(name, os.fsdecode(path)))
    if not inlines:
        options.append("--no-inlines")
    if force:
        options.append("--force")
    if jobs is not None:
        options.append(option("jobs", jobs))
    found = json.loads(run("symbolize", [path_of(input)], [*options, "--json"], os.fsdecode(output))[0])
    images = [ImageReport(**{name: image[name] for name in ImageReport.__dataclass_fields__})
              for image in found["images"]]
    return SymbolizeReport(found["output_bytes"], found["asked"], found["named"]["addresses"],
                           found["lines"]["addresses"], found["failed_images"], images)


def _inputs(given: Union[Input, Sequence[Input]]) -> List[str]:
    """Paths of one input or of several."""
    return [path_of(each) for each in given] if isinstance(given, (list, tuple)) else [path_of(given)]  # type: ignore[arg-type]


@overload
def export(input: Union[Input, Sequence[Input]], output: None = None, *, format: str = ...,  # pylint: disable=redefined-builtin
           where: Optional[Filter] = ..., all_events: bool = ..., count: Optional[str] = ..., frames: Optional[str] = ...,
           inlines: bool = ..., root: Optional[str] = ..., annotate_kernel: bool = ..., aggregate: bool = ...,
           memory_limit: int = ..., force: bool = ...) -> bytes: ...


@overload
def export(input: Union[Input, Sequence[Input]], output: PathLike, *, format: str = ...,  # pylint: disable=redefined-builtin
           where: Optional[Filter] = ..., all_events: bool = ..., count: Optional[str] = ..., frames: Optional[str] = ...,
           inlines: bool = ..., root: Optional[str] = ..., annotate_kernel: bool = ..., aggregate: bool = ...,
           memory_limit: int = ..., force: bool = ...) -> None: ...


def export(input: Union[Input, Sequence[Input]], output: Optional[PathLike] = None, *,  # pylint: disable=redefined-builtin
           format: str = "folded",  # pylint: disable=redefined-builtin
           where: Optional[Filter] = None, all_events: bool = False, count: Optional[str] = None,
           frames: Optional[str] = None, inlines: bool = False, root: Optional[str] = None, annotate_kernel: bool = False,
           aggregate: bool = False, memory_limit: int = 0, force: bool = False) -> Optional[bytes]:
    """Writes a .spk file or a capture in a format that a viewer opens; docs/exports.md has them.

    Args:
        input: a .spk file, a capture, or an open one; for html also a list of them.
        output: a path (csv: a folder), where it appears whole or not at all; None: the bytes are returned.
        format: folded, pprof, speedscope, firefox, otlp, csv, html, perfetto or cpuprofile.
        where: which samples.
        all_events: folded, pprof: all events at once; by default the one that samples where time goes.
        count: 'samples' or 'weight'; None: what the event measures.
        frames: 'function', 'module' or 'address': how a frame is written.
        inlines, root, annotate_kernel: folded: a frame for each inlined call; 'none', 'process' or 'thread' above the first
            frame; `_[k]` after those of the kernel.
        aggregate: speedscope: weights instead of times.
        memory_limit: bytes for what grows with the samples; 0: 96 MiB.
        force: replaces an existing output.

    Raises StackpackError.
    """
    if format not in _FORMATS:
        raise ValueError(f"format is one of {', '.join(_FORMATS)}")
    if output is None and format == "csv":
        raise ValueError("csv is a folder of tables: name one as output")
    options = [option("format", format), *filter_options(where)]
    for name, value in (("count", count), ("frames", frames), ("root", root), ("memory_limit", memory_limit)):
        if value:
            options.append(option(name, value))
    for name, wanted in (("all_events", all_events), ("inlines", inlines), ("annotate_kernel", annotate_kernel),
                         ("aggregate", aggregate), ("force", force)):
        if wanted:
            options.append("--" + name.replace("_", "-"))
    if output is None:
        return run("export", _inputs(input), [*options, "-o", "-"])[0]
    run("export", _inputs(input), options, os.fsdecode(output))
    return None


class Page:
    """A page that shows captures in a browser, made by :func:`view`. A notebook shows it in place."""
    height = 600  #: of the page in a notebook, in pixels

    def __init__(self, content: str):
        self._content = content
        self._path: Optional[pathlib.Path] = None

    def __repr__(self) -> str:
        return f"<stackpack page, {len(self._content)} characters>"

    @property
    def html(self) -> str:
        """The whole page: it loads nothing."""
        return self._content

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self._content)}" sandbox="allow-scripts allow-downloads" '
                f'style="width: 100%; height: {self.height}px; border: 1px solid #8884; box-sizing: border-box"></iframe>')

    @property
    def path(self) -> str:
        """A temporary file with the page that this user alone may read; it stays."""
        if self._path is None:
            handle, name = tempfile.mkstemp(prefix="stackpack-", suffix=".html")
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(self._content)
            self._path = pathlib.Path(name)
        return str(self._path)

    def open(self) -> bool:
        """Shows it in the browser; False: there is none."""
        return webbrowser.open(pathlib.Path(self.path).as_uri())


def view(input: Union[Input, Sequence[Input]], *,  # pylint: disable=redefined-builtin
         where: Optional[Filter] = None, count: Optional[str] = None, frames: Optional[str] = None) -> Page:
    """The page of .spk files or captures: flame graph, functions, time. ``view("run.spk").open()`` shows it in a browser.

    Arguments are those of :func:`export`. Raises StackpackError.
    """
    return Page(export(input, format="html", where=where, count=count, frames=frames).decode())


@dataclass(frozen=True)
class Row:
    """A function in a report. Values are in the unit of the report."""
    name: str
    module: str  #: file name of the image; '': none
    place: str  #: file:line; '': not known
    self: int
    total: int


@dataclass(frozen=True)
class Neighbours:
    """What calls a function, or what it calls."""
    event: str  #: '': several
    unit: str  #: of all values: 'samples', 'ns', 'cycles', ...
    samples: int  #: that were counted, with and without the function; rows of an imported profile
    value: int  #: what they count for: total / value is a share
    function: Row  #: all functions that fit, as one
    functions: List[Row]  #: each of them
    rows: List[Row]  #: callers or callees, those with most total first

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def to_pandas(self) -> Any:
        """The rows as a pandas.DataFrame: name, module, place, self, total."""
        import pandas  # pylint: disable=import-outside-toplevel
        names = list(Row.__dataclass_fields__)
        return pandas.DataFrame([[getattr(row, name) for name in names] for row in self.rows], columns=names)


def _row(found: Dict[str, Any]) -> Row:
    return Row(found["name"], found.get("module", ""), found.get("place", ""), found["self"], found["total"])


def _neighbours(command: str, given: Input, function: str, where: Optional[Filter], count: Optional[str],
                all_events: bool) -> Neighbours:
    options = [*filter_options(where), "--json"]
    if count is not None:
        options.append(option("count", count))
    if all_events:
        options.append("--all-events")
    # What follows `--` is not an option, whatever it begins with.
    path = path_of(given)
    found = json.loads(run(command, [path], [*options, "--", function])[0])
    return Neighbours(found.get("event", ""), found["unit"], found["samples"], found["weight"], _row(found["function"]),
                      [_row(each) for each in found["functions"]], [_row(each) for each in found["rows"]])


def callers(input: Input, function: str, *,  # pylint: disable=redefined-builtin
            where: Optional[Filter] = None, count: Optional[str] = None, all_events: bool = False) -> Neighbours:
    """What calls a function.

    Args:
        input: a .spk file, a capture, or an open one.
        function: its name or the end of it, with ``*`` and ``?``; ``/REGEX/``; ``MODULE!FUNCTION``.
        where: which samples.
        count: 'samples' or 'weight'; None: what the event measures.
        all_events: all events at once; by default the one that samples where time goes.

    `total` of a row is what the samples count for in which it calls the function. Raises UsageError where no such function
    occurs; the text says which are spelled alike.
    """
    return _neighbours("callers", input, function, where, count, all_events)


def callees(input: Input, function: str, *,  # pylint: disable=redefined-builtin
            where: Optional[Filter] = None, count: Optional[str] = None, all_events: bool = False) -> Neighbours:
    """What a function calls: as :func:`callers`. The row `[self]` is the function itself."""
    return _neighbours("callees", input, function, where, count, all_events)


@dataclass(frozen=True)
class Lasting:
    """How often a thread was in a state, and how long; ns."""
    count: int
    ns: int
    min_ns: int
    mean_ns: int
    max_ns: int
    deviation_percent: float  #: of the mean


@dataclass(frozen=True)
class ThreadWaits:
    """A thread, in docs/waits.md's states."""
    tid: Optional[int]
    pid: Optional[int]
    name: str
    running: Lasting
    blocked: Lasting
    woken: Lasting  #: ready, until it ran
    preempted: Lasting
    awake: Lasting
    unknown: Lasting
    exited: Lasting  #: ended, and still on its processor
    blocked_by: Dict[str, Lasting]  #: by reason


@dataclass(frozen=True)
class Waits:
    """How long threads ran and waited."""
    total: ThreadWaits  #: all threads that are listed; without ids
    idle_pools: ThreadWaits  #: threads that wait for work, which are left out of total
    threads: List[ThreadWaits]

    def __iter__(self) -> Iterator[ThreadWaits]:
        return iter(self.threads)

    def to_pandas(self) -> Any:
        """The threads as a pandas.DataFrame: tid, pid, name, and count, ns and max_ns of each state."""
        import pandas  # pylint: disable=import-outside-toplevel
        rows = [{"tid": thread.tid, "pid": thread.pid, "name": thread.name,
                 **{f"{state}_{figure}": getattr(getattr(thread, state), figure) for state in _STATES
                    for figure in ("count", "ns", "max_ns")}} for thread in self.threads]
        return pandas.DataFrame(rows)


_STATES = ("running", "blocked", "woken", "preempted", "awake", "unknown", "exited")


def _lasting(found: Dict[str, Any]) -> Lasting:
    return Lasting(**{name: found[name] for name in Lasting.__dataclass_fields__})


def _thread_waits(found: Dict[str, Any]) -> ThreadWaits:
    return ThreadWaits(found.get("tid"), found.get("pid"), found.get("name", ""),
                       blocked_by={reason: _lasting(each) for reason, each in found["blocked_by"].items()},
                       **{state: _lasting(found[state]) for state in _STATES})


def waits(input: Input, *,  # pylint: disable=redefined-builtin
          where: Optional[Filter] = None, thread: Optional[str] = None, state: Optional[str] = None,
          longer_than: Optional[str] = None, idle_pools: bool = False) -> Waits:
    """How long threads ran and waited, and what for; docs/waits.md has the states.

    Args:
        input: a .spk file, a capture, or an open one.
        where: of its fields pid, tid, comm (one name, of threads or processes), begin and end count, and no other may be set.
        thread: threads of this name, or of processes of this name.
        state: intervals of this state or reason.
        longer_than: intervals that last at least this long, as '5ms'.
        idle_pools: with threads that wait for work.

    Raises StackpackError.
    """
    options = ["--json", "--rows=0", *(filter_options(where, ("pid", "tid", "comm", "begin", "end")))]
    for name, value in (("thread", thread), ("state", state), ("longer_than", longer_than)):
        if value is not None:
            options.append(option(name, value))
    if idle_pools:
        options.append("--idle-pools")
    found = json.loads(run("waits", [path_of(input)], options)[0])
    return Waits(_thread_waits(found["total"]), _thread_waits(found["idle_pools"]), [_thread_waits(each) for each in found["threads"]])
