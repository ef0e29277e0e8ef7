"""Wait for something that another thread is about to do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

__all__ = ["eventually"]


def eventually(holds: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Whether it comes to hold in time; looks often, and gives the other threads the processor in between."""
    pause, deadline = threading.Event(), time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        pause.wait(0.002)
    return True
