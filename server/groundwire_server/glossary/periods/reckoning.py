"""Expressions -> periods: the days that an expression names, for one entity's fiscal year and one reference day."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta

from groundwire_server.evidence import Period, PeriodKind
from groundwire_server.glossary.periods.days import (
    FiscalCalendar,
    add_months,
    calendar_half,
    calendar_month,
    calendar_quarter,
    calendar_year,
    instant,
    interval,
    month_end,
)
from groundwire_server.glossary.periods.eras import Era
from groundwire_server.glossary.periods.faults import PeriodFault
from groundwire_server.glossary.periods.symbols import Unit
from groundwire_server.glossary.periods.tree import (
    Ended,
    Expression,
    Half,
    Month,
    MonthDay,
    MonthRange,
    NumericDay,
    Part,
    Point,
    Quarter,
    Range,
    Refused,
    Relative,
    Scheme,
    Term,
    Year,
)

__all__ = ["Circumstances", "Unreckonable", "reckon"]

_DAY = timedelta(days=1)


class Unreckonable(Exception):
    """An expression names no period; the caller adds the text and raises `PeriodError`."""

    def __init__(self, fault: PeriodFault, candidates: tuple[str, ...] = ()) -> None:
        super().__init__(fault.value)
        self.fault = fault
        self.candidates = candidates


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What relative and fiscal words depend on. language: "en", "zh", "ja", or empty where it is not known."""

    reference: date
    fiscal: FiscalCalendar
    language: str = ""


def reckon(expression: Expression, given: Circumstances) -> Period:
    """The period that an expression names.

    Raises:
        Unreckonable: it names none.
    """
    try:
        match expression:
            case Refused(fault, candidates):
                raise Unreckonable(fault, candidates)
            case Point():
                return _point(expression, given)
            case NumericDay(readings, era):
                return _numeric_day(readings, era)
            case Relative(unit, offset):
                return _relative(unit, offset, given)
            case Range():
                return _range(expression, given)
            case Ended():
                return _ended(expression, given)
    except (ValueError, OverflowError):
        raise Unreckonable(PeriodFault.IMPOSSIBLE) from None


def _point(point: Point, given: Circumstances) -> Period:
    if point.year is None:
        raise Unreckonable(PeriodFault.NO_YEAR)
    if isinstance(point.year, Relative):
        first, fiscal = _relative_year(point.year, given)
    else:
        fiscal = point.year.scheme is not Scheme.CALENDAR
        first = _first_day(point.year, given.fiscal)
    span = _fiscal_part(first, point.part, given.fiscal) if fiscal else _calendar_part(first.year, point.part, given)
    if point.end:
        span = instant(span.last)
    era = point.year.era if isinstance(point.year, Year) else None
    if era is not None and not fiscal and not era.holds(span.first, span.last):
        raise Unreckonable(PeriodFault.IMPOSSIBLE)
    return span


def _first_day(year: Year, fiscal: FiscalCalendar) -> date:
    match year.scheme:
        case Scheme.CALENDAR:
            return date(year.label, 1, 1)
        case Scheme.SPLIT:
            begins = year.label if fiscal.month_day == (1, 1) else year.label - 1
            return date(begins, *fiscal.month_day)
        case _:
            return fiscal.first_day(year.label, nendo=year.scheme is Scheme.NENDO)


def _relative_year(year: Relative, given: Circumstances) -> tuple[date, bool]:
    """First day, and whether it is a fiscal year."""
    offset = year.offset
    if year.unit in (Unit.BEFORE_LAST_OR_LAST, Unit.FISCAL_BEFORE_LAST_OR_LAST):
        fiscal = year.unit is Unit.FISCAL_BEFORE_LAST_OR_LAST
        if given.language not in ("ja", "zh"):
            unit = Unit.FISCAL_YEAR if fiscal else Unit.YEAR
            both = tuple(_relative(unit, back, given).canonical for back in (-1, -2))
            raise Unreckonable(PeriodFault.AMBIGUOUS, both)
        offset = -1 if given.language == "ja" else -2
    else:
        fiscal = year.unit is Unit.FISCAL_YEAR
    if not fiscal:
        return date(given.reference.year + offset, 1, 1), False
    current = given.fiscal.containing(given.reference)
    return date(current.year + offset, *given.fiscal.month_day), True


