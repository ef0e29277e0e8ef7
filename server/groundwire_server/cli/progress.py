"""A line of progress with rate and remaining time: redrawn on a terminal, now and then in a log."""

from __future__ import annotations

import os
import sys
import time

import click

from groundwire_server.cli.terminal import cut, screen_columns

__all__ = ["ProgressLine", "time_left"]


class ProgressLine:
    """Shows done, total, rate and the time that is left on standard error.

    Args:
        what: what is being done, e.g. "embedding".
        unit: what is counted, e.g. "chunks".
        total: how many there are; None: not known.
    """

    def __init__(self, what: str, unit: str, total: int | None = None) -> None:
        self._what, self._unit, self.total = what, unit, total
        self._terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._began = time.monotonic()
        self._first: int | None = None
        self._shown = 0.0
        self._last: int | None = None

    def update(self, done: int) -> None:
        """Tell how far it is; shown at most ten times a second, in a log every five seconds."""
        if self._first is None:
            self._first = done
        now = time.monotonic()
        if now - self._shown < (0.1 if self._terminal else 5.0):
            return
        self._shown = now
        self._draw(done)

    def finish(self, done: int) -> None:
        """The last state, which is always shown."""
        if self._terminal or done != self._last:
            self._draw(done)
        if self._terminal:
            click.echo(err=True)

    def _draw(self, done: int) -> None:
        self._last = done
        elapsed = time.monotonic() - self._began
        rate = (done - (self._first or 0)) / elapsed if elapsed > 0 else 0.0
        of = "" if self.total is None else f"/{self.total}"
        speed = f", {rate:,.0f}/s" if rate >= 100 else f", {rate:.3g}/s" if rate else ""
        left = self._left(done, rate)
        line = f"{self._what} {done}{of} {self._unit}{speed}{left}"
        if self._terminal:
            line = cut(line, screen_columns() - 1)  # a line that wraps cannot be drawn over
        click.echo(f"\r\033[K{line}" if self._terminal else line, nl=not self._terminal, err=True)

    def _left(self, done: int, rate: float) -> str:
        if self.total is None or not rate or done >= self.total:
            return ""
        return f", {time_left((self.total - done) / rate)} left"


def time_left(seconds: float) -> str:
    """Seconds in words that a person can plan with.

    >>> time_left(90), time_left(600), time_left(40_000)
    ('90 s', '10 min', '11.1 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
