"""GraphTrace for communities: which nodes hang together, the largest communities first (semantics 12)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from groundwire_server.errors import InvalidRequest
from groundwire_server.evidence import (
    Call,
    Degradation,
    DegradationKind,
    EmptyFilterPolicy,
    EndReason,
    Filter,
    Header,
    LibrarySnapshot,
    Period,
    PlanStep,
    Snippets,
    StageTiming,
    Summary,
)
from groundwire_server.graph.budget import Budget
from groundwire_server.graph.check import asked_nodes, check_trace, read_valid_in
from groundwire_server.graph.communities import Community, find_communities
from groundwire_server.graph.community_summary import community_snippet
from groundwire_server.graph.edges import EdgeTest
from groundwire_server.graph.gate import GATE_STEP, outside_names
from groundwire_server.graph.nodes import FoundNodes, find_nodes
from groundwire_server.graph.opened import OpenGraph, filter_faults
from groundwire_server.graph.plan import budget_detail
from groundwire_server.graph.request import Communities, TraceLimits, TraceRequest
from groundwire_server.security import SecurityGate, drop_unreadable

if TYPE_CHECKING:
    from groundwire_server.adjacency import Sight
    from groundwire_server.library import Snapshot

__all__ = ["trace_communities"]

_USUAL = 10


@dataclass(frozen=True, slots=True)
class _Found:
    """A community, and where."""

    graph: OpenGraph
    sight: Sight
    community: Community

    def order(self) -> tuple[int, str, str]:
        return *self.community.order(), self.graph.library_id


def trace_communities(
    request: TraceRequest,
    operation: Communities,
    call: Call,
    snapshots: Sequence[Snapshot],
    gate: SecurityGate,
    limits: TraceLimits,
    degradations: Sequence[Degradation],
) -> Iterator[Header | Snippets | Summary]:
    """The header, the communities, the summary. Each library has communities of its own.

    Raises:
        InvalidRequest: the request is wrong, or names a node that is not there; every violation at once.
        FailedPrecondition: a degradation that the call forbids.
        CallCancelled, DeadlineExceeded: the call is over.
    """
    faults = check_trace(operation, request, call, limits)
    valid_in, period_faults = read_valid_in(request.valid_in, call.reference_day)
    faults += period_faults
    asked = asked_nodes(operation)
    refusal = None if faults else outside_names([raw for _, raw in asked], call, snapshots, gate)
    if refusal is not None:
        yield Header((), (GATE_STEP,), call.reference_day)
        yield Summary(EndReason.REFUSED, refusal=refusal)
        return
    graphs = [OpenGraph.open(snapshot, call) for snapshot in sorted(snapshots, key=lambda each: each.library_id)]
    nodes = find_nodes(asked, [graph.names for graph in graphs])
    faults += nodes.faults
    faults += filter_faults(call, graphs)
    if faults:
        raise InvalidRequest(faults)

    started = time.perf_counter()
    hint, dropped = call.options.hint, list[Degradation]()
    found, budget = _find(request, operation, call, graphs, nodes, valid_in, hint, limits)
    if hint is not None and not found and call.options.on_empty is not EmptyFilterPolicy.NEVER_WIDEN:
        widened, widened_budget = _find(request, operation, call, graphs, nodes, valid_in, None, limits)
        if widened:
            drop = Degradation(DegradationKind.FILTER_DROPPED, "hint", dropped_filter=hint)
            dropped.append(call.accept(drop))
            found, budget, hint = widened, widened_budget, None
    dropped += [call.accept(Degradation(DegradationKind.BUDGET_CUT, name)) for name in budget.cut]
    walked = timedelta(seconds=time.perf_counter() - started)

    yield Header(
        tuple(LibrarySnapshot(each.library_id, each.snapshot.snapshot_id(call.principal)) for each in graphs),
        (
            *((GATE_STEP,) if gate else ()),
            PlanStep("nodes", "ids_and_names"),
            PlanStep("walk", "leiden", f"modularity,{budget_detail(request, limits)}"),
            PlanStep("exit", "sentences"),
        ),
        call.reference_day,
        filter_applied=call.options.filter,
        hint_applied=hint,
    )
    started = time.perf_counter()
    most = (operation.max_communities or _USUAL) * call.options.pages
    sent = 0
    for one in found[:most]:
        call.cancel.check("exit")
        readable = drop_unreadable([community_snippet(one.community, one.graph, one.sight, call)], call.principal)
        sent += len(readable)
        if readable:
            yield Snippets(tuple(readable))
    elapsed = timedelta(seconds=time.perf_counter() - started)
    whole = EndReason.TOP_K if len(found) > most else EndReason.EXHAUSTED
    yield Summary(
        EndReason.GRAPH_BUDGET if budget.cut else whole,
        candidates=len(found),
        degradations=(*degradations, *dropped),
        timings=(
            StageTiming("walk", walked, len(graphs), len(found)),
            StageTiming("exit", elapsed, min(len(found), most), sent),
        ),
    )


def _find(
    request: TraceRequest,
    operation: Communities,
    call: Call,
    graphs: Sequence[OpenGraph],
    nodes: FoundNodes,
    valid_in: Period | None,
    hint: Filter | None,
    limits: TraceLimits,
) -> tuple[list[_Found], Budget]:
    """The communities of all libraries in their order: those that hold one of the nodes, where any were named."""
    given = request.budget
    budget = Budget(given.max_nodes or limits.max_nodes, given.max_edges or limits.max_edges)
    test = EdgeTest.of(call, valid_in, hint, include_unverified=request.include_unverified)
    found: list[_Found] = []
    for graph, here in zip(graphs, nodes.by_library, strict=True):
        wanted = {node for node in here if node is not None}
        if operation.node_ids and not wanted:
            continue
        sight = graph.snapshot.relations().sight(
            call.principal.clearance,
            graph.reader.generation,
            first=test.first,
            last=test.last,
            include_unverified=request.include_unverified,
        )
        found += [
            _Found(graph, sight, community)
            for community in find_communities(sight, graph.reader, call, test, budget)
            if not wanted or not wanted.isdisjoint(community.nodes)
        ]
    return sorted(found, key=_Found.order), budget
