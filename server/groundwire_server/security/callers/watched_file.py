"""A file that is read again when it has changed. What does not hold then changes nothing, and the log says so."""

from __future__ import annotations

import logging
import os
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from groundwire_server.errors import ErrorReason, GroundwireError, InvalidRequest

__all__ = ["LOOK_SECONDS", "WatchedFile", "read_guarded"]

_log = logging.getLogger(__name__)
T = TypeVar("T")

LOOK_SECONDS = 0.5
"""A change holds at the latest so long after it."""
_MOST_BYTES = 16 << 20


class WatchedFile(Generic[T]):
    """What a file says. Any thread may ask.

    Args:
        path: the file; it may be a link, as secrets that are mounted into a container are.
        parse: its bytes to what it says; raises a `GroundwireError`.
        forbidden: bits of its mode that must not be set (`read_guarded`).
        setting: name of the setting that names it, for errors.

    Raises:
        InvalidRequest: it cannot be read, others may change it, or it does not hold.
    """

    def __init__(
        self,
        path: Path,
        parse: Callable[[bytes], T],
        *,
        setting: str,
        forbidden: int = 0o022,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path = path
        self._parse = parse
        self._setting = setting
        self._forbidden = forbidden
        self._clock = clock
        self._lock = threading.Lock()
        self._looked = clock()
        self._seen, self._current = self._read()

    def current(self) -> T:
        """What it says now, at most `LOOK_SECONDS` ago."""
        if self._clock() - self._looked >= LOOK_SECONDS:
            with self._lock:
                self._looked = self._clock()
                self._look()
        return self._current

    def _look(self) -> None:
        try:
            if _signature(os.stat(self._path)) == self._seen:
                return
        except OSError:
            if not self._seen:
                return  # said already
        try:
            self._seen, self._current = self._read()
        except GroundwireError as error:
            self._seen = self._signature_now()
            _log.error("%s does not hold and what was read before stays in force: %s", self._setting, error.message)
        else:
            _log.info("%s was read again", self._setting)

    def _read(self) -> tuple[tuple[int, ...], T]:
        raw, seen = read_guarded(self._path, self._setting, self._forbidden)
        try:
            return seen, self._parse(raw)
        except InvalidRequest as error:
            raise InvalidRequest.one(
                self._setting, ErrorReason.VALUE_MALFORMED, f"{self._path} does not hold: {error.message}"
            ) from None

    def _signature_now(self) -> tuple[int, ...]:
        try:
            return _signature(os.stat(self._path))
        except OSError:
            return ()


def read_guarded(path: Path, setting: str, forbidden: int) -> tuple[bytes, tuple[int, ...]]:
    """The bytes of a file, and a signature that is another one when the file has changed.

    Args:
        forbidden: bits of its mode that must not be set, e.g. 0o022: others may not write. Looked at on the open file,
            so that what was checked is what is read.

    Raises:
        InvalidRequest: it cannot be read, is too large, or its mode lets others at it.
    """
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            told = os.fstat(file)
            _check(path, told, setting, forbidden)
            with os.fdopen(file, "rb", closefd=False) as opened:
                return opened.read(), _signature(told)
        finally:
            os.close(file)
    except OSError as error:
        why = f"{path} cannot be read: {error.strerror}"
        raise InvalidRequest.one(setting, ErrorReason.UNKNOWN_NAME, why) from None


def _check(path: Path, told: os.stat_result, setting: str, forbidden: int) -> None:
    if not stat.S_ISREG(told.st_mode) or told.st_size > _MOST_BYTES:
        raise InvalidRequest.one(setting, ErrorReason.VALUE_MALFORMED, f"{path} is no file of at most 16 MiB")
    if told.st_mode & forbidden:
        mode = stat.S_IMODE(told.st_mode)
        why = f"{path} has mode {mode:04o}, which lets others at it; `chmod {mode & ~forbidden:04o}` sets it right"
        raise InvalidRequest.one(setting, ErrorReason.VALUE_MALFORMED, why)


def _signature(told: os.stat_result) -> tuple[int, ...]:
    return told.st_dev, told.st_ino, told.st_size, told.st_mtime_ns, told.st_ctime_ns
