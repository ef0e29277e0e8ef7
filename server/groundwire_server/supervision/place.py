"""A place that one process fills, and when it dies another one."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence

from groundwire_server.settings import Settings
from groundwire_server.supervision.report import Report
from groundwire_server.supervision.start import Started, start_process

__all__ = ["Place"]

# One that dies again and again is started again after so many seconds, doubled each time.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
# One that has lived so long has not died at its start.
_SETTLED_SECONDS = 5.0
_REPORT_BYTES = 1 << 16


class Place:
    """Its process, and how often it failed.

    Attributes:
        name: of the process.
        report: what it told; None: nothing yet.
        due: when it is to be started (again), as `time.monotonic` reads; None: it runs.
    """

    def __init__(self, name: str, words: Sequence[str], settings: Settings, lock: int) -> None:
        self.name = name
        self.report: Report | None = None
        self.due: float | None = 0.0
        self._words = words
        self._settings = settings
        self._lock = lock
        self._started: Started | None = None
        self._since = 0.0
        self._failures = 0
        self._told = b""

    @property
    def pid(self) -> int | None:
        """Of the process; None: there is none."""
        return None if self._started is None else self._started.process.pid

    @property
    def answers(self) -> bool:
        """Whether the process has said that it does."""
        return self._started is not None and self.report is not None and self.report.failure is None

    @property
    def descriptor(self) -> int | None:
        """To be read when the process tells something; None: it has told all."""
        return None if self._started is None or self.report is not None else self._started.report

    def start(self) -> None:
        """Fill it."""
        self.report, self._told, self.due = None, b"", None
        self._since = time.monotonic()
        self._started = start_process(self._words, self._settings, self._lock)

    def listen(self) -> None:
        """Take what the process tells; `report` is there once it is whole."""
        if self._started is None or self.report is not None:
            return
        try:
            some = os.read(self._started.report, _REPORT_BYTES)
        except BlockingIOError:
            return
        self._told += some
        if self._told.endswith(b"\n"):
            self.report = Report.of(self._told)
        elif not some:
            self.report = Report()  # it ends without a word

    def ended(self) -> int | None:
        """The exit code of a process that has ended since the last look, negative for a signal; None: none has."""
        if self._started is None or (code := self._started.process.poll()) is None:
            return None
        self.listen()
        self._started.close()
        self._started = None
        now = time.monotonic()
        settled = self.report is not None and self.report.address and now - self._since >= _SETTLED_SECONDS
        self._failures = 0 if settled else self._failures + 1
        pause = 0.0 if self._failures <= 1 else min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** (self._failures - 2))
        self.due = now + pause
        return code

    def send(self, number: signal.Signals) -> None:
        """Send a signal, where there is a process."""
        if self._started is not None:
            self._started.process.send_signal(number)

    def end(self, seconds: float) -> None:
        """Wait for the process to end; kill it when the time is over."""
        if self._started is not None:
            try:
                self._started.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self._started.process.kill()
                self._started.process.wait()
            self._started.close()
            self._started = None
