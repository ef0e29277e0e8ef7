"""A small part of what hangs together in a library: documents, names, and nodes of the relation graph, with links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from groundwire_server.evidence import Span
from groundwire_server.graph.edges import Edge
from groundwire_server.graph.nodes import Node
from groundwire_server.store import StoredChunk

__all__ = ["BACK", "DOCUMENT", "NAME", "Link", "LinkKind", "Mention", "Net", "NetBuilder"]

DOCUMENT = "document"
NAME = "\0name"  # no kind of a stored node
BACK = 0.3
"""What a link weighs against its direction; along it, it weighs 1."""


class LinkKind(IntEnum):
    """What ties two nodes of a net.

    NAMES: a document holds a name. TITLED: a name is the title of a document. STATES: a document is a source of an
    edge that touches a node. RELATION: an edge.
    """

    NAMES = 1
    TITLED = 2
    STATES = 3
    RELATION = 4


@dataclass(frozen=True, slots=True)
class Mention:
    """Where a passage holds a name: the place within its text."""

    chunk: StoredChunk
    span: Span


@dataclass(frozen=True, slots=True)
class Link:
    """From one node to another. `even`: it reads the same in both directions."""

    kind: LinkKind
    start: Node
    end: Node
    even: bool = False
    mention: Mention | None = None
    edge: Edge | None = None

    @property
    def relation(self) -> str:
        """Its name, which tells kinds of edges apart."""
        return "" if self.edge is None or self.kind is not LinkKind.RELATION else self.edge.relation

    def order(self) -> tuple[Node, Node, int, str, str]:
        """Its place among links: total, and the same whatever way it was come to."""
        return self.start, self.end, int(self.kind), self.relation, "" if self.edge is None else self.edge.edge_id


@dataclass(frozen=True, slots=True, eq=False)
class Net:
    """Nodes in order, and every link twice, once a direction.

    Attributes:
        nodes: sorted.
        links: sorted.
        begins, ends: int64[2 * links], places of nodes; first all along their direction, then all against it.
        chances: float64[2 * links], how likely a step from its beginning goes that way; they add up to 1 a node.
    """

    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    chances: NDArray[np.float64]

    def places(self) -> dict[Node, int]:
        """Where each node stands."""
        return {node: place for place, node in enumerate(self.nodes)}


class NetBuilder:
    """Collects nodes and links; what comes twice stays as it came first."""

    def __init__(self) -> None:
        self._nodes: dict[Node, None] = {}
        self._links: dict[tuple[Node, Node, int, str, str], Link] = {}

    def __len__(self) -> int:
        return len(self._nodes)

    @property
    def links(self) -> int:
        """How many there are."""
        return len(self._links)

    def add(self, node: Node) -> None:
        """Put a node in."""
        self._nodes.setdefault(node)

    def link(self, link: Link) -> None:
        """Put a link in, with its ends."""
        self.add(link.start)
        self.add(link.end)
        self._links.setdefault(link.order(), link)

    def build(self) -> Net:
        """The net. A link weighs the less, the more links of its kind lead to where it ends: what everything names
        tells nothing apart."""
        nodes = tuple(sorted(self._nodes))
        place = {node: number for number, node in enumerate(nodes)}
        links = tuple(self._links[key] for key in sorted(self._links))
        begins = np.fromiter((place[link.start] for link in links), np.int64, len(links))
        ends = np.fromiter((place[link.end] for link in links), np.int64, len(links))
        along = np.fromiter(_weights(links), np.float64, len(links))
        against = along * np.fromiter((1.0 if link.even else BACK for link in links), np.float64, len(links))
        both_begins, both_ends = np.concatenate([begins, ends]), np.concatenate([ends, begins])
        weights = np.concatenate([along, against])
        sums = np.bincount(both_begins, weights, minlength=len(nodes))
        chances = weights / sums[both_begins] if len(links) else weights
        return Net(nodes, links, both_begins, both_ends, chances)


def _weights(links: tuple[Link, ...]) -> Iterator[float]:
    arriving = Counter((link.end, link.kind, link.relation) for link in links)
    for link in links:
        yield 1.0 if link.kind is LinkKind.TITLED else 1.0 / arriving[link.end, link.kind, link.relation]
