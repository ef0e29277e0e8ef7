"""Where the process that writes listens: a socket in the data folder, for the user that the server runs as alone."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["SOCKET", "grpc_target", "private_socket"]

SOCKET = "writer.sock"
# A socket's path may have 107 bytes; a longer one is reached through a descriptor of its folder.
_MOST_BYTES = 100


@contextmanager
def grpc_target(path: Path) -> Iterator[str]:
    """What grpc calls a socket; while the block runs, connections can be made, and again, and it can be bound."""
    whole = str(path.absolute())
    if len(os.fsencode(whole)) <= _MOST_BYTES:
        yield f"unix:{whole}"
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"unix:/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


@contextmanager
def private_socket(path: Path) -> Iterator[str]:
    """A target to bind. When the block is left without an error the socket stands at `path`, with mode 0600, in place
    of what stood there; before that nobody else can reach it.

    Raises:
        OSError: the folder cannot be written.
    """
    aside = Path(tempfile.mkdtemp(prefix=".writer-", dir=path.parent))  # mode 0700
    try:
        bound = aside / "s"
        with grpc_target(bound) as target:
            yield target
        os.chmod(bound, 0o600)
        os.replace(bound, path)
    finally:
        for left in aside.iterdir():
            left.unlink()
        aside.rmdir()
