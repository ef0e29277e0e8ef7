"""How relations are called: `relations.toml` maps a name to the one that is stored, turned round where it says so."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from groundwire_server.errors import ErrorReason, InvalidRequest, Violation

__all__ = ["DEFAULT_RELATION_NAMES", "RelationNames", "parse_relation_mapping"]

_FIELD = "mapping_toml"


@dataclass(frozen=True, slots=True)
class RelationNames:
    """Names that stand for another relation read backwards, e.g. "owned_by" for "parent_of".

    Raises:
        InvalidRequest: CONTRADICTION, a name stands for one that is itself turned round.
    """

    inverse: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "inverse", MappingProxyType(dict(self.inverse)))
        chained = [name for name, stored in self.inverse.items() if stored in self.inverse]
        if chained:
            why = "stands for a relation that is itself turned round"
            raise InvalidRequest([Violation(f"{_FIELD}.{name}", ErrorReason.CONTRADICTION, why) for name in chained])

    def resolve(self, relation: str) -> tuple[str, bool]:
        """The stored name, and whether subject and object change places.

        >>> DEFAULT_RELATION_NAMES.resolve("owned_by"), DEFAULT_RELATION_NAMES.resolve("derives")
        (('parent_of', True), ('derives', False))
        """
        stored = self.inverse.get(relation)
        return (relation, False) if stored is None else (stored, True)

    def extended(self, changes: Mapping[str, str]) -> RelationNames:
        """These names with some others, which win; one that stands for "" is turned round no more."""
        merged = {**self.inverse, **changes}
        return RelationNames({name: stored for name, stored in merged.items() if stored})


# Those of formats.md. The mapping of a file of relations adds to them and wins.
DEFAULT_RELATION_NAMES = RelationNames({"owned_by": "parent_of", "part_of": "parent_of", "subsidiary_of": "parent_of"})


def parse_relation_mapping(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """The mapping that comes with a file of relations: names as in `relations.toml`, and a table [columns].

    A name is a line `owned_by = {inverse = "parent_of"}`, or `owned_by = {}` where it is to be stored as it is.
    [columns] says in which key of a row a field stands, e.g. `subject = "child"`. Returns (columns, changes of names).

    Raises:
        InvalidRequest: it is no TOML, or an entry is of another form; every fault at once.
    """
    table = _parse(text)
    columns = table.pop("columns", {})
    if not isinstance(columns, dict) or not all(isinstance(key, str) and key for key in columns.values()):
        raise InvalidRequest.one(
            f"{_FIELD}.columns", ErrorReason.VALUE_MALFORMED, 'is not of the form subject = "name of the key"'
        )
    return columns, _inverses(table)


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
