"""What names of nodes mean in a file of relations: by the glossary, and by what the file itself shows (formats.md)."""

from __future__ import annotations

import unicodedata

from groundwire_server.errors import ErrorReason, RowRefused
from groundwire_server.glossary import Ambiguous, Glossary, NameIndex, Resolution, Resolved, Unknown, resolve_name
from groundwire_server.ingest.fact_values import check_code, refuse

__all__ = ["ENTITY", "LITERAL", "METRIC", "NodeNames", "folded"]

ENTITY, LITERAL, METRIC = "entity", "literal", "metric"


class NodeNames:
    """Names of nodes and what they mean. Answers are kept.

    Args:
        entities: names of entities. own: names that mean what they say, whatever the glossary calls so.
        known_ends: whether an entity that the glossary does not have is refused; an object that does not say that it
            is something else is one then.
    """

    def __init__(
        self,
        glossary: Glossary | None,
        entities: frozenset[str] = frozenset(),
        own: frozenset[str] = frozenset(),
        *,
        known_ends: bool = False,
    ) -> None:
        self._glossary = glossary
        self._entities = entities
        self._own = own
        self.known_ends = known_ends
        self._found: dict[tuple[str, str], Resolution] = {}

    @property
    def knows_entities(self) -> bool:
        """Whether the glossary has any."""
        return self._glossary is not None and len(self._glossary.entities) > 0

    def is_entity(self, name: str) -> bool:
        """Whether an object of that name is known to be an entity."""
        return folded(name) in self._entities or not isinstance(self.find(ENTITY, name), Unknown)

    def find(self, kind: str, name: str) -> Resolution:
        """What the glossary makes of a name."""
        key = (kind, name)
        if key not in self._found:
            self._found[key] = self._resolve(kind, name)
        return self._found[key]

    def code(self, column: str, kind: str, name: str) -> str:
        """The code of a node.

        Raises:
            RowRefused: it is no code (VALUE_MALFORMED), may be several, or has to be a term of the glossary and is none
                (RELATION_UNKNOWN_END, with the names that are near).
        """
        check_code(column, name)
        found = self.find(kind, name)
        if isinstance(found, Resolved):
            return found.code
        if isinstance(found, Ambiguous):
            message = f"{column} may be any of {', '.join(found.candidates)}."
            raise refuse(ErrorReason.RELATION_UNKNOWN_END, column, name, message)
        if self._must_be_known(kind):
            raise self._unknown(column, kind, name)
        return name if kind == LITERAL else folded(name)

    def _resolve(self, kind: str, name: str) -> Resolution:
        index = self._index(kind)
        if index is None or (kind == ENTITY and folded(name) in self._own):
            return Unknown()
        return resolve_name(name, (index,), drop_note=False, suggest=False)

    def _index(self, kind: str) -> NameIndex | None:
        """The names of the glossary for one kind of node; None where it has none of that kind."""
        if self._glossary is None:
            return None
        match kind:
            case "entity":
                return self._glossary.entity_names
            case "metric":
                return self._glossary.metric_names
            case "channel" if self._glossary.channels:
                return self._glossary.channel_names
            case _:
                return self._glossary.member_names.get(kind)

    def _must_be_known(self, kind: str) -> bool:
        """A metric is always a term; a member of an axis is where the glossary has that axis."""
        if kind == ENTITY:
            return self.known_ends
        return kind == METRIC or (self._index(kind) is not None and kind != LITERAL)

    def _unknown(self, column: str, kind: str, name: str) -> RowRefused:
        index = self._index(kind)
        near = resolve_name(name, (index,), drop_note=False) if index is not None else Unknown()
        names = near.suggestions if isinstance(near, Unknown) else ()
        words = f"{column} is no {kind} of the glossary" + (f"; near: {', '.join(names)}." if names else ".")
        return refuse(ErrorReason.RELATION_UNKNOWN_END, column, name, words)


def folded(name: str) -> str:
    """A name as its own code: NFKC, without outer blanks."""
    return name.strip() if name.isascii() else unicodedata.normalize("NFKC", name).strip()
