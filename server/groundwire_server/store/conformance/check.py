"""What a check is, and how all of them are run on a store."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from groundwire_server.store.graph_protocol import GraphStore
from groundwire_server.store.protocol import Store

__all__ = [
    "Check",
    "Clock",
    "ConformanceFailure",
    "Failure",
    "GraphPlaces",
    "Place",
    "Places",
    "expect",
    "raises",
    "run_checks",
    "same",
]

Clock = Callable[[], datetime]
Place = Callable[[Clock], Store]
"""Opens the store of one place; after `close` it opens the same store again."""
Places = Callable[[], Place]
"""A new, empty place."""
GraphPlaces = Callable[[], Callable[[Clock], GraphStore]]
"""The same for stores of relations alone."""


class ConformanceFailure(AssertionError):
    """A store does not do what its protocol says."""


@dataclass(frozen=True, slots=True)
class Check:
    """One sentence of the protocol and the function that holds a store to it."""

    name: str
    sentence: str
    run: Callable[[Any], None]

    @classmethod
    def of(cls, function: Callable[[Any], None]) -> Check:
        """Named after the function; its docstring is the sentence."""
        return cls(function.__name__, " ".join((function.__doc__ or "").split()), function)


@dataclass(frozen=True, slots=True)
class Failure:
    """A check that did not hold, and what was seen."""

    check: Check
    reason: str


def run_checks(places: Places | GraphPlaces, checks: Iterable[Check]) -> list[Failure]:
    """Every check that a store fails; an exception of the store is a failure too."""
    failures = []
    for check in checks:
        try:
            check.run(places)
        except Exception as error:  # noqa: BLE001 - whatever a broken store raises is its failure
            failures.append(Failure(check, f"{type(error).__name__}: {error}"))
    return failures


def expect(holds: bool, what: str) -> None:
    """Raises ConformanceFailure unless it holds."""
    if not holds:
        raise ConformanceFailure(what)


def same(got: object, wanted: object, what: str) -> None:
    """Raises ConformanceFailure unless both are equal."""
    expect(got == wanted, f"{what}: {got!r}, not {wanted!r}")


def raises(error: type[BaseException], action: Callable[[], object], what: str) -> None:
    """Raises ConformanceFailure unless the action raises that error."""
    try:
        action()
    except error:
        return
    raise ConformanceFailure(f"{what} raises no {error.__name__}")
