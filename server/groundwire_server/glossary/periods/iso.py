"""Spans as ISO 8601 writes them beside two days with a slash: with a duration, with times of day, and weeks."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from functools import partial

from groundwire_server.glossary.periods.days import add_months, month_end

__all__ = ["read_iso_span"]

Days = tuple[date, date]

_DAY = r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
_TIME = r"(?:t([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]+)?)?z?)"
_DURATION = r"p(?=[0-9])(?:([0-9]{1,4})y)?(?:([0-9]{1,4})m)?(?:([0-9]{1,4})w)?(?:([0-9]{1,5})d)?"
_FROM = re.compile(rf"{_DAY}/{_DURATION}")
_UNTIL = re.compile(rf"{_DURATION}/{_DAY}")
_TIMED = re.compile(rf"{_DAY}{_TIME}/{_DAY}{_TIME}")
_DASHED = re.compile(rf"{_DAY}--{_DAY}")
_WEEK = re.compile(r"([0-9]{4})-?w([0-9]{2})")


def read_iso_span(text: str) -> Callable[[], Days] | None:
    """How to reckon first and last day of a text in normal form; None for one of another form.

    What is reckoned raises ValueError or OverflowError where there are no such days, LookupError where the span is not
    one of whole days.

    >>> [f"{day:%d.%m.}" for day in read_iso_span("2020-01-01/p3m")()], read_iso_span("2020")
    (['01.01.', '31.03.'], None)
    """
    for form, reckon in _FORMS:
        match = form.fullmatch(text)
        if match is not None:
            return partial(reckon, *(int(group) if group else 0 for group in match.groups()))
    return None


def _from(year: int, month: int, day: int, *length: int) -> Days:
    """A duration ends where the next one begins: a day before that is its last."""
    begin = date(year, month, day)
    return begin, _moved(begin, 1, *length) - timedelta(days=1)


def _until(*given: int) -> Days:
    end = date(*given[4:7])
    following = end + timedelta(days=1)
    begin = _moved(following, -1, *given[:4])
    whole = end == month_end(end.year, end.month) and not (given[2] or given[3])
    return (begin.replace(day=1) if whole and begin.day != 1 else begin), end


def _moved(day: date, sign: int, years: int, months: int, weeks: int, days: int) -> date:
    if not (years or months or weeks or days):
        raise ValueError("a duration of nothing")
    return add_months(day, sign * (12 * years + months)) + sign * timedelta(weeks=weeks, days=days)


def _timed(*given: int) -> Days:
    """From the beginning of a day to the end of one: 00:00 ends the day before, 23:59 its own."""
    begin, end = date(*given[:3]), date(*given[6:9])
    if any(given[3:6]):
        raise LookupError("it does not begin with a day")
    if not any(given[9:12]):
        return begin, end - timedelta(days=1)
    if given[9:11] != (23, 59):
        raise LookupError("it does not end with a day")
    return begin, end


def _dashed(*given: int) -> Days:
    return date(*given[:3]), date(*given[3:6])


def _week(year: int, week: int) -> Days:
    begin = date.fromisocalendar(year, week, 1)
    return begin, begin + timedelta(days=6)


_FORMS: tuple[tuple[re.Pattern[str], Callable[..., Days]], ...] = (
    (_FROM, _from),
    (_UNTIL, _until),
    (_TIMED, _timed),
    (_DASHED, _dashed),
    (_WEEK, _week),
)
