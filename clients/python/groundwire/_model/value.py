"""Typed values of attributes and filters, and the small shapes that evidence and ingestion share."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

__all__ = ["Attribute", "Dimension", "Period", "Scalar", "Span", "Value", "slice_text"]


@dataclass(frozen=True, slots=True)
class Period:
    """A period as a value: text in any form that the server reads, e.g. "FY2024", "2024Q3", "2024-03-31"."""

    text: str


# bool is a truth value, never a number; a datetime is an instant, a date a day. Several texts are a tuple.
Scalar = str | bool | int | float | Decimal | date | datetime | Period
Value = Scalar | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Attribute:
    """A named, typed attribute. Names: 1 to 64 of a-z, 0-9, underscore."""

    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class Dimension:
    """A further axis of a figure beside its channel, e.g. segment = "Cloud"."""

    name: str
    member: str


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open range of text in Unicode code points, which is how Python counts."""

    start: int
    end: int


def slice_text(text: str, span: Span) -> str:
    """The stretch of text that a span names.

    >>> slice_text("a😀b", Span(1, 2))
    '😀'
    """
    return text[span.start : span.end]
