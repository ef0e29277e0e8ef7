"""Arithmetic on days and the periods made of them. Every period that the house speaks of is made here."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from groundwire_server.evidence import Period, PeriodKind

__all__ = [
    "FiscalCalendar",
    "add_months",
    "calendar_half",
    "calendar_month",
    "calendar_quarter",
    "calendar_year",
    "instant",
    "interval",
    "month_end",
    "same_days",
]

_MONTH_DAY = re.compile(r"(\d{2})-(\d{2})")


def month_end(year: int, month: int) -> date:
    """Last day of a month."""
    return date(year, month, calendar.monthrange(year, month)[1])


def add_months(day: date, months: int) -> date:
    """The same day of another month, or the last day of that month where it has no such day."""
    place = day.year * 12 + day.month - 1 + months
    year, month = place // 12, place % 12 + 1
    return date(year, month, min(day.day, calendar.monthrange(year, month)[1]))


def calendar_year(year: int) -> Period:
    """2024."""
    return Period(f"{year:04d}", PeriodKind.CALENDAR, date(year, 1, 1), date(year, 12, 31))


def calendar_half(year: int, half: int) -> Period:
    """2024H1."""
    last = half * 6
    return Period(f"{year:04d}H{half}", PeriodKind.CALENDAR, date(year, last - 5, 1), month_end(year, last))


def calendar_quarter(year: int, quarter: int) -> Period:
    """2024Q3."""
    last = quarter * 3
    return Period(f"{year:04d}Q{quarter}", PeriodKind.CALENDAR, date(year, last - 2, 1), month_end(year, last))


def calendar_month(year: int, month: int) -> Period:
    """2024-03."""
    return Period(f"{year:04d}-{month:02d}", PeriodKind.CALENDAR, date(year, month, 1), month_end(year, month))


def instant(day: date) -> Period:
    """2018-09-30: a day alone is measured on, not over."""
    return Period(day.isoformat(), PeriodKind.INSTANT, day, day)


def interval(first: date, last: date) -> Period:
    """2020-01-01/2020-12-31, both days inclusive. Raises ValueError when the last day is before the first."""
    if last < first:
        raise ValueError("the last day is before the first")
    return Period(f"{first.isoformat()}/{last.isoformat()}", PeriodKind.INTERVAL, first, last)


def same_days(one: Period, other: Period) -> bool:
    """Whether a figure for one answers a question for the other: the same days, and both spans or both instants.

    So "2024" is "2024-01-01/2024-12-31", and "FY2024" of a fiscal year from January on is both; a span never is an
    instant, not even the span of a single day.
    """
    spans = (one.kind is PeriodKind.INSTANT, other.kind is PeriodKind.INSTANT)
    return spans[0] == spans[1] and (one.first, one.last) == (other.first, other.last)


@dataclass(frozen=True, slots=True)
class FiscalCalendar:
    """When an entity's fiscal year begins, and which calendar year names it.

    start: "04-01". named_by: "end" or "start" as the entity says, empty where it does not say: then by the year in
    which it ends, but 年度 by the year in which it starts unless that is in January (semantics 10).

    Raises:
        ValueError: start is no day of a common year, or named_by is none of the three.
    """

    start: str = "01-01"
    named_by: Literal["", "start", "end"] = ""

    def __post_init__(self) -> None:
        match = _MONTH_DAY.fullmatch(self.start)
        if match is None:
            raise ValueError(f"fiscal_year_start {self.start!r} is not MM-DD")
        date(2023, int(match[1]), int(match[2]))
        if self.named_by not in ("", "start", "end"):
            raise ValueError(f"fiscal_year_named_by {self.named_by!r} is none of end, start")

    @property
    def month_day(self) -> tuple[int, int]:
        """Month and day of the start."""
        return int(self.start[:2]), int(self.start[3:])

    def first_day(self, label: int, *, nendo: bool = False) -> date:
        """First day of the fiscal year with that label; `nendo` when 年度 said so."""
        month, day = self.month_day
        by_start = self.named_by == "start" or (nendo and not self.named_by and month != 1)
        begins = label if by_start or (month, day) == (1, 1) else label - 1
        return date(begins, month, day)

    def label(self, first_day: date) -> int:
        """The year that names the fiscal year beginning on that day, in canonical form."""
        return first_day.year if self.named_by == "start" else self.last_day(first_day).year

    def last_day(self, first_day: date) -> date:
        """Last day of the fiscal year beginning on that day."""
        month, day = self.month_day
        return date(first_day.year + 1, month, day) - timedelta(days=1)

    def containing(self, day: date) -> date:
        """First day of the fiscal year that the day lies in."""
        this = date(day.year, *self.month_day)
        return this if this <= day else date(day.year - 1, *self.month_day)

    def year(self, first_day: date) -> Period:
        """FY2024."""
        return Period(f"FY{self.label(first_day):04d}", PeriodKind.FISCAL, first_day, self.last_day(first_day))

    def half(self, first_day: date, half: int) -> Period:
        """FY2024H1."""
        return self._part(first_day, f"H{half}", 6, half)

    def quarter(self, first_day: date, quarter: int) -> Period:
        """FY2024Q3."""
        return self._part(first_day, f"Q{quarter}", 3, quarter)

    def _part(self, first_day: date, name: str, months: int, place: int) -> Period:
        begin = add_months(first_day, months * (place - 1))
        end = self.last_day(first_day) if months * place == 12 else add_months(first_day, months * place) - _DAY
        return Period(f"FY{self.label(first_day):04d}{name}", PeriodKind.FISCAL, begin, end)


_DAY = timedelta(days=1)
