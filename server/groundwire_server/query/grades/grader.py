"""What judges whether the passages that were found can carry an answer (semantics 7, corrective loop)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from groundwire_server.errors import Cause
from groundwire_server.evidence import Degradation, DegradationKind
from groundwire_server.llm import ModelProvider, Stop
from groundwire_server.query.asking import StepResult
from groundwire_server.query.query_text import QueryText

__all__ = ["COMPONENT", "GRADED_PASSAGES", "Grade", "Grader", "Ground", "grade_skipped"]

COMPONENT = "grade"
GRADED_PASSAGES = 5
"""The best passages are judged, and no more of them, however many are asked for."""


@dataclass(frozen=True, slots=True)
class Ground:
    """A question and what was found for it.

    Attributes:
        wordings: the question, then what the glossary made of it.
        passages: best first; each with its title.
        weigh: how much a token tells in the libraries that were read, above 0.
    """

    question: QueryText
    wordings: tuple[str, ...]
    passages: tuple[str, ...]
    weigh: Callable[[str], float]


@dataclass(frozen=True, slots=True)
class Grade(StepResult):
    """The verdict on what was found; with a degradation there is none, and `enough` says nothing.

    Attributes:
        enough: whether something can be answered from it.
        detail: for the plan, why.
    """

    enough: bool
    detail: str = ""


class Grader(Protocol):
    """One way to judge. Any thread may call it, several at once.

    `groundwire_server.query.grades.conformance` has what holds for each.
    """

    @property
    def name(self) -> str:
        """As a setting asks for it."""
        ...

    @property
    def asks_model(self) -> bool:
        """Whether the passages go to a language model."""
        ...

    def grade(self, ground: Ground, model: ModelProvider | None, stop: Stop) -> Grade:
        """Whether what was found can carry an answer. No passages never can.

        Args:
            model: None: there is none.
            stop: looked at while the model is waited for; what it raises is not caught.
        """
        ...


def grade_skipped(name: str, cause: Cause) -> Grade:
    """No verdict, and why."""
    lost = Degradation(DegradationKind.TRANSFORM_SKIPPED, f"{COMPONENT}:{name}", cause=cause)
    return Grade(enough=False, degradation=lost)
