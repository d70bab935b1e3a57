"""Files of a folder on this machine, or of one in object storage, by one set of calls."""
from __future__ import annotations

import contextlib
import os
import pathlib
import posixpath
import shutil
import tempfile
import uuid
from typing import Any, Callable, Dict, Iterator, Optional, Tuple, Union

import pyarrow.parquet as pq
from pyarrow import fs

Place = Union[str, "os.PathLike[str]"]


def system_of(place: str) -> Tuple[fs.FileSystem, str]:
    """File system and path of a path or of a URL that pyarrow.fs, or else fsspec, knows."""
    if "://" not in place:
        return fs.LocalFileSystem(), os.path.abspath(place)
    try:
        found: Tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(place)
        return found
    except ValueError:  # pyarrow does not know its scheme, or was built without it
        try:
            import fsspec  # pylint: disable=import-outside-toplevel
        except ImportError:
            raise ValueError(f"{place}: pyarrow.fs has no such file system, and fsspec is not installed") from None
        system, path = fsspec.core.url_to_fs(place)
        return fs.PyFileSystem(fs.FSSpecHandler(system)), path


class Store:
    """A folder. Paths are relative to it, with slashes. What is written appears whole or not at all."""

    def __init__(self, place: Place):
        self.place = os.fspath(place)
        self.system, self.root = system_of(self.place)
        self.local = isinstance(self.system, fs.LocalFileSystem)

    def full(self, path: str) -> str:
        """What the file system takes."""
        return posixpath.join(self.root, path) if path else self.root

    def read(self, path: str) -> Optional[bytes]:
        """The content; None: there is no such file."""
        try:
            with self.system.open_input_stream(self.full(path)) as file:
                content: bytes = file.read()
                return content
        except FileNotFoundError:
            return None

    def text(self, path: str) -> Optional[str]:
        """The same as text."""
        content = self.read(path)
        return None if content is None else content.decode("utf-8")

    def exists(self, path: str) -> bool:
        """Whether it is a file."""
        return bool(self.system.get_file_info(self.full(path)).type == fs.FileType.File)

    def sizes(self, folder: str) -> Dict[str, int]:
        """Bytes of the files below a folder by path, in order; hidden ones are left out."""
        found = {}
        for info in self.system.get_file_info(fs.FileSelector(self.full(folder), allow_not_found=True, recursive=True)):
            relative = posixpath.relpath(info.path, self.root)
            if info.type == fs.FileType.File and not any(part.startswith(".") for part in relative.split("/")):
                found[relative] = info.size
        return dict(sorted(found.items()))

    @contextlib.contextmanager
    def parquet(self, path: str) -> Iterator[pq.ParquetFile]:
        """A Parquet file to read. Raises FileNotFoundError."""
        with self.system.open_input_file(self.full(path)) as content, pq.ParquetFile(content) as file:
            yield file

    def put_text(self, path: str, text: str) -> None:
        """Writes a small file."""
        self.put(path, lambda made: made.write_text(text, encoding="utf-8"))

    def put(self, path: str, write: Callable[[pathlib.Path], Any]) -> None:
        """write(a path on this machine), whose content then appears."""
        with tempfile.TemporaryDirectory(prefix="stackpack-") if not self.local else contextlib.nullcontext() as scratch:
            part = self._hidden(path)
            made = pathlib.Path(scratch) / "made" if scratch else pathlib.Path(part)
            self.system.create_dir(posixpath.dirname(part), recursive=True)
            try:
                write(made)
                if scratch:
                    self._copy(made, part)
                self.system.move(part, self.full(path))
            except BaseException:
                with contextlib.suppress(OSError):
                    self.system.delete_file(part)
                raise

    def _hidden(self, path: str) -> str:
        # Engines pass over names that begin with a dot.
        return posixpath.join(posixpath.dirname(self.full(path)), f".{uuid.uuid4().hex}.part")

    def _copy(self, source: pathlib.Path, target: str) -> None:
        with open(source, "rb") as content, self.system.open_output_stream(target) as made:
            shutil.copyfileobj(content, made, 1 << 20)

    def drop(self, path: str) -> bool:
        """Removes a file; whether it was there."""
        try:
            # An object store does not say whether there was one.
            there = self.local or self.exists(path)
            if there:
                self.system.delete_file(self.full(path))
            return there
        except FileNotFoundError:
            return False
