"""Single values of a row of figures: decimals, days, statuses, codes, attributes. Missing is never zero."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from decimal import Decimal

from groundwire_server.errors import ErrorReason, RowRefused
from groundwire_server.evidence import Attribute, ReviewStatus, Value, plain_length

__all__ = [
    "check_attributes",
    "check_code",
    "check_decimals",
    "check_text",
    "read_attribute",
    "read_decimal",
    "read_decimals",
    "read_instant",
    "read_status",
    "refuse",
]

_DECIMAL = re.compile(r"([+-]?)0*([0-9]+)(\.[0-9]+)?(?:[eE]([+-]?[0-9]{1,3}))?")
# What becomes a digit only in NFKC is none: 10² is not 102, and 1234¹ carries the mark of a footnote.
_NO_DIGIT = frozenset({"<super>", "<sub>", "<circle>", "<compat>", "<fraction>", "<square>"})
_MISSING = frozenset(
    {"", "-", "–", "—", "nil", "n.a.", "n/a", "na", "なし", "無し", "无", "無", "#n/a", "null", "none"}
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_NO_NAME = re.compile(r"[^a-z0-9]+")
_LONGEST_CODE = 512
_LONGEST_DECIMAL = 1000
_LONGEST_NUMBER = 1024
_MOST_DECIMALS = 1000
_MOST_ATTRIBUTES = 256
_MOST_ATTRIBUTE_BYTES = 64 << 10


def refuse(reason: ErrorReason, column: str, value: str, why: str) -> RowRefused:
    """The error for one wrong field."""
    return RowRefused(reason, why, column=column, value=value)


def read_decimal(raw: str) -> str:
    """Plain decimal text with every digit of what was given; an exponent is written out, exactly.

    >>> read_decimal("−012.50"), read_decimal("1.20e3")
    ('-12.50', '1200')

    Raises:
        RowRefused: FACT_VALUE_MISSING for what stands for no value, FACT_VALUE_MALFORMED for what is no decimal.
    """
    text = unicodedata.normalize("NFKC", raw).strip().replace("\u2212", "-")
    if text.casefold() in _MISSING:
        why = "There is no value, and missing is not zero."
        raise refuse(ErrorReason.FACT_VALUE_MISSING, "value", raw, why)
    match = _DECIMAL.fullmatch(text)
    if match is None or len(text) > _LONGEST_DECIMAL or not (raw.isascii() or _is_plain(raw)):
        why = "The value is no decimal number like -312.50, without separators."
        raise refuse(ErrorReason.FACT_VALUE_MALFORMED, "value", raw, why)
    sign, whole, fraction, exponent = match.groups()
    plain = f"{whole}{fraction or ''}"
    if exponent is not None:
        plain = format(Decimal(f"{plain}E{exponent}"), "f")
    return f"-{plain}" if sign == "-" and plain.strip("0.") else plain


def _is_plain(raw: str) -> bool:
    """Whether its digits are digits as they stand, of whatever width."""
    return _NO_DIGIT.isdisjoint(unicodedata.decomposition(char).partition(" ")[0] for char in raw.strip())


def read_decimals(raw: object) -> int | None:
    """Decimal places that a source vouches for; None where it does not say, or INF says that every digit stands.

    Raises:
        RowRefused: it is no whole number from -1000 to 1000.
    """
    text = str(raw).strip() if raw is not None else ""
    if text.upper() in ("", "INF"):
        return None
    if isinstance(raw, bool) or not re.fullmatch(r"[+-]?[0-9]{1,4}", text) or abs(int(text)) > _MOST_DECIMALS:
        why = "decimals is no whole number like -6."
        raise refuse(ErrorReason.VALUE_MALFORMED, "decimals", text, why)
    return int(text)


def read_instant(column: str, raw: object) -> datetime | None:
    """A day (its first moment in UTC) or a time; None where nothing is given. Raises RowRefused for anything else.

    >>> read_instant("filed", "2022-02-02").isoformat()
    '2022-02-02T00:00:00+00:00'
    """
    text = raw.strip() if isinstance(raw, str) else raw
    if text is None or text == "":
        return None
    if isinstance(text, str):
        try:
            if len(text) == 10:
                return datetime.combine(date.fromisoformat(text), time(), UTC)
            moment = datetime.fromisoformat(text)
        except ValueError:
            pass
        else:
            try:
                return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
            except OverflowError:  # in UTC it lies outside the years 1 to 9999
                pass
    why = f"{column} is no day or time like 2022-02-02 or 2022-02-02T09:30:00Z."
    raise refuse(ErrorReason.VALUE_MALFORMED, column, str(raw), why)


def read_status(raw: str) -> ReviewStatus:
    """Where a figure stands in review; nothing said is AUTO_APPROVED. Raises RowRefused for another word."""
    name = unicodedata.normalize("NFKC", raw).strip().upper().removeprefix("REVIEW_STATUS_") or "AUTO_APPROVED"
    try:
        return ReviewStatus[name]
    except KeyError:
        known = ", ".join(status.name for status in ReviewStatus)
        why = f"review_status is none of {known}."
        raise refuse(ErrorReason.UNKNOWN_NAME, "review_status", raw, why) from None


def check_code(column: str, code: str) -> str:
    """A code as it is. Raises RowRefused where it is longer than 512 bytes or holds control characters."""
    if _CONTROL.search(code) or len(code.encode("utf-8", "surrogatepass")) > _LONGEST_CODE:
        why = f"{column} is no code: 1 to {_LONGEST_CODE} bytes without control characters."
        raise refuse(ErrorReason.VALUE_MALFORMED, column, code, why)
    return code


def check_text(column: str, text: str) -> str:
    """A text as it is. Raises RowRefused where it holds control characters: it goes into sentences and listings."""
    if _CONTROL.search(text):
        raise refuse(ErrorReason.VALUE_MALFORMED, column, text, f"{column} holds control characters.")
    return text


def check_decimals(decimals: int | None) -> int | None:
    """Decimal places as they are. Raises RowRefused for what no value that can be stored has."""
    if decimals is not None and abs(decimals) > _MOST_DECIMALS:
        why = f"decimals is not in -{_MOST_DECIMALS}..{_MOST_DECIMALS}."
        raise refuse(ErrorReason.VALUE_OUT_OF_RANGE, "decimals", str(decimals), why)
    return decimals


def check_attributes(attributes: Iterable[Attribute]) -> tuple[Attribute, ...]:
    """The attributes of a row, sorted by name. Raises RowRefused where they are too many to travel with each answer.

    A number counts as it is written out: one with a large exponent is short only until somebody shows it.
    """
    ordered = tuple(sorted(attributes, key=lambda attribute: attribute.name))
    for attribute in ordered:
        _check_length(attribute.name, attribute.value)
    if len(ordered) > _MOST_ATTRIBUTES:
        why = f"There are {len(ordered)} attributes, at most {_MOST_ATTRIBUTES}."
        raise refuse(ErrorReason.VALUE_OUT_OF_RANGE, "attributes", "", why)
    size = sum(_size(attribute.value) + len(attribute.name) for attribute in ordered)
    if size > _MOST_ATTRIBUTE_BYTES:
        why = f"The attributes take {size} bytes together, at most {_MOST_ATTRIBUTE_BYTES}."
        raise refuse(ErrorReason.VALUE_OUT_OF_RANGE, "attributes", "", why)
    return ordered


def _size(value: Value) -> int:
    """Bytes that a value takes, about."""
    if isinstance(value, tuple):
        return sum(map(_size, value)) + 4 * len(value)
    return len(str(value).encode("utf-8", "surrogatepass"))


def read_attribute(column: str, raw: object) -> Attribute | None:
    """A field beside those of a figure, as an attribute: its name in a-z, 0-9 and underscore, its value by its type.

    None where its name has none of these characters (備考): then it can be no attribute, and is no part of the figure.

    Raises:
        RowRefused: the value is a structure.
    """
    name = _NO_NAME.sub("_", unicodedata.normalize("NFKC", column).casefold()).strip("_")[:64]
    return Attribute(name, _attribute_value(column, raw)) if name else None


def _check_length(column: str, value: object) -> None:
    if isinstance(value, int | Decimal) and plain_length(Decimal(value)) > _LONGEST_NUMBER:
        why = f"{column[:64]} is a number of over {_LONGEST_NUMBER} characters."
        raise refuse(ErrorReason.VALUE_OUT_OF_RANGE, column[:64], f"{Decimal(value):.30g}", why)


def _attribute_value(column: str, raw: object) -> Value:
    _check_length(column, raw)
    if isinstance(raw, str | bool | int | Decimal):
        return raw
    if isinstance(raw, list) and all(isinstance(each, str) for each in raw):
        return tuple(dict.fromkeys(raw))
    why = f"{column[:64]} is no text, number, truth value or list of texts."
    raise refuse(ErrorReason.VALUE_MALFORMED, column[:64], str(raw), why)
