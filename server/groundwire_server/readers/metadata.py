"""What a file says about itself, in front matter, a sidecar or a JSON line: title, label, day, typed attributes."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal

from groundwire_server.errors import DocumentRefused, ErrorReason, GroundwireError
from groundwire_server.evidence import Attribute, Label, Period, Value, parse_label, plain_length

__all__ = ["BUILT_IN_ATTRIBUTES", "Metadata", "attribute_name", "parse_metadata_toml", "read_metadata"]

# Filters know these of every document; no file may say otherwise.
BUILT_IN_ATTRIBUTES = frozenset({"doc_id", "ingested_at", "media_type", "title", "valid_as_of"})
MAX_TEXT_CHARS = 1024
_TOML = "Metadata is TOML: `name = value` lines, texts in quotes."
_LABEL_KEYS = ("label", "sensitivity")
_INT64 = range(-(2**63), 2**63)
_NAME = re.compile(r"[a-z0-9_]{1,64}")


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a file says about itself; attributes sorted by name, `warnings` sentences on what was passed over."""

    title: str = ""
    label: Label | None = None
    valid_as_of: datetime | None = None
    attributes: tuple[Attribute, ...] = ()
    warnings: tuple[str, ...] = ()


def parse_metadata_toml(
    doc_id: str, text: str, parse_period: Callable[[str], Period] | None = None, first_line: int = 1
) -> Metadata:
    """Metadata in TOML, as front matter or as a sidecar `*.meta.toml` holds it. Decimals stay exact.

    Raises:
        DocumentRefused: DOCUMENT_BROKEN when it is no TOML: the label might stand in what cannot be read.
    """
    try:
        mapping = tomllib.loads(text.replace("\r\n", "\n"), parse_float=Decimal)
    except (ValueError, RecursionError) as error:  # a number of thousands of digits is a bare ValueError
        found = re.search(r"at line (\d+)", str(error))
        line = f" (line {int(found[1]) + first_line - 1})" if found else ""
        raise DocumentRefused(
            ErrorReason.DOCUMENT_BROKEN, f"{doc_id}: the metadata is no TOML{line}.", hint=_TOML
        ) from None
    return read_metadata(mapping, parse_period)


def read_metadata(mapping: Mapping[str, object], parse_period: Callable[[str], Period] | None = None) -> Metadata:
    """Sort the entries of a mapping into title, label, valid_as_of and attributes.

    `label` and `sensitivity` are labels (the stricter of the two holds; what is no text is RESTRICTED), `title` the
    title, `valid_as_of` a day or time; all else is an attribute. A name is folded to a-z, 0-9 and underscore. A value
    that has no type here (a table, a mixed list, NaN) is passed over with a warning, as is a second name that folds to
    the same. A table {period = "FY2024"} is a period, {decimal = "1.50"} a decimal, {date = "2024-03-31"} a day.
    """
    title, valid_as_of = "", None
    label: Label | None = None
    attributes: dict[str, Attribute] = {}
    warnings = []
    for raw_name, raw in mapping.items():
        name = attribute_name(raw_name)
        if raw is None:
            continue
        if name in _LABEL_KEYS:
            said = parse_label(raw, Label.RESTRICTED) if isinstance(raw, str) else Label.RESTRICTED
            label = said if label is None else max(label, said)
        elif name == "title":
            title = raw.strip() if isinstance(raw, str) else str(raw) if isinstance(raw, int | Decimal) else ""
        elif name == "valid_as_of":
            valid_as_of = _instant(raw)
            if valid_as_of is None:
                warnings.append("valid_as_of is no day or time of the form 2024-03-31 or 2024-03-31T09:00:00Z")
        elif name in BUILT_IN_ATTRIBUTES or not _NAME.fullmatch(name):
            warnings.append(f"{raw_name[:64]!r} cannot be the name of an attribute and was passed over")
        elif name in attributes:
            warnings.append(f"{raw_name[:64]!r} names attribute {name} a second time and was passed over")
        else:
            value, complaint = _value(raw, parse_period)
            if value is not None:
                attributes[name] = Attribute(name, value)
            if complaint:
                warnings.append(f"{name}: {complaint}")
    ordered = tuple(attributes[name] for name in sorted(attributes))
    return Metadata(title, label, valid_as_of, ordered, tuple(warnings))


