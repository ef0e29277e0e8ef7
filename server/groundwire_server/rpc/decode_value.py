"""Typed values from the wire: texts, numbers, days, instants, periods. Each wrong one is named with its path."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from google.protobuf.timestamp_pb2 import Timestamp

from groundwire.v1 import value_pb2
from groundwire_server.errors import ErrorReason
from groundwire_server.evidence import Attribute, Dimension, Value
from groundwire_server.glossary import PeriodError, parse_period
from groundwire_server.rpc.findings import Findings

__all__ = ["MAX_ATTRIBUTES", "decode_attributes", "decode_day", "decode_dimensions", "decode_time", "decode_value"]

MAX_VALUE_CHARS = 1024
MAX_ATTRIBUTES = 256
MAX_DIMENSIONS = 32
MAX_NAME_CHARS = 512
MAX_LIST_VALUES = 1000
BUILT_IN_ATTRIBUTES = frozenset({"valid_as_of", "ingested_at"})

_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)", re.ASCII)
_ATTRIBUTE_NAME = re.compile(r"[a-z0-9_]{1,64}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = -62_135_596_800, 253_402_300_799  # 0001-01-01 and 9999-12-31, in seconds


def decode_time(message: Timestamp, path: str, findings: Findings) -> datetime | None:
    """An instant, in UTC. Nanoseconds below a microsecond are dropped."""
    if not _FIRST <= message.seconds <= _LAST or not 0 <= message.nanos < 1_000_000_000:
        findings.add(path, ErrorReason.VALUE_MALFORMED, "is no time between the years 1 and 9999")
        return None
    return _EPOCH + timedelta(seconds=message.seconds, microseconds=message.nanos // 1000)


def decode_day(text: str, path: str, findings: Findings) -> date | None:
    """A day of the form YYYY-MM-DD."""
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII):
        try:
            return date.fromisoformat(text)
        except ValueError:
            pass
    findings.add(path, ErrorReason.VALUE_MALFORMED, f"{text[:40]!r} is not YYYY-MM-DD")
    return None


def decode_value(message: value_pb2.Value, path: str, findings: Findings, reference: date) -> Value | None:
    """One typed value; None when it is wrong. `reference` is the day that relative periods count from."""
    kind = message.WhichOneof("kind")
    match kind:
        case "string_value":
            return _text(message.string_value, f"{path}.{kind}", findings)
        case "int_value":
            return message.int_value
        case "double_value":
            if math.isfinite(message.double_value):
                return message.double_value
            findings.add(f"{path}.{kind}", ErrorReason.VALUE_MALFORMED, "must be finite")
        case "bool_value":
            return message.bool_value
        case "time_value":
            return decode_time(message.time_value, f"{path}.{kind}", findings)
        case "decimal_value":
            return _decimal(message.decimal_value, f"{path}.{kind}", findings)
        case "date_value":
            return decode_day(message.date_value, f"{path}.{kind}", findings)
        case "period_value":
            return _period(message.period_value, f"{path}.{kind}", findings, reference)
        case "string_list_value":
            return _texts(message.string_list_value, f"{path}.{kind}", findings)
        case _:
            findings.add(path, ErrorReason.VALUE_REQUIRED, "exactly one kind of value must be set")
    return None


def _text(text: str, path: str, findings: Findings) -> str | None:
    if len(text) > MAX_VALUE_CHARS:
        findings.add(path, ErrorReason.VALUE_OUT_OF_RANGE, f"{len(text)} characters, at most {MAX_VALUE_CHARS}")
        return None
    return text


def _decimal(text: str, path: str, findings: Findings) -> Decimal | None:
    if len(text) <= MAX_VALUE_CHARS and _DECIMAL.fullmatch(text):
        return Decimal(text)
    findings.add(path, ErrorReason.VALUE_MALFORMED, f"{text[:40]!r} is no decimal number without exponent")
    return None


def _period(text: str, path: str, findings: Findings, reference: date) -> Value | None:
    if len(text) > MAX_VALUE_CHARS:
        findings.add(path, ErrorReason.VALUE_OUT_OF_RANGE, f"{len(text)} characters, at most {MAX_VALUE_CHARS}")
        return None
    try:
        return parse_period(text, reference=reference)
    except PeriodError as error:
        findings.add(path, ErrorReason.VALUE_MALFORMED, str(error))
        return None


def _texts(message: value_pb2.StringList, path: str, findings: Findings) -> tuple[str, ...] | None:
    values = tuple(message.values)
    if len(values) > MAX_LIST_VALUES:
        findings.add(path, ErrorReason.VALUE_OUT_OF_RANGE, f"{len(values)} texts, at most {MAX_LIST_VALUES}")
        return None
    if len(set(values)) < len(values):
        findings.add(path, ErrorReason.CONTRADICTION, "names a text twice")
        return None
    checked = [_text(value, f"{path}.values[{place}]", findings) for place, value in enumerate(values)]
    return None if None in checked else values


def decode_attributes(
    messages: list[value_pb2.Attribute], path: str, findings: Findings, reference: date
) -> tuple[Attribute, ...]:
    """Attributes of something ingested, sorted by name. Each name stands once and is none of the built-in ones."""
    if len(messages) > MAX_ATTRIBUTES:
        findings.add(path, ErrorReason.VALUE_OUT_OF_RANGE, f"{len(messages)} attributes, at most {MAX_ATTRIBUTES}")
        return ()
    found: dict[str, Attribute] = {}
    for place, message in enumerate(messages):
        at = f"{path}[{place}]"
        if not _ATTRIBUTE_NAME.fullmatch(message.name) or message.name in BUILT_IN_ATTRIBUTES:
            findings.add(
                f"{at}.name",
                ErrorReason.VALUE_MALFORMED,
                f"{message.name[:80]!r} must be 1 to 64 of a-z, 0-9, underscore, and not {_built_in()}",
            )
            continue
        if message.name in found:
            findings.add(f"{at}.name", ErrorReason.CONTRADICTION, f"{message.name!r} stands twice")
            continue
        value = decode_value(message.value, f"{at}.value", findings, reference)
        if isinstance(value, datetime):
            findings.add(f"{at}.value.time_value", ErrorReason.VALUE_MALFORMED, f"only {_built_in()} hold an instant")
        elif value is not None:
            found[message.name] = Attribute(message.name, value)
    return tuple(found[name] for name in sorted(found))


def _built_in() -> str:
    return " or ".join(sorted(BUILT_IN_ATTRIBUTES))


def decode_dimensions(messages: list[value_pb2.Dimension], path: str, findings: Findings) -> tuple[Dimension, ...]:
    """Further axes of a figure, sorted by name; each name stands once."""
    if len(messages) > MAX_DIMENSIONS:
        findings.add(path, ErrorReason.VALUE_OUT_OF_RANGE, f"{len(messages)} axes, at most {MAX_DIMENSIONS}")
        return ()
    found: dict[str, Dimension] = {}
    for place, message in enumerate(messages):
        at = f"{path}[{place}]"
        findings.required(f"{at}.name", message.name)
        findings.required(f"{at}.member", message.member)
        for field in ("name", "member"):
            length = len(getattr(message, field))
            if length > MAX_NAME_CHARS:
                findings.add(
                    f"{at}.{field}", ErrorReason.VALUE_OUT_OF_RANGE, f"{length} characters, at most {MAX_NAME_CHARS}"
                )
        if message.name in found:
            findings.add(f"{at}.name", ErrorReason.CONTRADICTION, f"{message.name[:80]!r} stands twice")
        found[message.name] = Dimension(message.name, message.member)
    return tuple(found[name] for name in sorted(found))
