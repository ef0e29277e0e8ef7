"""Relations as they are sent to edges of the graph (formats.md, Relations; semantics 12). Each is judged by itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from typing import ParamSpec, TypeVar

from groundwire_server.errors import ErrorReason, RowRefused
from groundwire_server.evidence import Attribute, Label
from groundwire_server.glossary import DEFAULT_RELATION_NAMES, Glossary, RelationNames
from groundwire_server.ingest.fact_values import check_attributes, check_code, check_text, refuse
from groundwire_server.ingest.node_names import ENTITY, LITERAL, NodeNames
from groundwire_server.store.rows import EdgeRecord

__all__ = ["RelationFields", "RelationRules", "TakenBack", "read_edge", "read_relation"]

# What the graph says of where an edge comes from, for those that were sent.
EXTRACTOR = "file"
_KIND = re.compile(r"[a-z][a-z0-9_]{0,63}")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_LONGEST_LOCATOR = 4096
_T = TypeVar("_T")
_P = ParamSpec("_P")


@dataclass(frozen=True, slots=True)
class RelationFields:
    """A relation as it is sent: names undigested. Empty kinds: entity, or what `read_relation` finds.

    withdraw: the relation of this key is taken back; it needs no place.
    """

    subject: str
    relation: str
    object: str
    subject_kind: str = ""
    object_kind: str = ""
    valid_from: str = ""
    valid_to: str = ""
    source_doc: str = ""
    locator: str = ""
    attributes: tuple[Attribute, ...] = ()
    label: Label | None = None
    withdraw: bool = False


@dataclass(frozen=True, slots=True)
class TakenBack:
    """A relation that its source states no more: what it says of ends, days and source counts."""

    edge: EdgeRecord


@dataclass(frozen=True, slots=True)
class RelationRules:
    """How a library reads relations.

    glossary: resolves names of entities, metrics and members to their codes; None: names are codes.
    names: what relations are called. default_label: of rows that say none.
    """

    glossary: Glossary | None = None
    names: RelationNames = field(default=DEFAULT_RELATION_NAMES)
    default_label: Label = Label.INTERNAL


def read_relation(fields: RelationFields, rules: RelationRules) -> EdgeRecord | TakenBack:
    """The edge that a record states, or takes back, turned round where the names say so.

    A subject is an entity unless it says its kind. An object that says none is an entity when the glossary knows it or
    when its relation is turned round, which makes it a subject; else it is a literal. Names become codes through the
    glossary, as those of facts do; one that it does not know is its own code, in NFKC without outer blanks (a literal
    stays as it is), but a metric must be known, and so must a member of an axis that the glossary has.

    Raises:
        RowRefused: FACT_FIELD_MISSING, VALUE_MALFORMED, CONTRADICTION (days reversed) or RELATION_UNKNOWN_END
            (an ambiguous name, or an unknown end), with the field as its column; every fault at once.
    """
    edge = read_edge(fields, rules, NodeNames(rules.glossary))
    return TakenBack(edge) if fields.withdraw else edge


def read_edge(fields: RelationFields, rules: RelationRules, names: NodeNames) -> EdgeRecord:
    """The same by names that are known already; raises as `read_relation` does."""
    faults = _Faults()
    subject = faults.of(_needed, "", "subject", fields.subject)
    relation = faults.of(_needed_code, "", "relation", fields.relation)
    target = faults.of(_needed, "", "object", fields.object)
    source_doc = faults.of(_needed_code, "", "source_doc", fields.source_doc)
    locator = "" if fields.withdraw else faults.of(_locator, "", fields.locator)
    first = faults.of(_day, "", "valid_from", fields.valid_from) if fields.valid_from else ""
    last = faults.of(_day, "", "valid_to", fields.valid_to) if fields.valid_to else ""
    if first and last:
        faults.of(_in_order, None, first, last)
    subject_kind = (fields.subject_kind and faults.of(_kind, "", "subject_kind", fields.subject_kind)) or ENTITY
    object_kind = fields.object_kind and faults.of(_kind, "", "object_kind", fields.object_kind)
    stored, turned = rules.names.resolve(relation)
    if not object_kind:
        object_kind = ENTITY if turned or names.known_ends or (target and names.is_entity(target)) else LITERAL
    ends = [
        (kind, faults.of(names.code, "", column, kind, name) if name else "")
        for column, kind, name in (("subject", subject_kind, subject), ("object", object_kind, target))
    ]
    attributes = faults.of(check_attributes, fields.attributes, fields.attributes) if fields.attributes else ()
    faults.raise_all()
    (source_kind, source), (target_kind, target_code) = reversed(ends) if turned else ends
    return EdgeRecord(
        source_kind=source_kind,
        source=source,
        relation=stored,
        target_kind=target_kind,
        target=target_code,
        extractor=EXTRACTOR,
        source_doc=source_doc,
        locator=locator,
        valid_from=first,
        valid_to=last,
        attributes=attributes,
        label=rules.default_label if fields.label is None else fields.label,
    )


class _Faults:
    """Gathers what is wrong with a row, so that all of it is told at once."""

    def __init__(self) -> None:
        self._found: list[RowRefused] = []

    def of(self, read: Callable[_P, _T], instead: _T, *given: _P.args, **named: _P.kwargs) -> _T:
        """What `read` makes of something; what it refuses is kept, and something else stands for its value."""
        try:
            return read(*given, **named)
        except RowRefused as refused:
            self._found.append(refused)
            return instead

    def raise_all(self) -> None:
        """Raises RowRefused where anything is wrong."""
        if self._found:
            raise RowRefused.of(self._found)


def _in_order(first: str, last: str) -> None:
    if first > last:
        raise refuse(ErrorReason.CONTRADICTION, "valid_from", first, f"valid_from {first} is after valid_to {last}.")


def _needed(column: str, value: str) -> str:
    if not value.strip():
        raise refuse(ErrorReason.FACT_FIELD_MISSING, column, value, f"{column} is missing.")
    return value.strip()


def _needed_code(column: str, value: str) -> str:
    return check_code(column, _needed(column, value))


def _locator(value: str) -> str:
    locator = check_text("locator", _needed("locator", value))
    if len(locator) > _LONGEST_LOCATOR:
        raise _malformed("locator", locator, f"has {len(locator)} code points, at most {_LONGEST_LOCATOR}")
    return locator


def _kind(column: str, value: str) -> str:
    kind = value.strip().casefold()
    if kind and not _KIND.fullmatch(kind):
        raise _malformed(column, value, "is no kind of node: a letter, then up to 63 of a-z, 0-9, underscore")
    return kind


def _day(column: str, value: str) -> str:
    text = value.strip()
    if not text:
        return ""
    try:
        if _DAY.fullmatch(text):
            return date.fromisoformat(text).isoformat()
    except ValueError:
        pass
    raise _malformed(column, value, "is no day of the form 2019-04-01")


def _malformed(column: str, value: str, why: str) -> RowRefused:
    return refuse(ErrorReason.VALUE_MALFORMED, column, value, f"{column} {why}.")
