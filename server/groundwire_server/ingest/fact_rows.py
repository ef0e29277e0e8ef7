"""One row of a file to the figures that it states: one, or one for each of its versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from groundwire_server.errors import ErrorReason
from groundwire_server.evidence import Attribute, Dimension, Label, ReviewStatus, parse_label
from groundwire_server.ingest.fact_mapping import FACT_FIELDS
from groundwire_server.ingest.fact_values import (
    read_attribute,
    read_decimals,
    read_instant,
    read_status,
    refuse,
)

__all__ = ["FactFields", "fields_of_row", "text_of"]

_AXIS = "dimensions."
_VERSION_FIELDS = (
    "value",
    "source_doc",
    "locator",
    "as_written",
    "decimals",
    "filed",
    "review_status",
    "label",
    "author",
    "reason",
    "valid_as_of",
    "attributes",
)


@dataclass(frozen=True, slots=True)
class FactFields:
    """A figure as it is sent: names, period and value undigested. Empty and None: not said.

    source: who states it over all its versions; empty: source_doc (`FactRecord.source`).
    withdraw: the figure of this key is taken back.
    """

    metric: str
    entity: str
    period: str
    channel: str = ""
    dimensions: tuple[Dimension, ...] = ()
    value: str = ""
    unit: str = ""
    decimals: int | None = None
    source_doc: str = ""
    locator: str = ""
    as_written: str = ""
    valid_as_of: datetime | None = None
    filed_at: datetime | None = None
    review_status: ReviewStatus = ReviewStatus.AUTO_APPROVED
    author: str = ""
    reason: str = ""
    label: Label | None = None
    attributes: tuple[Attribute, ...] = ()
    source: str = ""
    withdraw: bool = False


def fields_of_row(row: Mapping[str, object], source_doc: str, locator: str) -> list[FactFields]:
    """The figures of a row, in order of filing where it has versions.

    Fields that no figure has become attributes where their names can be such. The source over all versions is that of
    the first one filed, so that a restatement in a later report joins what is stored already.

    Args:
        source_doc, locator: where the row says none.

    Raises:
        RowRefused: a field is of another form, or the row's value is none of its versions.
    """
    own = _fields(row, source_doc, locator)
    versions = row.get("versions")
    if versions in (None, "", []):
        return [own]
    if not isinstance(versions, list) or not all(isinstance(version, Mapping) for version in versions):
        raise refuse(ErrorReason.VALUE_MALFORMED, "versions", str(versions), "versions is no list of objects.")
    stated = sorted((_version(own, version) for version in versions), key=_filing)
    if own.value and all((own.value, own.source_doc) != (each.value, each.source_doc) for each in stated):
        why = "The row's value with its source_doc is none of its versions."
        raise refuse(ErrorReason.CONTRADICTION, "value", own.value, why)
    return [replace(version, source=stated[0].source_doc) for version in stated]


def _fields(row: Mapping[str, object], source_doc: str, locator: str) -> FactFields:
    label = text_of(row, "label")
    return FactFields(
        metric=text_of(row, "metric"),
        entity=text_of(row, "entity"),
        period=text_of(row, "period"),
        channel=text_of(row, "channel"),
        dimensions=_dimensions(row),
        value=text_of(row, "value"),
        unit=text_of(row, "unit"),
        decimals=read_decimals(row.get("decimals")),
        source_doc=text_of(row, "source_doc") or source_doc,
        locator=text_of(row, "locator") or locator,
        as_written=text_of(row, "as_written"),
        valid_as_of=read_instant("valid_as_of", row.get("valid_as_of")),
        filed_at=read_instant("filed", row.get("filed")),
        review_status=read_status(text_of(row, "review_status")),
        author=text_of(row, "author"),
        reason=text_of(row, "reason"),
        label=parse_label(label) if label else None,
        attributes=_attributes(row),
    )


def text_of(row: Mapping[str, object], column: str) -> str:
    """A field as text without outer blanks; empty where it is missing. Raises RowRefused for a structure."""
    value = row.get(column)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        raise refuse(ErrorReason.VALUE_MALFORMED, column, str(value), f"{column} is no text or number.")
    return str(value).strip()


def _dimensions(row: Mapping[str, object]) -> tuple[Dimension, ...]:
    """`dimensions` as an object or as a list of {name, member}; and columns "dimensions.NAME"."""
    given = row.get("dimensions")
    pairs: list[tuple[object, object]] = []
    if isinstance(given, Mapping):
        pairs = list(given.items())
    elif isinstance(given, list) and all(isinstance(each, Mapping) for each in given):
        pairs = [(each.get("name"), each.get("member")) for each in given]
    elif given not in (None, ""):
        raise refuse(ErrorReason.VALUE_MALFORMED, "dimensions", str(given), "dimensions is no object of texts.")
    pairs += [(column.removeprefix(_AXIS), value) for column, value in row.items() if column.startswith(_AXIS)]
    found = []
    for name, member in pairs:
        if member in (None, ""):
            continue
        if not isinstance(name, str) or not isinstance(member, str):
            raise refuse(ErrorReason.VALUE_MALFORMED, "dimensions", str(member), "A dimension is no pair of texts.")
        found.append(Dimension(name, member))
    return tuple(found)


# What no attribute may be called: fields in another spelling, and what would change the figure if it were one.
_TAKEN = frozenset(
    name.replace("_", "") for name in (*FACT_FIELDS, "filed_at", "withdraw", "scale", "multiplier", "sign")
)


def _attributes(row: Mapping[str, object]) -> tuple[Attribute, ...]:
    given = row.get("attributes")
    if given not in (None, "") and not isinstance(given, Mapping):
        raise refuse(ErrorReason.VALUE_MALFORMED, "attributes", str(given), "attributes is no object.")
    named: dict[str, object] = dict(given) if isinstance(given, Mapping) else {}
    others = {column: value for column, value in row.items() if column not in FACT_FIELDS}
    others = {column: value for column, value in others.items() if not column.startswith(_AXIS)}
    found: dict[str, Attribute] = {}
    for column, value in (*named.items(), *others.items()):
        if value is None or value == "":
            continue
        attribute = read_attribute(column, value)
        if attribute is None:
            continue
        if attribute.name.replace("_", "") in _TAKEN and column not in named:
            why = (
                f"{column[:80]!r} is no name of a field, and reads like one; a figure without it would be another one."
            )
            raise refuse(ErrorReason.CONTRADICTION, column[:64], str(value), why)
        if attribute.name in found:
            why = f"Attribute {attribute.name!r} is given twice."
            raise refuse(ErrorReason.CONTRADICTION, column[:64], str(value), why)
        found[attribute.name] = attribute
    return tuple(found.values())


def _version(own: FactFields, version: Mapping[str, object]) -> FactFields:
    """A version: what it says itself, and of the row what holds for all of them. What else it has is not kept."""
    said = {name: version.get(name) for name in _VERSION_FIELDS}
    said["filed"] = said["filed"] if said["filed"] is not None else version.get("filed_at")
    stated = _fields(said, own.source_doc, own.locator)
    if stated.filed_at is None:
        why = "A version does not say when it was filed."
        raise refuse(ErrorReason.FACT_FIELD_MISSING, "versions", stated.value, why)
    is_own = (stated.value, stated.source_doc) == (own.value, own.source_doc)
    return replace(
        own,
        value=stated.value,
        source_doc=stated.source_doc,
        locator=stated.locator,
        as_written=stated.as_written or (own.as_written if is_own else ""),
        decimals=stated.decimals if version.get("decimals") is not None else own.decimals,
        filed_at=stated.filed_at,
        review_status=stated.review_status if version.get("review_status") is not None else own.review_status,
        label=stated.label if stated.label is not None else own.label,
        author=stated.author,
        reason=stated.reason,
        valid_as_of=stated.valid_as_of or (own.valid_as_of if is_own else None),
        attributes=stated.attributes or own.attributes,
    )


def _filing(version: FactFields) -> datetime:
    assert version.filed_at is not None
    return version.filed_at