def attribute_name(raw: str) -> str:
    """The name folded to what attributes may be called.

    >>> attribute_name("Last-Modified by"), attribute_name("地域")
    ('last_modified_by', '')
    """
    return re.sub(r"[^a-z0-9_]+", "_", raw.casefold()).strip("_")


def _value(raw: object, parse_period: Callable[[str], Period] | None) -> tuple[Value | None, str]:
    """The typed value and what to warn of; (None, "") for what says nothing."""
    if isinstance(raw, str):
        return _text(raw)
    if isinstance(raw, bool):
        return raw, ""
    if isinstance(raw, int):
        return (raw, "") if raw in _INT64 else _number(Decimal(raw))
    if isinstance(raw, Decimal | float):
        return _number(Decimal(repr(raw)) if isinstance(raw, float) else raw)
    if isinstance(raw, datetime):
        return raw.date(), "an attribute holds days; the time of day was dropped"
    if isinstance(raw, date):
        return raw, ""
    if isinstance(raw, time):
        return raw.isoformat(), ""
    if isinstance(raw, list):
        return _texts(raw)
    if isinstance(raw, Mapping) and len(raw) == 1:
        return _typed_table(raw, parse_period)
    return None, "a table is no value of an attribute and was passed over"


def _text(raw: str) -> tuple[Value | None, str]:
    if len(raw) > MAX_TEXT_CHARS:
        return None, f"a text of {len(raw)} characters is too long for an attribute (at most {MAX_TEXT_CHARS})"
    return raw, ""


def _number(number: Decimal) -> tuple[Value | None, str]:
    if not number.is_finite():
        return None, "NaN and infinities are no values"
    if plain_length(number) > MAX_TEXT_CHARS:
        return None, f"a number is too long for an attribute (at most {MAX_TEXT_CHARS} characters without exponent)"
    return number, ""


def _texts(raw: list[object]) -> tuple[Value | None, str]:
    if not raw:
        return None, ""
    if not all(isinstance(member, str) for member in raw):
        return None, "a list may hold texts only and was passed over"
    members = tuple(dict.fromkeys(str(member) for member in raw))
    if sum(map(len, members)) > MAX_TEXT_CHARS:
        return None, f"the list is too long for an attribute (at most {MAX_TEXT_CHARS} characters together)"
    return members, ""


def _typed_table(raw: Mapping[str, object], parse_period: Callable[[str], Period] | None) -> tuple[Value | None, str]:
    ((kind, said),) = raw.items()
    text = str(said)
    try:
        if kind == "period" and parse_period is not None:
            return parse_period(text), ""
        if kind == "decimal" and re.fullmatch(r"[-+]?[0-9]+(\.[0-9]+)?", text):
            return _number(Decimal(text))
        if kind == "date":
            return (said if isinstance(said, date) else date.fromisoformat(text)), ""
    except (GroundwireError, ValueError):
        return None, f"{text[:64]!r} is no {kind}"
    if kind in ("period", "decimal"):
        return None, f"{text[:64]!r} cannot be read as a {kind}"
    return None, "a table is no value of an attribute and was passed over"


def _instant(raw: object) -> datetime | None:
    """A day (its first moment, UTC) or a time (UTC unless it says a zone)."""
    if isinstance(raw, str):
        try:
            raw = datetime.fromisoformat(raw.strip())
        except ValueError:
            return None
    if isinstance(raw, datetime):
        try:
            return raw.replace(tzinfo=UTC) if raw.tzinfo is None else raw.astimezone(UTC)
        except OverflowError:  # in UTC it lies outside the years 1 to 9999
            return None
    if isinstance(raw, date):
        return datetime.combine(raw, time(), UTC)
    return None
