"""Work side by side within one call, with results in a fixed order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Failed", "Task", "run_all"]

T = TypeVar("T")


class Task(Generic[T]):
    """A callable that has been started on a thread of its own."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._outcome: T
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._outcome = self._work()
        except BaseException as error:  # noqa: BLE001 - it is raised again where the result is asked for
            self._error = error

    def result(self) -> T:
        """Wait for it. Raises what the callable raised."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._outcome


@dataclass(frozen=True, slots=True)
class Failed:
    """A piece of work that raised."""

    error: Exception


def run_all(work: Sequence[Callable[[], T]]) -> list[T | Failed]:
    """Outcomes in the order of `work`; the first runs on the calling thread, the others beside it."""
    others = [Task(each) for each in work[1:]]
    outcomes: list[T | Failed] = []
    for each in [*(call for call in work[:1]), *(task.result for task in others)]:
        try:
            outcomes.append(each())
        except Exception as error:  # noqa: BLE001 - the caller decides what a failure means
            outcomes.append(Failed(error))
    return outcomes
