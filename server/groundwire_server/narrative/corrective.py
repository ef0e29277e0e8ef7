"""The corrective loop: what was found is judged, searched for otherwise where it is weak, or refused (semantics 7).

At most two rounds follow the first search. In the first another text is searched beside the question: its content
alone, or what a language model writes. In the second the hint is dropped, where there is one and the call lets it be
dropped. What is weak after that is no answer: the call is refused.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from groundwire_server.errors import Cause, DeadlineExceeded, ErrorReason, GroundwireError
from groundwire_server.evidence import (
    Call,
    CallCancelled,
    Degradation,
    DegradationKind,
    EmptyFilterPolicy,
    Label,
    PlanStep,
    QueryVariant,
    Refusal,
    RefusalReason,
    Snippet,
    StageTiming,
    TextPassage,
    make_refusal,
)
from groundwire_server.llm import Usage, model_usage
from groundwire_server.narrative.exit import make_snippets
from groundwire_server.narrative.hints import Hints
from groundwire_server.narrative.outside import gate_for
from groundwire_server.narrative.parts import RetrievalParts
from groundwire_server.narrative.reach import Reach
from groundwire_server.narrative.search import Order, Outcome, search_libraries
from groundwire_server.narrative.transform import apply_transform
from groundwire_server.narrative.weights import WordWeights
from groundwire_server.query import CORRECTIVE, QueryText, make_rewriter
from groundwire_server.query.grades import GRADED_PASSAGES, Grade, Grader, Ground, grade_skipped, keywords, make_grader
from groundwire_server.text import detect_language, normalize

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["Corrected", "search_until_enough", "wanted_judge"]

_WORDS = "words"
_OF_WORDINGS = ("caller", "glossary")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Corrected:
    """What was found in the end, with everything that was done on the way; `refusal`: it is too weak to be sent."""

    outcome: Outcome
    refusal: Refusal | None = None


def wanted_judge(asked: bool | None, judge: str, snapshots: Sequence[Snapshot]) -> str:
    """Who judges, by name; empty: nobody does.

    Args:
        asked: what the call says; None: it leaves it to the libraries, and one that wants it decides for all.
        judge: whom the call names; empty: each library's own, and a language model goes before words.
    """
    wanting = [each for each in snapshots if asked or each.config.corrective]
    if asked is False or not (asked or wanting):
        return ""
    names = {each.config.corrective_judge for each in wanting}
    return judge or max(names - {_WORDS}, default=_WORDS)


def search_until_enough(
    order: Order, call: Call, reach: Reach, parts: RetrievalParts, hints: Hints, judge: str
) -> Corrected:
    """Search, judge, and search again as far as two rounds go.

    Raises:
        As `search_libraries`; FailedPrecondition where judging or rewriting was skipped and the call forbids that.
    """
    loop = _Loop(order, call, reach, parts, hints, make_grader(judge))
    if not loop.search():
        loop.rewrite()
        enough = loop.search() if loop.rewritten else False
        if not enough and loop.widen():
            enough = loop.search()
        if not enough:
            return Corrected(loop.outcome(), loop.refusal())
    return Corrected(loop.outcome())


@dataclass(slots=True)
class _Loop:
    """The rounds of one call, and what is to be told of them."""

    order: Order
    call: Call
    reach: Reach
    parts: RetrievalParts
    hints: Hints
    grader: Grader
    rewritten: tuple[QueryVariant, ...] = ()
    plan: list[PlanStep] = field(default_factory=list)
    timings: list[StageTiming] = field(default_factory=list)
    degradations: list[Degradation] = field(default_factory=list)
    used: Usage = field(default_factory=Usage)
    found: Outcome | None = None

    def search(self) -> bool:
        """Search once, as things stand, and judge what comes. Whether it is enough."""
        order = replace(self.order, rewritten=self.rewritten)
        before = None if self.found is None else self.found.probes
        self.found = search_libraries(order, self.call, self.reach, self.parts, self.hints, before)
        self.plan += self.found.plan
        self.timings += self.found.timings
        started = time.perf_counter()
        snippets = make_snippets(self.found.found, GRADED_PASSAGES, self.call, frozenset(), self.reach)
        grade, judge = self._grade(snippets)
        verdict = "enough" if grade.enough else "weak"
        self._tell("grade", judge, started, len(snippets), int(grade.enough), verdict, grade.purpose, grade.detail)
        return grade.enough

    def rewrite(self) -> None:
        """Make another text to search with beside the question, where there is one."""
        started = time.perf_counter()
        query = self.order.query
        texts: tuple[QueryVariant, ...] = ()
        if self.grader.asks_model:
            made = apply_transform(make_rewriter(), query, self.call, self.reach.snapshots, self.parts)
            self.used += made.usage
            if made.degradation is not None:
                self.degradations.append(self.call.accept(made.degradation))
            texts = made.variants[1:]
            if texts:
                self._tell("rewrite", CORRECTIVE, started, 1, len(texts), made.purpose)
        if not texts:
            content = keywords(query)
            passes = gate_for(self.reach.snapshots, self.parts.gate)  # two words may stand side by side now
            if normalize(content) not in ("", normalize(query)) and passes(content):
                texts = (QueryVariant(content, CORRECTIVE),)
                self._tell("rewrite", "keywords", started, 1, 1)
        self.rewritten = texts

    def widen(self) -> bool:
        """Drop the hint, where one is in force and the call lets it go. Whether it did."""
        assert self.found is not None
        hint, options = self.found.hint, self.call.options
        if (
            hint is None
            or options.on_empty is EmptyFilterPolicy.NEVER_WIDEN
            or DegradationKind.FILTER_DROPPED in options.forbid
        ):
            return False
        self.degradations.append(Degradation(DegradationKind.FILTER_DROPPED, "hint", dropped_filter=hint))
        self.call = replace(self.call, options=replace(options, hint=None))
        self.hints = Hints()
        return True

    def outcome(self) -> Outcome:
        """What the last search found, with the plan and the accounts of all."""
        assert self.found is not None
        model = self.parts.model
        usage = () if model is None or self.used == Usage() else (model_usage(model, self.used),)
        return replace(
            self.found,
            plan=tuple(self.plan),
            timings=tuple(self.timings),
            degradations=tuple(dict.fromkeys((*self.found.degradations, *self.degradations))),
            model_usage=(*self.found.model_usage, *usage),
        )

    def refusal(self) -> Refusal:
        """Why nothing is sent."""
        assert self.found is not None
        reason = RefusalReason.WEAK_CONTEXT if len(self.found.found) else RefusalReason.NOTHING_FOUND
        return make_refusal(reason, self.call.options.language or detect_language(self.order.query))

    def _stop(self) -> None:
        self.call.cancel.check("grade")

    def _grade(self, snippets: Sequence[Snippet]) -> tuple[Grade, str]:
        """The verdict, and whose it is: words judge where a model that should cannot."""
        grade = self._judged(self.grader, snippets)
        self.used += grade.usage
        if grade.degradation is None:
            return grade, self.grader.name
        self.degradations.append(self.call.accept(grade.degradation))
        return self._judged(make_grader(_WORDS), snippets), _WORDS

    def _judged(self, grader: Grader, snippets: Sequence[Snippet]) -> Grade:
        shown = [each for each in snippets if not grader.asks_model or self._may_see(each.label)]
        if snippets and not shown:
            why = "None of the passages may be shown to the language model."
            return grade_skipped(grader.name, Cause(ErrorReason.MODEL_FAILED, why))
        assert self.found is not None
        query = self.order.query
        wordings = tuple(each.text for each in self.found.variants if each.made_by in _OF_WORDINGS)
        ground = Ground(
            QueryText(query, detect_language(query)),
            wordings or (query,),
            tuple(_text(each) for each in shown),
            WordWeights(self.reach.snapshots, self.call).of,
        )
        try:
            return grader.grade(ground, self.parts.model, self._stop)
        except (CallCancelled, DeadlineExceeded):
            raise
        except GroundwireError as error:
            return grade_skipped(grader.name, error.cause())
        except Exception as error:  # noqa: BLE001 - whatever a model's client raises, words judge
            _log.warning("the grader %s failed: %s", grader.name, type(error).__name__)
            return grade_skipped(grader.name, Cause(ErrorReason.MODEL_FAILED, "The grading failed."))

    def _may_see(self, label: Label) -> bool:
        return label <= self.parts.model_clearance and label is not Label.RESTRICTED

    def _tell(self, stage: str, backend: str, started: float, entered: int, left: int, *detail: str) -> None:
        self.plan.append(PlanStep(stage, backend, ",".join(part for part in detail if part)))
        elapsed = timedelta(seconds=time.perf_counter() - started)
        self.timings.append(StageTiming(stage, elapsed, entered, left))


def _text(snippet: Snippet) -> str:
    """What a passage is judged by: its title and heading, and what is read of it."""
    passage, lineage = snippet.payload, snippet.lineage
    assert isinstance(passage, TextPassage)
    parts = (lineage.title, lineage.heading, passage.prompt_text or passage.text)
    return "\n".join(part for part in parts if part)
