"""Days of a period from its canonical form, and canonical forms from days. Imports nothing of the project."""

from __future__ import annotations

import re
from datetime import date, timedelta

__all__ = ["days_of", "kind_of"]

_PARTS = {"": (0, 12), "H1": (0, 6), "H2": (6, 6), "Q1": (0, 3), "Q2": (3, 3), "Q3": (6, 3), "Q4": (9, 3)}


def kind_of(canonical: str) -> str:
    """fiscal, calendar, interval or instant."""
    if "/" in canonical:
        return "interval"
    if re.fullmatch(r"\d{4}-\d\d-\d\d", canonical):
        return "instant"
    return "fiscal" if canonical.startswith("FY") else "calendar"


def days_of(canonical: str, fiscal_year_start: str = "01-01", named_by: str = "end") -> tuple[date, date]:
    """First and last day.

    Args:
        fiscal_year_start: MM-DD on which fiscal years begin.
        named_by: whether a fiscal year has the number of the calendar year in which it ends, or starts.
    """
    kind = kind_of(canonical)
    if kind == "interval":
        first, last = canonical.split("/")
        return date.fromisoformat(first), date.fromisoformat(last)
    if kind == "instant":
        only = date.fromisoformat(canonical)
        return only, only
    if re.fullmatch(r"\d{4}-\d\d", canonical):
        year, month = map(int, canonical.split("-"))
        return date(year, month, 1), _add_months(date(year, month, 1), 1) - timedelta(1)
    year = int(canonical.removeprefix("FY")[:4])
    begin = date(year, 1, 1)
    if kind == "fiscal":
        month, day = map(int, fiscal_year_start.split("-"))
        earlier = named_by == "end" and (month, day) != (1, 1)
        begin = date(year - earlier, month, day)
    skip, length = _PARTS[canonical.removeprefix("FY")[4:]]
    return _add_months(begin, skip), _add_months(begin, skip + length) - timedelta(1)


def _add_months(day: date, months: int) -> date:
    months += day.year * 12 + day.month - 1
    return date(months // 12, months % 12 + 1, day.day)
