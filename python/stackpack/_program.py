"""Calls of the program, which comes with the wheel."""
from __future__ import annotations

import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from typing import Iterator, List, Optional, Sequence, Tuple, Union

from ._capture import Capture, PathLike, open as open_capture, several
from ._errors import CorruptFile, IoError, NotFound, StackpackError, UsageError

_NAME = "stackpack.exe" if sys.platform == "win32" else "stackpack"
#: A .spk file, a capture, or one that is open.
Input = Union[PathLike, Capture]
_NAMED = ("event", "exclude_event", "comm", "exclude_comm", "cgroup", "label", "module", "exclude_module")  # of Filter
_MAGIC, _MAGIC_AT = b"STACKPAK", 8


@dataclass(frozen=True)
class Filter:
    """Which samples count; all that is set must hold. Names may have ``*`` and ``?``; of several one must fit."""
    event: Union[str, Sequence[str]] = ()
    exclude_event: Union[str, Sequence[str]] = ()
    pid: Optional[int] = None
    tid: Optional[int] = None
    cpu: Optional[int] = None
    comm: Union[str, Sequence[str]] = ()  #: names of processes or threads
    exclude_comm: Union[str, Sequence[str]] = ()
    cgroup: Union[str, Sequence[str]] = ()  #: control group: its path, or the last part of it
    module: Union[str, Sequence[str]] = ()  #: an image in which a frame lies: its path, or the last part of it
    exclude_module: Union[str, Sequence[str]] = ()
    idle: Optional[bool] = None  #: with the idle threads of processors; None: exports have them, reports do not
    begin: Union[None, int, str] = None  #: ns of the capture's clock, or a text as '+1.5s' from the start; inclusive
    end: Union[None, int, str] = None
    label: Union[str, Sequence[str]] = ()  #: labels of samples, KEY=VALUE

    def __post_init__(self) -> None:
        for name in ("pid", "tid", "cpu"):
            number = getattr(self, name)
            if number is not None and (isinstance(number, bool) or not hasattr(number, "__index__")):
                raise TypeError(f"{name} is a number, not {number!r}")
        for name in ("begin", "end"):
            time = getattr(self, name)
            if time is not None and not isinstance(time, str) and not hasattr(time, "__index__"):
                raise TypeError(f"{name} is a number of ns or a text such as '+1.5s', not {time!r}")
        for name in _NAMED:
            given = getattr(self, name)
            if not isinstance(given, str) and not all(isinstance(each, str) for each in several(name, given)):
                raise TypeError(f"{name} is a name or a list of names, not {given!r}")

    def _options(self) -> Iterator[str]:
        for name in _NAMED:
            given = getattr(self, name)
            for text in (given,) if isinstance(given, str) else given:
                yield option(name, text)
        for name in ("pid", "tid", "cpu"):
            if getattr(self, name) is not None:
                yield option(name, getattr(self, name))
        if self.idle is not None:
            yield "--idle" if self.idle else "--no-idle"
        for name, time in (("from", self.begin), ("to", self.end)):
            if time is not None:
                # To the program a number with a point is seconds of the capture's clock.
                yield option(name, time if isinstance(time, str) else f"{int(time) // 10**9}.{int(time) % 10**9:09}")


def option(name: str, value: object) -> str:
    """An option of the command line: `--name=value`, so that a value may begin with a dash."""
    return f"--{name.replace('_', '-')}={value}"


def filter_options(where: Optional[Filter], allowed: Optional[Sequence[str]] = None) -> List[str]:
    """The options of a filter. Raises UsageError where a field is set that is none of those allowed."""
    for field in dataclasses.fields(Filter) if where is not None and allowed is not None else ():
        if getattr(where, field.name) != field.default and field.name not in (allowed or ()):
            raise UsageError(f"where: '{field.name}' does not go here; it is one of {', '.join(allowed or ())}")
    return [] if where is None else list(where._options())  # pylint: disable=protected-access


def path_of(given: Input) -> str:
    """The path of an input, which is none of the options even when it begins with a dash."""
    path = given.path if isinstance(given, Capture) else os.fsdecode(given)
    if "\0" in path:
        raise ValueError("a path with a zero byte")
    return os.path.join(os.curdir, path) if path.startswith("-") else path


def program() -> str:
    """The program: that of $STACKPACK_PROGRAM, of this environment, else of PATH. Raises NotFound."""
    named = os.environ.get("STACKPACK_PROGRAM")
    if named:
        return named
    folders = [sysconfig.get_path("scripts"), str(pathlib.Path(sys.executable).parent)]
    user = "nt_user" if os.name == "nt" else "posix_user"
    if user in sysconfig.get_scheme_names():
        folders.append(sysconfig.get_path("scripts", user))
    found = shutil.which(_NAME, path=os.pathsep.join(folders)) or shutil.which(_NAME)
    if found is None:
        raise NotFound("no program stackpack: the wheel of a release has it, and $STACKPACK_PROGRAM names it")
    return found


def _failure(code: int, text: str, inputs: Sequence[str], output: Optional[str]) -> StackpackError:
    """The exception for a status of the program (docs/cli.md). A bad .spk file is asked what is wrong with it."""
    line = text.strip().splitlines()[-1] if text.strip() else f"the program ended with status {code}"
    what = line[len("stackpack: "):] if line.startswith("stackpack: ") else line
    about = next((path for path in (*inputs, *([output] if output else [])) if what.startswith(f"{path}: ")), None)
    if about is not None:
        what = what[len(about) + 2:]
    if code == 1:
        return UsageError(what, path=about)
    if code == 4:
        return IoError(what, path=about)
    for path in inputs:
        if not os.path.exists(path):
            return NotFound(what, path=path)
        try:
            if _is_spk(path):
                with open_capture(path) as file:
                    file.verify()
        except StackpackError as error:
            return error
    return CorruptFile(what, path=about) if code == 2 else StackpackError(what, path=about)


def _is_spk(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(_MAGIC_AT + len(_MAGIC))[_MAGIC_AT:] == _MAGIC


def run(command: str, inputs: Sequence[str], options: Sequence[str], output: Optional[str] = None) -> Tuple[bytes, str]:
    """Standard output and the notes of a command. An exception here, such as KeyboardInterrupt, ends the program."""
    arguments = [program(), command, *inputs, *options]
    if output is not None:
        arguments += ["-o", path_of(output)]
    with subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        try:
            out, notes = process.communicate()
        except BaseException:
            process.terminate()
            process.wait()
            raise
    text = notes.decode("utf-8", "replace")
    if process.returncode != 0:
        raise _failure(process.returncode, text, inputs, output)
    return out, text
