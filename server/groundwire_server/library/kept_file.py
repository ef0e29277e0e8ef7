"""A text that stands in the store and in a file beside it that people read and write (library.toml, glossary.toml).

The store is the truth, so that the text changes in one transaction with the rest. The file follows it. Where the file
is neither what was written last nor what stood there before, a person has changed it, and the store follows the file:
when the library opens, a glossary also while it is open. What a person has written is never written over before that.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.store import StoreReader, StoreWriter

__all__ = ["KeptFile", "write_atomically"]

_NOTHING, _UNREADABLE = "nothing", "unreadable"


@dataclass(frozen=True, slots=True)
class KeptFile:
    """One such text.

    Attributes:
        name: under which the store has it.
        path: the file.
    """

    name: str
    path: Path

    def read(self, reader: StoreReader) -> str | None:
        """The text as the store has it."""
        return reader.meta(self.name)

    def put(self, writer: StoreWriter, text: str) -> None:
        """Set the text in a transaction. `follow` writes the file once that is committed."""
        writer.set_meta(self.name, text)
        writer.set_meta(f"{self.name}.replaced", self._stamp())

    def edited(self, reader: StoreReader) -> str | None:
        """The file's text when a person has changed it since it was written last; else None.

        Raises:
            InvalidRequest: VALUE_MALFORMED, the file is no UTF-8, or cannot be read.
        """
        stamp = self._stamp()
        if stamp == _UNREADABLE:
            raise InvalidRequest.one(self.path.name, ErrorReason.VALUE_MALFORMED, "cannot be read")
        kept = self.read(reader)
        if stamp == _NOTHING or (kept is not None and stamp in (_stamp(kept), reader.meta(f"{self.name}.replaced"))):
            return None
        try:
            return self.path.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InvalidRequest.one(self.path.name, ErrorReason.VALUE_MALFORMED, "is no UTF-8 text") from error

    def follow(self, reader: StoreReader) -> None:
        """Bring the file up to the store, unless a person has changed it meanwhile."""
        kept = self.read(reader)
        if kept is None:
            return
        stamp = self._stamp()
        if stamp not in (_stamp(kept), _UNREADABLE) and stamp in (_NOTHING, reader.meta(f"{self.name}.replaced")):
            write_atomically(self.path, kept.encode())

    def look(self) -> tuple[int, ...] | None:
        """What changes when anybody writes the file, without a look at what is in it; None where there is none."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino

    def _stamp(self) -> str:
        try:
            return hashlib.sha256(self.path.read_bytes()).hexdigest()
        except FileNotFoundError:
            return _NOTHING
        except OSError:
            return _UNREADABLE


def _stamp(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def write_atomically(path: Path, *parts: bytes | memoryview) -> None:
    """Replace a file: whoever reads it finds the old content or the new one, after a crash too.

    Raises:
        OSError: the disk does not take it; what stood there is untouched.
    """
    beside = path.with_name(f".{path.name}.new")
    try:
        with beside.open("wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
