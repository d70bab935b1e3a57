"""Steps of the conversion and the merge of many captures, for engines that start tasks (Spark, Dask, ...).

Each step may be done again, by the same worker or another one, at any time: what it makes appears whole or not at all,
under a name that depends on its input alone, and is left alone once it is there. So nothing is lost and nothing counts
twice, whatever the engine does. Folders are paths that every worker sees, or URLs that pyarrow.fs knows (s3://, gs://,
hdfs://, file://), which are copied from and to a folder of the worker. docs/fleet.md has it at work.
"""
from __future__ import annotations

import contextlib
import hashlib
import pathlib
import posixpath
import shutil
import tempfile
import time
import uuid
from dataclasses import dataclass
from typing import Iterator, List, Optional, Sequence, Tuple

from pyarrow import fs

from . import CorruptFile, FileTooLarge, NotFound, TruncatedFile, UnsupportedFile, convert, merge, open as open_capture
from . import symbolize as symbolize_file
from . import _store
from .parquet import TABLES, Labels, Naming, write_capture

MEMORY_LIMIT = 1 << 30
#: What is wrong with a capture; other errors are those of the machine, and are raised for the engine to try again.
_BAD_CAPTURE = (CorruptFile, FileTooLarge, NotFound, TruncatedFile, UnsupportedFile)


@dataclass(frozen=True)
class Packed:
    """What became of one capture."""
    input: str
    packed: str  #: the .spk file
    done: str  #: 'written', 'skipped' (it was there), 'failed'
    capture: Optional[str] = None  #: its id in the tables, when they were written
    code: Optional[int] = None  #: of a failure, as :class:`StackpackError`
    offset: Optional[int] = None  #: bytes in the capture
    text: Optional[str] = None  #: structure and cause


def _joined(folder: str, relative: str) -> str:
    return folder.rstrip("/") + "/" + relative


