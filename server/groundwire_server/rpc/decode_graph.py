"""Requests of GraphService. Nodes, relations and bounds are checked by the graph room."""

from __future__ import annotations

from groundwire.v1 import graph_pb2
from groundwire_server.errors import ErrorReason
from groundwire_server.graph import Direction, Neighborhood, TraceBudget, TraceRequest
from groundwire_server.rpc.findings import Findings

__all__ = ["decode_trace"]


def decode_trace(message: graph_pb2.GraphTraceRequest, findings: Findings) -> TraceRequest:
    """One operation and its bounds; an operation that is not built is noted as such."""
    name = message.WhichOneof("operation")
    if name is None:
        operations = ", ".join(field.name for field in message.DESCRIPTOR.oneofs_by_name["operation"].fields)
        findings.add("operation", ErrorReason.VALUE_REQUIRED, f"exactly one of {operations} must be set")
    else:
        findings.uses(f"graph.{name}")
    return TraceRequest(
        operation=_neighborhood(message.neighborhood, findings) if name == "neighborhood" else name or "",
        include_unverified=message.include_unverified,
        valid_in=message.valid_in,
        budget=TraceBudget(message.budget.max_nodes, message.budget.max_edges),
    )


def _neighborhood(message: graph_pb2.Neighborhood, findings: Findings) -> Neighborhood:
    direction = Direction.BOTH
    path = "neighborhood.direction"
    if findings.known(path, message.direction, graph_pb2.Direction.DESCRIPTOR) and message.direction:
        direction = Direction(message.direction)
    return Neighborhood(
        node_ids=tuple(message.node_ids),
        relations=tuple(message.relations),
        direction=direction,
        max_hops=message.max_hops,
    )
