"""What cuts a question into questions of its own (semantics 7).

As transforms do, a decomposer sees the question and nothing of any library. What it makes is asked, each by itself, by
the whole guarded path; it is never evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from groundwire_server.errors import Cause
from groundwire_server.evidence import Degradation, DegradationKind
from groundwire_server.llm import ModelProvider, Stop
from groundwire_server.query.asking import StepResult
from groundwire_server.query.query_text import MAX_QUERY_CHARS, QueryText
from groundwire_server.text import normalize

__all__ = ["DECOMPOSITION", "MAX_SUB_QUESTIONS", "Decomposed", "Decomposer", "settle", "whole"]

DECOMPOSITION = "decomposition"
"""The part of a degradation's component before the name."""
MAX_SUB_QUESTIONS = 4
"""Questions that one question is cut into at most."""


@dataclass(frozen=True, slots=True)
class Decomposed(StepResult):
    """What came of a question; with a degradation, it was not cut although that was tried.

    Attributes:
        questions: two to four, in the order of their answers; empty: the question is asked as it is.
        outside: questions that were left out since they name something outside.
        beyond: questions that were left out since there were too many.
    """

    questions: tuple[str, ...] = ()
    outside: int = 0
    beyond: int = 0


class Decomposer(Protocol):
    """One way to cut a question. Any thread may call it, several at once.

    `groundwire_server.query.decomposition.conformance` has what holds for each.
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


def whole(name: str, cause: Cause, outside: int = 0) -> Decomposed:
    """The question as it is, and why."""
    lost = Degradation(DegradationKind.TRANSFORM_SKIPPED, f"{DECOMPOSITION}:{name}", cause=cause)
    return Decomposed(outside=outside, degradation=lost)


def settle(texts: Sequence[str], passes: Callable[[str], bool]) -> Decomposed:
    """The first of the texts that differ and are short enough, one of them too, and what was left out."""
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
    return Decomposed(tuple(made), outside, beyond)
