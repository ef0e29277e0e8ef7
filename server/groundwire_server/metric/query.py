"""QueryMetric: exact figures or a typed refusal, one outcome a query, in order (semantics 10; seed, structured).

Everything is looked up before the first frame leaves, so that a degradation that the call forbids is an error and not
half a stream.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from groundwire_server.errors import ErrorReason, InvalidRequest, Violation
from groundwire_server.evidence import (
    LANGUAGES,
    CalculationOutcome,
    Call,
    Degradation,
    DegradationKind,
    EmptyFilterPolicy,
    EndReason,
    Header,
    LibrarySnapshot,
    MetricFound,
    MetricNotFound,
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
from groundwire_server.metric.calculation import Operand, calculate
from groundwire_server.metric.conflict import conflicting_figures
from groundwire_server.metric.exit import fact_snippet
from groundwire_server.metric.figures import FACT_ATTRIBUTES, FigureReader
from groundwire_server.metric.lookup import Found, LibraryView, look_up
from groundwire_server.metric.reading import Asking, Unread
from groundwire_server.metric.request import Calculation, MetricRequest, expand_queries
from groundwire_server.metric.texts import not_found_text
from groundwire_server.metric.vocabulary import vocabulary_of
from groundwire_server.security import SecurityGate
from groundwire_server.text import detect_language

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["MAX_METRIC_QUERIES", "query_metric"]

MAX_METRIC_QUERIES = 1000
# Of one query, sources and versions together: their ids stand in one outcome, and a frame has 1 MiB.
MAX_FIGURES = 20_000
_OUTCOMES_A_FRAME = 100
_MOST_SUGGESTIONS = 5
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
    answers = _Answers(request, call, snapshots)
    found = [answers.answer(place, query) for place, query in enumerate(queries)]
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
    for begin in range(0, len(found), _OUTCOMES_A_FRAME):
        part = found[begin : begin + _OUTCOMES_A_FRAME]
        yield Outcomes(tuple(each.outcome for each in part))
        yield from _unsent([snippet for each in part for snippet in each.snippets], sent)
    if calculated:
        yield Outcomes((), tuple(each.outcome for each in calculated))
        yield from _unsent([each.snippet for each in calculated if each.snippet is not None], sent)
    count = sum(len(each.snippets) for each in found)
    yield Summary(
        EndReason.EXHAUSTED,
        candidates=count,
        degradations=(*degradations, *answers.dropped),
        timings=(StageTiming("lookup", elapsed, len(queries), count),),
    )


@dataclass(frozen=True, slots=True)
class _Answered:
    """One query's outcome, the snippets that it names, and what it is as an operand."""

    outcome: MetricOutcome
    snippets: tuple[Snippet, ...] = ()
    operand: Operand | None = None


@dataclass(frozen=True, slots=True)
class _Calculated:
    """One calculation's outcome, and the snippet that it names."""

    outcome: CalculationOutcome
    snippet: Snippet | None = None


