"""Requests of GraphService. Nodes, relations and bounds are checked by the graph room."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from groundwire.v1 import graph_pb2
from groundwire_server.errors import ErrorReason
from groundwire_server.graph import (
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
    TraceOperation,
    TraceRequest,
)
from groundwire_server.rpc.decode_metric import check_name, decode_query
from groundwire_server.rpc.findings import Findings

__all__ = ["decode_trace"]

_MOST_ENTITIES = 1000


def decode_trace(message: graph_pb2.GraphTraceRequest, findings: Findings) -> TraceRequest:
    """One operation and its bounds; an operation that is not built is noted as such."""
    name = message.WhichOneof("operation")
    if name is None:
        operations = ", ".join(field.name for field in message.DESCRIPTOR.oneofs_by_name["operation"].fields)
        findings.add("operation", ErrorReason.VALUE_REQUIRED, f"exactly one of {operations} must be set")
    else:
        findings.uses(f"graph.{name}")
    decode = _OPERATIONS.get(name or "")
    return TraceRequest(
        operation=decode(getattr(message, name), findings) if decode is not None and name is not None else name or "",
        include_unverified=message.include_unverified,
        valid_in=message.valid_in,
        budget=TraceBudget(message.budget.max_nodes, message.budget.max_edges),
    )


def _neighborhood(message: graph_pb2.Neighborhood, findings: Findings) -> Neighborhood:
    return Neighborhood(
        node_ids=tuple(message.node_ids),
        relations=tuple(message.relations),
        direction=_direction("neighborhood", message.direction, findings, Direction.BOTH),
        max_hops=message.max_hops,
    )


def _closure(message: graph_pb2.Closure, findings: Findings) -> Closure:
    return Closure(
        node_ids=tuple(message.node_ids),
        relations=tuple(message.relations),
        direction=_direction("closure", message.direction, findings, Direction.OUT),
        max_depth=message.max_depth,
    )


def _paths(message: graph_pb2.Paths, findings: Findings) -> Paths:
    choice = PathChoice.SHORTEST
    if findings.known("paths.choice", message.choice, graph_pb2.PathChoice.DESCRIPTOR) and message.choice:
        choice = PathChoice(message.choice)
    return Paths(
        from_id=message.from_id,
        to_id=message.to_id,
        relations=tuple(message.relations),
        pattern=tuple(message.pattern),
        direction=_direction("paths", message.direction, findings, Direction.BOTH),
        choice=choice,
        max_hops=message.max_hops,
        max_paths=message.max_paths,
    )


def _common_ancestors(message: graph_pb2.CommonAncestors, _findings: Findings) -> CommonAncestors:
    return CommonAncestors(node_ids=tuple(message.node_ids), relation=message.relation)


def _communities(message: graph_pb2.Communities, _findings: Findings) -> Communities:
    return Communities(node_ids=tuple(message.node_ids), max_communities=message.max_communities)


def _rollup(message: graph_pb2.Rollup, findings: Findings) -> Rollup:
    return Rollup(
        query=decode_query(message.query, "rollup.query", findings),
        relation=message.relation,
        max_depth=message.max_depth,
        max_operands=message.max_operands,
    )


def _compare(message: graph_pb2.Compare, findings: Findings) -> Compare:
    for field in ("metric", "period"):
        findings.required(f"compare.{field}", getattr(message, field))
    for field in ("metric", "period", "channel"):
        check_name(f"compare.{field}", getattr(message, field), findings)
    entities = tuple(message.entities[:_MOST_ENTITIES])
    if len(message.entities) > _MOST_ENTITIES:
        words = f"{len(message.entities)} entities, at most {_MOST_ENTITIES}"
        findings.add("compare.entities", ErrorReason.VALUE_OUT_OF_RANGE, words)
    for place, entity in enumerate(entities):
        findings.required(f"compare.entities[{place}]", entity)
        check_name(f"compare.entities[{place}]", entity, findings)
    return Compare(message.metric, message.period, entities, message.channel)


def _derivation(message: graph_pb2.Derivation, findings: Findings) -> Derivation:
    return Derivation(decode_query(message.query, "derivation.query", findings))


def _direction(operation: str, number: int, findings: Findings, unset: Direction) -> Direction:
    known = findings.known(f"{operation}.direction", number, graph_pb2.Direction.DESCRIPTOR)
    return Direction(number) if known and number else unset


_OPERATIONS: dict[str, Callable[[Any, Findings], TraceOperation]] = {
    "neighborhood": _neighborhood,
    "closure": _closure,
    "paths": _paths,
    "common_ancestors": _common_ancestors,
    "communities": _communities,
    "rollup": _rollup,
    "compare": _compare,
    "derivation": _derivation,
}
