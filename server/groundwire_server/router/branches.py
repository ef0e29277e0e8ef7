"""The branches of Ask: figures, and passages.

Each is looked up whole before its first frame is handed on; an answer that a model writes comes after that, in parts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from groundwire_server.evidence import (
    Call,
    Degradation,
    DerivedFigure,
    EndReason,
    ExplainLevel,
    Filter,
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
from groundwire_server.llm import ModelFailed
from groundwire_server.metric import MetricRequest, query_metric
from groundwire_server.narrative import (
    EvidenceFrame,
    RetrievalParts,
    RetrieveRequest,
    Unreachable,
    WordWeights,
    retrieve,
    within_budgets,
)
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
from groundwire_server.router.writer import AnswerModel, ModelWriting, WriterOrder
from groundwire_server.security import drop_unreadable

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["BUDGETS", "Branch", "NarrativeWriting", "Sent", "clarified_branch", "narrative_branch", "structured_branch"]

BUDGETS = (EndReason.SOFT_BUDGET, EndReason.TOKEN_BUDGET)
"""The ends of what a budget of the call has cut."""


@dataclass(frozen=True, slots=True)
class Branch:
    """All frames of a branch in order, and the summary of the call that it made; None: it made none.

    writing: what is still to be written; the last of `frames` then comes after its parts, as it leaves it.
    hint: that narrowed its search; None: nothing did.
    """

    frames: tuple[Frame, ...]
    summary: Summary | None
    writing: NarrativeWriting | None = None
    hint: Filter | None = None

    def written(self) -> Branch:
        """The branch once everything of `writing` has been sent."""
        if self.writing is None or self.summary is None:
            return self
        model = self.writing.model
        timings = (*self.summary.timings, *([model.timing] if model.timing is not None else []))
        summary = replace(
            self.summary,
            degradations=(*self.summary.degradations, *model.degradations()),
            timings=timings,
            model_usage=(*self.summary.model_usage, *model.model_usage),
        )
        return Branch((*self.frames[:-1], self.writing.end(self.end)), summary, hint=self.hint)

    @property
    def end(self) -> SubCallSummary:
        """How it ended."""
        last = self.frames[-1]
        assert isinstance(last, SubCallSummary)
        return last


class Sent:
    """What the branches before have sent, so that none of it is sent again: snippets by id, and prompt texts."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._texts: set[tuple[str, str]] = set()

    def without(self, branch: Branch) -> Branch:
        """A branch without what was sent before it; what it sends counts as sent then. A parent is read once."""
        frames: list[Frame] = []
        again = 0
        for frame in branch.frames[:-1]:
            if not isinstance(frame, Snippets):
                frames.append(frame)
                continue
            fresh = [one for one in frame.snippets if one.snippet_id not in self._ids]
            again += len(frame.snippets) - len(fresh)
            self._ids.update(one.snippet_id for one in fresh)
            if fresh:
                frames.append(Snippets(tuple(map(self._once, fresh))))
        if branch.summary is None and not again:
            return branch
        end = replace(branch.end, returned=branch.end.returned - again)
        return replace(branch, frames=(*frames, end))

    def _once(self, snippet: Snippet) -> Snippet:
        payload, lineage = snippet.payload, snippet.lineage
        if not isinstance(payload, TextPassage) or not payload.prompt_text or not lineage.parent_locator:
            return snippet
        text = (lineage.library_id, payload.prompt_text)
        if text not in self._texts:
            self._texts.add(text)
            return snippet
        return replace(snippet, payload=replace(payload, prompt_text=""))


