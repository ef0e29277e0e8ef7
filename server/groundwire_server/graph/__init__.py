"""The relation graph: what is around a node, each edge with its sources."""

from groundwire_server.graph.edges import EDGE_ATTRIBUTES
from groundwire_server.graph.request import (
    OPERATIONS,
    Direction,
    Neighborhood,
    TraceBudget,
    TraceLimits,
    TraceRequest,
)
from groundwire_server.graph.trace import trace

__all__ = [
    "EDGE_ATTRIBUTES",
    "OPERATIONS",
    "Direction",
    "Neighborhood",
    "TraceBudget",
    "TraceLimits",
    "TraceRequest",
    "trace",
]
