"""GraphTrace: relations that one can follow and cite (semantics 12; graph.proto)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from groundwire_server.errors import ErrorReason, InvalidRequest, NotImplementedHere, Violation
from groundwire_server.evidence import (
    Call,
    Degradation,
    DegradationKind,
    EmptyFilterPolicy,
    EndReason,
    Family,
    Filter,
    Header,
    LibrarySnapshot,
    Period,
    PlanStep,
    Refusal,
    Snippet,
    Snippets,
    StageTiming,
    Summary,
    check_filter,
)
from groundwire_server.graph.edges import EDGE_ATTRIBUTES, EdgeTest
from groundwire_server.graph.exit import edge_snippet
from groundwire_server.graph.nodes import Node, NodeNames, find_nodes
from groundwire_server.graph.request import (
    Direction,
    Neighborhood,
    TraceLimits,
    TraceRequest,
    check_trace,
    read_valid_in,
)
from groundwire_server.graph.walk import Budget, Step, walk
from groundwire_server.security import SecurityGate, drop_unreadable
from groundwire_server.store import StoreReader
from groundwire_server.text import detect_language

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["trace"]

_NO_GATE = SecurityGate()
_LIMITS = TraceLimits()
_GATE_STEP = PlanStep("gate", "outside_names")


def trace(
    request: TraceRequest,
    call: Call,
    snapshots: Sequence[Snapshot],
    *,
    gate: SecurityGate = _NO_GATE,
    limits: TraceLimits = _LIMITS,
    degradations: Sequence[Degradation] = (),
) -> Iterator[Header | Snippets | Summary]:
    """Walk and stream: the header, the edges nearest first, the summary.

    What the caller may not see is neither shown, crossed nor counted. No edge at all is EXHAUSTED: within the bounds
    there is none.

    Args:
        snapshots: libraries to read, each at one state.
        degradations: of choosing them; they were accepted and go into the summary.

    Raises:
        NotImplementedHere: the operation is not built.
        InvalidRequest: the request is wrong, or names a node or relation that is not there; every violation at once.
        FailedPrecondition: a degradation that the call forbids.
        CallCancelled, DeadlineExceeded: the call is over.
    """
    operation = request.operation
    if not isinstance(operation, Neighborhood):
        raise NotImplementedHere(f"graph.{operation}")
    faults = check_trace(operation, request, call, limits)
    valid_in, period_faults = read_valid_in(request.valid_in, call.reference_day)
    faults += period_faults
    refusal = None if faults else _outside(operation.node_ids, call, snapshots, gate)
    if refusal is not None:
        yield Header((), (_GATE_STEP,), call.reference_day)
        yield Summary(EndReason.REFUSED, refusal=refusal)
        return
    libraries = [_Graph.open(snapshot, call) for snapshot in sorted(snapshots, key=lambda each: each.library_id)]
    found = find_nodes(operation.node_ids, [library.names for library in libraries], "neighborhood.node_ids")
    faults += found.faults
    faults += _relation_faults(operation.relations, call, libraries)
    faults += _filter_faults(call, libraries)
    if faults:
        raise InvalidRequest(faults)

    walked = _walk(_Walk(request, operation, call, valid_in, limits), libraries, found.starts)
    started = time.perf_counter()
    language = call.options.language or "en"
    snippets = [edge_snippet(step.edge, graph.library_id, graph.names, language) for graph, step in walked.steps]
    readable: list[Snippet] = drop_unreadable(snippets, call.principal)
    elapsed = timedelta(seconds=time.perf_counter() - started)
    yield Header(
        tuple(LibrarySnapshot(each.library_id, each.snapshot.snapshot_id(call.principal)) for each in libraries),
        _plan(operation, request, limits, gate),
        call.reference_day,
        filter_applied=call.options.filter,
        hint_applied=walked.hint,
    )
    if readable:
        yield Snippets(tuple(readable))
    yield Summary(
        EndReason.GRAPH_BUDGET if walked.cut else EndReason.EXHAUSTED,
        candidates=len(readable),
        degradations=(*degradations, *walked.degradations),
        timings=(
            StageTiming("walk", walked.elapsed, sum(map(len, found.starts)), len(snippets)),
            StageTiming("exit", elapsed, len(snippets), len(readable)),
        ),
    )


@dataclass(frozen=True, slots=True)
class _Graph:
    """The relations of one library at one state."""

    snapshot: Snapshot
    reader: StoreReader
    names: NodeNames

    @classmethod
    def open(cls, snapshot: Snapshot, call: Call) -> _Graph:
        reader = snapshot.reader_at(call.options.known_at)
        return cls(snapshot, reader, NodeNames(snapshot, reader, call.principal))

    @property
    def library_id(self) -> str:
        return self.snapshot.library_id


@dataclass(frozen=True, slots=True)
class _Walk:
    """What all libraries are walked for."""

    request: TraceRequest
    operation: Neighborhood
    call: Call
    valid_in: Period | None
    limits: TraceLimits

    def test(self, hint: Filter | None) -> EdgeTest:
        unverified = self.request.include_unverified
        return EdgeTest.of(self.call, self.operation.relations, self.valid_in, hint, include_unverified=unverified)

    def budget(self) -> Budget:
        given = self.request.budget
        return Budget(given.max_nodes or self.limits.max_nodes, given.max_edges or self.limits.max_edges)


@dataclass(frozen=True, slots=True)
class _Walked:
    """Edges of all libraries, nearest first; what was cut; the hint that was in force."""

    steps: list[tuple[_Graph, Step]]
    cut: tuple[str, ...]
    hint: Filter | None
    degradations: tuple[Degradation, ...]
    elapsed: timedelta


def _walk(order: _Walk, libraries: Sequence[_Graph], starts: Sequence[Sequence[Node]]) -> _Walked:
    """Walk every library. A hint that leaves no edge is dropped once, where the call lets it be."""
    started = time.perf_counter()
    hint = order.call.options.hint
    dropped: tuple[Degradation, ...] = ()
    steps, cut = _steps(order, libraries, starts, hint)
    if hint is not None and not steps and order.call.options.on_empty is not EmptyFilterPolicy.NEVER_WIDEN:
        widened, widened_cut = _steps(order, libraries, starts, None)
        if widened:
            drop = Degradation(DegradationKind.FILTER_DROPPED, "hint", dropped_filter=hint)
            dropped = (order.call.accept(drop),)
            steps, cut, hint = widened, widened_cut, None
    cuts = tuple(order.call.accept(Degradation(DegradationKind.BUDGET_CUT, name)) for name in cut)
    elapsed = timedelta(seconds=time.perf_counter() - started)
    return _Walked(steps, cut, hint, (*dropped, *cuts), elapsed)


def _steps(
    order: _Walk, libraries: Sequence[_Graph], starts: Sequence[Sequence[Node]], hint: Filter | None
) -> tuple[list[tuple[_Graph, Step]], tuple[str, ...]]:
    budget = order.budget()
    test = order.test(hint)
    direction, hops = order.operation.direction, order.operation.max_hops or 1
    steps = [
        (graph, step)
        for graph, nodes in zip(libraries, starts, strict=True)
        for step in walk(graph.reader, nodes, order.call, test, direction, hops, budget)
    ]
    steps.sort(key=lambda one: (one[1].hop, *one[1].edge.order(), one[0].library_id))
    return steps, tuple(budget.cut)


def _outside(raws: Sequence[str], call: Call, snapshots: Sequence[Snapshot], gate: SecurityGate) -> Refusal | None:
    """OUT_OF_SCOPE when a node is asked for by an outside name."""
    if not gate:
        return None
    for raw in raws:
        known = [mention.span for snapshot in snapshots for mention in snapshot.glossary.find_terms(raw)]
        refusal = gate.refusal(raw, call.options.language or detect_language(raw), known)
        if refusal is not None:
            return refusal
    return None


def _relation_faults(relations: Sequence[str], call: Call, libraries: Sequence[_Graph]) -> list[Violation]:
    if not relations:
        return []
    known = sorted({name for each in libraries for name in each.reader.relations(call.principal.clearance)})
    return [
        Violation(
            f"neighborhood.relations[{place}]",
            ErrorReason.UNKNOWN_NAME,
            f"{name[:80]!r} is none of {', '.join(known) or 'none: there are no relations'}",
        )
        for place, name in enumerate(relations)
        if name.strip() and name not in known
    ]


def _filter_faults(call: Call, libraries: Sequence[_Graph]) -> list[Violation]:
    options = call.options
    schema: dict[str, Family] = {}
    if options.filter is not None or options.hint is not None:
        for each in libraries:
            schema |= each.reader.attribute_schema(call.principal.clearance)
    schema |= EDGE_ATTRIBUTES
    faults = check_filter(options.filter, schema) if options.filter is not None else []
    return faults + (check_filter(options.hint, schema, "options.hint") if options.hint is not None else [])


def _plan(
    operation: Neighborhood, request: TraceRequest, limits: TraceLimits, gate: SecurityGate
) -> tuple[PlanStep, ...]:
    detail = ",".join(
        (
            f"hops={operation.max_hops or 1}",
            f"direction={Direction(operation.direction).name.lower()}",
            f"max_nodes={request.budget.max_nodes or limits.max_nodes}",
            f"max_edges={request.budget.max_edges or limits.max_edges}",
        )
    )
    steps = (
        PlanStep("nodes", "ids_and_names"),
        PlanStep("walk", "breadth_first", detail),
        PlanStep("exit", "snippets"),
    )
    return (*((_GATE_STEP,) if gate else ()), *steps)
