"""What a walk will really do, for the header of the stream."""

from __future__ import annotations

from groundwire_server.evidence import PlanStep
from groundwire_server.graph.operations import Walking
from groundwire_server.graph.request import (
    Closure,
    CommonAncestors,
    Neighborhood,
    Paths,
    TraceLimits,
    TraceRequest,
)

__all__ = ["budget_detail", "trace_plan"]


def budget_detail(request: TraceRequest, limits: TraceLimits) -> str:
    """The bounds in force."""
    nodes = request.budget.max_nodes or limits.max_nodes
    edges = request.budget.max_edges or limits.max_edges
    return f"max_nodes={nodes},max_edges={edges}"


def trace_plan(operation: Walking, request: TraceRequest, limits: TraceLimits) -> tuple[PlanStep, ...]:
    """The stages of an operation, in order."""
    backend, *details = _walk(operation, limits)
    details.append(budget_detail(request, limits))
    return (
        PlanStep("nodes", "ids_and_names"),
        PlanStep("walk", backend, ",".join(details)),
        PlanStep("exit", "snippets"),
    )


def _walk(operation: Walking, limits: TraceLimits) -> list[str]:
    """What walks, and how."""
    match operation:
        case Neighborhood(max_hops=hops, direction=direction):
            return ["breadth_first", f"hops={hops or 1}", f"direction={direction.name.lower()}"]
        case Closure(max_depth=depth, direction=direction):
            return ["breadth_first", f"depth={depth or 'all'}", f"direction={direction.name.lower()}"]
        case Paths(max_hops=hops, direction=direction, choice=choice, pattern=pattern):
            steps = len(pattern) or hops or limits.max_hops
            chosen = f"choice={choice.name.lower()}"
            return ["both_ends", f"hops={steps}", f"direction={direction.name.lower()}", chosen]
        case CommonAncestors():
            return ["breadth_first", "direction=in"]
