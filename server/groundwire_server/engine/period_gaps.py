"""Periods that are missing between others of their length (metric.proto, DescribeMetrics)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta

from groundwire_server.glossary import interval
from groundwire_server.glossary.periods import add_months

__all__ = ["DatedPeriod", "period_gaps"]

DatedPeriod = tuple[date, date, str]
"""First day, last day, canonical form."""

_PART = re.compile(r"(?P<fiscal>FY)?(?P<year>[0-9]{4})(?:(?P<kind>[HQ])(?P<part>[1-4])|-(?P<month>[0-9]{2}))?")
_PARTS_A_YEAR = {"H": 2, "Q": 4}
_DAY = timedelta(days=1)
_MONTH = 30.44


def period_gaps(periods: Iterable[DatedPeriod], most: int) -> tuple[list[str], int]:
    """Up to `most` missing periods, and how many there are.

    Years, halves, quarters and months count by their names. Intervals are of one length when that is the same number of
    months, give or take some days: years of 52 and of 53 weeks are. Where the days between two of them are whole months
    and make up several, each is missing by itself, else all of them are one. Days have no length, and so no gaps.

    >>> period_gaps([(date(2019, 1, 1), date(2019, 12, 31), "2019"), (date(2021, 1, 1), date(2021, 12, 31), "2021")], 9)
    (['2020'], 1)
    """
    lengths: dict[tuple[str, str], set[int]] = {}
    spans: dict[int, list[tuple[date, date]]] = {}
    for first, last, period in periods:
        match = _PART.fullmatch(period)
        if match is not None:
            length, number = _number(match)
            lengths.setdefault((match["fiscal"] or "", length), set()).add(number)
        elif "/" in period:
            spans.setdefault(_months(first, last), []).append((first, last))
    found: list[str] = []
    count = 0
    for (fiscal, length), numbers in sorted(lengths.items()):
        count += max(numbers) - min(numbers) + 1 - len(numbers)
        between = range(min(numbers) + 1, max(numbers))
        missing = (number for number in between if number not in numbers)
        found += [fiscal + _written(length, number) for number, _ in zip(missing, range(most), strict=False)]
    for months, held in sorted(spans.items()):
        holes = list(_holes(held, months))
        count += len(holes)
        found += holes
    return found[:most], count


def _months(first: date, last: date) -> int:
    """A length in months; 0 for days and weeks."""
    return round(((last - first).days + 1) / _MONTH)


def _holes(held: list[tuple[date, date]], months: int) -> Iterator[str]:
    """Stretches of at least that many months that no interval reaches into."""
    if not months:
        return
    covered = min(held)[1]
    for first, last in sorted(held):
        begin, end = covered + _DAY, first - _DAY
        if begin < end and _months(begin, end) >= months:
            yield from _cut(begin, end, months)
        covered = max(covered, last)


def _cut(begin: date, end: date, months: int) -> Iterator[str]:
    parts: list[str] = []
    at = begin
    while begin.day == 1 and at <= end:
        following = add_months(at, months)
        parts.append(interval(at, following - _DAY).canonical)
        at = following
    yield from parts if at == end + _DAY and parts else [interval(begin, end).canonical]


def _number(match: re.Match[str]) -> tuple[str, int]:
    """Length of a period, and its place on an axis of periods of that length."""
    year = int(match["year"])
    if match["month"]:
        return "M", year * 12 + int(match["month"]) - 1
    if match["kind"]:
        return match["kind"], year * _PARTS_A_YEAR[match["kind"]] + int(match["part"]) - 1
    return "Y", year


def _written(length: str, number: int) -> str:
    if length == "Y":
        return f"{number:04}"
    if length == "M":
        return f"{number // 12:04}-{number % 12 + 1:02}"
    parts = _PARTS_A_YEAR[length]
    return f"{number // parts:04}{length}{number % parts + 1}"
