"""What a figure is counted for, and figures of another time than the one that their sentence names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from groundwire_server.evidence import Span
from groundwire_server.guard.numbers import Number
from groundwire_server.guard.times import Moment
from groundwire_server.guard.units import UNIT, canonical_unit
from groundwire_server.guard.words import Directed

__all__ = ["priors", "says_unit", "unit_of_counting"]

_COUNTED_FOR = frozenset(
    "kg g mg lb t l ml ML barrel gallon km m m2 m3 mi ft ha acre km2 hour minute day week month year".split()  # noqa: SIM905
) | {"kwh", "mwh", "gwh", "share", "head", "household"}
_PER_BEHIND = re.compile(
    r"(?:\s+(?!(?:an?|per|each|every)\s)[a-z]+){0,2}\s*(?:(?<![a-z])(?P<per>an?|per|each|every)\s+|/\s?)(?=[a-z])"
)
_NOUN = re.compile(r"[a-z]{3,}")
_PER_BEFORE = re.compile(r"[每毎](?P<named>[^,，、。;；:：\d\s]{1,10})$")
_TIMES = {
    "hour": ("hour", "時", "时"),
    "day": ("day", "daily", "日", "天"),
    "week": ("week", "週", "周"),
    "month": ("month", "月"),
    "year": ("year", "annual", "annum", "年"),
}
_SHORT = {"年": "year", "月": "month", "日": "day", "天": "day", "週": "week", "周": "week", "人": "head"}

_FROM = re.compile(r"(?<![a-z])from\s+(?:an?\s+|the\s+|about\s+|some\s+|around\s+)?[$€£¥]?\s*$")
_AGAINST = re.compile(
    r"(?<![a-z])(?:compared\s+(?:with|to)|versus|against|than)\s+(?:an?\s+|the\s+|about\s+|some\s+|around\s+)?[$€£¥]?\s*$"
)
_BEFORE_THEN = re.compile(
    r"(?:上一?年|前の?年|前年|一年前|去年|上期|前期)(?:度|同期)?(?:[的の为為は]|水準の|の水準)[約约]?\s*[$€£¥]?$"
)
_BEHIND_THEN = re.compile(r"\s*(?:a\s+year\s+(?:earlier|ago|before)|(?:in\s+)?the\s+year\s+before)(?![a-z])")
_FROM_BEHIND = re.compile(r"\s*から")
_THAN_IN = re.compile(
    r"(?<![a-z])(?:than|(?:up|down)\s+from|compared\s+(?:with|to)|versus|against)\s(?P<between>[^,;:()]{0,30})$"
)
_THAN_BEHIND = re.compile(r"(?:度|同期)?(?:より(?!も?[前後])|[にと]比べ|比(?:で|[増减減增]))")
_THAN_HAN = re.compile(r"(?:(?<![同环環占百之])比|较|較)\s*$")


def unit_of_counting(text: str, at: Span) -> str:
    """The unit that the figure at a place of a folded text is counted for; empty where none is said.

    >>> unit_of_counting("$3.20 a kilogram", Span(0, 5)), unit_of_counting("每吨得款13元", Span(4, 7))
    ('kg', 't')
    """
    behind = _PER_BEHIND.match(text, at.end)
    if behind:
        unit = UNIT.match(text, behind.end())
        counted = _counted(unit["unit"]) if unit else ""
        noun = _NOUN.match(text, behind.end()) if behind["per"] == "per" else None
        return counted or (noun.group() if noun else "")
    before = _PER_BEFORE.search(text, max(0, at.start - 12), at.start)
    if before is None:
        return ""
    unit = UNIT.match(text, before.start("named"))
    return (_counted(unit["unit"]) if unit else "") or _SHORT.get(before["named"][0], "")


def _counted(spelling: str) -> str:
    unit = canonical_unit(spelling)
    return unit if unit in _COUNTED_FOR else ""


def says_unit(text: str, unit: str) -> bool:
    """Whether a folded text has a unit in any spelling, beside a figure or not."""
    if any(word in text for word in _TIMES.get(unit, (unit,))):
        return True
    return any(canonical_unit(found["unit"]) == unit for found in UNIT.finditer(text))


def priors(text: str, numbers: Sequence[Number], moments: Sequence[Moment], ways: Sequence[Directed]) -> list[bool]:
    """For each figure whether it is of another time than the one period that a sentence names.

    "$3.20 in 2022, up from $2.85": the second. "two thirds, up from half in 2018": the first, for 2018 is only what
    it is set against. With several periods, or none, no figure.
    """
    if len({moment.facets for moment in moments}) != 1:
        return [False] * len(numbers)
    set_against = [_against(text, moment.at) for moment in moments]
    if all(at is not None for at in set_against):
        return [
            not any(
                at is not None and (at < number.at.start < moment.at.start or 0 <= number.at.start - moment.at.end < 5)
                for at, moment in zip(set_against, moments, strict=True)
            )
            for number in numbers
        ]
    return [_is_prior(text, number.at, ways) for number in numbers]


def _against(text: str, at: Span) -> int | None:
    """Where the words begin by which something is set against a period; None where nothing is."""
    before = _THAN_IN.search(text, max(0, at.start - 50), at.start)
    if before:
        return before.start()
    han = _THAN_HAN.search(text, 0, at.start)
    if han:
        return han.start()
    return at.start if _THAN_BEHIND.match(text, at.end) else None


def _is_prior(text: str, at: Span, ways: Sequence[Directed]) -> bool:
    before = text[max(0, at.start - 30) : at.start]
    if _AGAINST.search(before) or _BEFORE_THEN.search(before) or _BEHIND_THEN.match(text, at.end):
        return True
    return bool(ways) and (_FROM.search(before) is not None or _FROM_BEHIND.match(text, at.end) is not None)
