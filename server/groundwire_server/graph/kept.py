"""What is found out once about the graph of a state of a library, for all calls of one clearance."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from groundwire_server.adjacency import Sight
from groundwire_server.evidence import Label, format_node_id
from groundwire_server.glossary import EntityTerm, Glossary, MetricTerm, NameIndex, names_of
from groundwire_server.store import StoreReader

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["ENTITY", "METRIC", "GraphNames", "graph_names"]

ENTITY, METRIC = "entity", "metric"
# States of the past that are kept beside one of today.
_MOST_KEPT = 8


class GraphNames:
    """Names of the nodes and relations of one library at one state, as one clearance sees them."""

    def __init__(self, glossary: Glossary, sight: Sight) -> None:
        self._glossary = glossary
        self._sight = sight

    @cached_property
    def relations(self) -> tuple[str, ...]:
        """Names of the relations of readable edges, sorted."""
        return self._sight.relations

    def is_touched(self, kind: str, code: str) -> bool:
        """Whether a readable edge touches a node."""
        number = self._sight.view.find(kind, code)
        return number is not None and self._sight.touches(number)

    @cached_property
    def nodes(self) -> dict[str, tuple[str, str]]:
        """Nodes by their id: those that readable edges touch, and those of terms."""
        terms: list[tuple[str, str]] = [(ENTITY, code) for code in self._glossary.entities]
        terms += [(METRIC, code) for code in self._glossary.metrics]
        touched = self._sight.view.nodes_of(self._sight.nodes)
        return {format_node_id(*node): node for node in (*touched, *terms)}

    @cached_property
    def index(self) -> NameIndex:
        """Every name of a node, for its id."""
        entries: list[tuple[str, str]] = []
        for node_id, (kind, code) in self.nodes.items():
            term = self.term(kind, code)
            entries += [(node_id, name) for name in (names_of(term) if term is not None else (code,))]
        return NameIndex(entries, variants=False)

    def term(self, kind: str, code: str) -> EntityTerm | MetricTerm | None:
        """The term of a node, where the glossary has one."""
        if kind == ENTITY:
            return self._glossary.entities.get(code)
        return self._glossary.metrics.get(code) if kind == METRIC else None


_KEPT: WeakKeyDictionary[Snapshot, dict[tuple[int, Label], GraphNames]] = WeakKeyDictionary()
_LOCK = threading.Lock()


def graph_names(snapshot: Snapshot, reader: StoreReader, clearance: Label) -> GraphNames:
    """The names of a state; made once for each clearance, and gone with the snapshot.

    Args:
        reader: of the snapshot, at its generation or an earlier one.
    """
    with _LOCK:
        kept = _KEPT.setdefault(snapshot, {})
        key = reader.generation, clearance
        if key not in kept:
            if len(kept) >= _MOST_KEPT:
                del kept[min(kept)]
            sight = snapshot.relations().sight(clearance, reader.generation, include_unverified=True)
            kept[key] = GraphNames(snapshot.glossary, sight)
        return kept[key]
