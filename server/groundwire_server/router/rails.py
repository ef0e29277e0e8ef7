"""What a classifier may say where, and what is made of its odds.

The rules hold where they are sure: a figure whose parts are all named is looked up, a figure and its reason are both,
and what a metric means, or what is asked of a known entity without a metric, is text. Elsewhere the odds decide, within
these bounds: a question that the rules take for one of figures is not made one of text alone, "why" is never answered
by figures alone, and no doubt becomes a guess: where figures and text are both likely, both are asked.
"""

from __future__ import annotations

import re

from groundwire_server.router.classifier import Odds
from groundwire_server.router.cues import Cue
from groundwire_server.router.frames import Route
from groundwire_server.router.reading import Reading

__all__ = ["allowed_routes", "choose"]

_SURE = 0.8
_ARTICLE = re.compile(r"\s*(?:an?)?[\s\W]*", re.IGNORECASE)
# Asking both is right for a composite question, and brings what is needed where figures and text are alike likely.
_DOUBT_WEIGHT = 1.2


def allowed_routes(reading: Reading, by_rules: Route, confidence: float) -> tuple[Route, ...]:
    """The routes among which a classifier may choose; one: the rules hold."""
    if confidence >= _SURE and by_rules in (Route.STRUCTURED, Route.COMPOSITE):
        return (by_rules,)
    if by_rules is Route.NARRATIVE and (_asks_meaning(reading) or _asks_of_known_entity(reading)):
        return (by_rules,)
    return tuple(
        route
        for route in Route
        if not (route is Route.NARRATIVE and by_rules is Route.STRUCTURED)
        and not (route is Route.STRUCTURED and reading.has(Cue.EXPLAIN))
    )


def _asks_meaning(reading: Reading) -> bool:
    """What does ROE mean; what is ROE, and not a word more."""
    metrics = reading.of_kind("metric")
    if not metrics or reading.periods or reading.has(Cue.FIGURE):
        return False
    if reading.has(Cue.DEFINE):
        return True
    said = [metrics[0].span, *(each.span for each in reading.cues if each.cue is Cue.WHAT)]
    rest = "".join(
        character
        for place, character in enumerate(reading.question)
        if not any(span.start <= place < span.end for span in said)
    )
    return len(said) > 1 and _ARTICLE.fullmatch(rest) is not None


def _asks_of_known_entity(reading: Reading) -> bool:
    """Something of an entity that is known, under a name that no metric has: the capital of Japan."""
    return bool(reading.of_kind("entity")) and not reading.of_kind("metric")


def choose(odds: Odds, allowed: tuple[Route, ...]) -> Route:
    """The best of the allowed routes; of equals the first."""
    doubt = _DOUBT_WEIGHT * min(odds.structured, odds.narrative)
    worth = {
        Route.STRUCTURED: odds.structured,
        Route.NARRATIVE: odds.narrative,
        Route.COMPOSITE: odds.composite + doubt,
    }
    return max(allowed, key=lambda route: worth[route])
