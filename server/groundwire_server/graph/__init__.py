"""The relation graph: what is around nodes, what can be reached, how they hang together, each edge with its sources."""

from groundwire_server.graph.check import MAX_PATHS, check_request
from groundwire_server.graph.edges import EDGE_ATTRIBUTES
from groundwire_server.graph.evidence import PageRankWalk
from groundwire_server.graph.listing import ListedEdge, RelationWish, list_relations
from groundwire_server.graph.request import (
    OPERATIONS,
    Closure,
    CommonAncestors,
    Communities,
    Compare,
    Derivation,
    Direction,
    Neighborhood,
    PathChoice,
    Paths,
    Rollup,
    TraceBudget,
    TraceLimits,
    TraceOperation,
    TraceRequest,
)
from groundwire_server.graph.trace import trace

__all__ = [
    "EDGE_ATTRIBUTES",
    "MAX_PATHS",
    "OPERATIONS",
    "Closure",
    "CommonAncestors",
    "Communities",
    "Compare",
    "Derivation",
    "Direction",
    "ListedEdge",
    "Neighborhood",
    "PageRankWalk",
    "PathChoice",
    "Paths",
    "RelationWish",
    "Rollup",
    "TraceBudget",
    "TraceLimits",
    "TraceOperation",
    "TraceRequest",
    "check_request",
    "list_relations",
    "trace",
]
