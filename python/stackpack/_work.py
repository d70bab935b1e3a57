"""Conversions, merges and comparisons."""
from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, TypeVar, Union

from ._capture import Capture, PathLike, open as open_capture, several
from ._library import check, ffi, latest_error, lib, path_bytes, struct, text_of

_STAGES = ("reading", "callstacks", "samples", "finishing")
_FINISHING = 3
_TICK_SECONDS = 0.1
_NO_ENCODERS = 2**32 - 1


@dataclass(frozen=True)
class Progress:
    """How far a conversion or a merge is."""
    stage: str  #: 'reading', 'callstacks', 'samples', 'finishing'
    bytes_done: int  #: of the input
    bytes_total: int  #: 0: not known
    samples: int
    samples_written: int  #: of them, in stage 'samples'


@dataclass(frozen=True)
class ConvertReport:
    """What a conversion made."""
    input_bytes: int
    output_bytes: int
    samples: int
    callstacks: int  #: distinct recorded ones
    lossy: bool  #: the recorder lost data, or something is damaged: see Capture.losses


@dataclass(frozen=True)
class MergeReport:
    """What a merge made."""
    sources: int  #: distinct captures
    callstacks_before: int  #: distinct ones of each source, added up
    callstacks: int
    samples: int
    output_bytes: int
    bad_inputs: int  #: left out


OnProgress = Callable[[Progress], None]
_Report = TypeVar("_Report", ConvertReport, MergeReport)


def _watched(work: Callable[[Any], _Report], on_progress: Optional[OnProgress]) -> _Report:
    """Runs work(handle) on a separate thread; an exception here (KeyboardInterrupt, or one of on_progress) stops it."""
    handle = ffi.gc(lib.stackpack_new_progress(), lib.stackpack_free_progress)
    if handle == ffi.NULL:
        raise MemoryError("no memory for the progress of the work")
    # The output takes its place only after on_progress has seen that the work is finishing.
    held = on_progress is not None
    lib.stackpack_hold(handle, held)
    outcome: Dict[str, Any] = {}

    def run() -> None:
        try:
            outcome["value"] = work(handle)
        except BaseException as error:  # pylint: disable=broad-exception-caught
            outcome["error"] = error

    thread = threading.Thread(target=run, name="stackpack")
    thread.start()
    try:
        tick = _TICK_SECONDS / 10
        while thread.is_alive():
            thread.join(tick)
            tick = min(2 * tick, _TICK_SECONDS)
            if on_progress is not None and held:
                state = struct("stackpack_progress_state")
                check(lib.stackpack_get_progress(handle, state))
                on_progress(Progress(_STAGES[min(state.stage, _FINISHING)], state.bytes_done, state.bytes_total, state.samples,
                                     state.samples_written))
                held = state.stage < _FINISHING
                lib.stackpack_hold(handle, held)
    except BaseException:
        lib.stackpack_cancel(handle)
        thread.join()
        raise
    if "error" in outcome:
        raise outcome["error"]
    report: _Report = outcome["value"]
    return report


def _encoders(count: Optional[int]) -> int:
    """The field of the C structs, in which 0 is the default and the largest number stands for none."""
    return 0 if count is None else count or _NO_ENCODERS


