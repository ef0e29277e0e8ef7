"""The `groundwire` command. It speaks to a server through the Python client, as everybody does."""

from __future__ import annotations

import gc
import os
import sys

__all__ = ["main"]

# One request must not take all cores, and sums of several threads differ between runs. numpy reads these when it loads.
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# New objects after which Python looks for garbage. What loading makes stays for good, and at the default of 700 a tenth
# of a start goes into looking through it again and again.
_GARBAGE_THRESHOLD = 50_000


def main() -> None:
    """Entry point of the command."""
    gc.set_threshold(_GARBAGE_THRESHOLD)
    from groundwire_server.cli.interrupt import INTERRUPTED, handle_signals, leave_at_once

    try:
        handle_signals()
        for name in _ONE_THREAD:
            os.environ.setdefault(name, "1")
        os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # it would tell of a taken port in its own way, before we do
        _fill_closed_streams()
        from groundwire_server.cli.app import app

        app()
    except KeyboardInterrupt:
        leave_at_once(INTERRUPTED)  # before there was anything to clean up, or again while that went on
    except SystemExit as exit_:
        if exit_.code == INTERRUPTED:
            leave_at_once(INTERRUPTED)
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
