"""QueryMetric: exact figures or a typed refusal, one outcome a query, in order (semantics 10; seed, structured).

Everything is looked up before the first frame leaves, so that a degradation that the call forbids is an error and not
half a stream.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from groundwire_server.errors import InvalidRequest, Violation
from groundwire_server.evidence import (
    Call,
    Degradation,
    EndReason,
    Header,
    LibrarySnapshot,
    MetricFact,
    MetricOutcome,
    MetricQuery,
    Outcomes,
    PlanStep,
    Refusal,
    Snippet,
    Snippets,
    StageTiming,
    Summary,
    UnrecognizedParam,
    check_filter_in_each,
)
from groundwire_server.metric.answers import Answers
from groundwire_server.metric.figures import FACT_ATTRIBUTES
from groundwire_server.metric.request import MetricRequest, expand_queries
from groundwire_server.security import SecurityGate
from groundwire_server.text import detect_language

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["MAX_METRIC_QUERIES", "query_metric"]

MAX_METRIC_QUERIES = 1000
_OUTCOMES_A_FRAME = 100
_NO_GATE = SecurityGate()
_GATE_STEP = PlanStep("gate", "outside_names")


def query_metric(
    request: MetricRequest,
    call: Call,
    snapshots: Sequence[Snapshot],
    *,
    gate: SecurityGate = _NO_GATE,
    degradations: Sequence[Degradation] = (),
    most: int = MAX_METRIC_QUERIES,
) -> Iterator[Header | Outcomes | Snippets | Summary]:
    """Look up and stream: the header, outcomes each before the snippets that it names, the summary.

    With several libraries each reads names by its own glossary, and an outcome tells of all of them: found where one
    has a figure, and conflicting where two disagree.

    Args:
        snapshots: libraries to read, each at one state.
        degradations: of choosing them; they were accepted and go into the summary.
        most: queries and calculations that one call may hold.

    Raises:
        InvalidRequest: the request, the filter or the hint is wrong; every violation at once.
        FailedPrecondition: a degradation that the call forbids.
        CallCancelled, DeadlineExceeded: the call is over.
    """
    queries = expand_queries(request, most)
    faults = _filter_faults(call, snapshots)
    if faults:
        raise InvalidRequest(faults)
    refusal = _outside(queries, call, snapshots, gate)
    if refusal is not None:
        yield Header((), (_GATE_STEP,), call.reference_day)
        yield Summary(EndReason.REFUSED, refusal=refusal)
        return
    started = time.perf_counter()
    answers = Answers(request.versions, call, snapshots)
    found = answers.answer(queries)
    calculated = [answers.calculation(place, each, found) for place, each in enumerate(request.calculations)]
    elapsed = timedelta(seconds=time.perf_counter() - started)
    ordered = sorted(snapshots, key=lambda snapshot: snapshot.library_id)
    states = tuple(LibrarySnapshot(state.library_id, state.snapshot_id(call.principal)) for state in ordered)
    plan = _plan(request, snapshots, gate)
    yield Header(
        states,
        plan,
        call.reference_day,
        filter_applied=call.options.filter,
        hint_applied=None if answers.dropped else call.options.hint,
    )
    sent: set[str] = set()
    clashing = {snippet.snippet_id for each in found for snippet in each.snippets if _is_marked(snippet)}
    for begin in range(0, len(found), _OUTCOMES_A_FRAME):
        part = found[begin : begin + _OUTCOMES_A_FRAME]
        yield Outcomes(tuple(_inside(each.outcome, snapshots, gate) for each in part))
        yield from _unsent([snippet for each in part for snippet in each.snippets], sent, clashing)
    if calculated:
        yield Outcomes((), tuple(each.outcome for each in calculated))
        yield from _unsent([each.snippet for each in calculated if each.snippet is not None], sent, clashing)
    count = sum(len(each.snippets) for each in found)
    yield Summary(
        EndReason.EXHAUSTED,
        candidates=count,
        degradations=(*degradations, *answers.dropped),
        timings=(StageTiming("lookup", elapsed, len(queries), count),),
    )


def _is_marked(snippet: Snippet) -> bool:
    return isinstance(snippet.payload, MetricFact) and snippet.payload.conflicting


def _unsent(snippets: Sequence[Snippet], sent: set[str], clashing: set[str]) -> Iterator[Snippets]:
    """Snippets that are not in the stream yet, each once, and marked where any outcome of the call has it in doubt."""
    fresh = {snippet.snippet_id: snippet for snippet in snippets if snippet.snippet_id not in sent}
    sent.update(fresh)
    for snippet_id in clashing & fresh.keys():
        snippet = fresh[snippet_id]
        if isinstance(snippet.payload, MetricFact) and not snippet.payload.conflicting:
            fresh[snippet_id] = replace(snippet, payload=replace(snippet.payload, conflicting=True))
    if fresh:
        yield Snippets(tuple(fresh.values()))


def _outside(
    queries: Sequence[MetricQuery], call: Call, snapshots: Sequence[Snapshot], gate: SecurityGate
) -> Refusal | None:
    """OUT_OF_SCOPE when a name of any query is an outside name."""
    if not gate:
        return None
    members = [dimension.member for query in queries for dimension in query.dimensions]
    names = [name for query in queries for name in (query.metric, query.entity, query.channel)]
    for name in dict.fromkeys((*names, *members)):
        known = [mention.span for snapshot in snapshots for mention in snapshot.glossary.find_terms(name)]
        refusal = gate.refusal(name, call.options.language or detect_language(name), known)
        if refusal is not None:
            return refusal
    return None


def _inside(outcome: MetricOutcome, snapshots: Sequence[Snapshot], gate: SecurityGate) -> MetricOutcome:
    """An outcome that suggests no outside name."""
    unknown = outcome.outcome
    if not gate or not isinstance(unknown, UnrecognizedParam):
        return outcome

    def passes(name: str) -> bool:
        return gate.find(name, [each.span for one in snapshots for each in one.glossary.find_terms(name)]) is None

    return replace(outcome, outcome=replace(unknown, suggestions=tuple(filter(passes, unknown.suggestions))))


def _filter_faults(call: Call, snapshots: Sequence[Snapshot]) -> list[Violation]:
    options = call.options
    if options.filter is None and options.hint is None:
        return []
    schemas = [{**snapshot.attribute_schema(call.principal), **FACT_ATTRIBUTES} for snapshot in snapshots]
    trees = (("options.filter", options.filter), ("options.hint", options.hint))
    checked = schemas or [dict(FACT_ATTRIBUTES)]
    return [fault for path, tree in trees if tree is not None for fault in check_filter_in_each(tree, checked, path)]


def _plan(request: MetricRequest, snapshots: Sequence[Snapshot], gate: SecurityGate) -> tuple[PlanStep, ...]:
    names = tuple(
        PlanStep("names", "glossary", f"{len(snapshot.glossary)} terms", snapshot.library_id)
        for snapshot in sorted(snapshots, key=lambda snapshot: snapshot.library_id)
    )
    lookup = PlanStep("lookup", "facts", f"versions={request.versions.name.lower()}")
    calculate_step = (PlanStep("calculate", "decimal", "34 digits, half even"),) if request.calculations else ()
    return (*((_GATE_STEP,) if gate else ()), *names, lookup, *calculate_step, PlanStep("exit", "snippets"))
