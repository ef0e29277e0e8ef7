"""Files of relations: JSON lines, CSV and GraphML, each row by itself (formats.md, Relations)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal

from groundwire_server.errors import ErrorReason, RowRefused
from groundwire_server.evidence import Attribute, parse_label
from groundwire_server.glossary import RelationNames, Resolved
from groundwire_server.ingest.fact_values import read_attribute, refuse
from groundwire_server.ingest.graphml import read_graphml
from groundwire_server.ingest.node_names import ENTITY, NodeNames, folded
from groundwire_server.ingest.relation_names import RELATION_FIELDS, RelationMapping
from groundwire_server.ingest.relation_tables import RelationRow, read_csv_relations, read_json_relations
from groundwire_server.ingest.relations import RelationFields, RelationRules, read_edge
from groundwire_server.store.rows import EdgeRecord

__all__ = ["RELATION_FORMS", "read_relation_file"]

RELATION_FORMS = {
    "graphml": read_graphml,
    "relations_csv": read_csv_relations,
    "relations_jsonl": read_json_relations,
}
"""Readers of rows by the form of a file."""

_PERCENT = "pct"
_DECIMAL = re.compile(r"[-+]?[0-9]{1,30}(\.[0-9]{1,30})?")
_NO_MAPPING = RelationMapping()


def read_relation_file(
    name: str,
    raw: bytes,
    rules: RelationRules,
    mapping: RelationMapping = _NO_MAPPING,
    *,
    form: str = "relations_jsonl",
) -> Iterator[tuple[int, EdgeRecord | RowRefused]]:
    """(row from 1, edge or why there is none) of each row of a file: its line, the row of a table, the n-th edge.

    A row that names no source_doc has this file as its source, and its own place in it. The file is gone through
    twice, so that an object that is an entity anywhere in it is one wherever the rows stand. A name that the glossary
    takes for the very code that it is related to is another one throughout the file: nobody is a part of himself.

    Args:
        mapping: names of relations, keys of fields, and what else a file of its own form has.

    Raises:
        DocumentRefused: the file as a whole is not of its form.
    """
    rules = replace(rules, names=rules.names.extended(mapping.names))
    rows = list(RELATION_FORMS[form](name, raw, mapping))
    read = [row for _, row in rows if isinstance(row, RelationRow)]
    entities = frozenset(each for row in read for each in _entities_of(row, rules.names))
    found = NodeNames(rules.glossary, entities)
    others = frozenset(each for row in read if found.knows_entities for each in _other_names(row, found))
    names = NodeNames(rules.glossary, entities | others, others, known_ends=mapping.known_ends)
    for number, row in rows:
        if isinstance(row, RowRefused):
            yield number, row
            continue
        try:
            yield number, read_edge(_fields_of(name, row, mapping.attributes), rules, names)
        except RowRefused as refused:
            yield number, refused


def _fields_of(name: str, row: RelationRow, further: Mapping[str, str]) -> RelationFields:
    """The fields of a row. Raises RowRefused with every value that is none of its kind."""
    faults: list[RowRefused] = []
    texts: dict[str, str] = {}
    attributes: list[Attribute] = []
    for field in RELATION_FIELDS:
        value = row.cells.get(field)
        try:
            if field == _PERCENT:
                attributes += [] if value in (None, "") else [Attribute(_PERCENT, _percent(value))]
            else:
                texts[field] = value if type(value) is str else _text(field, value)
        except RowRefused as refused:
            faults.append(refused)
    for each, key in further.items():
        try:
            value = row.others.get(key)
            attribute = None if value in (None, "") else read_attribute(each, value)
            attributes += [] if attribute is None else [attribute]
        except RowRefused as refused:
            faults.append(refused)
    if faults:
        raise RowRefused.of(faults)
    given = {attribute.name: attribute for attribute in (*row.attributes, *attributes)}
    source_doc = texts["source_doc"].strip()
    return RelationFields(
        subject=texts["subject"],
        relation=texts["relation"],
        object=texts["object"],
        subject_kind=texts["subject_type"],
        object_kind=texts["object_type"],
        valid_from=texts["valid_from"],
        valid_to=texts["valid_to"],
        source_doc=source_doc or name,
        locator=texts["locator"] or ("" if source_doc else row.place),
        attributes=tuple(given.values()),
        label=parse_label(texts["label"]) if texts["label"].strip() else None,
    )


def _entities_of(row: RelationRow, names: RelationNames) -> Iterator[str]:
    """Names that a row shows to be entities: its subject, and its object where it says so or is turned round."""
    subject, relation, target = (row.cells.get(field) for field in ("subject", "relation", "object"))
    if isinstance(subject, str) and _kind_said(row.cells.get("subject_type")) in ("", ENTITY):
        yield folded(subject)
    if isinstance(target, str) and isinstance(relation, str):
        said = _kind_said(row.cells.get("object_type"))
        if said == ENTITY or (not said and names.resolve(relation.strip())[1]):
            yield folded(target)


def _other_names(row: RelationRow, names: NodeNames) -> Iterator[str]:
    """The end of a row that the glossary would make the other end, which stands there by its code."""
    ends = [row.cells.get(field) for field in ("subject", "object")]
    kinds = [_kind_said(row.cells.get(field)) for field in ("subject_type", "object_type")]
    if not all(isinstance(end, str) for end in ends) or not all(kind in ("", ENTITY) for kind in kinds):
        return
    for name, other in (map(str, ends), map(str, reversed(ends))):
        if folded(name) != folded(other) and names.find(ENTITY, name) == Resolved(folded(other)):
            yield folded(name)


def _kind_said(value: object) -> str:
    return value.strip().casefold() if isinstance(value, str) else "" if value is None else "?"


def _text(column: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        raise _malformed(column, repr(value), "is no text")
    return str(value)


def _percent(value: object) -> Decimal:
    text = str(value).strip().removesuffix("%").strip()
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal) or not _DECIMAL.fullmatch(text):
        raise _malformed(_PERCENT, repr(value), "is no percentage as a decimal number")
    return Decimal(text)


def _malformed(column: str, value: str, why: str) -> RowRefused:
    return refuse(ErrorReason.VALUE_MALFORMED, column, value, f"{column} {why}.")
