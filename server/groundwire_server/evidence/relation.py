"""Relations between nodes, and chains of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from groundwire_server.evidence.value import Attribute

if TYPE_CHECKING:
    from groundwire_server.evidence.snippet import Lineage

__all__ = ["GraphCommunity", "GraphEdge", "GraphNode", "GraphPath"]


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node: id with its kind in front ("entity:ACME_JP"), kind, and a name for people."""

    node_id: str
    kind: str
    label: str


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A relation, read from source to target. Days are ISO text; empty: not known or open.

    `sources` is set inside a GraphPath only; as a snippet of its own the sources stand in its lineage.
    """

    edge_id: str
    source: GraphNode
    target: GraphNode
    relation: str
    extractor: str
    valid_from: str = ""
    valid_to: str = ""
    attributes: tuple[Attribute, ...] = ()
    sources: tuple[Lineage, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphPath:
    """A chain of relations in walking order; `node_ids` has one more member than `edges`."""

    edges: tuple[GraphEdge, ...]
    node_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GraphCommunity:
    """Nodes that hang together; context only. `size` counts those that the caller may see, `nodes` are some of them.

    `summary` is made of sentences of the sources, one a line; empty: there are none.
    """

    community_id: str
    size: int
    nodes: tuple[GraphNode, ...]
    summary: str = ""
