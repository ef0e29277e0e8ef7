"""A child process that fetches something, watched from outside: progress, time-outs, and never left behind."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

__all__ = ["Stalled", "run_watched"]

POLL_SECONDS = 0.2


class Stalled(Exception):
    """The process made no progress for too long and was ended."""


def run_watched(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    watched: Path,
    log: Path,
    seen: Callable[[int], None],
    stall_seconds: float,
) -> int:
    """Run a command and return its exit code. Its output goes to the file `log`, its input is empty.

    While it runs, `seen` is told the bytes that lie in the folder `watched`. The process is ended when that number
    stands still for `stall_seconds`, and when the caller is interrupted or `seen` raises.

    Raises:
        Stalled: nothing happened for `stall_seconds`.
        OSError: the command cannot be started.
    """
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env=dict(environment), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            size, moved_at = 0, time.monotonic()
            while True:
                try:
                    return process.wait(POLL_SECONDS)
                except subprocess.TimeoutExpired:
                    now = folder_bytes(watched)
                    if now != size:
                        size, moved_at = now, time.monotonic()
                        seen(size)
                    elif time.monotonic() - moved_at > stall_seconds:
                        raise Stalled from None
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()


def folder_bytes(folder: Path) -> int:
    """Bytes of all files below a folder; files that vanish meanwhile count nothing."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(parent, name)).st_size
            except OSError:  # moved or deleted between the two calls
                continue
    return total
