"""The operations of GraphTrace that answer with figures: a rollup, a comparison, a derivation."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from groundwire_server.errors import ErrorReason, InvalidRequest, Violation
from groundwire_server.evidence import (
    Call,
    Degradation,
    DegradationKind,
    EmptyFilterPolicy,
    EndReason,
    Filter,
    Header,
    LibrarySnapshot,
    MetricFound,
    MetricNotFound,
    MetricOutcome,
    MetricQuery,
    Outcomes,
    Period,
    PlanStep,
    Refusal,
    RefusalReason,
    Snippet,
    Snippets,
    StageTiming,
    Summary,
    UnrecognizedParam,
    make_refusal,
)
from groundwire_server.graph.budget import Budget
from groundwire_server.graph.check import asked_relations, check_trace, read_valid_in
from groundwire_server.graph.gate import GATE_STEP, outside_names
from groundwire_server.graph.opened import OpenGraph, filter_faults, relation_faults
from groundwire_server.graph.plan import budget_detail
from groundwire_server.graph.request import OPERATIONS, Compare, Derivation, Rollup, TraceLimits, TraceRequest
from groundwire_server.graph.rollup import RollupOrder, roll_up
from groundwire_server.metric import (
    MAX_FIGURES,
    Answers,
    CameToBe,
    Missing,
    Unread,
    VersionPolicy,
    agree,
    asking_of,
    derive_figure,
    library_view,
    mark_conflicts,
    not_found_text,
    unit_key,
    unrecognized,
)
from groundwire_server.security import SecurityGate, drop_unreadable

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["Figures", "trace_figures"]

_A_FRAME = 100

Figures = Rollup | Compare | Derivation
"""Operations whose answer is figures."""


@dataclass(frozen=True, slots=True)
class _Told:
    """What is sent. `more`: there are operands that are not. `unlike_days`: figures beside each other are of such.

    refused: why libraries have no answer, beside others that have.
    """

    outcomes: Sequence[MetricOutcome]
    snippets: Sequence[Snippet] = ()
    more: bool = False
    unlike_days: bool = False
    refused: Mapping[str, Refusal] = field(default_factory=dict)


def trace_figures(
    request: TraceRequest,
    operation: Figures,
    call: Call,
    snapshots: Sequence[Snapshot],
    gate: SecurityGate,
    limits: TraceLimits,
    degradations: Sequence[Degradation],
) -> Iterator[Header | Outcomes | Snippets | Summary]:
    """Look up and stream: the header, the outcomes, the figures that they name, the summary.

    Raises:
        InvalidRequest: the request is wrong, or names a relation that is not there; every violation at once.
        FailedPrecondition: a degradation that the call forbids.
        CallCancelled, DeadlineExceeded: the call is over.
    """
    faults = check_trace(operation, request, call, limits)
    valid_in, period_faults = read_valid_in(request.valid_in, call.reference_day)
    faults += period_faults
    if not isinstance(operation, Rollup):
        faults += _without_relations(operation, request, call)
    refusal = None if faults else outside_names(_names(operation), call, snapshots, gate)
    if refusal is not None:
        yield Header((), (GATE_STEP,), call.reference_day)
        yield Summary(EndReason.REFUSED, refusal=refusal)
        return
    graphs = [OpenGraph.open(snapshot, call) for snapshot in sorted(snapshots, key=lambda each: each.library_id)]
    faults += relation_faults(asked_relations(operation), graphs)
    faults += filter_faults(call, graphs)
    if faults:
        raise InvalidRequest(faults)
    started = time.perf_counter()
    told: _Told | Refusal
    hint, own = call.options.hint, Budget(0, 0)
    match operation:
        case Rollup():
            told, hint, own = _roll_up(request, operation, call, valid_in, graphs, limits)
        case Compare():
            told = _compare(operation, call, snapshots)
        case Derivation():
            told = _derive(operation, call, graphs)
    dropped = hint is not call.options.hint
    drops = [Degradation(DegradationKind.FILTER_DROPPED, "hint", dropped_filter=call.options.hint)] if dropped else []
    cuts = [Degradation(DegradationKind.BUDGET_CUT, name) for name in own.cut]
    if isinstance(told, _Told) and told.unlike_days:
        cuts.append(Degradation(DegradationKind.UNLIKE_DAYS, OPERATIONS[type(operation)]))
    if isinstance(told, _Told):
        for library_id, refusal in told.refused.items():
            component = f"{OPERATIONS[type(operation)]}:{refusal.reason.name}"
            cuts.append(Degradation(DegradationKind.LIBRARY_REFUSED, component, library_id))
    accepted = tuple(call.accept(each) for each in (*drops, *cuts))
    elapsed = timedelta(seconds=time.perf_counter() - started)
    yield Header(
        tuple(LibrarySnapshot(each.library_id, each.snapshot.snapshot_id(call.principal)) for each in graphs),
        (*((GATE_STEP,) if gate else ()), *_plan(operation, request, limits)),
        call.reference_day,
        filter_applied=call.options.filter,
        hint_applied=hint,
    )
    if isinstance(told, Refusal):
        yield Summary(EndReason.REFUSED, degradations=(*degradations, *accepted), refusal=told)
        return
    outcomes = told.outcomes
    for begin in range(0, len(outcomes), _A_FRAME):
        yield Outcomes(tuple(outcomes[begin : begin + _A_FRAME]))
    readable: list[Snippet] = drop_unreadable(told.snippets, call.principal)
    for begin in range(0, len(readable), _A_FRAME):
        yield Snippets(tuple(readable[begin : begin + _A_FRAME]))
    yield Summary(
        EndReason.GRAPH_BUDGET if own.cut else EndReason.TOP_K if told.more else EndReason.EXHAUSTED,
        candidates=len(readable),
        degradations=(*degradations, *accepted),
        timings=(StageTiming("figures", elapsed, len(outcomes), len(readable)),),
    )


def _roll_up(
    request: TraceRequest,
    operation: Rollup,
    call: Call,
    valid_in: Period | None,
    graphs: Sequence[OpenGraph],
    limits: TraceLimits,
) -> tuple[_Told | Refusal, Filter | None, Budget]:
    """What is told, the hint in force, what was cut. A hint that leaves no figure is dropped where the call allows."""
    order = RollupOrder(operation, call, _for_figures(call), valid_in, request.include_unverified)

    def run(hint: Filter | None) -> tuple[_Told | Refusal, Budget]:
        given = request.budget
        budget = Budget(given.max_nodes or limits.max_nodes, given.max_edges or limits.max_edges)
        result = roll_up(order, graphs, hint, budget)
        if isinstance(result, Refusal):
            return result, budget
        return _Told([result.outcome], result.snippets, result.more, result.unlike_days), budget

    hint = call.options.hint
    told, budget = run(hint)
    may_widen = hint is not None and call.options.on_empty is not EmptyFilterPolicy.NEVER_WIDEN
    if may_widen and not isinstance(told, Refusal) and not told.snippets:
        widened, widened_budget = run(None)
        if isinstance(widened, Refusal) or widened.snippets:
            return widened, None, widened_budget
    return told, hint, budget


def _compare(operation: Compare, call: Call, snapshots: Sequence[Snapshot]) -> _Told | Refusal:
    """One outcome an entity. Figures in unlike units stand beside each other in no table."""
    answers = Answers(VersionPolicy.LATEST, _for_figures(call), snapshots)
    queries = [MetricQuery(operation.metric, each, operation.period, operation.channel) for each in operation.entities]
    answered = answers.answer(queries)
    if len({unit_key(unit) for each in answered for unit in each.units}) > 1:
        return make_refusal(RefusalReason.UNLIKE_UNITS, call.options.language or "en")
    snippets = {snippet.snippet_id: snippet for each in answered for snippet in each.snippets}
    unlike_days = len({days for each in answered for days in each.days}) > 1
    return _Told([each.outcome for each in answered], list(snippets.values()), unlike_days=unlike_days)


def _derive(operation: Derivation, call: Call, graphs: Sequence[OpenGraph]) -> _Told | Refusal:
    """How the figure came to be, in each library that has it; else why none has."""
    query, figures_call = operation.query, _for_figures(call)
    asking = asking_of(query, figures_call)
    results = [
        derive_figure(query, library_view(graph.snapshot, figures_call), asking, call.cancel) for graph in graphs
    ]
    found = [result for result in results if isinstance(result, CameToBe)]
    outcome: MetricFound | MetricNotFound | UnrecognizedParam
    if found:
        named = tuple(name for result in found for name in result.named)
        shown = (snippet for result in found for snippet in result.snippets)
        snippets, conflicting = mark_conflicts(shown, (figure for result in found for figure in result.figures))
        outcome = MetricFound(found[0].key, named, conflicting or not agree(found))
        if len(snippets) > MAX_FIGURES:
            words = f"it stands on {len(snippets)} figures, at most {MAX_FIGURES}"
            raise InvalidRequest.one("derivation.query", ErrorReason.VALUE_OUT_OF_RANGE, words)
        refusing = {
            graph.library_id: result
            for graph, result in zip(graphs, results, strict=True)
            if isinstance(result, Refusal)
        }
        return _Told([MetricOutcome(0, query, outcome)], snippets, refused=refusing)
    refused = next((result for result in results if isinstance(result, Refusal)), None)
    if refused is not None:
        return refused
    missing = next((result for result in results if isinstance(result, Missing)), None)
    if missing is not None:
        outcome = MetricNotFound(missing.key, not_found_text(missing.key.period, asking.language))
    else:
        outcome = unrecognized(query, [result for result in results if isinstance(result, Unread)])
    return _Told([MetricOutcome(0, query, outcome)])


def _for_figures(call: Call) -> Call:
    """The same call for figures: its filter and its hint test edges."""
    return replace(call, options=replace(call.options, filter=None, hint=None))


def _without_relations(operation: Figures, request: TraceRequest, call: Call) -> Iterator[Violation]:
    """What bounds a walk has nothing to bound where none is made."""
    given = (
        ("options.filter", call.options.filter is not None),
        ("options.hint", call.options.hint is not None),
        ("valid_in", bool(request.valid_in)),
        ("include_unverified", request.include_unverified),
        ("budget.max_nodes", bool(request.budget.max_nodes)),
        ("budget.max_edges", bool(request.budget.max_edges)),
    )
    for path, is_given in given:
        if is_given:
            words = f"cannot stand beside {OPERATIONS[type(operation)]}, which walks no relations"
            yield Violation(path, ErrorReason.CONTRADICTION, words)


def _names(operation: Figures) -> list[str]:
    if isinstance(operation, Compare):
        return [operation.metric, *operation.entities, operation.channel]
    query = operation.query
    return [query.metric, query.entity, query.channel, *(dimension.member for dimension in query.dimensions)]


def _plan(operation: Figures, request: TraceRequest, limits: TraceLimits) -> tuple[PlanStep, ...]:
    exit_step = PlanStep("exit", "snippets")
    if isinstance(operation, Compare):
        return (PlanStep("names", "glossary"), PlanStep("lookup", "facts", "versions=latest"), exit_step)
    if isinstance(operation, Derivation):
        lookup, calculate = PlanStep("lookup", "facts", "versions=all"), PlanStep("calculate", "decimal", "half even")
        return (PlanStep("names", "glossary"), lookup, calculate, exit_step)
    detail = f"depth={operation.max_depth or 'all'},direction=out,{budget_detail(request, limits)}"
    return (
        PlanStep("names", "glossary"),
        PlanStep("walk", "breadth_first", detail),
        PlanStep("lookup", "facts", "versions=latest"),
        PlanStep("sum", "decimal", "exact"),
        exit_step,
    )
