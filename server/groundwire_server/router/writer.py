"""An answer that a model writes from the passages that were found, behind the guards (semantics 6, 11).

The model sees the question and passages up to a clearance, each as a string of JSON, and nothing else: no history, no
figures, no passage that its clearance or the caller's hides. What it says is cut into sentences while it comes. A
sentence is sent when it names nothing outside, cites passages that it was shown, and the guard finds everything in it
in them; every other one is dropped and counted.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from groundwire_server.errors import Cause
from groundwire_server.evidence import (
    BudgetOver,
    Call,
    CancelToken,
    Degradation,
    DegradationKind,
    Label,
    ModelUsage,
    PlanStep,
    Snippet,
    StageTiming,
    TextPassage,
    Trust,
)
from groundwire_server.glossary import Glossary
from groundwire_server.llm import (
    ChatRequest,
    Finish,
    ModelFailed,
    ModelProvider,
    Reply,
    Usage,
    load_prompt,
    model_usage,
)
from groundwire_server.router.frames import AnswerOrigin, AnswerPart
from groundwire_server.router.prose import LONGEST_SENTENCE, Prose, Sentence
from groundwire_server.router.texts import shown_title
from groundwire_server.security import SecurityGate, drop_unreadable

__all__ = ["MAX_PROMPT_CHARS", "MAX_SENTENCES", "AnswerModel", "ModelWriting", "WriterOrder"]

MAX_PROMPT_CHARS = 24_000
"""Code points of the passages that a model is shown; later ones are left out, as the plan says."""
MAX_SENTENCES = 40
"""Sentences that are read of an answer; the model is stopped after them."""

COMPONENT = "answer"
_NOTHING = "NONE"
_OUTSIDE = "outside_name"
_TOO_LONG = "too_long"


@dataclass(frozen=True, slots=True)
class AnswerModel:
    """A language model that writes answers, and the strictest label that it may be shown. None sees RESTRICTED."""

    provider: ModelProvider
    clearance: Label = Label.INTERNAL

    def may_see(self, label: Label) -> bool:
        """Whether the model may be shown something with that label."""
        return label <= self.clearance and label is not Label.RESTRICTED


@dataclass(frozen=True, slots=True)
class WriterOrder:
    """What is to be answered, from what, and what holds the answer.

    question: with what history resolved in it. snippets: what was found, best first. glossaries: of their libraries.
    figures_allowed: False beside a structured branch, which tells the figures.
    """

    question: str
    language: str
    snippets: Sequence[Snippet]
    glossaries: Sequence[Glossary]
    gate: SecurityGate
    figures_allowed: bool


@dataclass(slots=True)
class ModelWriting:
    """One answer being written. `parts` is run once; the rest is read after it.

    Attributes:
        sent: parts that went out. dropped: sentences that did not, by the first reason against each.
        failure: why the model gave no whole answer. declined: it says that the passages do not answer.
        cut: the answer was longer than it may be. unseen: there was nothing that the model may be shown.
        over: the call's time was over before the answer's end. usage: as the model counts it, once it ended.
    """

    model: AnswerModel
    order: WriterOrder
    call: Call
    sent: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    failure: Cause | None = None
    declined: bool = False
    cut: bool = False
    unseen: bool = False
    over: bool = False
    usage: Usage | None = None
    timing: StageTiming | None = None
    evidence: tuple[Snippet, ...] = field(init=False)
    _withheld: int = field(init=False)
    _soft: CancelToken = field(init=False)

    def __post_init__(self) -> None:
        self._soft = self.call.softly(before_end=True).cancel
        citable = [
            each
            for each in drop_unreadable(self.order.snippets, self.call.principal)
            if isinstance(each.payload, TextPassage) and each.trust is Trust.CITABLE
        ]
        shown: list[Snippet] = []
        room = MAX_PROMPT_CHARS
        for each in citable:
            size = len(each.payload.text) if isinstance(each.payload, TextPassage) else 0
            if self.model.may_see(each.label) and size <= room:
                shown.append(each)
                room -= size
        self.evidence = tuple(shown)
        self._withheld = len(citable) - len(shown)

    @property
    def step(self) -> PlanStep:
        """Who writes, by which prompt, from how many passages."""
        left_out = f",left_out={self._withheld}" if self._withheld else ""
        provider = self.model.provider
        prompt = load_prompt(self._prompt_name, self.order.language)
        return PlanStep(
            "write", f"{provider.name}:{provider.model}", f"{prompt.purpose},passages={len(self.evidence)}{left_out}"
        )

    def parts(self) -> Iterator[AnswerPart]:
        """The parts of the answer, each as soon as it holds.

        Raises:
            CallCancelled, DeadlineExceeded: the call is over. A model that fails raises nothing; see `failure`.
        """
        started = time.perf_counter()
        guard = _Guard(self.order, self.evidence)
        prose = Prose()
        seen = 0
        before = ""
        try:
            for sentence in self._sentences(prose):
                seen += 1
                judged = self._judge(sentence, guard)
                before = "\n" if "\n" in (before, sentence.before) else before or sentence.before
                if judged is not None:
                    part = judged.behind(before if self.sent else "")
                    self.sent += 1
                    before = ""
                    yield part
                if seen == MAX_SENTENCES:
                    self.cut = True
                    break
        except ModelFailed as error:
            self.failure = error.cause()
        except BudgetOver:
            self.over = True
        self.timing = StageTiming("write", timedelta(seconds=time.perf_counter() - started), seen, self.sent)

    def degradations(self) -> list[Degradation]:
        """What became of the text that was not sent. Raises FailedPrecondition where the call forbids it."""
        found = [
            Degradation(DegradationKind.MODEL_TEXT_DROPPED, f"{COMPONENT}:{reason}", dropped_sentences=count)
            for reason, count in sorted(self.dropped.items())
        ]
        if self.failure is not None:
            found.append(Degradation(DegradationKind.ANSWER_FALLBACK, COMPONENT, cause=self.failure))
        if self.unseen:
            found.append(Degradation(DegradationKind.ANSWER_FALLBACK, f"{COMPONENT}:clearance"))
        if self.cut:
            found.append(Degradation(DegradationKind.BUDGET_CUT, f"{COMPONENT}:length"))
        if self.over:
            found.append(Degradation(DegradationKind.BUDGET_CUT, f"{COMPONENT}:time"))
        return [self.call.accept(each) for each in found]

    @property
    def model_usage(self) -> tuple[ModelUsage, ...]:
        """What the model was asked; empty: it was not asked."""
        if self.usage is None:
            return ()
        return (model_usage(self.model.provider, self.usage),)

    @property
    def _prompt_name(self) -> str:
        return "answer" if self.order.figures_allowed else "answer_beside_figures"

    def _sentences(self, prose: Prose) -> Iterator[Sentence]:
        prompt = load_prompt(self._prompt_name, self.order.language)
        passages = [_shown(number, each) for number, each in enumerate(self.evidence, start=1)]
        filled = prompt.fill(
            passages=json.dumps(passages, ensure_ascii=False, indent=0),
            question=json.dumps(self.order.question, ensure_ascii=False),
        )
        # A surrogate from a broken document has no UTF-8.
        messages = tuple(replace(each, text=each.text.encode("utf-8", "replace").decode()) for each in filled)
        self.usage = Usage(failures=1)  # until a whole reply is there
        pieces = self.model.provider.stream(ChatRequest(messages, prompt.purpose), self._stop)
        try:
            for piece in pieces:
                if isinstance(piece, str):
                    yield from prose.feed(piece)
                    continue
                self.usage = piece.usage
                if piece.finish is Finish.DONE:
                    yield from prose.close()
                else:
                    self._end_early(piece, prose)
        finally:
            close: Callable[[], None] | None = getattr(pieces, "close", None)
            if close is not None:
                close()

    def _stop(self) -> None:
        self._soft.check("write")

    def _end_early(self, reply: Reply, prose: Prose) -> None:
        """The model did not come to an end; what is no whole sentence is not read as one."""
        if reply.finish is Finish.REFUSED:
            raise ModelFailed("The model does not answer this.", permanent=True)
        self.cut = True
        if any(True for _ in prose.close()):
            self.dropped["unfinished"] += 1

    def _judge(self, sentence: Sentence, guard: _Guard) -> AnswerPart | None:
        if sentence.text.strip(" .。*\"'`") == _NOTHING:
            self.declined = True
            return None
        judged = guard.judge(sentence.text)
        if isinstance(judged, str):
            self.dropped[judged] += 1
            return None
        return judged


class _Guard:
    """Everything that a sentence of a model has to pass."""

    def __init__(self, order: WriterOrder, evidence: Sequence[Snippet]) -> None:
        from groundwire_server.guard import SentenceGuard, resolve  # loaded by the first answer that a model writes

        self._resolve = resolve
        self._order = order
        self._evidence = evidence
        self._guard = SentenceGuard(
            order.question, order.glossaries, order.language, figures_allowed=order.figures_allowed
        )

    def judge(self, sentence: str) -> AnswerPart | str:
        """The part to send, or why there is none."""
        if len(sentence) >= LONGEST_SENTENCE:
            return _TOO_LONG
        if self._order.gate:
            known = [term.span for glossary in self._order.glossaries for term in glossary.find_terms(sentence)]
            if self._order.gate.find(sentence, known) is not None:
                return _OUTSIDE
        cited = self._resolve(sentence, self._evidence)
        if cited.faults:
            return cited.faults[0].kind.value
        if not cited.snippets:
            return "no_citation"
        verdict = self._guard.check(cited.text, cited.snippets)
        if not verdict.passed:
            return verdict.faults[0].kind.value
        # Only what a sentence has something of is cited.
        ids = tuple(cited.snippets[place].snippet_id for place in verdict.used or range(len(cited.snippets)))
        return AnswerPart(cited.text, ids, AnswerOrigin.MODEL, verdict.unchecked_quantities)


def _shown(number: int, snippet: Snippet) -> dict[str, object]:
    """A passage as the model sees it. Its number is one of the prompt, not of the stream."""
    assert isinstance(snippet.payload, TextPassage)
    passage: dict[str, object] = {"number": number}
    title = shown_title(snippet.lineage.title)
    if title:
        passage["title"] = title
    if snippet.lineage.heading:
        passage["heading"] = shown_title(snippet.lineage.heading)
    return passage | {"text": snippet.payload.text}
