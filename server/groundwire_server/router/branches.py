"""The branches of Ask: figures, and passages. Each is looked up whole before its first frame is handed on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from groundwire_server.evidence import (
    Call,
    Degradation,
    DerivedFigure,
    EndReason,
    ExplainLevel,
    Header,
    MetricFact,
    MetricFound,
    MetricNotFound,
    MetricOutcome,
    MetricQuery,
    Outcomes,
    RefusalReason,
    Snippet,
    Snippets,
    Summary,
    TextPassage,
    UnrecognizedParam,
    make_refusal,
)
from groundwire_server.metric import MetricRequest, query_metric
from groundwire_server.narrative import RetrievalParts, RetrieveRequest, Unreachable, retrieve
from groundwire_server.router.extract import Wording, choose_quotations
from groundwire_server.router.frames import (
    AnswerOrigin,
    AnswerPart,
    AnswerWriter,
    Clarification,
    Frame,
    Route,
    SubCall,
    SubCallSummary,
)
from groundwire_server.router.reading import Reading, read_question
from groundwire_server.router.request import AskRequest
from groundwire_server.router.texts import conflict_text, quoted, shown_title, unknown_text
from groundwire_server.router.weights import WordWeights
from groundwire_server.security import drop_unreadable

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["Branch", "clarified_branch", "narrative_branch", "structured_branch"]


@dataclass(frozen=True, slots=True)
class Branch:
    """All frames of a branch in order, and the summary of the call that it made; None: it made none."""

    frames: tuple[Frame, ...]
    summary: Summary | None

    @property
    def end(self) -> SubCallSummary:
        """How it ended."""
        last = self.frames[-1]
        assert isinstance(last, SubCallSummary)
        return last


def clarified_branch(clarification: Clarification) -> Branch:
    """A structured branch that needs an answer first."""
    end = SubCallSummary(EndReason.CLARIFICATION)
    return Branch((SubCall(Route.STRUCTURED), clarification, end), None)


def structured_branch(
    queries: Sequence[MetricQuery],
    call: Call,
    snapshots: Sequence[Snapshot],
    parts: RetrievalParts,
    language: str,
    degradations: Sequence[Degradation],
    most: int,
) -> Branch:
    """Outcomes and figures, and statements built from them. No figure where there is none.

    Raises:
        GroundwireError: as `query_metric` does.
    """
    spoken = replace(call, options=replace(call.options, language=language))
    request = MetricRequest(tuple(queries))
    frames = list(query_metric(request, spoken, snapshots, gate=parts.gate, degradations=degradations, most=most))
    header, summary = frames[0], frames[-1]
    assert isinstance(header, Header)
    assert isinstance(summary, Summary)
    body = [frame for frame in frames if isinstance(frame, Outcomes | Snippets)]
    snippets = {one.snippet_id: one for frame in body if isinstance(frame, Snippets) for one in frame.snippets}
    outcomes = [outcome for frame in body if isinstance(frame, Outcomes) for outcome in frame.outcomes]
    answer = _lines([part for outcome in outcomes for part in _figure_parts(outcome, snippets, language)])
    end = SubCallSummary(summary.end_reason, summary.refusal, returned=len(snippets))
    if outcomes and all(isinstance(outcome.outcome, MetricNotFound) for outcome in outcomes):
        end = SubCallSummary(EndReason.REFUSED, make_refusal(RefusalReason.NOTHING_FOUND, language))
    return Branch((SubCall(Route.STRUCTURED, plan=header.plan), *body, *answer, end), summary)


def narrative_branch(
    request: AskRequest,
    reading: Reading,
    call: Call,
    snapshots: Sequence[Snapshot],
    parts: RetrievalParts,
    language: str,
    unreachable: Sequence[Unreachable],
    *,
    beside_figures: bool,
) -> Branch:
    """Passages, and the sentences of theirs that answer, verbatim; nothing is said that no passage says.

    Raises:
        GroundwireError: as `retrieve` does.
    """
    searched = RetrieveRequest(reading.question, request.top_k, request.mode, request.tuning)
    # The wordings that were searched tell which words of another language answer.
    explained = replace(call, options=replace(call.options, explain=max(call.options.explain, ExplainLevel.PLAN)))
    frames = list(retrieve(searched, explained, snapshots, parts, unreachable))
    header, summary = frames[0], frames[-1]
    assert isinstance(header, Header)
    assert isinstance(summary, Summary)
    body = [frame for frame in frames if isinstance(frame, Snippets)]
    snippets = [one for frame in body for one in frame.snippets]
    end = SubCallSummary(summary.end_reason, summary.refusal, returned=len(snippets))
    answer: list[AnswerPart] = []
    if request.writer is not AnswerWriter.NONE:
        readings = [
            reading if variant.text == reading.question else read_question(variant.text, call, snapshots)
            for variant in summary.variants
        ]
        wordings = [_wording(each, reading.language, without_figures=beside_figures) for each in readings]
        answer = _quotations(wordings, drop_unreadable(snippets, call.principal), call, snapshots, language)
    if not answer and (request.writer is not AnswerWriter.NONE or not snippets) and summary.refusal is None:
        refusal = make_refusal(RefusalReason.NOTHING_FOUND, language)
        answer = [AnswerPart(refusal.text, (), AnswerOrigin.FIXED)]
        end = SubCallSummary(EndReason.REFUSED, refusal, returned=len(snippets))
    sub_question = "" if reading.question == request.question else reading.question
    opening = SubCall(Route.NARRATIVE, sub_question, plan=header.plan)
    return Branch((opening, *body, *_lines(answer), end), summary)


def _figure_parts(outcome: MetricOutcome, snippets: dict[str, Snippet], language: str) -> list[AnswerPart]:
    """What an outcome says in words: statements of stored figures, or a fixed sentence."""
    match outcome.outcome:
        case MetricFound(_, snippet_ids, conflicting):
            found = [snippets[snippet_id] for snippet_id in snippet_ids]
            parts = [
                AnswerPart(one.payload.statement, (one.snippet_id,), AnswerOrigin.FACTS)
                for one in found
                if isinstance(one.payload, DerivedFigure | MetricFact)
            ]
            warning = [AnswerPart(conflict_text(language), (), AnswerOrigin.FIXED)] if conflicting else []
            return warning + parts
        case MetricNotFound(_, refusal):
            return [AnswerPart(refusal, (), AnswerOrigin.FIXED)]
        case UnrecognizedParam(param, ambiguous=ambiguous):
            return [AnswerPart(unknown_text(param, language, ambiguous=ambiguous), (), AnswerOrigin.FIXED)]


def _wording(reading: Reading, language: str, *, without_figures: bool) -> Wording:
    """What a question is about: its names, its periods, and what no cue explains.

    Beside a structured branch, which answers the figure, the metric and its period are not what text is asked about.
    """
    names = [name.raw for name in reading.names if name.kind != "metric"]
    others = [phrase.raw for phrase in reading.phrases]
    if not (without_figures and others):
        names += [name.raw for name in reading.names if name.kind == "metric"]
        others += [period.text for period in reading.periods]
    return Wording.of(names, others, language)


def _quotations(
    wordings: Sequence[Wording],
    snippets: Sequence[Snippet],
    call: Call,
    snapshots: Sequence[Snapshot],
    language: str,
) -> list[AnswerPart]:
    read = {snippet.lineage.library_id for snippet in snippets}
    weights = WordWeights([snapshot for snapshot in snapshots if snapshot.library_id in read], call)
    parts: list[AnswerPart] = []
    for quotation in choose_quotations(wordings, weights.of, snippets):
        lineage, passage = quotation.snippet.lineage, quotation.snippet.payload
        assert isinstance(passage, TextPassage)
        source = ", ".join(part for part in (shown_title(lineage.title), lineage.source_locator) if part)
        text = quoted(passage, quotation.sentence, source, language)
        parts.append(AnswerPart(text, (quotation.snippet.snippet_id,), AnswerOrigin.QUOTATION))
    return parts


def _lines(parts: Sequence[AnswerPart]) -> list[AnswerPart]:
    """The parts with the line break that each but the first needs before it; a sentence is not said twice in a row."""
    kept = [part for place, part in enumerate(parts) if place == 0 or part != parts[place - 1]]
    return [part if place == 0 else replace(part, text=f"\n{part.text}") for place, part in enumerate(kept)]
