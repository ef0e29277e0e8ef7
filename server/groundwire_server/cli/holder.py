"""Who has a data folder open, read from its lock file without loading what a server needs."""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass
from pathlib import Path

__all__ = ["LockHolder", "read_holder"]


@dataclass(frozen=True, slots=True)
class LockHolder:
    """Who has a data folder open. An empty address: it does not answer calls, or not yet."""

    pid: int
    address: str


def read_holder(folder: Path) -> LockHolder | None:
    """Who has a data folder open, as `store.FolderLock` writes it down; None: nobody.

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
