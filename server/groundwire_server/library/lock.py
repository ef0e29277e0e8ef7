"""One writer process a data folder."""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass
from pathlib import Path

from groundwire_server.errors import ErrorReason, FailedPrecondition

__all__ = ["FolderLock", "LockHolder", "read_holder"]


@dataclass(frozen=True, slots=True)
class LockHolder:
    """Who has a data folder open. An empty address: it does not answer calls, or not yet."""

    pid: int
    address: str


def read_holder(folder: Path) -> LockHolder | None:
    """Who has a data folder open, without touching the lock of one that is alive; None: nobody.

    Raises:
        OSError: the lock file may not be read.
    """
    try:
        file = os.open(folder / "lock", os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        said = _parse(os.pread(file, 4096, 0))
        pid = said.get("pid")
        if not isinstance(pid, int) or not _is_held(file):
            return None
        return LockHolder(pid, str(said.get("address") or ""))
    finally:
        os.close(file)


def _is_held(file: int) -> bool:
    """Tries the lock for an instant, shared. Only after the file names a holder: an empty one is asked for nothing."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(file, fcntl.LOCK_UN)
    return False


def _parse(content: bytes) -> dict[str, object]:
    try:
        holder = json.loads(content or b"{}")
    except ValueError:
        return {}
    return holder if isinstance(holder, dict) else {}


class FolderLock:
    """Held from construction to `release`. The kernel lets go of it when the process ends, however it ends.

    The file says who holds it: `{"pid": 4711, "address": "127.0.0.1:50051"}`.

    Raises:
        FailedPrecondition: NOT_SERVING, another process or another part of this one holds it; pid and address are in
            message and details.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = self._read()
            os.close(self._file)
            raise _held(path.parent, holder) from error
        self.announce("")

    def announce(self, address: str) -> None:
        """Say where this process answers; whoever comes second is told."""
        content = json.dumps({"pid": os.getpid(), "address": address}).encode()
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, content, 0)

    def release(self) -> None:
        """Let go of the folder."""
        if self._file >= 0:
            os.ftruncate(self._file, 0)
            os.close(self._file)
            self._file = -1

    def _read(self) -> dict[str, object]:
        return _parse(os.pread(self._file, 4096, 0))


def _held(folder: Path, holder: dict[str, object]) -> FailedPrecondition:
    pid, address = str(holder.get("pid", "")), str(holder.get("address", ""))
    who = f"process {pid}" if pid else "another process"
    where = f", which answers at {address}" if address else ""
    hint = f"Call it there, or stop it first: kill {pid}" if pid else "Stop it first."
    return FailedPrecondition(
        ErrorReason.NOT_SERVING,
        f"The data folder {folder} is in use by {who}{where}.",
        hint=hint,
        details={"pid": pid, "address": address},
    )
