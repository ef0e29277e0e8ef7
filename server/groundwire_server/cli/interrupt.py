"""Ctrl-C and SIGTERM: what was begun is left in order, and never waited for without end."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType
from typing import NoReturn

__all__ = ["INTERRUPTED", "handle_signals", "leave_at_once"]

INTERRUPTED = 130
_PATIENCE_SECONDS = 15.0


def handle_signals() -> None:
    """From now on SIGINT is a KeyboardInterrupt, SIGTERM and SIGHUP a SystemExit; those that are ignored stay so.

    An exception out of nowhere can leave native code in a state from which a clean-up waits for ever. Whatever is not
    over some seconds after the first signal is cut off; what was acknowledged survives that.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _leave)


def leave_at_once(code: int) -> NoReturn:
    """End the process. Threads of native code may be anywhere; the interpreter is not taken down around them."""
    os._exit(code)


def _leave(number: int, _frame: FrameType | None) -> None:
    watchdog = threading.Timer(_PATIENCE_SECONDS, os._exit, (128 + number,))
    watchdog.daemon = True
    watchdog.start()
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)
