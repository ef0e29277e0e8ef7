"""What is wrong with a request of GraphTrace; names aside, which need the graph (graph.proto)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from groundwire_server.errors import ErrorReason, Violation
from groundwire_server.evidence import Call, Period
from groundwire_server.glossary import PeriodError, parse_period
from groundwire_server.graph.request import (
    OPERATIONS,
    Closure,
    CommonAncestors,
    Communities,
    Compare,
    Derivation,
    Neighborhood,
    Paths,
    Rollup,
    TraceLimits,
    TraceOperation,
    TraceRequest,
)

__all__ = ["MAX_PATHS", "asked_nodes", "asked_relations", "check_request", "check_trace", "read_valid_in"]

MAX_NODE_IDS = 1000
MAX_PATHS = 1000
MAX_OPERANDS = 10_000
"""Of a rollup, that are sent: so many ids of them stand in one figure."""
MAX_COMMUNITIES = 1000

_Asked = list[tuple[str, str]]


def asked_nodes(operation: TraceOperation) -> _Asked:
    """Path of each field that names a node of the graph, and what stands in it."""
    match operation:
        case Paths(from_id=start, to_id=end):
            return [("paths.from_id", start), ("paths.to_id", end)]
        case (
            Neighborhood(node_ids=ids)
            | Closure(node_ids=ids)
            | CommonAncestors(node_ids=ids)
            | Communities(node_ids=ids)
        ):
            return _listed(f"{OPERATIONS[type(operation)]}.node_ids", ids)
        case Rollup() | Compare() | Derivation():
            return []


def asked_relations(operation: TraceOperation) -> _Asked:
    """Path of each field that names a relation, and what stands in it."""
    match operation:
        case Neighborhood(relations=names) | Closure(relations=names):
            return _listed(f"{OPERATIONS[type(operation)]}.relations", names)
        case Paths(relations=names, pattern=steps):
            return [*_listed("paths.relations", names), *_listed("paths.pattern", steps)]
        case CommonAncestors(relation=name) | Rollup(relation=name):
            return [(f"{OPERATIONS[type(operation)]}.relation", name)] if name else []
        case Communities() | Compare() | Derivation():
            return []


def check_trace(operation: TraceOperation, request: TraceRequest, call: Call, limits: TraceLimits) -> list[Violation]:
    """Everything that is wrong with a request at once."""
    found = [*_nodes(operation), *_blank(operation), *_numbers(operation, request, limits)]
    if isinstance(operation, Paths):
        found += _path_faults(operation, limits)
    if isinstance(operation, Compare) and len(operation.entities) < 2:
        found.append(Violation("compare.entities", ErrorReason.VALUE_REQUIRED, "needs at least two entities"))
    if request.valid_in and call.options.valid_at is not None:
        found.append(Violation("valid_in", ErrorReason.CONTRADICTION, "cannot stand beside options.valid_at"))
    return found


def check_request(request: TraceRequest, call: Call, limits: TraceLimits) -> list[Violation]:
    """The same, and the period, for who has found something else to be wrong before there is a graph to ask."""
    if isinstance(request.operation, str):
        return []
    _, faults = read_valid_in(request.valid_in, call.reference_day)
    return [*check_trace(request.operation, request, call, limits), *faults]


def read_valid_in(raw: str, reference: date) -> tuple[Period | None, list[Violation]]:
    """The period that `valid_in` names, by the calendar year, or why it names none; neither where nothing is said."""
    if not raw:
        return None, []
    try:
        return parse_period(raw, reference=reference), []
    except PeriodError as error:
        choices = f"; it can be {', '.join(error.candidates)}" if error.candidates else ""
        words = f"{raw[:80]!r} cannot be read as a period{choices}"
        return None, [Violation("valid_in", ErrorReason.VALUE_MALFORMED, words)]


def _listed(path: str, values: Sequence[str]) -> _Asked:
    return [(f"{path}[{place}]", value) for place, value in enumerate(values)]


def _nodes(operation: TraceOperation) -> Iterator[Violation]:
    if not isinstance(operation, Neighborhood | Closure | CommonAncestors | Communities):
        return
    path, count = f"{OPERATIONS[type(operation)]}.node_ids", len(operation.node_ids)
    least = 2 if isinstance(operation, CommonAncestors) else 0 if isinstance(operation, Communities) else 1
    if count < least:
        words = "needs at least one node" if least == 1 else "needs at least two nodes"
        yield Violation(path, ErrorReason.VALUE_REQUIRED, words)
    elif count > MAX_NODE_IDS:
        yield Violation(path, ErrorReason.VALUE_OUT_OF_RANGE, f"{count} nodes, at most {MAX_NODE_IDS}")


def _blank(operation: TraceOperation) -> Iterator[Violation]:
    for path, value in (*asked_nodes(operation), *asked_relations(operation)):
        if not value.strip():
            yield Violation(path, ErrorReason.VALUE_REQUIRED, "must not be blank")
    if isinstance(operation, Closure) and not operation.relations:
        yield Violation("closure.relations", ErrorReason.VALUE_REQUIRED, "needs at least one relation")


def _numbers(operation: TraceOperation, request: TraceRequest, limits: TraceLimits) -> Iterator[Violation]:
    budget = request.budget
    bounds: list[tuple[str, int, int | None]] = []
    match operation:
        case Neighborhood(max_hops=hops) | Paths(max_hops=hops):
            bounds.append((f"{OPERATIONS[type(operation)]}.max_hops", hops, limits.max_hops))
        case Closure(max_depth=depth) | Rollup(max_depth=depth):
            bounds.append((f"{OPERATIONS[type(operation)]}.max_depth", depth, None))
        case _:
            pass
    if isinstance(operation, Paths):
        bounds.append(("paths.max_paths", operation.max_paths, MAX_PATHS))
    if isinstance(operation, Rollup):
        bounds.append(("rollup.max_operands", operation.max_operands, MAX_OPERANDS))
    if isinstance(operation, Communities):
        bounds.append(("communities.max_communities", operation.max_communities, MAX_COMMUNITIES))
    bounds.append(("budget.max_nodes", budget.max_nodes, limits.max_nodes))
    bounds.append(("budget.max_edges", budget.max_edges, limits.max_edges))
    for path, value, most in bounds:
        if value < 0 or (most is not None and value > most):
            words = f"{value} is not in 0..{most}" if most is not None else f"{value} is below 0"
            yield Violation(path, ErrorReason.VALUE_OUT_OF_RANGE, words)


def _path_faults(operation: Paths, limits: TraceLimits) -> Iterator[Violation]:
    steps = len(operation.pattern)
    if steps and operation.relations:
        yield Violation("paths.pattern", ErrorReason.CONTRADICTION, "cannot stand beside relations")
    if steps > limits.max_hops:
        words = f"{steps} steps, at most {limits.max_hops}"
        yield Violation("paths.pattern", ErrorReason.VALUE_OUT_OF_RANGE, words)
    elif 0 < operation.max_hops < steps:
        words = f"{operation.max_hops} is below the {steps} steps of the pattern"
        yield Violation("paths.max_hops", ErrorReason.CONTRADICTION, words)
