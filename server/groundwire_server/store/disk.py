"""What the file system refuses, in our words."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from groundwire_server.errors import ErrorReason, FailedPrecondition
from groundwire_server.store.sqlite import storage_full

__all__ = ["disk_errors"]

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_WHAT = {
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EROFS: "the file system is read-only",
    errno.ENOTDIR: "a part of the path is no folder",
    errno.EEXIST: "there is a file of that name",
    errno.EISDIR: "there is a folder of that name",
    errno.ENAMETOOLONG: "the path is too long",
}


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn errors of the file system into ours.

    Raises:
        ResourceExhausted: STORAGE_FULL.
        FailedPrecondition: NOT_SERVING, with the path and what is wrong with it.
    """
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise storage_full() from error
        what = _WHAT.get(error.errno or 0, "the file system refuses it")
        raise FailedPrecondition(
            ErrorReason.NOT_SERVING,
            f"The folder {path} cannot be used: {what}.",
            hint="Choose another data folder, or change its permissions.",
            details={"path": str(path)},
        ) from error
