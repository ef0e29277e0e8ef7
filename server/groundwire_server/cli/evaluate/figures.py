"""What came back for a question about a figure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from groundwire import Answer, MetricFact, MetricFound, MetricNotFound, MetricOutcome, Snippet, UnrecognizedParam

__all__ = ["Figure", "Got", "got_by_ask", "got_by_query"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure that was given out, with its source."""

    value: str
    unit: str
    source_doc: str
    locator: str

    @property
    def amount(self) -> Decimal:
        """The value as a number."""
        return Decimal(self.value)

    def agrees_with(self, question: Mapping[str, Any]) -> bool:
        """Whether unit and source are those that the question expects, as far as it names them."""
        unit = question.get("unit", self.unit)
        named = (question.get("source_doc", self.source_doc), question.get("locator", self.locator))
        return self.unit.casefold() == unit.casefold() and (self.source_doc, self.locator) == named


@dataclass(frozen=True, slots=True)
class Got:
    """The outcome of one question and all figures that came with it; "none": there was no outcome at all."""

    question_id: str
    outcome: str
    param: str
    figures: tuple[Figure, ...]

    def line(self) -> dict[str, str | None]:
        """The line of the run file: the first figure stands for all."""
        first = self.figures[0] if self.figures else None
        return {
            "question_id": self.question_id,
            "outcome": self.outcome,
            "param": self.param,
            "value": first.value if first else None,
            "unit": first.unit if first else "",
            "source_doc": first.source_doc if first else "",
            "locator": first.locator if first else "",
        }


def got_by_query(question_id: str, outcome: MetricOutcome, snippets: Iterable[Snippet]) -> Got:
    """Of QueryMetric: one outcome, and the snippets that it names."""
    return Got(question_id, *_name(outcome), _figures(snippets))


def got_by_ask(question_id: str, answer: Answer) -> Got:
    """Of Ask: every figure in the answer counts, whichever outcome it is of; one that was found is the outcome."""
    named = [_name(outcome) for outcome in answer.outcomes]
    found = next((each for each in named if each[0] == "found"), None)
    return Got(question_id, *(found or next(iter(named), ("none", ""))), _figures(answer.snippets))


def _name(outcome: MetricOutcome) -> tuple[str, str]:
    match outcome.outcome:
        case MetricFound():
            return "found", ""
        case MetricNotFound():
            return "not_found", ""
        case UnrecognizedParam(param=param):
            return "unrecognized_param", param
        case _:
            return "none", ""


def _figures(snippets: Iterable[Snippet]) -> tuple[Figure, ...]:
    return tuple(
        Figure(each.payload.value, each.payload.unit, each.lineage.doc_id, each.lineage.source_locator)
        for each in snippets
        if isinstance(each.payload, MetricFact)
    )
