"""The mapping of a file of relations: `relations.toml` maps a name to the one that is stored, turned round."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import NamedTuple

from groundwire_server.errors import ErrorReason, InvalidRequest, Violation

__all__ = ["RelationMapping", "parse_relation_mapping"]

_FIELD = "mapping_toml"


class RelationMapping(NamedTuple):
    """columns: key of a row by field. names: changes of names, "": stored as it is. attributes: key by attribute."""

    columns: dict[str, str]
    names: dict[str, str]
    attributes: dict[str, str]


def parse_relation_mapping(text: str) -> RelationMapping:
    """The mapping that comes with a file of relations: names as in `relations.toml`, tables [columns], [attributes].

    A name is a line `owned_by = {inverse = "parent_of"}`, or `owned_by = {}` where it is to be stored as it is.
    [columns] says in which key of a row a field stands, e.g. `subject = "child"`; [attributes] which further keys are
    attributes of the relation, e.g. `jurisdiction = "organised_in"`.

    Raises:
        InvalidRequest: it is no TOML, or an entry is of another form; every fault at once.
    """
    table = _parse(text)
    columns, attributes = (_keys(name, table.pop(name, {})) for name in ("columns", "attributes"))
    return RelationMapping(columns, _inverses(table), attributes)


def _keys(name: str, given: object) -> dict[str, str]:
    if not isinstance(given, dict) or not all(isinstance(key, str) and key for key in given.values()):
        why = 'is not of the form subject = "name of the key"'
        raise InvalidRequest.one(f"{_FIELD}.{name}", ErrorReason.VALUE_MALFORMED, why)
    return dict(given)


def _parse(text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except (ValueError, RecursionError):  # a number of thousands of digits is a bare ValueError
        raise InvalidRequest.one(_FIELD, ErrorReason.VALUE_MALFORMED, "is no TOML") from None


def _inverses(table: Mapping[str, object]) -> dict[str, str]:
    inverses: dict[str, str] = {}
    violations = []
    for name, entry in table.items():
        inverse = entry.get("inverse") if isinstance(entry, dict) and len(entry) == 1 else None
        if entry == {}:
            inverses[name] = ""
        elif isinstance(inverse, str) and inverse.strip():
            inverses[name] = inverse.strip()
        else:
            why = 'is not of the form {inverse = "parent_of"}'
            violations.append(Violation(f"{_FIELD}.{name}", ErrorReason.VALUE_MALFORMED, why))
    if violations:
        raise InvalidRequest(violations)
    return inverses
