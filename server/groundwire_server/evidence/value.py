"""Typed values of attributes and filters, and the periods that figures hold for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum, IntEnum

__all__ = [
    "Attribute",
    "AttributeType",
    "Dimension",
    "Family",
    "Period",
    "PeriodKind",
    "Scalar",
    "Span",
    "Value",
    "family_of",
    "plain_length",
    "slice_text",
]


class PeriodKind(Enum):
    """What a period is: a span of time (flow) or one day (instant)."""

    FISCAL = "fiscal"
    CALENDAR = "calendar"
    INTERVAL = "interval"
    INSTANT = "instant"


@dataclass(frozen=True, slots=True)
class Period:
    """A period in canonical form with its first and last day, both inclusive.

    Canonical: "2024", "FY2024", "2024H1", "FY2024H1", "2024Q3", "2024-03", "2018-09-30", "2020-01-01/2020-12-31".
    Ordered by first day, then by last day (value.proto).
    """

    canonical: str
    kind: PeriodKind
    first: date
    last: date


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open range of text in Unicode code points."""

    start: int
    end: int


def slice_text(text: str, span: Span) -> str:
    """The stretch of text that a span names.

    >>> slice_text("a😀b", Span(1, 2))
    '😀'
    """
    return text[span.start : span.end]


# bool stands before int in isinstance checks: True is no number here. datetime is an instant, date a day.
Scalar = str | int | float | Decimal | bool | date | datetime | Period
Value = Scalar | tuple[str, ...]


class Family(Enum):
    """Values compare only within one family."""

    TEXT = "text"
    NUMBER = "number"
    TRUTH = "truth"
    DAY = "day"
    INSTANT = "instant"
    PERIOD = "period"
    TEXTS = "texts"


def family_of(value: Value) -> Family:
    """The family that a value belongs to."""
    if isinstance(value, bool):
        return Family.TRUTH
    if isinstance(value, str):
        return Family.TEXT
    if isinstance(value, int | float | Decimal):
        return Family.NUMBER
    if isinstance(value, datetime):
        return Family.INSTANT
    if isinstance(value, date):
        return Family.DAY
    if isinstance(value, Period):
        return Family.PERIOD
    return Family.TEXTS


class AttributeType(IntEnum):
    """What an attribute is declared to hold; numbers are those of `groundwire.v1.AttributeType`.

    Filters compare by families: the two kinds of numbers are one.
    """

    STRING = 1
    INTEGER = 2
    DECIMAL = 3
    BOOL = 4
    DATE = 5
    PERIOD = 6
    STRING_LIST = 7
    TIME = 8

    @property
    def family(self) -> Family:
        """The family of its values."""
        return _FAMILIES[self]

    @classmethod
    def of(cls, family: Family) -> AttributeType:
        """The widest type of a family."""
        return next(each for each in reversed(cls) if each.family is family)

    def takes(self, value: Value) -> bool:
        """Whether a value is of this type; of numbers an INTEGER takes the whole ones, however they are written.

        >>> AttributeType.INTEGER.takes(Decimal("2.0")), AttributeType.INTEGER.takes(2.5)
        (True, False)
        """
        if family_of(value) is not self.family:
            return False
        if self is AttributeType.INTEGER and isinstance(value, float | Decimal):
            return Decimal(value) == Decimal(value).to_integral_value()
        return True


_FAMILIES = {
    AttributeType.STRING: Family.TEXT,
    AttributeType.INTEGER: Family.NUMBER,
    AttributeType.DECIMAL: Family.NUMBER,
    AttributeType.BOOL: Family.TRUTH,
    AttributeType.DATE: Family.DAY,
    AttributeType.PERIOD: Family.PERIOD,
    AttributeType.STRING_LIST: Family.TEXTS,
    AttributeType.TIME: Family.INSTANT,
}


def plain_length(number: Decimal) -> int:
    """Characters that a finite number takes without an exponent; it is not written out.

    >>> plain_length(Decimal("1e999999")), plain_length(Decimal("-0.25")), plain_length(Decimal("123.45"))
    (1000000, 5, 6)
    """
    sign, digits, places = number.as_tuple()
    exponent = int(places)
    return sign + (len(digits) + exponent if exponent >= 0 else 1 + max(len(digits), 1 - exponent))


@dataclass(frozen=True, slots=True)
class Attribute:
    """A named, typed attribute of a document, fact or edge. Names: 1 to 64 of a-z, 0-9, underscore."""

    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class Dimension:
    """A further axis of a figure beside its channel."""

    name: str
    member: str
