"""What cuts a question into questions of its own (semantics 7): by rules, or by a language model.

As transforms do, a decomposer sees the question and nothing of any library. What it makes is asked, each by itself, by
the whole guarded path; it is never evidence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from groundwire_server.errors import Cause, ErrorReason, InvalidRequest
from groundwire_server.evidence import Degradation, DegradationKind
from groundwire_server.llm import ChatRequest, Finish, ModelFailed, ModelProvider, Stop, Usage, load_prompt
from groundwire_server.query.questions import split_questions
from groundwire_server.query.replies import read_queries
from groundwire_server.query.transform import MAX_QUERY_CHARS, MAX_REPLY_TOKENS, QueryText
from groundwire_server.text import normalize

__all__ = ["DECOMPOSERS", "DECOMPOSITION", "MAX_SUB_QUESTIONS", "Decomposed", "Decomposer", "make_decomposer", "whole"]

_NONE = Usage()
DECOMPOSITION = "decomposition"
"""The part of a degradation's component before the name."""
MAX_SUB_QUESTIONS = 4
"""Questions that one question is cut into at most."""


@dataclass(frozen=True, slots=True)
class Decomposed:
    """What came of a question.

    Attributes:
        questions: two to four, in the order of their answers; empty: the question is asked as it is.
        outside: questions that were left out since they name something outside.
        beyond: questions that were left out since there were too many.
        purpose: the prompt with its version; empty: no model was asked.
        usage: what the model was asked, as it counts that.
        degradation: why it was not cut although it was tried; None: it was, or need not be.
    """

    questions: tuple[str, ...] = ()
    outside: int = 0
    beyond: int = 0
    purpose: str = ""
    usage: Usage = _NONE
    degradation: Degradation | None = None


class Decomposer(Protocol):
    """One way to cut a question. Any thread may call it, several at once.

    `groundwire_server.query.decomposer_conformance` has what holds for each.
    """

    @property
    def name(self) -> str:
        """As a call asks for it."""
        ...

    def apply(
        self, query: QueryText, model: ModelProvider | None, passes: Callable[[str], bool], stop: Stop
    ) -> Decomposed:
        """The questions that a question holds; see `Transform.apply` for what is handed over."""
        ...


def whole(name: str, cause: Cause, outside: int = 0, purpose: str = "", usage: Usage = _NONE) -> Decomposed:
    """The question as it is, and why."""
    lost = Degradation(DegradationKind.TRANSFORM_SKIPPED, f"{DECOMPOSITION}:{name}", cause=cause)
    return Decomposed((), outside, 0, purpose, usage, lost)


@dataclass(frozen=True, slots=True)
class _ByRules:
    """Questions that stand side by side in what was asked, in its own words."""

    name: str = "rules"

    def apply(
        self, query: QueryText, model: ModelProvider | None, passes: Callable[[str], bool], stop: Stop
    ) -> Decomposed:
        """See `Decomposer.apply`; no model is asked, and nothing is said that was not asked."""
        stop()
        pieces = split_questions(query.text, query.language)
        questions, _, beyond = _settle(pieces, lambda _: True)
        # A piece that is too long to be asked by itself, or one too many, is no less asked for.
        kept_all = len(questions) == len(set(map(normalize, pieces))) > 1 and not beyond
        return Decomposed(tuple(questions)) if kept_all else Decomposed()


@dataclass(frozen=True, slots=True)
class _ByModel:
    """Questions that a language model writes."""

    name: str = "llm"

    def apply(
        self, query: QueryText, model: ModelProvider | None, passes: Callable[[str], bool], stop: Stop
    ) -> Decomposed:
        """See `Decomposer.apply`. One question, whatever its words, says that there is nothing to cut."""
        if model is None:
            return whole(self.name, Cause(ErrorReason.NO_MODEL, "The server has no language model."))
        prompt = load_prompt("decompose", query.language)
        messages = prompt.fill(question=json.dumps(query.text, ensure_ascii=False))
        stop()
        try:
            reply = model.chat(ChatRequest(messages, prompt.purpose, max_tokens=MAX_REPLY_TOKENS), stop)
        except ModelFailed as error:
            return whole(self.name, error.cause(), purpose=prompt.purpose, usage=Usage(failures=1))
        said = [] if reply.finish is Finish.REFUSED else read_queries(reply.text, whole=reply.finish is Finish.DONE)
        questions, outside, beyond = _settle(said, passes)
        if len(questions) > 1:
            return Decomposed(tuple(questions), outside, beyond, prompt.purpose, reply.usage)
        if len(questions) == 1 and not outside:
            return Decomposed(purpose=prompt.purpose, usage=reply.usage)
        why = "What the model wrote names something outside." if outside else "The model wrote nothing of use."
        cause = Cause(ErrorReason.MODEL_FAILED, why)
        return whole(self.name, cause, outside, prompt.purpose, reply.usage)


def _settle(texts: Sequence[str], passes: Callable[[str], bool]) -> tuple[list[str], int, int]:
    """The first of the texts that differ and are short enough; how many name outsiders; how many were too many."""
    seen = {normalize("")}
    made: list[str] = []
    outside = beyond = 0
    for text in texts:
        normal = normalize(text)
        if normal in seen or len(text) > MAX_QUERY_CHARS:
            continue
        seen.add(normal)
        if not passes(text):
            outside += 1
        elif len(made) < MAX_SUB_QUESTIONS:
            made.append(text)
        else:
            beyond += 1
    return made, outside, beyond


_ALL: tuple[Decomposer, ...] = (_ByModel(), _ByRules())

DECOMPOSERS: tuple[str, ...] = tuple(each.name for each in _ALL)


def make_decomposer(name: str) -> Decomposer:
    """A decomposer by name.

    Raises:
        InvalidRequest: a name that none has; it lists the valid ones.
    """
    for each in _ALL:
        if each.name == name:
            return each
    raise InvalidRequest.one("decomposition", ErrorReason.UNKNOWN_NAME, f"{name!r} is none of {', '.join(DECOMPOSERS)}")
