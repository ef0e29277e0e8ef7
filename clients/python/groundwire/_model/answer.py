"""A guarded answer in parts, and the branches that it was made by."""

from __future__ import annotations

from dataclasses import dataclass

from groundwire._model.named import NamedEnum
from groundwire._model.reason import Cause
from groundwire._model.route import Route
from groundwire._model.stream import EndReason, PlanStep, Refusal
from groundwire._model.value import Span

__all__ = ["AnswerOrigin", "AnswerPart", "AnswerRestarted", "AnswerWriter", "SubCall", "SubCallSummary"]


class AnswerWriter(NamedEnum):
    """Who writes the narrative part."""

    UNSPECIFIED = 0
    NONE = 1
    EXTRACTIVE = 2
    MODEL = 3


class AnswerOrigin(NamedEnum):
    """Who wrote a part of an answer."""

    UNSPECIFIED = 0
    FACTS = 1
    QUOTATION = 2
    MODEL = 3
    FIXED = 4


@dataclass(frozen=True, slots=True)
class SubCall:
    """A branch begins. Its number is `branch`; `parent_index` 0 is the call itself."""

    route: Route
    sub_question: str = ""
    parent_index: int = 0
    plan: tuple[PlanStep, ...] = ()
    branch: int = 0


@dataclass(frozen=True, slots=True)
class SubCallSummary:
    """A branch ends."""

    end_reason: EndReason
    refusal: Refusal | None = None
    error: Cause | None = None
    returned: int = 0
    branch: int = 0


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """One or more whole sentences; all parts joined without anything between are the answer."""

    text: str
    cited_snippet_ids: tuple[str, ...] = ()
    origin: AnswerOrigin = AnswerOrigin.UNSPECIFIED
    unchecked_quantities: tuple[Span, ...] = ()
    branch: int = 0


@dataclass(frozen=True, slots=True)
class AnswerRestarted:
    """The connection broke and the answer is written anew: forget its parts; others follow."""
