"""Reading several documents of a stream at once, where that uses more than one core."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Generic, TypeVar

from groundwire_server.readers import reads_apart

__all__ = ["ReadAhead", "ReadResult", "shared_read_ahead"]

T = TypeVar("T")


class ReadResult(Generic[T]):
    """What was read, now or once it is asked for."""

    def __init__(self, value: T | Future[T]) -> None:
        self._value = value

    def get(self) -> T:
        """It; waits for it. Raises what reading has raised."""
        if isinstance(self._value, Future):
            self._value = self._value.result()
        return self._value


class ReadAhead:
    """Files that are read in processes of their own are read side by side, all others where they come: a thread would
    win nothing for these. What comes out does not depend on either, nor on what is ready first.

    Args:
        threads: most files at a time, of all streams together.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._lock = Lock()
        self._executor: ThreadPoolExecutor | None = None

    def read(self, doc_id: str, raw: bytes, media_type: str, function: Callable[[], T]) -> ReadResult[T]:
        """Have a file read by a function that reads just this file."""
        if self._threads < 2 or not reads_apart(doc_id, raw, media_type):
            return ReadResult(function())
        with self._lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(self._threads, thread_name_prefix="groundwire-read")
            return ReadResult(self._executor.submit(function))


_SHARED = ReadAhead(os.cpu_count() or 1)


def shared_read_ahead() -> ReadAhead:
    """The one of this process: a thread a core."""
    return _SHARED
