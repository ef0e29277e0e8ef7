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
    Filter,
    Header,
    LibrarySnapshot,
    Outcomes,
    Period,
    Snippet,
    Snippets,
    StageTiming,
    Summary,
)
from groundwire_server.graph.budget import Budget
from groundwire_server.graph.check import asked_nodes, asked_relations, check_trace, read_valid_in
from groundwire_server.graph.community_trace import trace_communities
from groundwire_server.graph.edges import Edge, EdgeTest
from groundwire_server.graph.exit import edge_snippet, path_snippet
from groundwire_server.graph.figures import trace_figures
from groundwire_server.graph.gate import GATE_STEP, outside_names
from groundwire_server.graph.nodes import find_nodes
from groundwire_server.graph.opened import OpenGraph, filter_faults, relation_faults
from groundwire_server.graph.operations import Piece, Place, Walking, run_operation
from groundwire_server.graph.plan import trace_plan
from groundwire_server.graph.request import Communities, Compare, Derivation, Paths, Rollup, TraceLimits, TraceRequest
from groundwire_server.security import SecurityGate, drop_unreadable

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["trace"]

_NO_GATE = SecurityGate()
_LIMITS = TraceLimits()
_SNIPPETS_A_TIME = 200


def trace(
    request: TraceRequest,
    call: Call,
    snapshots: Sequence[Snapshot],
    *,
    gate: SecurityGate = _NO_GATE,
    limits: TraceLimits = _LIMITS,
    degradations: Sequence[Degradation] = (),
) -> Iterator[Header | Outcomes | Snippets | Summary]:
    """Walk and stream: the header, then edges, paths or figures in their order, then the summary.

    What the caller may not see is neither shown, crossed nor counted. Nothing at all is EXHAUSTED: within the
    bounds there is nothing.

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
    if isinstance(operation, str):
        raise NotImplementedHere(f"graph.{operation}")
    if isinstance(operation, Communities):
        yield from trace_communities(request, operation, call, snapshots, gate, limits, degradations)
        return
    if isinstance(operation, Rollup | Compare | Derivation):
        yield from trace_figures(request, operation, call, snapshots, gate, limits, degradations)
        return
    faults = check_trace(operation, request, call, limits)
    valid_in, period_faults = read_valid_in(request.valid_in, call.reference_day)
    faults += period_faults
    refusal = None if faults else outside_names([raw for _, raw in asked_nodes(operation)], call, snapshots, gate)
    if refusal is not None:
        yield Header((), (GATE_STEP,), call.reference_day)
        yield Summary(EndReason.REFUSED, refusal=refusal)
        return
    graphs = [OpenGraph.open(snapshot, call) for snapshot in sorted(snapshots, key=lambda each: each.library_id)]
    nodes = find_nodes(asked_nodes(operation), [graph.names for graph in graphs])
    faults += nodes.faults
    faults += relation_faults(asked_relations(operation), graphs)
    faults += filter_faults(call, graphs)
    places = [Place(graph, found) for graph, found in zip(graphs, nodes.by_library, strict=True)]
    if isinstance(operation, Paths) and not nodes.faults:
        faults += _one_node(places)
    if faults:
        raise InvalidRequest(faults)

    walked = _walk(request, operation, places, call, valid_in, limits)
    yield Header(
        tuple(LibrarySnapshot(each.library_id, each.snapshot.snapshot_id(call.principal)) for each in graphs),
        (*((GATE_STEP,) if gate else ()), *trace_plan(operation, request, limits)),
        call.reference_day,
        filter_applied=call.options.filter,
        hint_applied=walked.hint,
    )
    language = call.options.language or "en"
    sent, elapsed = 0, timedelta(0)
    for begin in range(0, len(walked.pieces), _SNIPPETS_A_TIME):
        started = time.perf_counter()
        some = []
        for piece in walked.pieces[begin : begin + _SNIPPETS_A_TIME]:
            call.cancel.check("exit")
            some.append(_snippet(piece, language))
        readable: list[Snippet] = drop_unreadable(some, call.principal)
        sent += len(readable)
        elapsed += timedelta(seconds=time.perf_counter() - started)
        if readable:
            yield Snippets(tuple(readable))
    yield Summary(
        walked.end,
        candidates=sent,
        degradations=(*degradations, *walked.degradations),
        timings=(
            StageTiming("walk", walked.elapsed, sum(len(place.known) for place in places), len(walked.pieces)),
            StageTiming("exit", elapsed, len(walked.pieces), sent),
        ),
    )


@dataclass(frozen=True, slots=True)
class _Walked:
    """What was found in all libraries, in order; why it ended; the hint that was in force."""

    pieces: list[Piece]
    end: EndReason
    hint: Filter | None
    degradations: tuple[Degradation, ...]
    elapsed: timedelta


def _walk(
    request: TraceRequest,
    operation: Walking,
    places: Sequence[Place],
    call: Call,
    valid_in: Period | None,
    limits: TraceLimits,
) -> _Walked:
    """Walk every library. A hint that leaves nothing is dropped once, where the call lets it be."""

    def run(hint: Filter | None) -> tuple[list[Piece], EndReason, Budget]:
        given = request.budget
        budget = Budget(given.max_nodes or limits.max_nodes, given.max_edges or limits.max_edges)
        test = EdgeTest.of(call, valid_in, hint, include_unverified=request.include_unverified)
        return *run_operation(operation, places, call, test, budget, limits), budget

    started = time.perf_counter()
    hint = call.options.hint
    dropped: tuple[Degradation, ...] = ()
    pieces, end, budget = run(hint)
    if hint is not None and not pieces and call.options.on_empty is not EmptyFilterPolicy.NEVER_WIDEN:
        widened, widened_end, widened_budget = run(None)
        if widened:
            drop = Degradation(DegradationKind.FILTER_DROPPED, "hint", dropped_filter=hint)
            dropped = (call.accept(drop),)
            pieces, end, budget, hint = widened, widened_end, widened_budget, None
    cuts = tuple(call.accept(Degradation(DegradationKind.BUDGET_CUT, name)) for name in budget.cut)
    elapsed = timedelta(seconds=time.perf_counter() - started)
    return _Walked(pieces, end, hint, (*dropped, *cuts), elapsed)


def _snippet(piece: Piece, language: str) -> Snippet:
    graph, item = piece.graph, piece.item
    if isinstance(item, Edge):
        return edge_snippet(item, graph.library_id, graph.names, language)
    return path_snippet(item, graph.library_id, graph.names, language)


def _one_node(places: Sequence[Place]) -> list[Violation]:
    """A path leads from one node to another: the two names must not mean the same."""
    if any(len(place.nodes) == 2 and len(set(place.nodes)) == 1 and place.known for place in places):
        return [Violation("paths.to_id", ErrorReason.CONTRADICTION, "is the node that paths.from_id is")]
    return []
