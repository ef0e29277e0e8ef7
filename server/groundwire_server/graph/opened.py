"""The relations of one library at one state, as one call sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from groundwire_server.errors import ErrorReason, Violation
from groundwire_server.evidence import Call, Family, check_filter_in_each
from groundwire_server.graph.edges import EDGE_ATTRIBUTES, EdgeTest
from groundwire_server.graph.ground import Ground
from groundwire_server.graph.kept import graph_names
from groundwire_server.graph.nodes import NodeNames
from groundwire_server.graph.ways import RelationBook
from groundwire_server.store import StoreReader

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["OpenGraph", "filter_faults", "relation_faults"]


@dataclass(frozen=True, slots=True)
class OpenGraph:
    """A graph that can be walked."""

    snapshot: Snapshot
    reader: StoreReader
    names: NodeNames
    relations: RelationBook

    @classmethod
    def open(cls, snapshot: Snapshot, call: Call) -> OpenGraph:
        """The graph of a library, as it was known when the call says."""
        reader = snapshot.reader_at(call.options.known_at)
        names = graph_names(snapshot, reader, call.principal.clearance)
        book = RelationBook(snapshot.glossary, names)
        return cls(snapshot, reader, NodeNames(snapshot, reader, call.principal), book)

    def ground(self, call: Call, test: EdgeTest) -> Ground:
        """What a walk goes over."""
        return Ground(self.snapshot.relations(), self.reader, call, test)

    @property
    def library_id(self) -> str:
        """Which library it is of."""
        return self.snapshot.library_id


def relation_faults(asked: Sequence[tuple[str, str]], graphs: Sequence[OpenGraph]) -> list[Violation]:
    """UNKNOWN_NAME for each relation that no library has, with those that there are.

    Args:
        asked: path of the field, and what stands in it; blanks are somebody else's fault to find.
    """
    unknown = [
        (path, name) for path, name in asked if name.strip() and not any(g.relations.knows(name) for g in graphs)
    ]
    if not unknown:
        return []
    known = ", ".join(sorted({name for graph in graphs for name in graph.relations.names()}))
    words = known or "none: there are no relations"
    return [Violation(path, ErrorReason.UNKNOWN_NAME, f"{name[:80]!r} is none of {words}") for path, name in unknown]


def filter_faults(call: Call, graphs: Sequence[OpenGraph]) -> list[Violation]:
    """What no library can test of its edges; attributes that a library declares count as those in use do."""
    options = call.options
    if options.filter is None and options.hint is None:
        return []
    schemas = [_schema(graph, call) for graph in graphs] or [dict(EDGE_ATTRIBUTES)]
    trees = (("options.filter", options.filter), ("options.hint", options.hint))
    return [fault for path, tree in trees if tree is not None for fault in check_filter_in_each(tree, schemas, path)]


def _schema(graph: OpenGraph, call: Call) -> dict[str, Family]:
    declared = {name: kind.family for name, kind in graph.snapshot.config.attributes}
    return {**graph.reader.attribute_schema(call.principal.clearance), **declared, **EDGE_ATTRIBUTES}
