"""How checks of a protocol are run on whoever says that it keeps it; the checks stand in the rooms of the protocols."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["Failure", "expect", "failures"]

Subject = TypeVar("Subject")


@dataclass(frozen=True, slots=True)
class Failure:
    """A check that did not hold, by the name of its function, and what was seen."""

    check: str
    reason: str


def failures(checks: Iterable[Callable[[Subject], None]], subject: Subject) -> list[Failure]:
    """Every check that a subject fails, in order; an exception of it is a failure too."""
    found = []
    for check in checks:
        try:
            check(subject)
        except Exception as error:  # noqa: BLE001 - whatever a broken one raises is its failure
            found.append(Failure(check.__name__, f"{type(error).__name__}: {error}"))
    return found


def expect(holds: bool, what: str) -> None:
    """Raises AssertionError unless it holds."""
    if not holds:
        raise AssertionError(f"expected {what}")
