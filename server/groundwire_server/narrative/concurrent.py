"""Work side by side within one call, with results in a fixed order.

Helpers are threads that are kept: to start one a call would cost more than a search of a small library. A piece of
work that no helper has taken up when its result is wanted is done by the thread that wants it, so that busy helpers
delay nobody and work within work cannot wait for itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import cache
from typing import Generic, TypeVar

__all__ = ["Failed", "Task", "run_all"]

T = TypeVar("T")

_HELPERS_A_CORE = 4


@dataclass(frozen=True, slots=True)
class Failed:
    """A piece of work that raised."""

    error: Exception


class Task(Generic[T]):
    """A callable that a helper takes up when one is free. Whoever makes a task waits for it, whatever happens."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._future: Future[T | Failed] = _helpers().submit(copy_context().run, _outcome, work)

    def outcome(self) -> T | Failed:
        """What it gave or raised; done here and now when nobody has begun it."""
        return _outcome(self._work) if self._future.cancel() else self._future.result()


def run_all(work: Sequence[Callable[[], T]]) -> list[T | Failed]:
    """Outcomes in the order of `work`; the first runs on the calling thread, the others beside it."""
    others = [Task(each) for each in work[1:]]
    return [*(_outcome(each) for each in work[:1]), *(task.outcome() for task in others)]


def _outcome(work: Callable[[], T]) -> T | Failed:
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - the caller decides what a failure means
        return Failed(error)


@cache
def _helpers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_HELPERS_A_CORE * (os.cpu_count() or 1), thread_name_prefix="groundwire-leg")
