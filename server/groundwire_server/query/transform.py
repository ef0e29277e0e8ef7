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
from groundwire_server.llm import ModelProvider, Stop, Usage

__all__ = [
    "COMPONENT",
    "MAX_QUERIES",
    "MAX_QUERY_CHARS",
    "MAX_REPLY_TOKENS",
    "QueryText",
    "Transform",
    "Transformed",
    "skipped",
]

_NONE = Usage()
COMPONENT = "query_transform"
MAX_QUERIES = 4
"""Queries that are searched for one question, the question among them."""
MAX_QUERY_CHARS = 512
"""Code points of a query that is made; a longer one is left out."""
MAX_REPLY_TOKENS = 1024
"""Where a model's reply is cut."""


@dataclass(frozen=True, slots=True)
class QueryText:
    """A question as the caller wrote it, and its language, which decides that of the prompt."""

    text: str
    language: str


@dataclass(frozen=True, slots=True)
class Transformed:
    """What came of a question.

    Attributes:
        variants: queries to search, the question itself first.
        probes: passages that might answer it, to search for passages like them; they are no queries.
        outside: texts that were left out since they name something outside.
        purpose: the prompt with its version; empty: no model was asked.
        usage: what the model was asked, as it counts that.
        degradation: why nothing was made; None: something was.
    """

    variants: tuple[QueryVariant, ...]
    probes: tuple[str, ...] = ()
    outside: int = 0
    purpose: str = ""
    usage: Usage = _NONE
    degradation: Degradation | None = None


class Transform(Protocol):
    """One way to make other texts of a question. Any thread may call it, several at once.

    `groundwire_server.query.conformance` has what holds for each.
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


def skipped(
    name: str, query: QueryText, cause: Cause, outside: int = 0, purpose: str = "", usage: Usage = _NONE
) -> Transformed:
    """The question alone, and why."""
    lost = Degradation(DegradationKind.TRANSFORM_SKIPPED, f"{COMPONENT}:{name}", cause=cause)
    return Transformed((QueryVariant(query.text, "caller"),), (), outside, purpose, usage, lost)
