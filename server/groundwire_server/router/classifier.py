"""Who weighs the routes of a question where the rules are not sure (semantics 11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from groundwire_server.router.frames import Route
from groundwire_server.router.reading import Reading

__all__ = ["Odds", "RouteClassifier"]


@dataclass(frozen=True, slots=True)
class Odds:
    """How likely each route is; together 1."""

    structured: float
    narrative: float
    composite: float

    def of(self, route: Route) -> float:
        """How likely one route is."""
        return {
            Route.STRUCTURED: self.structured,
            Route.NARRATIVE: self.narrative,
            Route.COMPOSITE: self.composite,
        }[route]


class RouteClassifier(Protocol):
    """Weighs the routes of a question. The same reading gets the same odds; the rules bound what becomes of them."""

    @property
    def name(self) -> str:
        """As the reason of a route names it."""
        ...

    def classify(self, reading: Reading, by_rules: Route, confidence: float) -> Odds:
        """The odds.

        Args:
            reading: the question, read with the names that the caller may know.
            by_rules: what the rules say of it.
            confidence: how sure they are, 0 to 1.
        """
        ...
