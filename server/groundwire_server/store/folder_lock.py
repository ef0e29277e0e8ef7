"""One writer process a data folder."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

from groundwire_server.errors import ErrorReason, FailedPrecondition

__all__ = ["FolderLock"]


class FolderLock:
    """Held from construction to `release`. The kernel lets go of it when the process ends, however it ends.

    The file says who holds it: `{"pid": 4711, "address": "127.0.0.1:50051"}`.

    Args:
        path: of the file; made when it is not there.
        handed_on: descriptor of the lock that another process holds and has handed on to this one: both hold it, and it
            is that one which says who it is and where it answers.

    Raises:
        FailedPrecondition: NOT_SERVING, another process or another part of this one holds it; pid and address are in
            message and details.
    """

    def __init__(self, path: Path, handed_on: int | None = None) -> None:
        self._path = path
        self._owned = handed_on is None
        if handed_on is not None:
            if not os.path.samestat(os.fstat(handed_on), path.stat()):
                raise ValueError(f"descriptor {handed_on} is not of {path}")
            os.set_inheritable(handed_on, False)
            self._file = handed_on
            return
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = self._read()
            os.close(self._file)
            raise _held(path.parent, holder) from error
        self.announce("")

    @property
    def descriptor(self) -> int:
        """To be handed on to a process that is to hold the lock as well."""
        return self._file

    def announce(self, address: str) -> None:
        """Say where this process answers; whoever comes second is told."""
        if not self._owned:
            return
        content = json.dumps({"pid": os.getpid(), "address": address}).encode()
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, content, 0)

    def release(self) -> None:
        """Let go of the folder."""
        if self._file >= 0:
            if self._owned:
                os.ftruncate(self._file, 0)
            os.close(self._file)
            self._file = -1

    def _read(self) -> dict[str, object]:
        try:
            holder = json.loads(os.pread(self._file, 4096, 0) or b"{}")
        except ValueError:
            return {}
        return holder if isinstance(holder, dict) else {}


def _held(folder: Path, holder: dict[str, object]) -> FailedPrecondition:
    pid, address = str(holder.get("pid", "")), str(holder.get("address", ""))
    who = f"process {pid}" if pid else "another process"
    where = f", which answers at {address}" if address else ""
    hint = (
        f"Call it there; a command lets go of it when it is done; to stop it: kill {pid}" if pid else "Stop it first."
    )
    return FailedPrecondition(
        ErrorReason.NOT_SERVING,
        f"The data folder {folder} is in use by {who}{where}.",
        hint=hint,
        details={"pid": pid, "address": address},
    )
