"""Rows of relations to edges of the graph (formats.md, Relations; semantics 12). Each row is judged by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from groundwire_server.errors import ErrorReason, RowRefused
from groundwire_server.evidence import Attribute, Label, parse_label
from groundwire_server.glossary import Ambiguous, Glossary, Resolution, Resolved, Unknown
from groundwire_server.ingest.head import MAX_ID_BYTES
from groundwire_server.ingest.json_rows import JsonRow, read_json_rows
from groundwire_server.ingest.relation_names import DEFAULT_RELATION_NAMES, RelationNames
from groundwire_server.store.rows import EdgeRecord

__all__ = ["RelationFields", "RelationRules", "read_relation", "read_relation_file"]

ENTITY, LITERAL, METRIC = "entity", "literal", "metric"
# What the graph says of where an edge comes from, for those that were sent.
EXTRACTOR = "file"
_KIND = re.compile(r"[a-z][a-z0-9_]{0,63}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DECIMAL = re.compile(r"[-+]?[0-9]{1,30}(\.[0-9]{1,30})?")
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
    when its relation is turned round, which makes it a subject; else it is a literal. Names become codes through the glossary; one that it does not know is its own code, but a metric must
    be known.

    Raises:
        RowRefused: FACT_FIELD_MISSING, VALUE_MALFORMED, CONTRADICTION (days reversed) or RELATION_UNKNOWN_END
            (an ambiguous name, or an unknown metric), with the field as its column.
    """
    return _edge(fields, rules, _NodeNames(rules.glossary, frozenset()))


class _NodeNames:
    """What names of nodes mean: by the glossary, and for objects by the subjects of the same file. Answers are kept."""

    def __init__(self, glossary: Glossary | None, subjects: frozenset[str]) -> None:
        self._glossary = glossary
        self._subjects = subjects
        self._found: dict[tuple[str, str], Resolution] = {}

    def is_entity(self, name: str) -> bool:
        """Whether an object of that name is known to be an entity."""
        return name in self._subjects or not isinstance(self.find(ENTITY, name), Unknown)

    def find(self, kind: str, name: str) -> Resolution:
        """What the glossary makes of a name."""
        key = (kind, name)
        if key not in self._found:
            self._found[key] = self._resolve(kind, name)
        return self._found[key]

    def _resolve(self, kind: str, name: str) -> Resolution:
        if self._glossary is None or kind not in (ENTITY, METRIC):
            return Unknown()
        return self._glossary.resolve_entity(name) if kind == ENTITY else self._glossary.resolve_metric(name)


def _edge(fields: RelationFields, rules: RelationRules, names: _NodeNames) -> EdgeRecord:
    subject = _needed("subject", fields.subject)
    relation = _needed("relation", fields.relation)
    target = _needed("object", fields.object)
    source_doc, locator = _needed("source_doc", fields.source_doc), _needed("locator", fields.locator)
    first, last = _day("valid_from", fields.valid_from), _day("valid_to", fields.valid_to)
    if first and last and first > last:
        raise RowRefused(
            ErrorReason.CONTRADICTION, f"valid_from {first} is after valid_to {last}.", column="valid_from", value=first
        )
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
        attributes=tuple(sorted(fields.attributes, key=lambda attribute: attribute.name)),
        label=rules.default_label if fields.label is None else fields.label,
    )


def read_relation_file(
    name: str, raw: bytes, rules: RelationRules, columns: Mapping[str, str] | None = None
) -> Iterator[tuple[int, EdgeRecord | RowRefused]]:
    """(line, edge or why there is none) of each line of a JSON lines file.

    A row that names no source_doc has this file as its source, and its line as its place. The file is gone through
    twice, so that an object that is a subject anywhere in it is an entity wherever the lines stand.

    Args:
        columns: in which key of a row each field stands, where it is not the field's own name.
    """
    keys = {field_name: (columns or {}).get(field_name, field_name) for field_name in _FIELDS}
    rows = list(read_json_rows(raw))
    subjects = frozenset(
        subject.strip()
        for _, row in rows
        if isinstance(row, dict) and isinstance(subject := row.get(keys["subject"]), str)
        if _is_entity(row.get(keys["subject_type"]))
    )
    names = _NodeNames(rules.glossary, subjects)
    for number, row in rows:
        if isinstance(row, RowRefused):
            yield number, row
            continue
        try:
            yield number, _edge(_fields_of(name, number, row, keys), rules, names)
        except RowRefused as refused:
            yield number, refused


def _fields_of(name: str, number: int, row: JsonRow, keys: Mapping[str, str]) -> RelationFields:
    texts = {field_name: _text(field_name, row.get(keys[field_name])) for field_name in _FIELDS[:-1]}
    label = parse_label(texts["label"]) if texts["label"].strip() else None
    source_doc = texts["source_doc"].strip()
    pct = _percent(row.get(keys["pct"]))
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
        attributes=() if pct is None else (Attribute("pct", pct),),
        label=label,
    )


def _is_entity(kind: object) -> bool:
    return kind is None or (isinstance(kind, str) and kind.strip() in ("", ENTITY))


def _code(column: str, kind: str, name: str, names: _NodeNames) -> str:
    if len(name.encode("utf-8", "surrogatepass")) > MAX_ID_BYTES or _CONTROL.search(name):
        raise _malformed(column, name, f"is no code: 1 to {MAX_ID_BYTES} bytes without control characters")
    found = names.find(kind, name)
    if isinstance(found, Resolved):
        return found.code
    if isinstance(found, Ambiguous):
        message = f"{column} may be any of {', '.join(found.candidates)}."
        raise RowRefused(ErrorReason.RELATION_UNKNOWN_END, message, column=column, value=name)
    if kind == METRIC:
        message = f"{column} is no metric of the glossary."
        raise RowRefused(ErrorReason.RELATION_UNKNOWN_END, message, column=column, value=name)
    return name


def _needed(column: str, value: str) -> str:
    if not value.strip():
        raise RowRefused(ErrorReason.FACT_FIELD_MISSING, f"{column} is missing.", column=column, value=value)
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
    return RowRefused(ErrorReason.VALUE_MALFORMED, f"{column} {why}.", column=column, value=value)
