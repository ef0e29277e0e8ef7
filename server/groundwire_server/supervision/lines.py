"""Lines of a log in the form of those that the other processes write, without what these need to write them."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import TextIO

from groundwire_server.settings import LogSettings

__all__ = ["Lines"]

_LEVELS = ("debug", "info", "warning", "error")


class Lines:
    """Writes to `stream`, by default standard error, what is of the level that the settings ask for, or above."""

    def __init__(self, settings: LogSettings, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._least = _LEVELS.index(settings.level)
        self._as_json = settings.format == "json" or (settings.format == "auto" and not self._stream.isatty())

    def info(self, event: str, **fields: object) -> None:
        """What happens in the course of things."""
        self._write("info", event, fields)

    def warning(self, event: str, **fields: object) -> None:
        """What somebody should know of."""
        self._write("warning", event, fields)

    def _write(self, level: str, event: str, fields: dict[str, object]) -> None:
        if _LEVELS.index(level) < self._least:
            return
        moment = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        told = {"process": "supervisor", **fields}
        if self._as_json:
            line = json.dumps({**told, "event": event, "level": level, "timestamp": moment})
        else:
            line = f"{moment} [{level:<7}] {event:<12} " + " ".join(f"{name}={value}" for name, value in told.items())
        self._stream.write(f"{line}\n")
        self._stream.flush()
