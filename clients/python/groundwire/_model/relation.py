"""Relations between nodes, chains of them, clusters of nodes."""

from __future__ import annotations

from dataclasses import dataclass

from groundwire._model.lineage import Lineage
from groundwire._model.named import NamedEnum
from groundwire._model.value import Attribute

__all__ = ["Direction", "GraphCommunity", "GraphEdge", "GraphNode", "GraphPath", "PathChoice", "TraceBudget"]


class Direction(NamedEnum):
    """Ways to follow a relation."""

    UNSPECIFIED = 0
    OUT = 1
    IN = 2
    BOTH = 3


class PathChoice(NamedEnum):
    """Which paths between two nodes: one of the fewest edges, the shortest few, or all."""

    UNSPECIFIED = 0
    SHORTEST = 1
    K_SHORTEST = 2
    ALL = 3


@dataclass(frozen=True, slots=True)
class TraceBudget:
    """Bounds of a walk: nodes to visit, edges to look at. 0: the server's."""

    max_nodes: int = 0
    max_edges: int = 0


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node: id with its kind in front ("entity:ACME_JP"), kind, and a name for people."""

    node_id: str
    kind: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A relation, read from source to target. Days are ISO text; empty: not known or open.

    `sources` is set inside a GraphPath only; as a snippet of its own the sources stand in its lineage.
    """

    edge_id: str
    source: GraphNode
    target: GraphNode
    relation: str
    extractor: str = ""
    valid_from: str = ""
    valid_to: str = ""
    attributes: tuple[Attribute, ...] = ()
    sources: tuple[Lineage, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphPath:
    """A chain of relations in walking order; `node_ids` has one more member than `edges`."""

    edges: tuple[GraphEdge, ...]
    node_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphCommunity:
    """A cluster of the relation graph; context only."""

    community_id: str
    size: int
    nodes: tuple[GraphNode, ...] = ()
    summary: str = ""
