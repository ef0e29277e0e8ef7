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
_PAUSE_SECONDS = 0.01
_BEGINNINGS = frozenset({"create", "_run_channel_spin_thread"})


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


def _leave(number: int, frame: FrameType | None) -> None:
    if _begins_a_call(frame):
        again = threading.Timer(_PAUSE_SECONDS, os.kill, (os.getpid(), number))
        again.daemon = True
        again.start()
        return
    watchdog = threading.Timer(_PATIENCE_SECONDS, os._exit, (128 + number,))
    watchdog.daemon = True
    watchdog.start()
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)


def _begins_a_call(frame: FrameType | None) -> bool:
    """Whether gRPC is just making a call known and starting the thread that drives it: one without the other hangs."""
    while frame is not None:
        if frame.f_code.co_filename.endswith("grpc/_channel.py"):
            return frame.f_code.co_name in _BEGINNINGS
        frame = frame.f_back
    return False
