"""How relations are called: a name may stand for another relation that is read from the other end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from groundwire_server.errors import ErrorReason, InvalidRequest, Violation
from groundwire_server.glossary.terms import RelationTerm

__all__ = ["DEFAULT_RELATION_NAMES", "RelationNames", "relation_names_of"]

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


# Those of formats.md. The mapping of a file of relations, and the terms of a glossary, add to them and win.
DEFAULT_RELATION_NAMES = RelationNames({"owned_by": "parent_of", "part_of": "parent_of", "subsidiary_of": "parent_of"})


def relation_names_of(terms: Iterable[RelationTerm]) -> RelationNames:
    """The names of a glossary: those that are always there, and its own, which win."""
    return DEFAULT_RELATION_NAMES.extended({term.code: term.inverse_of for term in terms})