def _relative(unit: Unit, offset: int, given: Circumstances) -> Period:
    today = given.reference
    match unit:
        case Unit.DAY:
            return instant(today + timedelta(days=offset))
        case Unit.MONTH:
            month = add_months(date(today.year, today.month, 1), offset)
            return calendar_month(month.year, month.month)
        case Unit.QUARTER:
            begin = add_months(date(today.year, (today.month - 1) // 3 * 3 + 1, 1), 3 * offset)
            return calendar_quarter(begin.year, (begin.month + 2) // 3)
        case _:
            return _point(Point(Relative(unit, offset)), given)


def _calendar_part(year: int, part: Part | None, given: Circumstances) -> Period:
    match part:
        case None:
            return calendar_year(year)
        case Half(number):
            return _within(number, 2, lambda: calendar_half(year, number))
        case Quarter(number):
            return _within(number, 4, lambda: calendar_quarter(year, number))
        case Month(number):
            return calendar_month(year, number)
        case MonthDay(month, day):
            return instant(date(year, month, day))
        case MonthRange(first, last):
            return interval(date(year, first, 1), month_end(year, last))
        case Term(month, inner):
            return _term(month_end(year, month), inner, given.fiscal)


def _fiscal_part(first: date, part: Part | None, fiscal: FiscalCalendar) -> Period:
    match part:
        case None:
            return fiscal.year(first)
        case Half(number):
            return _within(number, 2, lambda: fiscal.half(first, number))
        case Quarter(number):
            return _within(number, 4, lambda: fiscal.quarter(first, number))
        case Month(number):
            return calendar_month(_year_of_month(first, number), number)
        case MonthDay(month, day):
            for year in (first.year, first.year + 1):
                if (month, day) != (2, 29) or _is_leap(year):
                    named = date(year, month, day)
                    if first <= named <= fiscal.last_day(first):
                        return instant(named)
            raise ValueError("no such day in that fiscal year")
        case MonthRange(begin, end):
            return interval(date(_year_of_month(first, begin), begin, 1), month_end(_year_of_month(first, end), end))
        case Term():
            raise Unreckonable(PeriodFault.UNKNOWN)


def _year_of_month(first: date, month: int) -> int:
    """The calendar year in which that month of the fiscal year beginning on `first` lies."""
    return first.year if month >= first.month else first.year + 1


def _is_leap(year: int) -> bool:
    return month_end(year, 2).day == 29


def _within(number: int, most: int, make: Callable[[], Period]) -> Period:
    if not 1 <= number <= most:
        raise Unreckonable(PeriodFault.IMPOSSIBLE)
    return make()


def _term(last: date, part: Half | Quarter | None, fiscal: FiscalCalendar) -> Period:
    """The fiscal year that ends on a day: the entity's own where it ends then, else the twelve months before."""
    first = add_months(last + _DAY, -12)
    own = fiscal.containing(last)
    if (own, fiscal.last_day(own)) == (first, last):
        return _fiscal_part(first, part, fiscal)
    months, place = {Half: 6, Quarter: 3}.get(type(part), 12), 1 if part is None else part.number
    if not 1 <= place <= 12 // months:
        raise Unreckonable(PeriodFault.IMPOSSIBLE)
    return interval(add_months(first, months * (place - 1)), add_months(first, months * place) - _DAY)


def _numeric_day(readings: tuple[tuple[int, int, int], ...], era: Era | None) -> Period:
    days = set()
    for year, month, day in readings:
        try:
            days.add(date(year, month, day))
        except ValueError:
            continue
    if len(days) > 1:
        raise Unreckonable(PeriodFault.AMBIGUOUS, tuple(day.isoformat() for day in sorted(days)))
    if not days or (era is not None and not era.holds(min(days), min(days))):
        raise Unreckonable(PeriodFault.IMPOSSIBLE)
    return instant(days.pop())


def _range(expression: Range, given: Circumstances) -> Period:
    first, last = _share_year(expression.first, expression.last)
    if expression.dashed and isinstance(first, Point) and isinstance(last, Point):
        _check_dashed(first, last)
    return interval(reckon(first, given).first, reckon(last, given).last)


def _check_dashed(first: Point, last: Point) -> None:
    """2023-2024 may be a fiscal year, and the 24 of 2023/24年度 is no year of its own."""
    one, two = first.year, last.year
    if not (isinstance(one, Year) and isinstance(two, Year)) or first.part is not None or last.part is not None:
        return
    if one.scheme is not two.scheme:
        raise Unreckonable(PeriodFault.UNKNOWN)
    if one.bare and two.bare and two.label == one.label + 1:
        both = (f"FY{two.label}", f"{one.label}-01-01/{two.label}-12-31")
        raise Unreckonable(PeriodFault.AMBIGUOUS, both)


def _share_year(first: Expression, last: Expression) -> tuple[Expression, Expression]:
    """1 January to 31 March 2024, 2024年4月1日から9月30日: the side without a year has that of the other."""
    if isinstance(first, Point) and isinstance(last, Point) and first.part is not None and last.part is not None:
        if first.year is None:
            first = replace(first, year=last.year)
        elif last.year is None:
            last = replace(last, year=first.year)
    return first, last


def _ended(expression: Ended, given: Circumstances) -> Period:
    last = reckon(expression.last, given)
    if last.kind is PeriodKind.INSTANT or isinstance(getattr(expression.last, "part", None), Month):
        if expression.fiscal:
            return _term(last.last, None, given.fiscal)
        if expression.weeks:
            return interval(last.last - timedelta(weeks=expression.weeks) + _DAY, last.last)
        return interval(add_months(last.last + _DAY, -expression.months), last.last)
    raise Unreckonable(PeriodFault.UNKNOWN)
