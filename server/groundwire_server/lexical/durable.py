"""Files that are there whole or not at all, whenever the process or the machine dies.

An index is derived, so its newest state may be lost with the machine, but no name may come to stand for contents that
never reached the disk, and nothing may be removed before what replaced it is there to stay.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

__all__ = ["TEMPORARY_SUFFIX", "replace_file", "sync_folder"]

TEMPORARY_SUFFIX = ".tmp"


def replace_file(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Put a file at `path`, in place of what stood there; its contents are on the disk before its name is.

    Raises:
        OSError: the disk does not take it; what stood at `path` is untouched.
    """
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    try:
        with open(temporary, "wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk.

    Raises:
        OSError: the disk does not tell.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