class _Answers:
    """Answers the queries of one call."""

    def __init__(self, request: MetricRequest, call: Call, snapshots: Sequence[Snapshot]) -> None:
        self._call = call
        self._views = [
            LibraryView(
                vocabulary_of(snapshot, call.principal),
                FigureReader(snapshot.library_id, snapshot.reader, call, request.versions),
            )
            for snapshot in sorted(snapshots, key=lambda snapshot: snapshot.library_id)
        ]
        self._glossaries = {view.library_id: view.vocabulary.glossary for view in self._views}
        self.dropped: tuple[Degradation, ...] = ()

    def answer(self, place: int, query: MetricQuery) -> _Answered:
        """Exactly one outcome."""
        self._call.cancel.check("lookup")
        language = self._language(query)
        spoken = language if self._call.options.language or language == "ja" else ""
        asking = Asking(self._call.reference_day, language, spoken)
        results = [look_up(query, view, asking, self._call.options.hint) for view in self._views]
        founds = [result for result in results if isinstance(result, Found)]
        kept = self._narrowed(founds)
        if kept:
            return self._found(place, query, kept, language)
        doubts = [result for result in results if isinstance(result, Unread)]
        keys = [result.key for result in results if not isinstance(result, Unread)]
        if founds or (keys and not any(doubt.ambiguous for doubt in doubts)):
            refusal = not_found_text(keys[0].period, language)
            return _Answered(MetricOutcome(place, query, MetricNotFound(keys[0], refusal)))
        return _Answered(MetricOutcome(place, query, _unrecognized(query, doubts)))

    def calculation(self, place: int, asked: Calculation, answered: Sequence[_Answered]) -> _Calculated:
        """The computed figure, or why there is none."""
        self._call.cancel.check("calculate")
        first, second = answered[asked.first], answered[asked.second]
        language = self._language(first.outcome.query)
        result = calculate(asked.operation, first.operand, second.operand, language)
        if isinstance(result, Refusal):
            return _Calculated(CalculationOutcome(place, result))
        return _Calculated(CalculationOutcome(place, result.snippet_id), result)

    def _language(self, query: MetricQuery) -> str:
        """That of the call, else that of the names."""
        given = self._call.options.language
        if given:
            return given if given in LANGUAGES else "en"
        return detect_language(" ".join((query.metric, query.entity, query.period, query.channel)))

    def _narrowed(self, founds: list[Found]) -> list[Found]:
        """By the hint, where anything fits it; else, where the call allows, without it."""
        hint = self._call.options.hint
        fitting = [found for found in founds if not found.hint_dropped]
        if hint is None or fitting or not founds:
            return fitting
        if self._call.options.on_empty is EmptyFilterPolicy.NEVER_WIDEN:
            return []
        if not self.dropped:
            drop = Degradation(DegradationKind.FILTER_DROPPED, "hint", dropped_filter=hint)
            self.dropped = (self._call.accept(drop),)
        return founds

    def _found(self, place: int, query: MetricQuery, founds: list[Found], language: str) -> _Answered:
        figures = tuple(figure for found in founds for figure in found.figures)
        if len(figures) > MAX_FIGURES:
            words = f"query {place} has {len(figures)} figures, at most {MAX_FIGURES}; a filter narrows them"
            raise InvalidRequest.one("queries", ErrorReason.VALUE_OUT_OF_RANGE, words)
        clashing = conflicting_figures(figures)
        snippets = tuple(
            fact_snippet(
                figure,
                self._glossaries[figure.library_id],
                language,
                conflicting=(figure.library_id, figure.fact.fact_id) in clashing,
            )
            for figure in figures
        )
        key = founds[0].key
        outcome = MetricFound(key, tuple(snippet.snippet_id for snippet in snippets), bool(clashing))
        glossary = self._glossaries[figures[0].library_id]
        return _Answered(
            MetricOutcome(place, query, outcome), snippets, Operand(key, figures, bool(clashing), glossary)
        )


def _unrecognized(query: MetricQuery, doubts: Sequence[Unread]) -> UnrecognizedParam:
    """Of several libraries the one that understood most speaks; those that stopped at the same name suggest with it."""
    if not doubts:  # there is no library at all, and so no name that anybody knows
        return UnrecognizedParam("metric", query.metric)
    furthest = max(doubts, key=lambda doubt: (doubt.ambiguous, doubt.place))
    beside = [doubt for doubt in doubts if (doubt.place, doubt.ambiguous) == (furthest.place, furthest.ambiguous)]
    suggested = tuple(dict.fromkeys(name for doubt in beside for name in doubt.suggestions))[:_MOST_SUGGESTIONS]
    return UnrecognizedParam(
        furthest.param, furthest.raw, suggested, ambiguous=furthest.ambiguous, explanation=furthest.explanation
    )


def _unsent(snippets: Sequence[Snippet], sent: set[str]) -> Iterator[Snippets]:
    """Snippets that are not in the stream yet, each once."""
    fresh = {snippet.snippet_id: snippet for snippet in snippets if snippet.snippet_id not in sent}
    sent.update(fresh)
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
