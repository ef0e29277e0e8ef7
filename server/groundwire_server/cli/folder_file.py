"""One file of a folder on its way: read once where it is small, checked by its hash where it is large."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.store.folder_record import FileState

__all__ = ["FileRead", "read_file", "state_of"]

_BLOCK = 256 * 1024
_IN_MEMORY = 4 * 1024 * 1024
_TRIES = 3


@dataclass(frozen=True, slots=True)
class FileRead:
    """The content of a file, its SHA-256, and the state in which it had it."""

    state: FileState
    sha256: bytes
    content: bytes | Iterable[bytes]


def state_of(status: os.stat_result) -> FileState:
    """What tells a file from what it was. The time of change cannot be set by whoever sets the time of writing."""
    return FileState(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def read_file(doc_id: str, path: Path, max_bytes: int) -> FileRead:
    """Read a file that nobody writes meanwhile; small ones are held in memory, of large ones only the hash.

    Raises:
        DocumentRefused: it cannot be read, is over the limit, or is being written.
    """
    try:
        for _ in range(_TRIES):
            with path.open("rb") as file:
                before = state_of(os.fstat(file.fileno()))
                if before.size > max_bytes:
                    raise _too_large(doc_id, max_bytes)
                digest, kept = hashlib.sha256(), []
                while block := file.read(_BLOCK):
                    digest.update(block)
                    if before.size <= _IN_MEMORY:
                        kept.append(block)
                after = state_of(os.fstat(file.fileno()))
            if before == after:
                content = b"".join(kept) if before.size <= _IN_MEMORY else _Blocks(path)
                return FileRead(before, digest.digest(), content)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else "unknown cause"
        raise DocumentRefused(ErrorReason.DOCUMENT_BROKEN, f"It cannot be read ({why}).") from None
    raise DocumentRefused(
        ErrorReason.DOCUMENT_BROKEN, "It is being written just now.", hint="The same command takes it up later."
    )


@dataclass(frozen=True, slots=True)
class _Blocks:
    """A large file, read a second time when it is sent.

    What has changed or broken off since has another hash than was said, and the server refuses it alone; an exception
    would end the whole ingest.
    """

    path: Path

    def __iter__(self) -> Iterator[bytes]:
        try:
            with self.path.open("rb") as file:
                while block := file.read(_BLOCK):
                    yield block
        except OSError:
            return


def _too_large(doc_id: str, max_bytes: int) -> DocumentRefused:
    return DocumentRefused(
        ErrorReason.DOCUMENT_TOO_LARGE,
        f"{doc_id}: it is over the limit of {max_bytes} bytes.",
        details={"max_bytes": str(max_bytes)},
    )
