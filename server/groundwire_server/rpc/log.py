"""The log: what happened, to which call, where; never what was asked, answered or stored.

Errors are written by their type and the places in the code that they came through. Their text is left out, and so are
the arguments of other libraries' log lines: both can hold a document.
"""

from __future__ import annotations

import logging
import sys
import traceback
from pathlib import Path
from typing import Any, TextIO

import structlog

from groundwire_server.rpc.call import CURRENT_CALL
from groundwire_server.settings import LogSettings

__all__ = ["OURS", "ForeignLogs", "Log", "fault_fields", "make_log"]

OURS = "groundwire_server"
"""Name of the logger of our own rooms."""

Log = structlog.typing.FilteringBoundLogger

_FRAMES = 12
_PACKAGE = Path(__file__).resolve().parent.parent


def make_log(settings: LogSettings, stream: TextIO | None = None) -> Log:
    """A logger of its own, beside structlog's global one. Writes lines to `stream`, by default standard error."""
    stream = stream or sys.stderr
    as_json = settings.format == "json" or (settings.format == "auto" and not stream.isatty())
    render: Any = (
        structlog.processors.JSONRenderer(ensure_ascii=True)
        if as_json
        else structlog.dev.ConsoleRenderer(colors=stream.isatty(), pad_event_to=12)
    )
    log: Log = structlog.wrap_logger(
        structlog.WriteLogger(stream),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, settings.level.upper())),
        cache_logger_on_first_use=True,
    )
    return log


def fault_fields(error: BaseException) -> dict[str, object]:
    """Type and way of an error and of what caused it, without their texts."""
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in chain and len(chain) < 5:
        chain.append(current)
        current = current.__cause__ or current.__context__
    fields: dict[str, object] = {"error": _name(error), "at": _places(error)}
    if len(chain) > 1:
        fields["after"] = [{"error": _name(each), "at": _places(each)} for each in chain[1:]]
    fault = getattr(error, "fault", None)
    if isinstance(fault, str):
        fields["fault"] = fault
    return fields


def _name(error: BaseException) -> str:
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _places(error: BaseException) -> list[str]:
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    return [f"{_short(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames]


def _short(filename: str) -> str:
    path = Path(filename)
    return str(path.relative_to(_PACKAGE)) if path.is_relative_to(_PACKAGE) else f"{path.parent.name}/{path.name}"


class ForeignLogs(logging.Handler):
    """Lines of the standard logging: those of our own rooms, and others from level WARNING on.

    Our own rooms keep content out of their lines, so these are written as they are. Of other libraries' lines only who
    wrote them and where. What is written in the course of a call names it.
    """

    def __init__(self, log: Log) -> None:
        super().__init__(logging.INFO)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        ours = record.name.partition(".")[0] == OURS
        if not ours and record.levelno < logging.WARNING:
            return
        fields: dict[str, object] = {"logger": record.name, "place": f"{_short(record.pathname)}:{record.lineno}"}
        call = CURRENT_CALL.get()
        if call is not None:
            fields["request_id"] = call.request_id
        if record.exc_info and record.exc_info[1] is not None:
            fields.update(fault_fields(record.exc_info[1]))
        levels = ((logging.ERROR, "error"), (logging.WARNING, "warning"))
        level = next((name for least, name in levels if record.levelno >= least), "info")
        getattr(self._log, level)(record.getMessage() if ours else "foreign log line", **fields)
