"""Walks over the relation graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from groundwire._model.options import CallOptions
from groundwire._model.relation import Direction, PathChoice, TraceBudget
from groundwire._model.result import Trace
from groundwire._operation.fold import Fold, trace_fold
from groundwire._operation.kinds import Streamed, method
from groundwire._operation.options import fill_options, number, texts
from groundwire._wire.mirror import fill
from groundwire.v1 import graph_pb2, metric_pb2

__all__ = ["closure", "common_ancestors", "communities", "compare", "derivation", "neighborhood", "paths", "rollup"]


def communities(
    nodes: Sequence[str],
    max_communities: int,
    valid_in: str,
    include_unverified: bool,
    budget: TraceBudget | None,
    options: CallOptions,
) -> Streamed[Fold[Trace]]:
    """GraphService.GraphTrace: nodes that hang together."""
    clusters = graph_pb2.Communities(node_ids=texts("nodes", nodes), max_communities=max_communities)
    return _walk({"communities": clusters}, valid_in, include_unverified, budget, options)


def _walk(
    operation: dict[str, Any],
    valid_in: str,
    include_unverified: bool,
    budget: TraceBudget | None,
    options: CallOptions,
) -> Streamed[Fold[Trace]]:
    request = graph_pb2.GraphTraceRequest(valid_in=valid_in, include_unverified=include_unverified, **operation)
    fill_options(options, request.options)
    if budget is not None:
        request.budget.SetInParent()
        fill(request.budget, budget)
    return Streamed(method("GraphService/GraphTrace"), request, trace_fold())


def neighborhood(
    nodes: Sequence[str],
    relations: Sequence[str],
    direction: Direction | str,
    max_hops: int,
    valid_in: str,
    include_unverified: bool,
    budget: TraceBudget | None,
    options: CallOptions,
) -> Streamed[Fold[Trace]]:
    """GraphService.GraphTrace: what is around nodes."""
    around = graph_pb2.Neighborhood(
        node_ids=texts("nodes", nodes),
        relations=texts("relations", relations),
        direction=number(Direction, direction),
        max_hops=max_hops,
    )
    return _walk({"neighborhood": around}, valid_in, include_unverified, budget, options)


def paths(
    from_node: str,
    to_node: str,
    relations: Sequence[str],
    pattern: Sequence[str],
    direction: Direction | str,
    choice: PathChoice | str,
    max_hops: int,
    max_paths: int,
    valid_in: str,
    include_unverified: bool,
    budget: TraceBudget | None,
    options: CallOptions,
) -> Streamed[Fold[Trace]]:
    """GraphService.GraphTrace: how two nodes hang together."""
    between = graph_pb2.Paths(
        from_id=from_node,
        to_id=to_node,
        relations=texts("relations", relations),
        pattern=texts("pattern", pattern),
        direction=number(Direction, direction),
        choice=number(PathChoice, choice),
        max_hops=max_hops,
        max_paths=max_paths,
    )
    return _walk({"paths": between}, valid_in, include_unverified, budget, options)


def closure(
    nodes: Sequence[str],
    relations: Sequence[str],
    direction: Direction | str,
    max_depth: int,
    valid_in: str,
    include_unverified: bool,
    budget: TraceBudget | None,
    options: CallOptions,
) -> Streamed[Fold[Trace]]:
    """GraphService.GraphTrace: all that can be reached."""
    reached = graph_pb2.Closure(
        node_ids=texts("nodes", nodes),
        relations=texts("relations", relations),
        direction=number(Direction, direction),
        max_depth=max_depth,
    )
    return _walk({"closure": reached}, valid_in, include_unverified, budget, options)


def common_ancestors(
    nodes: Sequence[str],
    relation: str,
    valid_in: str,
    include_unverified: bool,
    budget: TraceBudget | None,
    options: CallOptions,
) -> Streamed[Fold[Trace]]:
    """GraphService.GraphTrace: what several nodes have above them."""
    above = graph_pb2.CommonAncestors(node_ids=texts("nodes", nodes), relation=relation)
    return _walk({"common_ancestors": above}, valid_in, include_unverified, budget, options)


def rollup(
    metric: str,
    entity: str,
    period: str,
    channel: str,
    relation: str,
    max_depth: int,
    max_operands: int,
    valid_in: str,
    include_unverified: bool,
    budget: TraceBudget | None,
    options: CallOptions,
) -> Streamed[Fold[Trace]]:
    """GraphService.GraphTrace: a metric, added up over all that is below an entity."""
    query = metric_pb2.MetricQuery(metric=metric, entity=entity, period=period, channel=channel)
    summed = graph_pb2.Rollup(query=query, relation=relation, max_depth=max_depth, max_operands=max_operands)
    return _walk({"rollup": summed}, valid_in, include_unverified, budget, options)


def compare(
    metric: str, period: str, entities: Sequence[str], channel: str, options: CallOptions
) -> Streamed[Fold[Trace]]:
    """GraphService.GraphTrace: one metric of several entities, side by side."""
    beside = graph_pb2.Compare(metric=metric, period=period, entities=texts("entities", entities), channel=channel)
    return _walk({"compare": beside}, "", False, None, options)


def derivation(metric: str, entity: str, period: str, channel: str, options: CallOptions) -> Streamed[Fold[Trace]]:
    """GraphService.GraphTrace: how a figure came to be."""
    query = metric_pb2.MetricQuery(metric=metric, entity=entity, period=period, channel=channel)
    return _walk({"derivation": graph_pb2.Derivation(query=query)}, "", False, None, options)
