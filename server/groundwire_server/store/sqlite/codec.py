"""Values as the columns hold them: instants as microseconds, attributes and dimensions as deterministic JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache

from groundwire_server.evidence import Attribute, Dimension, Period, PeriodKind, Span, Value

__all__ = [
    "decode_attributes",
    "decode_dimensions",
    "decode_instant",
    "decode_optional_instant",
    "decode_span",
    "encode_attributes",
    "encode_dimensions",
    "encode_instant",
    "encode_optional_instant",
    "encode_value",
    "is_storable",
]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

EncodedValue = list[str | list[str]]


def is_storable(text: str) -> bool:
    """Whether a text has a UTF-8 form. A lone surrogate has none, and a store keeps no text that nobody can send."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def encode_instant(moment: datetime) -> int:
    """Microseconds since 1970 in UTC; a moment that names no zone is taken as UTC."""
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MICROSECOND


def decode_instant(microseconds: int) -> datetime:
    """The inverse of `encode_instant`."""
    return _EPOCH + microseconds * _MICROSECOND


def encode_optional_instant(moment: datetime | None) -> int | None:
    """As `encode_instant`; None stays None."""
    return None if moment is None else encode_instant(moment)


def decode_optional_instant(microseconds: int | None) -> datetime | None:
    """As `decode_instant`; None stays None."""
    return None if microseconds is None else decode_instant(microseconds)


def decode_span(start: int | None, end: int | None) -> Span | None:
    """A span from its two columns, or None where they are empty."""
    return None if start is None or end is None else Span(start, end)


def encode_value(value: Value) -> EncodedValue:
    """A value as a short tag and text, so that every type comes back as it went in.

    >>> encode_value(Decimal("1.50")), encode_value(True)
    (['d', '1.50'], ['b', '1'])
    """
    if isinstance(value, bool):
        return ["b", "1" if value else "0"]
    if isinstance(value, str):
        return ["s", value]
    if isinstance(value, int):
        return ["i", str(value)]
    if isinstance(value, float):
        return ["f", repr(value)]
    if isinstance(value, Decimal):
        return ["d", str(value)]
    if isinstance(value, datetime):
        return ["t", str(encode_instant(value))]
    if isinstance(value, date):
        return ["y", value.isoformat()]
    if isinstance(value, Period):
        return ["p", [value.canonical, value.kind.value, value.first.isoformat(), value.last.isoformat()]]
    return ["l", list(value)]


def _decode_value(tag: str, payload: str | list[str]) -> Value:
    if isinstance(payload, list):
        if tag == "l":
            return tuple(payload)
        canonical, kind, first, last = payload
        return Period(canonical, PeriodKind(kind), date.fromisoformat(first), date.fromisoformat(last))
    match tag:
        case "s":
            return payload
        case "i":
            return int(payload)
        case "d":
            return Decimal(payload)
        case "f":
            return float(payload)
        case "b":
            return payload == "1"
        case "t":
            return decode_instant(int(payload))
        case _:
            return date.fromisoformat(payload)


_dump = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def encode_attributes(attributes: Sequence[Attribute]) -> str:
    """Attributes sorted by name, as one text that is equal exactly when they are.

    >>> encode_attributes([Attribute("year", 2024), Attribute("lang", "ja")])
    '[["lang","s","ja"],["year","i","2024"]]'
    """
    if not attributes:
        return "[]"
    ordered = sorted(attributes, key=lambda attribute: attribute.name)
    return _dump([[attribute.name, *encode_value(attribute.value)] for attribute in ordered])


@lru_cache(maxsize=8192)
def decode_attributes(text: str) -> tuple[Attribute, ...]:
    """The inverse of `encode_attributes`: sorted by name."""
    if text == "[]":  # most have none, and a walk reads tens of thousands
        return ()
    return tuple(Attribute(name, _decode_value(tag, payload)) for name, tag, payload in json.loads(text))


def encode_dimensions(dimensions: Iterable[Dimension]) -> str:
    """Dimensions sorted by name and member.

    >>> encode_dimensions([Dimension("region", "EMEA")])
    '[["region","EMEA"]]'
    """
    return _dump(sorted([dimension.name, dimension.member] for dimension in dimensions))


@lru_cache(maxsize=1024)
def decode_dimensions(text: str) -> tuple[Dimension, ...]:
    """The inverse of `encode_dimensions`."""
    return tuple(Dimension(name, member) for name, member in json.loads(text))
