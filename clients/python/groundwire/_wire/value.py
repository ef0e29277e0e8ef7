"""Typed values as the contract carries them."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal

from google.protobuf.timestamp_pb2 import Timestamp

from groundwire._model.value import Period, Value
from groundwire.v1 import value_pb2

__all__ = ["decimal_text", "decode_timestamp", "decode_value", "encode_value", "fill_timestamp"]

_INT64 = range(-(2**63), 2**63)


def decimal_text(number: Decimal | int) -> str:
    """Exact decimal text without an exponent. Raises ValueError for NaN and infinities.

    >>> decimal_text(Decimal("4.1E+3")), decimal_text(Decimal("-0.50"))
    ('4100', '-0.50')
    """
    if isinstance(number, Decimal) and not number.is_finite():
        raise ValueError(f"{number} is no exact number")
    return format(number, "f") if isinstance(number, Decimal) else str(number)


def fill_timestamp(moment: datetime | date, into: Timestamp) -> None:
    """Write an instant; a day is its first moment in UTC. Raises ValueError for a datetime without a time zone."""
    if not isinstance(moment, datetime):
        moment = datetime.combine(moment, time(), UTC)
    elif moment.tzinfo is None:
        raise ValueError(f"{moment!r} has no time zone; say datetime(..., tzinfo=timezone.utc)")
    into.FromDatetime(moment.astimezone(UTC))


def decode_timestamp(message: Timestamp) -> datetime:
    """An instant, aware, in UTC, to the microsecond."""
    return message.ToDatetime(tzinfo=UTC)


def encode_value(value: Value) -> value_pb2.Value:
    """Raises TypeError for a type that has no place in the contract, ValueError for an instant without a time zone."""
    message = value_pb2.Value()
    if isinstance(value, bool):
        message.bool_value = value
    elif isinstance(value, str):
        message.string_value = value
    elif isinstance(value, int):
        if value in _INT64:
            message.int_value = value
        else:
            message.decimal_value = str(value)
    elif isinstance(value, float):
        message.double_value = value
    elif isinstance(value, Decimal):
        message.decimal_value = decimal_text(value)
    elif isinstance(value, datetime):
        fill_timestamp(value, message.time_value)
    elif isinstance(value, date):
        message.date_value = value.isoformat()
    elif isinstance(value, Period):
        message.period_value = value.text
    elif isinstance(value, tuple | list):
        message.string_list_value.values.extend(value)
        message.string_list_value.SetInParent()
    else:
        raise TypeError(
            f"{value!r} is a {type(value).__name__}; a value is a str, bool, int, float, Decimal, date, datetime, "
            "Period or a tuple of str"
        )
    return message


def decode_value(message: value_pb2.Value) -> Value | None:
    """The value, or None when it is of a kind that this client does not know."""
    match message.WhichOneof("kind"):
        case "time_value":
            return decode_timestamp(message.time_value)
        case "decimal_value":
            return Decimal(message.decimal_value)
        case "date_value":
            return date.fromisoformat(message.date_value)
        case "period_value":
            return Period(message.period_value)
        case "string_list_value":
            return tuple(message.string_list_value.values)
        case None:
            return None
        case kind:
            plain: str | bool | int | float = getattr(message, kind)
            return plain
