"""The mapping of a file of relations: `relations.toml` maps a name to the one that is stored, turned round."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import NamedTuple

from groundwire_server.errors import ErrorReason, InvalidRequest, Violation
from groundwire_server.ingest.toml_text import parse_toml

__all__ = ["RELATION_FIELDS", "RelationMapping", "parse_relation_mapping"]

RELATION_FIELDS = (
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
"""Fields of a relation in a file (formats.md)."""

_FIELD = "mapping_toml"
_NOTHING: Mapping[str, str] = MappingProxyType({})


class RelationMapping(NamedTuple):
    """How a file of relations is read.

    columns: key of a row by field. names: changes of names of relations, "": stored as it is. attributes: key by
    attribute. constants: by field, what holds where a row says nothing. known_ends: whether an entity that the glossary
    does not have is refused.
    """

    columns: Mapping[str, str] = _NOTHING
    names: Mapping[str, str] = _NOTHING
    attributes: Mapping[str, str] = _NOTHING
    constants: Mapping[str, str] = _NOTHING
    known_ends: bool = False


def parse_relation_mapping(text: str) -> RelationMapping:
    """The mapping that comes with a file of relations: names as in `relations.toml`, and tables of their own.

    A name is a line `owned_by = {inverse = "parent_of"}`, or `owned_by = {}` where it is to be stored as it is.
    [columns] says in which key of a row a field stands, e.g. `subject = "child"`; [constants] what a field is where a
    row says nothing, e.g. `relation = "parent_of"`; [attributes] which further keys are attributes of the relation,
    e.g. `jurisdiction = "organised_in"`; `ends = "known"` refuses entities that the glossary does not have.

    Raises:
        InvalidRequest: it is no TOML, or an entry is of another form; every fault at once.
    """
    table = parse_toml(text, _FIELD)
    violations: list[Violation] = []
    columns, constants, attributes = (
        _keys(name, table.pop(name, {}), fields, violations)
        for name, fields in (("columns", RELATION_FIELDS), ("constants", RELATION_FIELDS), ("attributes", ()))
    )
    ends = table.pop("ends") if isinstance(table.get("ends"), str) else "any"
    if ends not in ("any", "known"):
        violations.append(Violation(f"{_FIELD}.ends", ErrorReason.UNKNOWN_NAME, 'is neither "any" nor "known"'))
    names = _inverses(table, violations)
    if violations:
        raise InvalidRequest(violations)
    return RelationMapping(columns, names, attributes, constants, ends == "known")


def _keys(name: str, given: object, fields: Collection[str], violations: list[Violation]) -> dict[str, str]:
    """A table of texts. fields: the names that it may have; none: any."""
    path = f"{_FIELD}.{name}"
    if not isinstance(given, dict) or not all(isinstance(key, str) and key for key in given.values()):
        why = 'is not of the form subject = "name of the key"'
        violations.append(Violation(path, ErrorReason.VALUE_MALFORMED, why))
        return {}
    for field in given:
        if fields and field not in fields:
            why = f"is no field of a relation; valid: {', '.join(fields)}"
            violations.append(Violation(f"{path}.{field[:80]}", ErrorReason.UNKNOWN_NAME, why))
    return dict(given)


def _inverses(table: Mapping[str, object], violations: list[Violation]) -> dict[str, str]:
    inverses: dict[str, str] = {}
    for name, entry in table.items():
        inverse = entry.get("inverse") if isinstance(entry, dict) and len(entry) == 1 else None
        if entry == {}:
            inverses[name] = ""
        elif isinstance(inverse, str) and inverse.strip():
            inverses[name] = inverse.strip()
        else:
            why = 'is not of the form {inverse = "parent_of"}'
            violations.append(Violation(f"{_FIELD}.{name}", ErrorReason.VALUE_MALFORMED, why))
    return inverses