class NarrativeWriting:
    """What a model writes about the passages of a branch; where it fails, sentences of theirs, and else a refusal.

    Args:
        quotations: the sentences that answer without a model.
    """

    def __init__(self, model: ModelWriting, quotations: Callable[[], list[AnswerPart]], language: str) -> None:
        self.model = model
        self._quotations = quotations
        self._language = language
        self._refusal: RefusalReason | None = None

    def parts(self) -> Iterator[AnswerPart]:
        """The parts, run once. Raises as `ModelWriting.parts` does."""
        model = self.model
        if model.evidence:
            yield from model.parts()
        else:
            model.unseen = True
        rest: list[AnswerPart] = []
        if model.over:
            return
        if not (model.sent or model.dropped or model.declined or model.failure or model.unseen):
            model.failure = ModelFailed("The model answered nothing.").cause()
        if model.failure is not None or model.unseen:
            rest = self._quotations()
        if not model.sent and not rest:
            dropped_all = bool(model.dropped) and model.failure is None
            self._refusal = RefusalReason.ANSWER_UNSUPPORTED if dropped_all else RefusalReason.NOTHING_FOUND
            rest = [AnswerPart(make_refusal(self._refusal, self._language).text, (), AnswerOrigin.FIXED)]
        lines = _lines(rest)
        if model.sent and lines:
            lines[0] = lines[0].behind("\n")
        yield from lines

    def end(self, found: SubCallSummary) -> SubCallSummary:
        """How the branch ends, from how its retrieval did."""
        if self.model.over:
            return replace(found, end_reason=EndReason.SOFT_BUDGET)
        if self._refusal is None:
            return found
        return replace(found, end_reason=EndReason.REFUSED, refusal=make_refusal(self._refusal, self._language))


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
    *,
    spent: int = 0,
    sent: Collection[str] = (),
) -> Branch:
    """Outcomes and figures, and statements built from them. No figure where there is none.

    Args:
        spent: tokens of the call's budget that other branches have taken. sent: ids of snippets that they sent.

    Raises:
        GroundwireError: as `query_metric` does.
    """
    spoken = replace(call, options=replace(call.options, language=language))
    request = MetricRequest(tuple(queries))

    def run(bounded: Call) -> Iterator[EvidenceFrame]:
        return query_metric(request, bounded, snapshots, gate=parts.gate, degradations=degradations, most=most)

    frames = list(within_budgets(run, spoken, spent=spent, sent=sent))
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
    figures_allowed: bool = True,
    model: AnswerModel | None = None,
    spent: int = 0,
    sent: Collection[str] = (),
) -> Branch:
    """Passages, and the sentences of theirs that answer, verbatim; nothing is said that no passage says.

    Args:
        spent: tokens of the call's budget that other branches have taken. sent: ids of snippets that they sent.
        beside_figures: whether a structured branch answers the same question.
        figures_allowed: whether a model may write figures at all; beside a structured branch it never may.
        model: what writes the answer where the request leaves it to a model.

    Raises:
        GroundwireError: as `retrieve` does.
    """
    tuning = replace(request.tuning, decomposition="", adaptive=None)  # it was cut before, or is not to be
    searched = RetrieveRequest(reading.question, request.top_k, request.mode, tuning)
    # The wordings that were searched tell which words of another language answer.
    explained = replace(call, options=replace(call.options, explain=max(call.options.explain, ExplainLevel.PLAN)))
    frames = list(
        within_budgets(
            lambda bounded: retrieve(searched, bounded, snapshots, parts, unreachable),
            explained,
            spent=spent,
            sent=sent,
        )
    )
    header, summary = frames[0], frames[-1]
    assert isinstance(header, Header)
    assert isinstance(summary, Summary)
    body = [frame for frame in frames if isinstance(frame, Snippets)]
    snippets = [one for frame in body for one in frame.snippets]
    end = SubCallSummary(summary.end_reason, summary.refusal, returned=len(snippets))
    answer: list[AnswerPart] = []
    writing: NarrativeWriting | None = None

    def quotations() -> list[AnswerPart]:
        readings = [
            reading if variant.text == reading.question else read_question(variant.text, call, snapshots)
            for variant in summary.variants
        ]
        wordings = [_wording(each, reading.language, without_figures=beside_figures) for each in readings]
        return _quotations(wordings, drop_unreadable(snippets, call.principal), call, snapshots, language)

    if model is not None and request.writer in (None, AnswerWriter.MODEL) and snippets and summary.refusal is None:
        read = {snippet.lineage.library_id for snippet in snippets}
        glossaries = [snapshot.glossary for snapshot in snapshots if snapshot.library_id in read]
        order = WriterOrder(
            reading.question,
            language,
            snippets,
            glossaries,
            parts.gate,
            figures_allowed=figures_allowed and not beside_figures,
        )
        writing = NarrativeWriting(ModelWriting(model, order, call), quotations, language)
    elif request.writer is not AnswerWriter.NONE:
        # What the retrieval itself refuses is quoted no more than written about.
        refused = summary.refusal
        answer = quotations() if refused is None else [AnswerPart(refused.text, (), AnswerOrigin.FIXED)]
    # What a budget left out is no sign that there is nothing.
    said = bool(answer) or writing is not None or (summary.end_reason in BUDGETS and not snippets)
    if not said and (request.writer is not AnswerWriter.NONE or not snippets) and summary.refusal is None:
        refusal = make_refusal(RefusalReason.NOTHING_FOUND, language)
        answer = [AnswerPart(refusal.text, (), AnswerOrigin.FIXED)]
        end = SubCallSummary(EndReason.REFUSED, refusal, returned=len(snippets))
    sub_question = "" if reading.question == request.question else reading.question
    plan = header.plan if writing is None else (*header.plan, writing.model.step)
    opening = SubCall(Route.NARRATIVE, sub_question, plan=plan)
    return Branch((opening, *body, *_lines(answer), end), summary, writing, header.hint_applied)


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
    return [part if place == 0 else part.behind("\n") for place, part in enumerate(kept)]
