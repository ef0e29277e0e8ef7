"""Whole streams, folded together."""

from __future__ import annotations

from dataclasses import dataclass

from groundwire._model.answer import AnswerPart, SubCall, SubCallSummary
from groundwire._model.ingest import DocumentOutcome, IngestSummary, RejectedRow
from groundwire._model.metric import CalculationOutcome, MetricFound, MetricOutcome
from groundwire._model.route import Clarification, RouteDecision
from groundwire._model.snippet import Snippet
from groundwire._model.stream import StreamHeader, StreamSummary

__all__ = ["Answer", "Figures", "IngestReport", "Retrieval", "Trace"]


@dataclass(frozen=True, slots=True)
class Retrieval:
    """A whole retrieval: snippets in rank order between header and summary."""

    header: StreamHeader
    snippets: tuple[Snippet, ...]
    summary: StreamSummary


@dataclass(frozen=True, slots=True)
class Figures:
    """The whole answer to QueryMetric: one outcome a query, in order, and the snippets that they name."""

    header: StreamHeader
    outcomes: tuple[MetricOutcome, ...]
    calculations: tuple[CalculationOutcome, ...]
    snippets: tuple[Snippet, ...]
    summary: StreamSummary

    def of(self, outcome: MetricOutcome) -> tuple[Snippet, ...]:
        """The snippets that an outcome names; none unless it found something."""
        if not isinstance(outcome.outcome, MetricFound):
            return ()
        named = set(outcome.outcome.snippet_ids)
        return tuple(snippet for snippet in self.snippets if snippet.snippet_id in named)


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer of Ask. `text` is what people read; `cited` what it stands on."""

    header: StreamHeader
    route: RouteDecision | None
    parts: tuple[AnswerPart, ...]
    clarifications: tuple[Clarification, ...]
    outcomes: tuple[MetricOutcome, ...]
    snippets: tuple[Snippet, ...]
    branches: tuple[SubCall, ...]
    branch_summaries: tuple[SubCallSummary, ...]
    summary: StreamSummary

    @property
    def text(self) -> str:
        """All parts of the answer, joined."""
        return "".join(part.text for part in self.parts)

    @property
    def cited(self) -> tuple[Snippet, ...]:
        """Snippets that the answer cites, in rank order."""
        named = {snippet_id for part in self.parts for snippet_id in part.cited_snippet_ids}
        return tuple(snippet for snippet in self.snippets if snippet.snippet_id in named)


@dataclass(frozen=True, slots=True)
class Trace:
    """A whole walk of the relation graph."""

    header: StreamHeader
    outcomes: tuple[MetricOutcome, ...]
    snippets: tuple[Snippet, ...]
    summary: StreamSummary


@dataclass(frozen=True, slots=True)
class IngestReport:
    """A whole ingest. `outcomes` are of documents, `rejected` of figures and relations."""

    ingest_id: str
    outcomes: tuple[DocumentOutcome, ...]
    rejected: tuple[RejectedRow, ...]
    summary: IngestSummary
