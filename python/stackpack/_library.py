"""The shared library, called through the headers of its C API, which come with it."""
import os
import pathlib
import re
import sys
from typing import Any, Optional

import cffi

from . import _errors

FOLDER = pathlib.Path(os.environ.get("STACKPACK_PYTHON_LIBRARY") or pathlib.Path(__file__).parent)
HEADERS = ("arrow_c_data.h", "c_reader.h", "c_tables.h", "c_diff.h", "c_convert.h")  # what follows uses what came before
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
GUARDED = re.compile(r"#ifdef __cplusplus.*?#endif", re.S)
DIRECTIVE = re.compile(r"^\s*#[^\n]*(?:\\\n[^\n]*)*", re.M)

ffi: Any = cffi.FFI()


def _declarations(header: pathlib.Path) -> str:
    """What a header declares, without what is for compilers only."""
    text = GUARDED.sub("", COMMENT.sub("", header.read_text(encoding="utf-8")))
    return DIRECTIVE.sub("", text)


def _load() -> Any:
    for name in HEADERS:
        ffi.cdef(_declarations(FOLDER / name))
    return ffi.dlopen(str(FOLDER / ("stackpack.dll" if sys.platform == "win32" else "libstackpack.so")))


lib = _load()
NO_OFFSET = 2**64 - 1


def struct(name: str) -> Any:
    """A zeroed struct of the C API whose struct_size is set."""
    made = ffi.new(f"{name} *")
    made.struct_size = ffi.sizeof(name)
    return made


def text_of(text: Any) -> str:
    """A stackpack_text; bytes that are no UTF-8 become U+FFFD."""
    return "" if text.data == ffi.NULL else bytes(ffi.buffer(text.data, text.size)).decode("utf-8", "replace")


def path_bytes(path: Any) -> bytes:
    """A path as the system has it. Raises ValueError for one with a zero byte."""
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise ValueError("a path with a zero byte")
    return encoded


def latest_error(path: Optional[str] = None, output: Optional[str] = None) -> _errors.StackpackError:
    """The exception for the call of this thread that failed last; `output` is what it wrote, `path` what it read."""
    error = struct("stackpack_error")
    lib.stackpack_get_error(error)
    what = ffi.string(error.what).decode() or ffi.string(lib.stackpack_status_text(error.status)).decode()
    if error.os_error:
        what += f" ({os.strerror(error.os_error)})"
    kind = _errors.KINDS.get(error.status, _errors.StackpackError)
    about = output if error.of_output and output is not None else path
    tried = tuple(ffi.string(error.tried).decode("utf-8", "replace").splitlines())
    return kind(what, None if error.offset == NO_OFFSET else error.offset, error.os_error, about, tried)


def check(status: int, path: Optional[str] = None, output: Optional[str] = None) -> None:
    """Raises the exception for a status that is no success."""
    if status != lib.STACKPACK_OK:
        raise latest_error(path, output)
