"""Exceptions for what a file, a disk or a caller does."""
from typing import Optional, Tuple


class StackpackError(Exception):
    """Why a call failed.

    Attributes:
        code: number of the status in the C API.
        offset: byte offset in the file at which it was noticed; None: not tied to a place.
        what: structure and cause.
        os_error: errno, when the operating system gave one, else 0.
        path: the file, when one was named.
        tried: of a capture that no format is sure to be, `not read as FORMAT: WHY` for each.
    """
    code: int = 0

    def __init__(self, what: str, offset: Optional[int] = None, os_error: int = 0, path: Optional[str] = None,
                 tried: Tuple[str, ...] = ()):
        self.what = what
        self.offset = offset
        self.os_error = os_error
        self.path = path
        self.tried = tried
        place = "" if offset is None else f"offset {offset}: "
        super().__init__("\n".join(((f"{path}: " if path else "") + place + what, *tried)))


class IoError(StackpackError, OSError):
    """The operating system refused to open, read or write."""
    code = 1


class NotFound(StackpackError, FileNotFoundError):
    """There is no such file."""
    code = 2


class TruncatedFile(StackpackError):
    """The end of the file is missing."""
    code = 3


class CorruptFile(StackpackError):
    """The file contradicts the format or itself."""
    code = 4


class UnsupportedFile(StackpackError):
    """The file is of a newer version, or of no format that is known."""
    code = 5


class FileTooLarge(StackpackError):
    """The file is larger than a limit allows."""
    code = 6


class UsageError(StackpackError, ValueError):
    """The call makes no sense."""
    code = 7


class OutOfMemory(StackpackError, MemoryError):
    """Memory ran out."""
    code = 8


class Cancelled(StackpackError):
    """The work was asked to stop."""
    code = 9


KINDS = {kind.code: kind for kind in (IoError, NotFound, TruncatedFile, CorruptFile, UnsupportedFile, FileTooLarge,
                                      UsageError, OutOfMemory, Cancelled)}
