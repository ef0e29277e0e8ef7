"""The `groundwire` command. It speaks to a server through the Python client, as everybody does."""

from __future__ import annotations

import os
import signal
import sys

__all__ = ["main"]

# One request must not take all cores, and sums of several threads differ between runs. numpy reads these when it loads.
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_INTERRUPTED = 130


def main() -> None:
    """Entry point of the command."""
    try:
        for name in _ONE_THREAD:
            os.environ.setdefault(name, "1")
        _fill_closed_streams()
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:  # nohup has it ignored
                signal.signal(number, _leave_in_order)
        from groundwire_server.cli.app import app

        app()
    except KeyboardInterrupt:
        os._exit(_INTERRUPTED)  # before there was anything to clean up, or a second time while that went on
    except SystemExit as exit_:
        if exit_.code == _INTERRUPTED:
            # Threads of native code may be anywhere; the interpreter must not be taken down around them.
            os._exit(_INTERRUPTED)
        raise


def _fill_closed_streams() -> None:
    """Whoever starts us with a standard stream closed (`>&-`) must not have a database opened in its place."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number: this one
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  for as long as we live


def _leave_in_order(number: int, _frame: object) -> None:
    """Temporary folders go, a server of our own stops."""
    raise SystemExit(128 + number)
