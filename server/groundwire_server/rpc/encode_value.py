"""Typed values, filters and small shapes onto the wire."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from operator import attrgetter
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from groundwire.v1 import errors_pb2, filter_pb2, value_pb2
from groundwire_server.errors import Cause
from groundwire_server.evidence import (
    AllOf,
    AnyOf,
    Attribute,
    Dimension,
    Filter,
    Negate,
    Operator,
    Period,
    Predicate,
    Span,
    Value,
)
from groundwire_server.rpc.errors import MAX_MESSAGE_BYTES, cut_utf8

__all__ = [
    "encode_cause",
    "encode_dimensions",
    "encode_duration",
    "encode_filter",
    "encode_span",
    "encode_time",
    "encode_value",
    "fill_attributes",
    "fill_duration",
    "fill_span",
    "fill_time",
    "fill_value",
    "wire_text",
]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_INT64 = range(-(2**63), 2**63)
_BY_NAME = attrgetter("name")


def encode_time(moment: datetime) -> Timestamp:
    """An instant to the microsecond."""
    since = moment - _EPOCH
    return Timestamp(seconds=since.days * 86400 + since.seconds, nanos=since.microseconds * 1000)


def fill_time(message: Timestamp, moment: datetime) -> None:
    """The same into a message that is there."""
    since = moment - _EPOCH
    message.seconds = since.days * 86400 + since.seconds
    message.nanos = since.microseconds * 1000


def encode_duration(length: timedelta) -> Duration:
    """A length of time, not negative."""
    return Duration(seconds=length.days * 86400 + length.seconds, nanos=length.microseconds * 1000)


def fill_duration(message: Duration, length: timedelta) -> None:
    """The same into a message that is there."""
    message.seconds = length.days * 86400 + length.seconds
    message.nanos = length.microseconds * 1000


def encode_span(span: Span) -> value_pb2.Span:
    """A range of code points."""
    return value_pb2.Span(start=span.start, end=span.end)


def fill_span(message: value_pb2.Span, span: Span) -> None:
    """The same into a message that is there."""
    message.start = span.start
    message.end = span.end


def encode_value(value: Value) -> value_pb2.Value:
    """One typed value."""
    message = value_pb2.Value()
    fill_value(message, value)
    return message


def fill_value(message: value_pb2.Value, value: Value) -> None:
    """One typed value. A whole number beyond 64 bits goes as decimal text: it must not lose a digit."""
    match value:
        case bool():
            message.bool_value = value
        case str():
            message.string_value = wire_text(value)
        case int() if value in _INT64:
            message.int_value = value
        case int():
            message.decimal_value = str(value)
        case float():
            message.double_value = value
        case Decimal():
            message.decimal_value = f"{value:f}"
        case datetime():
            message.time_value.CopyFrom(encode_time(value))
        case date():
            message.date_value = value.isoformat()
        case Period():
            message.period_value = value.canonical
        case _:
            message.string_list_value.values.extend(map(wire_text, value))
            message.string_list_value.SetInParent()


def wire_text(text: str) -> str:
    """Text that protobuf can carry: a lone surrogate, which is no UTF-8, becomes U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def fill_attributes(message: Any, attributes: tuple[Attribute, ...]) -> None:
    """Attributes sorted by name, into a repeated field."""
    add = message.add
    for each in sorted(attributes, key=_BY_NAME):
        added = add()
        added.name = each.name
        value = each.value
        if type(value) is str:  # nearly all are
            added.value.string_value = wire_text(value)
        else:
            fill_value(added.value, value)


def encode_dimensions(dimensions: tuple[Dimension, ...]) -> list[value_pb2.Dimension]:
    """Further axes sorted by name."""
    return [
        value_pb2.Dimension(name=each.name, member=each.member)
        for each in sorted(dimensions, key=lambda each: each.name)
    ]


def encode_cause(cause: Cause) -> errors_pb2.Cause:
    """Why a part failed; its message is cut to what a status may hold."""
    return errors_pb2.Cause(
        reason=errors_pb2.ErrorReason.ValueType(cause.reason.value),
        message=cut_utf8(cause.message, MAX_MESSAGE_BYTES),
        details=[errors_pb2.CauseDetail(name=name, value=value) for name, value in sorted(cause.details)],
    )


def encode_filter(tree: Filter) -> filter_pb2.Filter:
    """A filter as it was understood."""
    match tree:
        case AllOf(filters):
            return filter_pb2.Filter(all_of=filter_pb2.FilterList(filters=[encode_filter(each) for each in filters]))
        case AnyOf(filters):
            return filter_pb2.Filter(any_of=filter_pb2.FilterList(filters=[encode_filter(each) for each in filters]))
        case Negate(inner):
            return filter_pb2.Filter(negate=encode_filter(inner))
        case Predicate():
            return filter_pb2.Filter(predicate=_encode_predicate(tree))


def _encode_predicate(predicate: Predicate) -> filter_pb2.Predicate:
    message = filter_pb2.Predicate(field=predicate.field)
    values = predicate.values
    match predicate.operator:
        case Operator.PRESENT:
            message.present = bool(values[0])
        case Operator.BETWEEN:
            message.between.low.CopyFrom(encode_value(values[0]))
            message.between.high.CopyFrom(encode_value(values[1]))
        case Operator.IN:
            message.one_of.values.extend(encode_value(value) for value in values)
        case Operator.NIN:
            message.none_of.values.extend(encode_value(value) for value in values)
        case operator:
            getattr(message, operator.value).CopyFrom(encode_value(values[0]))
    return message
