"""What GraphTrace is asked for (graph.proto)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from groundwire_server.evidence import MetricQuery

__all__ = [
    "OPERATIONS",
    "Closure",
    "CommonAncestors",
    "Communities",
    "Compare",
    "Derivation",
    "Direction",
    "Neighborhood",
    "PathChoice",
    "Paths",
    "Rollup",
    "TraceBudget",
    "TraceLimits",
    "TraceOperation",
    "TraceRequest",
]


class Direction(IntEnum):
    """Ways to follow a relation; numbers are those of `groundwire.v1.Direction`."""

    OUT = 1
    IN = 2
    BOTH = 3

    @property
    def reverse(self) -> Direction:
        """The same ways, gone back."""
        return {Direction.OUT: Direction.IN, Direction.IN: Direction.OUT}.get(self, self)


class PathChoice(IntEnum):
    """Which paths; numbers are those of `groundwire.v1.PathChoice`."""

    SHORTEST = 1
    K_SHORTEST = 2
    ALL = 3


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """Edges around nodes, nearest first. `node_ids`: ids, or names of the glossary. max_hops 0: 1."""

    node_ids: tuple[str, ...]
    relations: tuple[str, ...] = ()
    direction: Direction = Direction.BOTH
    max_hops: int = 0


@dataclass(frozen=True, slots=True)
class Closure:
    """All nodes that can be reached over the relations, nearest first, each by the shortest path. max_depth 0: any."""

    node_ids: tuple[str, ...]
    relations: tuple[str, ...]
    direction: Direction = Direction.OUT
    max_depth: int = 0


@dataclass(frozen=True, slots=True)
class Paths:
    """Paths between two nodes, best first. `pattern`: relations step by step, instead of `relations`. 0: the most."""

    from_id: str
    to_id: str
    relations: tuple[str, ...] = ()
    pattern: tuple[str, ...] = ()
    direction: Direction = Direction.BOTH
    choice: PathChoice = PathChoice.SHORTEST
    max_hops: int = 0
    max_paths: int = 0


@dataclass(frozen=True, slots=True)
class CommonAncestors:
    """Nodes above all of the given ones, nearest first, each as the paths to it. An empty relation is parent_of."""

    node_ids: tuple[str, ...]
    relation: str = ""


@dataclass(frozen=True, slots=True)
class Communities:
    """Nodes that hang together, the largest communities first. `node_ids`: only those with one of these. 0: 10."""

    node_ids: tuple[str, ...] = ()
    max_communities: int = 0


@dataclass(frozen=True, slots=True)
class Rollup:
    """Sum of an additive metric over all that is below an entity. An empty relation is parent_of; max_depth 0: all.

    max_operands: so many are sent, 0: 100; all of them count.
    """

    query: MetricQuery
    relation: str = ""
    max_depth: int = 0
    max_operands: int = 0


@dataclass(frozen=True, slots=True)
class Compare:
    """One metric in one period, of several entities."""

    metric: str
    period: str
    entities: tuple[str, ...]
    channel: str = ""


@dataclass(frozen=True, slots=True)
class Derivation:
    """How a figure came to be."""

    query: MetricQuery


TraceOperation = Neighborhood | Closure | Paths | CommonAncestors | Communities | Rollup | Compare | Derivation

OPERATIONS: dict[type[TraceOperation], str] = {
    Neighborhood: "neighborhood",
    Closure: "closure",
    Paths: "paths",
    CommonAncestors: "common_ancestors",
    Communities: "communities",
    Rollup: "rollup",
    Compare: "compare",
    Derivation: "derivation",
}
"""Operations that work here, with their names in the contract."""


@dataclass(frozen=True, slots=True)
class TraceBudget:
    """Bounds of a walk. 0: the server's."""

    max_nodes: int = 0
    max_edges: int = 0


@dataclass(frozen=True, slots=True)
class TraceLimits:
    """What one walk may ask for."""

    max_hops: int = 6
    max_nodes: int = 100_000
    max_edges: int = 100_000


@dataclass(frozen=True, slots=True)
class TraceRequest:
    """One operation; one that is not built here is given by its name.

    valid_in: only edges that hold on some day of this period; empty: all.
    """

    operation: TraceOperation | str
    include_unverified: bool = False
    valid_in: str = ""
    budget: TraceBudget = TraceBudget()
