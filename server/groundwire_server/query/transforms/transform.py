"""What turns a question into other texts to search with (semantics 7).

A transform sees the question and nothing of any library. What it makes is searched with, beside the question, and is
never evidence: no passage, no citation, no figure comes of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from groundwire_server.errors import Cause
from groundwire_server.evidence import Degradation, DegradationKind, QueryVariant
from groundwire_server.llm import ModelProvider, Stop
from groundwire_server.query.asking import StepResult
from groundwire_server.query.query_text import QueryText

__all__ = ["COMPONENT", "MAX_QUERIES", "Transform", "Transformed", "skipped"]

COMPONENT = "query_transform"
MAX_QUERIES = 4
"""Queries that are searched for one question, the question among them."""


@dataclass(frozen=True, slots=True)
class Transformed(StepResult):
    """What came of a question; with a degradation, nothing was made.

    Attributes:
        variants: queries to search, the question itself first.
        probes: passages that might answer it, to search for passages like them; they are no queries.
        outside: texts that were left out since they name something outside.
    """

    variants: tuple[QueryVariant, ...]
    probes: tuple[str, ...] = ()
    outside: int = 0


class Transform(Protocol):
    """One way to make other texts of a question. Any thread may call it, several at once.

    `groundwire_server.query.transforms.conformance` has what holds for each.
    """

    @property
    def name(self) -> str:
        """As a call asks for it; texts that it makes carry it."""
        ...

    def apply(
        self, query: QueryText, model: ModelProvider | None, passes: Callable[[str], bool], stop: Stop
    ) -> Transformed:
        """What is to be searched beside a question.

        Args:
            model: None: there is none.
            passes: whether a text that was made names nothing outside; what does not pass is left out.
            stop: looked at while the model is waited for; what it raises is not caught.
        """
        ...


def skipped(name: str, query: QueryText, cause: Cause) -> Transformed:
    """The question alone, and why."""
    lost = Degradation(DegradationKind.TRANSFORM_SKIPPED, f"{COMPONENT}:{name}", cause=cause)
    return Transformed((QueryVariant(query.text, "caller"),), degradation=lost)
