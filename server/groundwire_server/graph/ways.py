"""Which relations a step may go along, and which way round (semantics 12)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from groundwire_server.glossary import Glossary
from groundwire_server.graph.kept import GraphNames
from groundwire_server.graph.request import Direction

__all__ = ["RelationBook", "Ways"]


@dataclass(frozen=True, slots=True)
class Ways:
    """Relations that a step may go along from source to target (along), and from target to source (against).

    None: every relation. `either`: relations that hold in both directions, and so may be walked either way.
    """

    along: frozenset[str] | None
    against: frozenset[str] | None
    either: frozenset[str] = frozenset()

    def allow(self, relation: str, *, outgoing: bool) -> bool:
        """Whether an edge of that relation may be left by its source (outgoing) or by its target."""
        names, others = (self.along, self.against) if outgoing else (self.against, self.along)
        if names is None or relation in names:
            return True
        return relation in self.either and (others is None or relation in others)

    def sides(self) -> tuple[bool, ...]:
        """Ends by which a node may be left at all: True stands for edges that start at it."""
        return tuple(
            outgoing
            for outgoing, names in ((True, self.along), (False, self.against))
            if names is None or names or self.either
        )

    @property
    def back(self) -> Ways:
        """The same steps, gone back."""
        return Ways(self.against, self.along, self.either)


@dataclass(frozen=True, slots=True)
class RelationBook:
    """What relations are called in one library, and which of them a caller may see there."""

    glossary: Glossary
    visible: GraphNames

    @property
    def stored(self) -> tuple[str, ...]:
        """Names of the relations of visible edges, sorted."""
        return self.visible.relations

    def knows(self, name: str) -> bool:
        """Whether visible edges have that relation, under this name or the one that it stands for."""
        return self._resolve(name)[0] in self.stored

    def names(self) -> list[str]:
        """Every name that may be asked for, sorted: those that are stored, and those that stand for one."""
        stored = set(self.stored)
        others = [name for name, into in self.glossary.relation_names.inverse.items() if into in stored]
        return sorted({*stored, *others})

    def ways(self, names: Sequence[str], direction: Direction) -> Ways:
        """How the named relations are walked; without a name: all of them. An inverse name is walked backwards."""
        either = frozenset(code for code, term in self.glossary.relations.items() if term.symmetric)
        if not names:
            along = None if direction is not Direction.IN else frozenset[str]()
            against = None if direction is not Direction.OUT else frozenset[str]()
            return Ways(along, against, either)
        resolved = [self._resolve(name) for name in names]
        forwards = _named(resolved, turned=False, direction=direction)
        backwards = _named(resolved, turned=True, direction=direction)
        return Ways(forwards, backwards, either & {name for name, _ in resolved})

    def _resolve(self, name: str) -> tuple[str, bool]:
        """The stored relation that a name means, and whether it reads that backwards: a code, else a synonym."""
        names = self.glossary.relation_names
        if name not in self.stored and name not in names.inverse:
            found = self.glossary.relation_index.exact(name)
            if len(found) == 1:
                return names.resolve(found[0])
        return names.resolve(name) if name not in self.stored else (name, False)


def _named(resolved: Iterable[tuple[str, bool]], *, turned: bool, direction: Direction) -> frozenset[str]:
    """Stored relations walked from source to target, or against that where `turned`."""
    wanted = {False: direction is not Direction.IN, True: direction is not Direction.OUT}
    return frozenset(name for name, backwards in resolved if wanted[turned ^ backwards])
