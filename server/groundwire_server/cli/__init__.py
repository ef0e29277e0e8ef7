"""The `groundwire` command. It speaks to a server through the Python client, as everybody does."""

from __future__ import annotations

import os

__all__ = ["main"]

# One request must not take all cores, and sums of several threads differ between runs. numpy reads these when it loads.
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def main() -> None:
    """Entry point of the command."""
    for name in _ONE_THREAD:
        os.environ.setdefault(name, "1")
    from groundwire_server.cli.app import app

    app()
