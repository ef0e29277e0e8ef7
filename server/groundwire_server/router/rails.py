"""What a classifier may say where, and what is made of its odds.

The rules hold where they are sure: a figure whose parts are all named is looked up, a figure and its reason are both,
and what a metric means, or what is asked of a known entity without a metric, is text, unless it asks for an amount in a
period. Elsewhere the odds decide, within these bounds: a question that the rules take for one of figures is not made
one of text alone, "why" and "who" are never answered by figures alone, and no doubt becomes a guess: where figures and
text are both likely, both are asked.
"""

from __future__ import annotations

import re

from groundwire_server.router.classifier import Odds
from groundwire_server.router.cues import Cue
from groundwire_server.router.frames import Route
from groundwire_server.router.reading import Reading
from groundwire_server.router.words import ends_as_amount
from groundwire_server.text import normalize

__all__ = ["allowed_routes", "choose"]

_SURE = 0.8
_ARTICLE = re.compile(r"\s*(?:an?)?[\s\W]*", re.IGNORECASE)
# Asking both is right for a composite question, and brings what is needed where figures and text are alike likely.
_DOUBT_WEIGHT = 1.2


def allowed_routes(reading: Reading, by_rules: Route, confidence: float) -> tuple[Route, ...]:
    """The routes among which a classifier may choose; one: the rules hold."""
    if confidence >= _SURE and by_rules in (Route.STRUCTURED, Route.COMPOSITE):
        return (by_rules,)
    if by_rules is Route.NARRATIVE and _asks_meaning(reading):
        return (by_rules,)
    if by_rules is Route.NARRATIVE and _asks_of_known_entity(reading):
        if not (reading.has(Cue.FIGURE) and reading.periods and _stands_alone(reading)):
            return (by_rules,)
        # How many people lived in Norway in 2012: in doubt, and never for figures alone, for no metric is named.
        return (Route.COMPOSITE,) if reading.has(Cue.EXPLAIN) else (Route.NARRATIVE, Route.COMPOSITE)
    return tuple(
        route
        for route in Route
        if not (route is Route.NARRATIVE and (by_rules is Route.STRUCTURED or _asks_unread_amount(reading)))
        and not (route is Route.STRUCTURED and (reading.has(Cue.EXPLAIN) or _asks_for_somebody(reading)))
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


def _stands_alone(reading: Reading) -> bool:
    """Whether an entity is no part of a longer name that is not known: 日本, and not 日本共産党."""
    begun = {phrase.span.start for phrase in reading.phrases}
    return any(name.kind == "entity" and name.span.end not in begun for name in reading.names)


def _asks_unread_amount(reading: Reading) -> bool:
    """An amount in a period, under a name that no metric has, in a script of which a classifier may see cues alone."""
    if not reading.periods or reading.names or reading.has(Cue.EXPLAIN, Cue.WHO, Cue.DEFINE):
        return False
    return any(ends_as_amount(phrase.raw) for phrase in reading.phrases)


def _asks_for_somebody(reading: Reading) -> bool:
    return any(each.cue is Cue.WHO and normalize(each.raw) in _SOMEBODY for each in reading.cues)


_SOMEBODY = frozenset(["who", "whom", "whose", "誰", "だれ", "どなた", "谁", "哪位"])


def choose(odds: Odds, allowed: tuple[Route, ...]) -> Route:
    """The best of the allowed routes; of equals the first."""
    doubt = _DOUBT_WEIGHT * min(odds.structured, odds.narrative)
    worth = {
        Route.STRUCTURED: odds.structured,
        Route.NARRATIVE: odds.narrative,
        Route.COMPOSITE: odds.composite + doubt,
    }
    return max(allowed, key=lambda route: worth[route])
