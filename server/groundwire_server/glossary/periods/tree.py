"""What a period expression says, before anything is reckoned: small frozen values that the grammar makes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from groundwire_server.glossary.periods.eras import Era
from groundwire_server.glossary.periods.faults import PeriodFault
from groundwire_server.glossary.periods.symbols import Unit

__all__ = [
    "Ended",
    "Expression",
    "Half",
    "Month",
    "MonthDay",
    "MonthRange",
    "NumericDay",
    "Part",
    "Point",
    "Quarter",
    "Range",
    "Refused",
    "Relative",
    "Scheme",
    "Term",
    "Year",
]


class Scheme(Enum):
    """By which calendar a year is meant."""

    CALENDAR = auto()
    FISCAL = auto()
    NENDO = auto()  # fiscal, in the word 年度
    SPLIT = auto()  # fiscal, given as 2023/24: label is the later year


@dataclass(frozen=True, slots=True)
class Year:
    """A year by number. `bare`: four digits and no word beside them. `era`: the year was given in it."""

    label: int
    scheme: Scheme = Scheme.CALENDAR
    era: Era | None = None
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Relative:
    """A length of time counted from the reference day."""

    unit: Unit
    offset: int


@dataclass(frozen=True, slots=True)
class Half:
    """Half 1 or 2 of a year."""

    number: int


@dataclass(frozen=True, slots=True)
class Quarter:
    """Quarter 1 to 4 of a year."""

    number: int


@dataclass(frozen=True, slots=True)
class Month:
    """Month 1 to 12."""

    number: int


@dataclass(frozen=True, slots=True)
class MonthDay:
    """A day of a month."""

    month: int
    day: int


@dataclass(frozen=True, slots=True)
class MonthRange:
    """From the beginning of one month to the end of another."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Term:
    """N月期: the fiscal year that ends in that month, or a part of it."""

    month: int
    part: Half | Quarter | None = None


Part = Half | Quarter | Month | MonthDay | MonthRange | Term


@dataclass(frozen=True, slots=True)
class Point:
    """A year, a part of one, or (`end`) the last day of either. `year` None: it was not said."""

    year: Year | Relative | None
    part: Part | None = None
    end: bool = False


@dataclass(frozen=True, slots=True)
class NumericDay:
    """A day in numbers, in each order that it can be read in: (year, month, day)."""

    readings: tuple[tuple[int, int, int], ...]
    era: Era | None = None


@dataclass(frozen=True, slots=True)
class Range:
    """From the first day of one to the last day of the other. `dashed`: only a dash or slash says so."""

    first: Expression
    last: Expression
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """So many months that end on a day. `fiscal`: it was called a fiscal year. `weeks`: so many of these instead."""

    months: int
    last: Expression
    fiscal: bool = False
    weeks: int = 0


@dataclass(frozen=True, slots=True)
class Refused:
    """Read, and refused."""

    fault: PeriodFault
    candidates: tuple[str, ...] = ()


Expression = Point | NumericDay | Relative | Range | Ended | Refused