def convert(input: PathLike, output: PathLike, *,  # pylint: disable=redefined-builtin
            level: int = 9, memory_limit: int = 0, samples: bool = True, redact: bool = False, force: bool = False,
            format: Optional[str] = None, member: Optional[str] = None,  # pylint: disable=redefined-builtin
            time_resolution_ns: int = 0, unwind: bool = False, binary_folders: Sequence[PathLike] = (),
            sysroot: Optional[PathLike] = None, encoders: Optional[int] = None, waits: bool = True, switch_samples: bool = True,
            event_values: bool = True, sample_fields: bool = True, keep_branches: bool = False,
            on_progress: Optional[OnProgress] = None) -> ConvertReport:
    """Converts a capture into a .spk file, which appears whole or not at all.

    Args:
        input: perf.data, .etl, text of perf script, folded text, pprof, OTLP, an archive; see `stackpack convert --help`.
        output: replaced if it is a .spk file.
        level: of zstd, 1 to 22.
        memory_limit: bytes for callstacks and scratch; 0: 512 MiB, or a quarter of the memory if that is less.
        samples: False keeps counts of samples only.
        redact: leaves out command lines, host name, and user names in paths.
        force: replaces an existing file that is neither a .spk file nor empty.
        format: 'perf', 'etl', ...; None: by the first bytes.
        member: of a zip archive: which of its captures.
        time_resolution_ns: times of samples are rounded down to multiples of it, and nothing else changes; 0: they are kept.
        unwind: makes callstacks of stack dumps (perf record --call-graph dwarf), by the binaries that were recorded.
        binary_folders: where binaries are looked for, by build id, besides the recorded paths: folders, and archives of
            `stackpack collect`.
        sysroot: the folder below which the recorded paths are; None: the root.
        encoders: threads that encode samples, besides the one that converts; None: two, or as many as there are processors if
            that is less.
        waits: False leaves out the intervals in which threads ran and waited.
        switch_samples: False leaves out the samples of switches and wakings, where intervals are made of them.
        event_values: False leaves out what events say besides their callstacks.
        sample_fields: False leaves out what samples say of accesses to memory and control groups.
        keep_branches: keeps whole branch stacks of samples (`perf record -b`), unless samples or their fields are left out.
        on_progress: called some ten times a second, the last time before the output takes its place; what it raises stops the
            conversion and is raised here, and the old output stays.

    KeyboardInterrupt stops it, and leaves the old output alone. Raises StackpackError.
    """
    def work(handle: Any) -> ConvertReport:
        options = struct("stackpack_convert_options")
        texts = [ffi.new("char[]", text.encode()) if text else ffi.NULL for text in (format, member)]
        options.format, options.member = texts
        folders = [ffi.new("char[]", path_bytes(folder)) for folder in several("binary_folders", binary_folders)]
        folder_list = ffi.new("char *[]", folders)
        options.binary_folders, options.binary_folder_count = folder_list, len(folders)
        root = ffi.NULL if sysroot is None else ffi.new("char[]", path_bytes(sysroot))
        options.sysroot = root
        options.unwind = unwind
        options.encoders = _encoders(encoders)
        options.level = level
        options.memory_limit = memory_limit
        options.drop_samples = not samples
        options.drop_waits = not waits
        options.drop_switch_samples = not switch_samples
        options.drop_event_values = not event_values
        options.drop_sample_fields = not sample_fields
        options.keep_branches = keep_branches
        options.redact = redact
        options.force = force
        options.time_resolution_ns = time_resolution_ns
        options.progress = handle
        report = struct("stackpack_convert_report")
        check(lib.stackpack_convert(path_bytes(input), path_bytes(output), options, report), os.fsdecode(input),
              os.fsdecode(output))
        return ConvertReport(report.input_bytes, report.output_bytes, report.samples, report.callstacks,
                             bool(report.lossy))

    return _watched(work, on_progress)


def merge(inputs: Sequence[PathLike], output: PathLike, *, level: int = 9, memory_limit: int = 0, samples: bool = True,
          keep_going: bool = False, force: bool = False, format: Optional[str] = None,  # pylint: disable=redefined-builtin
          time_resolution_ns: int = 0, encoders: Optional[int] = None,
          on_progress: Optional[OnProgress] = None) -> MergeReport:
    """Merges .spk files and captures into one .spk file. The order and grouping of inputs do not show.

    keep_going leaves out inputs that are bad; the others are as of :func:`convert`. Raises StackpackError; `path` is the
    input that it failed for, or the output.
    """
    names = [path_bytes(path) for path in several("inputs", inputs)]

    def work(handle: Any) -> MergeReport:
        options = struct("stackpack_merge_options")
        text = ffi.new("char[]", format.encode()) if format else ffi.NULL
        options.format = text
        options.level = level
        options.memory_limit = memory_limit
        options.drop_samples = not samples
        options.keep_going = keep_going
        options.encoders = _encoders(encoders)
        options.force = force
        options.time_resolution_ns = time_resolution_ns
        options.progress = handle
        report = struct("stackpack_merge_report")
        kept = [ffi.new("char[]", name) for name in names]
        failed = ffi.new("size_t *")
        status = lib.stackpack_merge(ffi.new("char *[]", kept), len(kept), path_bytes(output), options, report, failed)
        if status != lib.STACKPACK_OK:
            raise latest_error(os.fsdecode(names[failed[0]]) if failed[0] < len(names) else None, os.fsdecode(output))
        return MergeReport(report.sources, report.callstacks_before, report.callstacks, report.samples,
                           report.output_bytes, report.bad_inputs)

    return _watched(work, on_progress)


@dataclass(frozen=True)
class Figure:
    """Self or total of a row of a comparison. Shares are 0 to 1."""
    old_value: float
    new_value: float
    old_share: float
    new_share: float
    low: float  #: bounds of new_share - old_share
    high: float
    least_visible: float  #: growth that would have been seen four times in five
    p: float
    verdict: str  #: 'not seen', 'more', 'less', 'appeared', 'disappeared', 'too few'


VERDICTS = ("not seen", "more", "less", "appeared", "disappeared", "too few", "unsure", "not comparable")


@dataclass(frozen=True)
class DiffRow:
    """A function, module, line or callstack on both sides."""
    name: str
    module: str
    place: str  #: file:line
    self: Figure
    total: Figure


