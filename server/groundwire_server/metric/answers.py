"""What becomes of each query of one call: its outcome, and the figures that it names (semantics 10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.evidence import (
    LANGUAGES,
    CalculationOutcome,
    Call,
    Degradation,
    DegradationKind,
    DerivedFigure,
    EmptyFilterPolicy,
    MetricFact,
    MetricFound,
    MetricNotFound,
    MetricOutcome,
    MetricQuery,
    Refusal,
    RefusalReason,
    Snippet,
    UnrecognizedParam,
)
from groundwire_server.metric.calculation import Operand, calculate, operand_of
from groundwire_server.metric.conflict import conflicting_figures
from groundwire_server.metric.derivation import CameToBe, agree, compute_figure
from groundwire_server.metric.exit import fact_snippet
from groundwire_server.metric.figures import Figure, FigureReader
from groundwire_server.metric.fiscal import Days
from groundwire_server.metric.lookup import Found, LibraryView, Missing, look_up
from groundwire_server.metric.reading import Asking, Reading, Unread, read_query
from groundwire_server.metric.request import Calculation, VersionPolicy
from groundwire_server.metric.texts import not_found_text
from groundwire_server.metric.vocabulary import vocabulary_of
from groundwire_server.store import FactKey
from groundwire_server.text import detect_language, guess_language

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["MAX_FIGURES", "Answered", "Answers", "asking_of", "library_view", "unrecognized"]

# Of one query, sources and versions together: their ids stand in one outcome, and a frame has 1 MiB.
MAX_FIGURES = 20_000
_MOST_SUGGESTIONS = 5
_Narrowable = TypeVar("_Narrowable", Found, CameToBe)


def asking_of(query: MetricQuery, call: Call) -> Asking:
    """How a query is asked: in the language of the call, else in that of its names."""
    given = call.options.language
    if given:
        language = given if given in LANGUAGES else "en"
        return Asking(call.reference_day, language, language)
    names = " ".join((query.metric, query.entity, query.period, query.channel))
    # A period is read by what kana tell for sure: 前年 is another year in Chinese.
    spoken = "ja" if detect_language(names) == "ja" else ""
    return Asking(call.reference_day, guess_language(names), spoken)


def library_view(snapshot: Snapshot, call: Call, versions: VersionPolicy = VersionPolicy.LATEST) -> LibraryView:
    """One library as a call sees it."""
    reader = FigureReader(snapshot.library_id, snapshot.reader, call, versions)
    return LibraryView(vocabulary_of(snapshot, call.principal), reader)


@dataclass(frozen=True, slots=True)
class Answered:
    """One query's outcome and the snippets that it names.

    Attributes:
        figures: stored ones that were found.
        computed: what formulas gave instead, a library each.
    """

    outcome: MetricOutcome
    snippets: tuple[Snippet, ...] = ()
    figures: tuple[Figure, ...] = ()
    computed: tuple[CameToBe, ...] = ()

    @property
    def days(self) -> frozenset[Days]:
        """First and last day of its figures."""
        stored = ((figure.record.period_first, figure.record.period_last) for figure in self.figures)
        return frozenset(stored).union(*(each.days for each in self.computed))

    @property
    def units(self) -> frozenset[str]:
        """Units of the figures that the outcome names."""
        if not isinstance(self.outcome.outcome, MetricFound):
            return frozenset()
        named = set(self.outcome.outcome.snippet_ids)
        payloads = [snippet.payload for snippet in self.snippets if snippet.snippet_id in named]
        return frozenset(each.unit for each in payloads if isinstance(each, MetricFact | DerivedFigure))


@dataclass(frozen=True, slots=True)
class Calculated:
    """One calculation's outcome, and the snippet that it names."""

    outcome: CalculationOutcome
    snippet: Snippet | None = None


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query, and what each library reads in it."""

    query: MetricQuery
    asking: Asking
    readings: Sequence[Reading | Unread]


class Answers:
    """Answers the queries of one call."""

    def __init__(self, versions: VersionPolicy, call: Call, snapshots: Sequence[Snapshot]) -> None:
        self._call = call
        ordered = sorted(snapshots, key=lambda snapshot: snapshot.library_id)
        self._views = [library_view(snapshot, call, versions) for snapshot in ordered]
        self._glossaries = {view.library_id: view.vocabulary.glossary for view in self._views}
        self.dropped: tuple[Degradation, ...] = ()

    def answer(self, queries: Sequence[MetricQuery]) -> list[Answered]:
        """Exactly one outcome each. What is stored under the keys of several is read at once."""
        asked = [self._read(query) for query in queries]
        if len(asked) > 1:
            for place, view in enumerate(self._views):
                readings = (each.readings[place] for each in asked)
                view.figures.read_ahead(
                    FactKey(key.metric, key.entity, key.channel, key.period.first, key.period.last)
                    for reading in readings
                    if isinstance(reading, Reading)
                    for key in reading.keys
                )
        return [self._answer(place, each) for place, each in enumerate(asked)]

    def _read(self, query: MetricQuery) -> _Asked:
        """What each library understands."""
        self._call.cancel.check("lookup")
        asking = asking_of(query, self._call)
        return _Asked(query, asking, [read_query(query, view.vocabulary, asking) for view in self._views])

    def _answer(self, place: int, asked: _Asked) -> Answered:
        self._call.cancel.check("lookup")
        query, asking, language = asked.query, asked.asking, asked.asking.language
        results = [
            look_up(query, view, asking, self._call.options.hint, reading=reading)
            for view, reading in zip(self._views, asked.readings, strict=True)
        ]
        founds = [result for result in results if isinstance(result, Found)]
        kept = self._narrowed(founds)
        if kept:
            return self._found(place, query, kept, language)
        computed = [] if founds else self._computed(query, results, asking)
        kept_computed = self._narrowed(computed)
        if kept_computed:
            return _of_formula(place, query, kept_computed)
        doubts = [result for result in results if isinstance(result, Unread)]
        keys = [result.key for result in results if not isinstance(result, Unread)]
        if founds or computed or (keys and not any(doubt.ambiguous for doubt in doubts)):
            refusal = not_found_text(keys[0].period, language)
            return Answered(MetricOutcome(place, query, MetricNotFound(keys[0], refusal)))
        return Answered(MetricOutcome(place, query, unrecognized(query, doubts)))

    def calculation(self, place: int, asked: Calculation, answered: Sequence[Answered]) -> Calculated:
        """The computed figure, or why there is none."""
        self._call.cancel.check("calculate")
        first, second = answered[asked.first], answered[asked.second]
        language = asking_of(first.outcome.query, self._call).language
        result = calculate(
            asked.operation,
            self._operand(first),
            self._operand(second),
            language,
        )
        if isinstance(result, Refusal):
            return Calculated(CalculationOutcome(place, result))
        return Calculated(CalculationOutcome(place, result.snippet_id), result)

    def _operand(self, answered: Answered) -> Operand | RefusalReason:
        """What a query gives to compute with."""
        found = answered.outcome.outcome
        if not isinstance(found, MetricFound):
            return RefusalReason.OPERAND_MISSING
        if answered.figures:
            return operand_of(found.key, answered.figures, self._glossaries[answered.figures[0].library_id])
        if found.conflicting:
            return RefusalReason.OPERAND_CONFLICTING
        return next((each.operand for each in answered.computed if each.operand), RefusalReason.OPERAND_MISSING)

    def _computed(
        self, query: MetricQuery, results: Sequence[Found | Missing | Unread], asking: Asking
    ) -> list[CameToBe]:
        """What formulas of the glossaries give where nothing is stored."""
        found: list[CameToBe] = []
        for view, result in zip(self._views, results, strict=True):
            if isinstance(result, Missing) and result.fits:
                hint, cancel = self._call.options.hint, self._call.cancel
                computed = compute_figure(query, result.key, view, asking, hint, cancel)
                found += [] if computed is None else [computed]
        return found

    def _narrowed(self, founds: list[_Narrowable]) -> list[_Narrowable]:
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

    def _found(self, place: int, query: MetricQuery, founds: list[Found], language: str) -> Answered:
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
        decided = tuple(dict.fromkeys(name for found in founds for name in found.decided))
        outcome = MetricFound(key, tuple(snippet.snippet_id for snippet in snippets), bool(clashing), decided)
        return Answered(MetricOutcome(place, query, outcome), snippets, figures)


def _of_formula(place: int, query: MetricQuery, computed: Sequence[CameToBe]) -> Answered:
    """The outcome of a query whose figure is computed, in each library by itself."""
    conflicting = not agree(computed)
    named = tuple(name for each in computed for name in each.named)
    snippets = {snippet.snippet_id: snippet for each in computed for snippet in each.snippets}
    outcome = MetricFound(computed[0].key, named, conflicting)
    return Answered(MetricOutcome(place, query, outcome), tuple(snippets.values()), (), tuple(computed))


def unrecognized(query: MetricQuery, doubts: Sequence[Unread]) -> UnrecognizedParam:
    """Of several libraries the one that understood most speaks; those that stopped at the same name suggest with it."""
    if not doubts:  # there is no library at all, and so no name that anybody knows
        return UnrecognizedParam("metric", query.metric)
    furthest = max(doubts, key=lambda doubt: (doubt.ambiguous, doubt.place))
    beside = [doubt for doubt in doubts if (doubt.place, doubt.ambiguous) == (furthest.place, furthest.ambiguous)]
    suggested = tuple(dict.fromkeys(name for doubt in beside for name in doubt.suggestions))[:_MOST_SUGGESTIONS]
    return UnrecognizedParam(
        furthest.param, furthest.raw, suggested, ambiguous=furthest.ambiguous, explanation=furthest.explanation
    )
