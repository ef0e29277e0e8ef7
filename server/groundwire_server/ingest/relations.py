"""Rows of relations to edges of the graph (formats.md, Relations; semantics 12). Each row is judged by itself."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from groundwire_server.errors import ErrorReason, RowRefused
from groundwire_server.evidence import Attribute, Label, parse_label
from groundwire_server.glossary import (
    DEFAULT_RELATION_NAMES,
    Ambiguous,
    Glossary,
    RelationNames,
    Resolution,
    Resolved,
    Unknown,
    resolve_name,
)
from groundwire_server.ingest.fact_values import check_attributes, check_code, check_text, read_attribute, refuse
from groundwire_server.ingest.json_rows import JsonRow, read_json_rows
from groundwire_server.store.rows import EdgeRecord

__all__ = ["RelationFields", "RelationRules", "read_relation", "read_relation_file"]

ENTITY, LITERAL, METRIC = "entity", "literal", "metric"
# What the graph says of where an edge comes from, for those that were sent.
EXTRACTOR = "file"
_KIND = re.compile(r"[a-z][a-z0-9_]{0,63}")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DECIMAL = re.compile(r"[-+]?[0-9]{1,30}(\.[0-9]{1,30})?")
_LONGEST_LOCATOR = 4096
_FIELDS = (
    "subject",
    "relation",
    "object",
    "subject_type",
    "object_type",
    "valid_from",
    "valid_to",
    "label",
    "source_doc",
    "locator",
    "pct",
)


@dataclass(frozen=True, slots=True)
class RelationFields:
    """A relation as it is sent: names undigested. Empty kinds: entity, or what `read_relation` finds."""

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


@dataclass(frozen=True, slots=True)
class RelationRules:
    """How a library reads relations.

    glossary: resolves names of entities and metrics to their codes; None: names are codes.
    names: what relations are called. default_label: of rows that say none.
    """

    glossary: Glossary | None = None
    names: RelationNames = field(default=DEFAULT_RELATION_NAMES)
    default_label: Label = Label.INTERNAL


def read_relation(fields: RelationFields, rules: RelationRules) -> EdgeRecord:
    """The edge that a record states, turned round where the names say so.

    A subject is an entity unless it says its kind. An object that says none is an entity when the glossary knows it or
    when its relation is turned round, which makes it a subject; else it is a literal. Names become codes through the
    glossary, as those of facts do; one that it does not know is its own code, in NFKC without outer blanks (a literal
    stays as it is), but a metric must be known.

    Raises:
        RowRefused: FACT_FIELD_MISSING, VALUE_MALFORMED, CONTRADICTION (days reversed) or RELATION_UNKNOWN_END
            (an ambiguous name, or an unknown metric), with the field as its column.
    """
    return _edge(fields, rules, _NodeNames(rules.glossary, frozenset()))


class _NodeNames:
    """What names of nodes mean: by the glossary, and by the entities of the same file. Answers are kept.

    Args:
        entities: names of entities. own: names that mean what they say, whatever the glossary calls so.
    """

    def __init__(self, glossary: Glossary | None, entities: frozenset[str], own: frozenset[str] = frozenset()) -> None:
        self._glossary = glossary
        self._entities = entities
        self._own = own
        self._found: dict[tuple[str, str], Resolution] = {}

    def is_entity(self, name: str) -> bool:
        """Whether an object of that name is known to be an entity."""
        return _folded(name) in self._entities or not isinstance(self.find(ENTITY, name), Unknown)

    def find(self, kind: str, name: str) -> Resolution:
        """What the glossary makes of a name."""
        key = (kind, name)
        if key not in self._found:
            self._found[key] = self._resolve(kind, name)
        return self._found[key]

    def _resolve(self, kind: str, name: str) -> Resolution:
        if self._glossary is None or kind not in (ENTITY, METRIC) or (kind == ENTITY and _folded(name) in self._own):
            return Unknown()
        index = self._glossary.entity_names if kind == ENTITY else self._glossary.metric_names
        return resolve_name(name, (index,), drop_note=False, suggest=False)


def _edge(fields: RelationFields, rules: RelationRules, names: _NodeNames) -> EdgeRecord:
    subject = _needed("subject", fields.subject)
    relation = check_code("relation", _needed("relation", fields.relation))
    target = _needed("object", fields.object)
    source_doc = check_code("source_doc", _needed("source_doc", fields.source_doc))
    locator = check_text("locator", _needed("locator", fields.locator))
    if len(locator) > _LONGEST_LOCATOR:
        raise _malformed("locator", locator, f"has {len(locator)} code points, at most {_LONGEST_LOCATOR}")
    first, last = _day("valid_from", fields.valid_from), _day("valid_to", fields.valid_to)
    if first and last and first > last:
        why = f"valid_from {first} is after valid_to {last}."
        raise refuse(ErrorReason.CONTRADICTION, "valid_from", first, why)
    stored, turned = rules.names.resolve(relation)
    subject_kind = _kind("subject_kind", fields.subject_kind) or ENTITY
    object_kind = _kind("object_kind", fields.object_kind)
    if not object_kind:
        object_kind = ENTITY if turned or names.is_entity(target) else LITERAL
    ends = [
        (subject_kind, _code("subject", subject_kind, subject, names)),
        (object_kind, _code("object", object_kind, target, names)),
    ]
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
        attributes=check_attributes(fields.attributes),
        label=rules.default_label if fields.label is None else fields.label,
    )


def read_relation_file(
    name: str,
    raw: bytes,
    rules: RelationRules,
    columns: Mapping[str, str] | None = None,
    attributes: Mapping[str, str] | None = None,
) -> Iterator[tuple[int, EdgeRecord | RowRefused]]:
    """(line, edge or why there is none) of each line of a JSON lines file.

    A row that names no source_doc has this file as its source, and its line as its place. The file is gone through
    twice, so that an object that is an entity anywhere in it is one wherever the lines stand. A name that the glossary
    takes for the very code that it is related to is another one throughout the file: nobody is a part of himself.

    Args:
        columns: in which key of a row each field stands, where it is not the field's own name.
        attributes: further keys of a row that are attributes of the relation, by the name that these get.
    """
    keys = {field_name: (columns or {}).get(field_name, field_name) for field_name in _FIELDS}
    rows = list(read_json_rows(raw))
    entities = frozenset(
        name for _, row in rows if isinstance(row, dict) for name in _entities_of(row, keys, rules.names)
    )
    found = _NodeNames(rules.glossary, entities)
    others = frozenset(name for _, row in rows if isinstance(row, dict) for name in _other_names(row, keys, found))
    names = _NodeNames(rules.glossary, entities | others, others)
    for number, row in rows:
        if isinstance(row, RowRefused):
            yield number, row
            continue
        try:
            yield number, _edge(_fields_of(name, number, row, keys, attributes or {}), rules, names)
        except RowRefused as refused:
            yield number, refused


def _fields_of(
    name: str, number: int, row: JsonRow, keys: Mapping[str, str], further: Mapping[str, str]
) -> RelationFields:
    texts = {field_name: _text(field_name, row.get(keys[field_name])) for field_name in _FIELDS[:-1]}
    label = parse_label(texts["label"]) if texts["label"].strip() else None
    source_doc = texts["source_doc"].strip()
    pct = _percent(row.get(keys["pct"]))
    given = [read_attribute(each, row[key]) for each, key in further.items() if row.get(key) not in (None, "")]
    return RelationFields(
        subject=texts["subject"],
        relation=texts["relation"],
        object=texts["object"],
        subject_kind=texts["subject_type"],
        object_kind=texts["object_type"],
        valid_from=texts["valid_from"],
        valid_to=texts["valid_to"],
        source_doc=source_doc or name,
        locator=texts["locator"] or ("" if source_doc else f"line={number}"),
        attributes=(*(() if pct is None else (Attribute("pct", pct),)), *(each for each in given if each is not None)),
        label=label,
    )


def _entities_of(row: JsonRow, keys: Mapping[str, str], names: RelationNames) -> Iterator[str]:
    """Names that a row shows to be entities: its subject, and its object where it says so or is turned round."""
    subject, relation, target = (row.get(keys[field_name]) for field_name in ("subject", "relation", "object"))
    if isinstance(subject, str) and _kind_said(row.get(keys["subject_type"])) in ("", ENTITY):
        yield _folded(subject)
    if isinstance(target, str) and isinstance(relation, str):
        said = _kind_said(row.get(keys["object_type"]))
        if said == ENTITY or (not said and names.resolve(relation.strip())[1]):
            yield _folded(target)


def _other_names(row: JsonRow, keys: Mapping[str, str], names: _NodeNames) -> Iterator[str]:
    """The end of a row that the glossary would make the other end, which stands there by its code."""
    ends = [row.get(keys[field_name]) for field_name in ("subject", "object")]
    kinds = [_kind_said(row.get(keys[field_name])) for field_name in ("subject_type", "object_type")]
    if not all(isinstance(end, str) for end in ends) or not all(kind in ("", ENTITY) for kind in kinds):
        return
    for name, other in (map(str, ends), map(str, reversed(ends))):
        if _folded(name) != _folded(other) and names.find(ENTITY, name) == Resolved(_folded(other)):
            yield _folded(name)


def _kind_said(value: object) -> str:
    return value.strip().casefold() if isinstance(value, str) else "" if value is None else "?"


def _code(column: str, kind: str, name: str, names: _NodeNames) -> str:
    check_code(column, name)
    found = names.find(kind, name)
    if isinstance(found, Resolved):
        return found.code
    if isinstance(found, Ambiguous):
        message = f"{column} may be any of {', '.join(found.candidates)}."
        raise refuse(ErrorReason.RELATION_UNKNOWN_END, column, name, message)
    if kind == METRIC:
        message = f"{column} is no metric of the glossary."
        raise refuse(ErrorReason.RELATION_UNKNOWN_END, column, name, message)
    return name if kind == LITERAL else _folded(name)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).strip()


def _needed(column: str, value: str) -> str:
    if not value.strip():
        raise refuse(ErrorReason.FACT_FIELD_MISSING, column, value, f"{column} is missing.")
    return value.strip()


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


def _text(column: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        raise _malformed(column, repr(value), "is no text")
    return str(value)


def _percent(value: object) -> Decimal | None:
    if value is None or value == "":
        return None
    text = str(value).strip().removesuffix("%").strip()
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal) or not _DECIMAL.fullmatch(text):
        raise _malformed("pct", repr(value), "is no percentage as a decimal number")
    return Decimal(text)


def _malformed(column: str, value: str, why: str) -> RowRefused:
    return refuse(ErrorReason.VALUE_MALFORMED, column, value, f"{column} {why}.")