@contextlib.contextmanager
def _on_this_machine(place: str, folder: pathlib.Path) -> Iterator[str]:
    """A path of a file: its own, or that of a copy in `folder`, which is removed afterwards."""
    system, path = _store.system_of(place)
    if isinstance(system, fs.LocalFileSystem):
        yield path
        return
    copy = folder / f"{uuid.uuid4().hex}-{posixpath.basename(path)}"
    try:
        with system.open_input_stream(path) as source, open(copy, "wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
        yield str(copy)
    finally:
        copy.unlink(missing_ok=True)


def _put(source: pathlib.Path, place: str) -> None:
    """Copies a file to a path or URL, where it appears whole or not at all."""
    system, path = _store.system_of(place)
    system.create_dir(posixpath.dirname(path), recursive=True)
    part = posixpath.join(posixpath.dirname(path), f".{uuid.uuid4().hex}.part")
    try:
        with open(source, "rb") as content, system.open_output_stream(part) as target:
            shutil.copyfileobj(content, target, 1 << 20)
        system.move(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            system.delete_file(part)
        raise


def _exists(place: str) -> bool:
    system, path = _store.system_of(place)
    return bool(system.get_file_info(path).type == fs.FileType.File)


def files_below(folder: str, suffix: str = "") -> List[Tuple[str, str]]:
    """(path or URL, path below the folder) of the files whose name ends with `suffix`, by name; hidden ones are left out."""
    system, root = _store.system_of(folder)
    found = []
    for info in system.get_file_info(fs.FileSelector(root, recursive=True)):
        relative = posixpath.relpath(info.path, root)
        hidden = any(part.startswith(".") for part in relative.split("/"))
        if info.type == fs.FileType.File and not hidden and relative.endswith(suffix):
            found.append((_joined(folder, relative), relative))
    return sorted(found)


def _changed(place: str) -> float:
    """When a file was written, s since 1970; now, where its system does not say."""
    system, path = _store.system_of(place)
    nanoseconds = system.get_file_info(path).mtime_ns
    return time.time() if nanoseconds is None else nanoseconds / 1e9


def pack(capture: str, relative: str, packed: str, lake: Optional[str] = None, *, tables: Sequence[str] = TABLES,
         memory_limit: int = MEMORY_LIMIT, labels: Optional[Labels] = None, naming: Optional[Naming] = None) -> Packed:
    """Converts a capture to `packed`/`relative`.spk, and writes its tables below `lake`.

    `naming` names its functions, in the .spk file, too; `labels` say who and when it is of. The tables come first and the .spk file last: where that is, all is done. Raises StackpackError and OSError for what
    the machine does; what is wrong with the capture comes back.
    """
    target = _joined(packed, relative + ".spk")
    if _exists(target):
        return Packed(capture, target, "skipped")
    with tempfile.TemporaryDirectory(prefix="stackpack-") as name:
        scratch = pathlib.Path(name)
        made = scratch / (posixpath.basename(relative) + ".spk")
        try:
            with _on_this_machine(capture, scratch) as path:
                convert(path, made, memory_limit=memory_limit)
            if naming is not None:
                plain, made = made, scratch / "named.spk"
                symbolize_file(plain, made, symbols=naming.symbols, sysroot=naming.sysroot)
        except _BAD_CAPTURE as error:
            return Packed(capture, target, "failed", None, error.code, error.offset, error.what)
        recorded = (capture, _changed(capture))
        identity = _write_tables(made, lake, tables, recorded, labels) if lake else None
        _put(made, target)
        return Packed(capture, target, "written", identity)


def symbolize(packed: str, lake: Optional[str] = None, *, naming: Naming, build_ids: Optional[Sequence[str]] = None,
              tables: Sequence[str] = TABLES) -> Packed:
    """Names the functions of a .spk file later, in place, and writes its tables below `lake` anew; its labels stay.

    `build_ids`: a file without an image of one of these is left alone, which is how a bundle that arrives late costs only the
    captures that it is for. Done is 'skipped' also where nothing got a name. Raises StackpackError and OSError.
    """
    with tempfile.TemporaryDirectory(prefix="stackpack-") as name:
        scratch = pathlib.Path(name)
        with _on_this_machine(packed, scratch) as path:
            if build_ids is not None:
                with open_capture(path) as file:
                    found = file.modules(columns=["build_id"]).to_arrow()["build_id"].to_pylist()
                if not set(found) & set(build_ids):
                    return Packed(packed, packed, "skipped")
            made = scratch / "named.spk"
            symbolize_file(path, made, symbols=naming.symbols, sysroot=naming.sysroot)
            if made.read_bytes() == pathlib.Path(path).read_bytes():
                return Packed(packed, packed, "skipped")
            recorded = (packed, _changed(packed))
        identity = _write_tables(made, lake, tables, recorded, None) if lake else None
        _put(made, packed)
        return Packed(packed, packed, "written", identity)


def _write_tables(path: pathlib.Path, lake: str, tables: Sequence[str], recorded: Tuple[str, float],
                  labels: Optional[Labels]) -> Optional[str]:
    written = write_capture(path, lake, tables=tables, labels=labels, recorded=recorded)
    if written.error is not None:
        raise written.error
    return written.capture


def groups_of(files: Sequence[str], fan_in: int) -> List[List[str]]:
    """The files in groups of `fan_in` at most, of much the same size. Raises ValueError for a `fan_in` below 2."""
    if fan_in < 2:
        raise ValueError("fan_in is at least 2")
    count = -(-len(files) // fan_in)
    return [list(files[number * len(files) // count:(number + 1) * len(files) // count]) for number in range(count)]


def _name_of(files: Sequence[str]) -> str:
    """A name that changes when a file of a group does."""
    digest = hashlib.sha256()
    for place in files:
        system, path = _store.system_of(place)
        info = system.get_file_info(path)
        digest.update(f"{place}\n{info.size} {info.mtime_ns}\n".encode())
    return digest.hexdigest()[:32]


def merge_group(files: Sequence[str], scratch: str, *, memory_limit: int = MEMORY_LIMIT) -> str:
    """Merges .spk files into one below `scratch`, and returns its path or URL. Raises StackpackError and OSError."""
    target = _joined(scratch, _name_of(files) + ".spk")
    if _exists(target):
        return target
    with tempfile.TemporaryDirectory(prefix="stackpack-") as name, contextlib.ExitStack() as copies:
        folder = pathlib.Path(name)
        inputs = [copies.enter_context(_on_this_machine(place, folder)) for place in files]
        merge(inputs, folder / "merged.spk", memory_limit=memory_limit)
        _put(folder / "merged.spk", target)
    return target


def finish_merge(merged: str, output: str) -> None:
    """Copies what the last merge made to its place, where it appears whole or not at all."""
    with tempfile.TemporaryDirectory(prefix="stackpack-") as name:
        with _on_this_machine(merged, pathlib.Path(name)) as path:
            _put(pathlib.Path(path), output)
