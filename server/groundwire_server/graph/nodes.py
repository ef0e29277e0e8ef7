"""Nodes by id or by name. What no readable edge touches, and no term names, is not there (semantics 12)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from groundwire_server.errors import ErrorReason, Violation
from groundwire_server.evidence import GraphNode, Principal, format_node_id, parse_node_id
from groundwire_server.glossary import Ambiguous, Resolved, display_name
from groundwire_server.graph.kept import ENTITY, METRIC, graph_names
from groundwire_server.store import StoreReader

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["ENTITY", "Node", "NodeNames", "find_nodes"]

_MOST_SUGGESTIONS = 5

Node = tuple[str, str]
"""Kind and code."""


class NodeNames:
    """Nodes of one library at one state, as one caller sees them."""

    def __init__(self, snapshot: Snapshot, reader: StoreReader, principal: Principal) -> None:
        self._names = graph_names(snapshot, reader, principal.clearance)
        self._glossary = snapshot.glossary
        self._shown: dict[tuple[Node, str], GraphNode] = {}

    def find(self, raw: str) -> tuple[Node, ...]:
        """The nodes that a text may mean: an id goes before a name, a code before other names; empty: none."""
        try:
            kind, code = parse_node_id(raw)
        except ValueError:
            kind, code = "", ""
        if kind and self._is_there(kind, code):
            return ((kind, code),)
        name = raw.strip()
        coded = tuple((kind, name) for kind in (ENTITY, METRIC) if self._is_there(kind, name))
        if coded:
            return coded
        named = self._by_term(raw)
        return named or tuple(sorted({self._names.nodes[place] for place in self._names.index.exact(raw)}))

    def show(self, node: Node, language: str) -> GraphNode:
        """A node with a name for people: that of its term, else its code. Most nodes end several edges."""
        shown = self._shown.get((node, language))
        if shown is None:
            kind, code = node
            term = self._names.term(kind, code)
            name = code if term is None else display_name(term, language)
            shown = self._shown[node, language] = GraphNode(format_node_id(kind, code), kind, name)
        return shown

    def near(self, raw: str) -> list[tuple[float, str]]:
        """(likeness, id) of visible nodes with a name like this one, nearest first, then by id."""
        kind, colon, code = raw.partition(":")
        name = code if colon and kind.isidentifier() else raw
        found = {self._names.nodes[place]: likeness for likeness, _, place in self._names.index.nearest(name)}
        return sorted((-likeness, format_node_id(*node)) for node, likeness in found.items())

    def _is_there(self, kind: str, code: str) -> bool:
        return self._names.term(kind, code) is not None or self._names.is_touched(kind, code)

    def _by_term(self, raw: str) -> tuple[Node, ...]:
        found: list[Node] = []
        resolved = ((ENTITY, self._glossary.resolve_entity(raw)), (METRIC, self._glossary.resolve_metric(raw)))
        for kind, resolution in resolved:
            if isinstance(resolution, Resolved):
                found.append((kind, resolution.code))
            elif isinstance(resolution, Ambiguous):
                found += [(kind, code) for code in resolution.candidates]
        return tuple(sorted(found))


@dataclass(frozen=True, slots=True)
class FoundNodes:
    """The nodes that were named, a library at a time, each in the order asked; None: not in that library."""

    by_library: tuple[tuple[Node | None, ...], ...]
    faults: tuple[Violation, ...]


def find_nodes(asked: Sequence[tuple[str, str]], libraries: Sequence[NodeNames]) -> FoundNodes:
    """The nodes that texts name. One that no library knows, or that means several nodes, is UNKNOWN_NODE.

    Args:
        asked: path of the field, and what stands in it; blanks are somebody else's fault to find.
    """
    nodes_of: list[list[Node | None]] = [[] for _ in libraries]
    faults: list[Violation] = []
    for path, raw in asked:
        if not raw.strip():
            continue
        found = [library.find(raw) for library in libraries]
        several = sorted({format_node_id(*node) for nodes in found if len(nodes) > 1 for node in nodes})
        if several or not any(found):
            words = _ambiguous(raw, several) if several else _unknown(raw, libraries)
            faults.append(Violation(path, ErrorReason.UNKNOWN_NODE, words))
            continue
        for nodes, here in zip(nodes_of, found, strict=True):
            nodes.append(next(iter(here), None))
    return FoundNodes(tuple(map(tuple, nodes_of)), tuple(faults))


def _ambiguous(raw: str, several: Sequence[str]) -> str:
    return f"{raw[:80]!r} names several nodes: {', '.join(several[:20])}"


def _unknown(raw: str, libraries: Sequence[NodeNames]) -> str:
    near = sorted({entry for library in libraries for entry in library.near(raw)})
    ids = list(dict.fromkeys(node_id for _, node_id in near))[:_MOST_SUGGESTIONS]
    return f"{raw[:80]!r} is no node here" + (f"; near: {', '.join(ids)}" if ids else "")