@dataclass(frozen=True)
class EventDiff:
    """The comparison of one event; the surest differences come first."""
    event: str
    old_samples: int
    new_samples: int
    tests: int
    level: float  #: 1 - level is the confidence of the intervals
    rows: List[DiffRow]
    whole: Optional[Figure] = None  #: per="run": the cost of everything; shares are costs of a run
    doubts: int = 0  #: per="run": reasons why costs cannot be compared
    measure: str = "samples"  #: what costs and weights are counted in: ns, cycles, ...
    work: str = ""  #: per="run": what cost is for each of


def _figure(figure: Any) -> Figure:
    return Figure(figure.old_value, figure.new_value, figure.old_share, figure.new_share, figure.low, figure.high,
                  figure.least_visible, figure.p, VERDICTS[min(figure.verdict, len(VERDICTS) - 1)])


def _event_diff(comparison: Any, number: int) -> EventDiff:
    head = struct("stackpack_event_diff")
    check(lib.stackpack_get_event_diff(comparison, number, head))
    rows = []
    for row_number in range(head.rows):
        row = struct("stackpack_diff_row")
        check(lib.stackpack_get_diff_row(comparison, number, row_number, row))
        rows.append(DiffRow(text_of(row.name), text_of(row.module), text_of(row.place),
                            _figure(getattr(row, "self")), _figure(row.total)))
    return EventDiff(text_of(head.event), head.old_samples, head.new_samples, head.tests, head.level, rows,
                     _figure(head.whole) if head.has_whole else None, head.doubts, text_of(head.measure), text_of(head.work))


def diff(before: Sequence[Union[PathLike, Capture]], after: Sequence[Union[PathLike, Capture]], *, by: str = "function",
         event: Optional[str] = None, all_events: bool = False, of: Optional[str] = None,
         per: str = "measure", unit: Optional[str] = None, units: Optional[Sequence[float]] = None,
         runs_by: Optional[str] = None, rename: Optional[Mapping[str, str]] = None) -> List[EventDiff]:
    """Compares runs: the samples of the files of each side. docs/diff.md says what is tested.

    Args:
        before, after: .spk files or open captures; several a side are runs of the same thing.
        by: function, module, line or callstack.
        event: a pattern; None: the one that samples where time goes.
        all_events: each event, for itself.
        of: functions as `stackpack callers` takes them, which are the whole with what they call.
        per: what is compared: shares of what the event measures (measure), of weights (weight), of samples (samples),
            samples per second (time), or what a run costs (run).
        unit: with per="run": what cost is for each of, such as request; `units` says how many.
        units: with per="run": how much of that each file has done, those of `before` first; None: 1 each.
        runs_by: with per="run": an event that begins an iteration.
        rename: images or functions of the old side, and what they are called now.
    """
    kinds = {"measure": 0, "weight": 1, "time": 2, "samples": 3, "run": 4}
    if per not in kinds:
        raise ValueError(f"per is one of {', '.join(kinds)}")
    grains = {"function": 0, "module": 1, "line": 2, "callstack": 3}
    if by not in grains:
        raise ValueError(f"by is one of {', '.join(grains)}")
    sides = [[item if isinstance(item, Capture) else open_capture(item) for item in several(name, side)]
             for name, side in (("before", before), ("after", after))]
    options = struct("stackpack_diff_options")
    text = ffi.new("char[]", event.encode()) if event else ffi.NULL
    options.event = text
    whole = ffi.new("char[]", of.encode()) if of else ffi.NULL
    options.whole = whole
    options.grain = grains[by]
    options.unit = kinds[per]
    options.all_events = all_events
    kept = [ffi.new("char[]", word.encode()) for word in (unit or "", runs_by or "")]
    options.work, options.runs_by = kept
    amounts = ffi.new("double[]", list(units)) if units is not None else ffi.NULL
    options.work_of_files, options.work_count = amounts, len(units) if units is not None else 0
    names = [ffi.new("char[]", name.encode()) for pair in (rename or {}).items() for name in pair]
    renames = ffi.new("char *[]", names)
    options.renames, options.rename_count = renames, len(names) // 2
    readers = [ffi.new("stackpack_reader *[]", [item._open_reader() for item in side])  # pylint: disable=protected-access
               for side in sides]
    made = ffi.new("stackpack_diff **")
    check(lib.stackpack_compare(readers[0], len(sides[0]), readers[1], len(sides[1]), options, made))
    return event_diffs(ffi.gc(made[0], lib.stackpack_free_diff))


def event_diffs(comparison: Any) -> List[EventDiff]:
    """The events of a comparison of the library."""
    return [_event_diff(comparison, number) for number in range(lib.stackpack_diff_event_count(comparison))]
