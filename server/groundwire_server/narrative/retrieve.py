"""NarrativeRetrieve: passages for a question, each with its citation (semantics 2 to 4, 7; seed, "retrieval").

All that is found is found before the first frame leaves, so that the plan in the header is what ran, and a degradation
that the call forbids is an error and not half a stream.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from groundwire_server.errors import GroundwireError, InvalidRequest, Violation
from groundwire_server.evidence import (
    NO_TRACE,
    BudgetOver,
    Call,
    EndReason,
    ExplainLevel,
    Header,
    LibrarySnapshot,
    PlanStep,
    Snippet,
    Snippets,
    StageTiming,
    Summary,
    Trace,
)
from groundwire_server.llm import CountedCalls, Usage, model_usage
from groundwire_server.narrative.corrective import Corrected, search_until_enough, wanted_judge
from groundwire_server.narrative.exit import make_snippets
from groundwire_server.narrative.hints import make_hints
from groundwire_server.narrative.libraries import Chosen, RouterChoice, Unreachable, choose_libraries
from groundwire_server.narrative.library_router import make_library_router
from groundwire_server.narrative.outside import GATE_STEP, refuse_outside_names
from groundwire_server.narrative.parts import RetrievalParts
from groundwire_server.narrative.presets import with_preset
from groundwire_server.narrative.reach import Reach
from groundwire_server.narrative.request import DEFAULT_TOP_K, RetrieveRequest, check_request
from groundwire_server.narrative.restrict import check_filters
from groundwire_server.narrative.search import Order, Outcome, search_libraries
from groundwire_server.query import HYDE
from groundwire_server.security import drop_unreadable
from groundwire_server.text import tokenize

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["retrieve"]


def retrieve(
    request: RetrieveRequest,
    call: Call,
    snapshots: Sequence[Snapshot],
    parts: RetrievalParts | None = None,
    unreachable: Sequence[Unreachable] = (),
) -> Iterator[Header | Snippets | Summary]:
    """Search and stream: the header, the snippets in rank order, the summary.

    Args:
        snapshots: every library that the caller may read, each at one state.
        unreachable: libraries that the caller may read and that could not be opened.

    Raises:
        InvalidRequest: the request or a filter is wrong; every violation at once.
        UnknownResource: the call names a library that is not there.
        FailedPrecondition: NO_EMBEDDER or INDEX_MISMATCH where the mode asks for vectors; DEGRADATION_FORBIDDEN.
        Unavailable: no chosen library answers.
        CallCancelled, DeadlineExceeded: the call is over.
    """
    parts = parts or RetrievalParts()
    faults = check_request(request, parts.limits)
    if faults:
        raise InvalidRequest([*faults, *_filter_faults_too(request, call, snapshots, parts)])
    request = replace(request, tuning=with_preset(request.tuning))
    refusal = refuse_outside_names(request.query, call, snapshots, parts.gate)
    if refusal is not None:
        yield Header((), (GATE_STEP,), call.reference_day)
        yield Summary(EndReason.REFUSED, refusal=refusal)
        return
    asked = None if parts.model is None else CountedCalls(parts.model)
    try:
        yield from _found(request, call, snapshots, replace(parts, model=asked), unreachable)
    except BudgetOver:
        if asked is not None and asked.usage != Usage():  # it is paid for all the same
            yield Summary(EndReason.SOFT_BUDGET, model_usage=(model_usage(asked, asked.usage),))
        raise


def _found(
    request: RetrieveRequest,
    call: Call,
    snapshots: Sequence[Snapshot],
    parts: RetrievalParts,
    unreachable: Sequence[Unreachable],
) -> Iterator[Header | Snippets | Summary]:
    chosen = _choose(request, call, snapshots, parts, unreachable)
    reach = Reach(call, chosen.snapshots, chosen.unreachable)
    faults = _filter_faults(call, reach)
    if faults:
        raise InvalidRequest(faults)
    top_k = request.top_k or DEFAULT_TOP_K
    wanted = top_k * call.options.pages
    found = _search(request, top_k, call, reach, parts)
    outcome = found.outcome
    call.cancel.check("exit")
    started = time.perf_counter()
    states = reach.each(lambda snapshot: snapshot.snapshot_id(call.principal))
    # A passage that was made up tells where to look and not what for.
    queries = [variant.text for variant in outcome.variants if variant.made_by != HYDE]
    tokens = frozenset(token for text in queries for token in tokenize(text))
    snippets = [] if found.refusal is not None else make_snippets(outcome.found, wanted, call, tokens, reach)
    passages_and_paths = drop_unreadable(list(_with_paths(snippets, top_k, outcome)), call.principal)
    elapsed = timedelta(seconds=time.perf_counter() - started)
    trace = NO_TRACE if call.options.explain < ExplainLevel.TRACE else _trace(found, snippets, call, reach)
    answered = [snapshot.library_id for snapshot in reach.snapshots]
    yield Header(
        tuple(LibrarySnapshot(library_id, states[library_id]) for library_id in answered),
        _plan(chosen, outcome, parts, expanded=any(each.lineage.parent_locator for each in snippets)),
        call.reference_day,
        filter_applied=call.options.filter,
        hint_applied=outcome.hint,
    )
    if snippets:
        yield Snippets(tuple(passages_and_paths))
    yield Summary(
        _end(found, snippets, wanted),
        candidates=outcome.candidates,
        degradations=(*chosen.degradations, *outcome.degradations, *reach.degradations),
        timings=_timings(chosen, outcome, StageTiming("exit", elapsed, len(outcome.found), len(snippets))),
        variants=outcome.variants if call.options.explain >= ExplainLevel.PLAN else (),
        model_usage=outcome.model_usage,
        trace=trace,
        refusal=found.refusal,
    )


def _search(request: RetrieveRequest, top_k: int, call: Call, reach: Reach, parts: RetrievalParts) -> Corrected:
    """Read the hints out of the question, and search; until it is enough, where somebody judges that."""
    tuning = request.tuning
    hints = make_hints(request.query, tuning.filter_extractor, call, reach.snapshots, parts)
    order = Order(
        query=request.query,
        top_k=top_k,
        mode=request.mode,
        fusion=tuning.fusion,
        variants=tuning.glossary_variants,
        graph=tuning.graph,
        transform=tuning.query_transform,
        wanted=top_k * call.options.pages,
    )
    judge = wanted_judge(tuning.corrective, tuning.corrective_judge, reach.snapshots)
    if judge:
        found = search_until_enough(order, call, reach, parts, hints, judge)
    else:
        found = Corrected(search_libraries(order, call, reach, parts, hints))
    outcome = found.outcome
    told = replace(
        outcome,
        plan=(*hints.plan, *outcome.plan),
        timings=(*hints.timings, *outcome.timings),
        degradations=(*hints.degradations, *outcome.degradations),
        model_usage=(*hints.model_usage, *outcome.model_usage),
    )
    return replace(found, outcome=told)


def _end(found: Corrected, snippets: Sequence[Snippet], wanted: int) -> EndReason:
    if found.refusal is not None:
        return EndReason.REFUSED
    return EndReason.TOP_K if len(found.outcome.found) > len(snippets) == wanted else EndReason.EXHAUSTED


def _trace(found: Corrected, snippets: Sequence[Snippet], call: Call, reach: Reach) -> Trace:
    from groundwire_server.narrative.losses import trace_losses  # few calls ask for it

    outcome, refused = found.outcome, found.refusal is not None
    return trace_losses(outcome.found, snippets, outcome.searches, call, reach, refused=refused)


def _with_paths(snippets: Sequence[Snippet], top_k: int, outcome: Outcome) -> Iterator[Snippet]:
    """Passages, and behind those that one call is owed how relations lead to their documents, each chain once."""
    sent: set[str] = set()
    for begin in range(0, len(snippets), top_k):
        some = snippets[begin : begin + top_k]
        yield from some
        for library_id, doc_id in dict.fromkeys((each.lineage.library_id, each.lineage.doc_id) for each in some):
            path = outcome.path(library_id, doc_id)
            if path is not None and path.snippet_id not in sent:
                sent.add(path.snippet_id)
                yield path


def _choose(
    request: RetrieveRequest,
    call: Call,
    snapshots: Sequence[Snapshot],
    parts: RetrievalParts,
    unreachable: Sequence[Unreachable],
) -> Chosen:
    choice, named = parts.library_router, request.tuning.library_router
    if named:
        router = make_library_router(named, "tuning.library_router")
        seconds = parts.limits.library_router_seconds
        choice = None if router is None else RouterChoice(named, router, seconds)
    return choose_libraries(request.query, call, snapshots, unreachable, choice)


def _filter_faults(call: Call, reach: Reach) -> list[Violation]:
    if call.options.filter is None and call.options.hint is None:
        return []
    schemas = reach.each(lambda snapshot: snapshot.attribute_schema(call.principal))
    return check_filters(call, list(schemas.values()))


def _filter_faults_too(
    request: RetrieveRequest, call: Call, snapshots: Sequence[Snapshot], parts: RetrievalParts
) -> list[Violation]:
    """Faults of the filters beside those of the request, as far as libraries can be chosen for it."""
    try:
        chosen = _choose(request, call, snapshots, parts, ())
        return _filter_faults(call, Reach(call, chosen.snapshots))
    except GroundwireError:
        return []


def _plan(chosen: Chosen, outcome: Outcome, parts: RetrievalParts, *, expanded: bool) -> tuple[PlanStep, ...]:
    gate = (GATE_STEP,) if parts.gate else ()
    router = (chosen.step,) if chosen.step is not None else ()
    return (
        *gate,
        *router,
        *outcome.plan,
        PlanStep("exit", "snippets", "rows_once,parents_once" if expanded else "rows_once"),
    )


def _timings(chosen: Chosen, outcome: Outcome, end: StageTiming) -> tuple[StageTiming, ...]:
    router = (chosen.timing,) if chosen.timing is not None else ()
    return (*router, *outcome.timings, end)
