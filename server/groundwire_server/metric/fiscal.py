"""Fiscal periods as companies really have them: years of 52 and 53 weeks, and years whose beginning nobody has told.

A fiscal period first means its exact days. Where no figure has these, the spans that the entity has figures for decide,
and only where they leave a single reading (semantics 10: a fiscal year is named by the year in which it ends, unless
the entity says otherwise).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, timedelta

from groundwire_server.evidence import Period, PeriodKind
from groundwire_server.glossary import FiscalCalendar

__all__ = ["Days", "fiscal_spans", "is_outdated"]

Days = tuple[date, date]

_CANONICAL = re.compile(r"FY(\d{4})(?:([HQ])(\d))?")
_DRIFT = 7
"""Days by which a year of whole weeks begins or ends beside its nominal day."""
_LENGTHS = {"": (350, 380), "H": (170, 195), "Q": (80, 102)}
_WEEKS = {"H": 26, "Q": 13}
_PART_DRIFT = 10


def fiscal_spans(period: Period, spans: Iterable[Days], fiscal: FiscalCalendar, *, told: bool) -> list[Days]:
    """Spans that a fiscal period may mean, ascending; several mean that nothing is decided.

    Args:
        period: fiscal, in canonical form.
        spans: first and last days of the spans that there are figures for.
        fiscal: of the entity.
        told: whether the entity says when its fiscal year begins. Then a span may lie seven days beside the nominal one
            at either end. Else a year is every span of about a year that ends (or begins) in the year named, and a part
            of a year is the span that lies where it must within the only such year.
    """
    match = _CANONICAL.fullmatch(period.canonical)
    if period.kind is not PeriodKind.FISCAL or match is None:
        return []
    label, part, number = int(match[1]), match[2] or "", int(match[3] or 0)
    there = sorted(set(spans))
    if told:
        return [span for span in there if _is_beside(span, (period.first, period.last), _DRIFT)]
    years = [span for span in there if _has_length(span, "") and _label(span, fiscal) == label]
    if not part or len(years) != 1:
        return years
    begin = years[0][0] + timedelta(weeks=_WEEKS[part] * (number - 1))
    nominal = (begin, begin + timedelta(weeks=_WEEKS[part], days=-1))
    return [span for span in there if _has_length(span, part) and _is_beside(span, nominal, _PART_DRIFT)]


def is_outdated(canonical: str, days: Days, fiscal: FiscalCalendar, *, told: bool) -> bool:
    """Whether a stored period is a fiscal one that was read by another fiscal year than its entity tells today.

    Its days are those of a year that the entity does not have, and which its words meant is not known any more: it
    answers nothing until it is loaded again.
    """
    match = _CANONICAL.fullmatch(canonical) if told and canonical.startswith("FY") else None
    if match is None:
        return False
    begin = fiscal.first_day(int(match[1]))
    match match[2], int(match[3] or 0):
        case "H", number:
            today = fiscal.half(begin, number)
        case "Q", number:
            today = fiscal.quarter(begin, number)
        case _:
            today = fiscal.year(begin)
    return days != (today.first, today.last)


def _label(span: Days, fiscal: FiscalCalendar) -> int:
    return span[0].year if fiscal.named_by == "start" else span[1].year


def _has_length(span: Days, part: str) -> bool:
    shortest, longest = _LENGTHS[part]
    return shortest <= (span[1] - span[0]).days + 1 <= longest


def _is_beside(span: Days, nominal: Days, drift: int) -> bool:
    return all(abs((day - wanted).days) <= drift for day, wanted in zip(span, nominal, strict=True))
