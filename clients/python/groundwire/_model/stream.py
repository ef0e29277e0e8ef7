"""The envelope of every streamed answer: header, batches, progress, summary."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from groundwire._model.filter import Filter
from groundwire._model.named import NamedEnum
from groundwire._model.reason import Cause
from groundwire._model.snippet import Snippet

__all__ = [
    "Degradation",
    "DegradationKind",
    "EndReason",
    "Explanation",
    "LibrarySnapshot",
    "LossReason",
    "ModelUsage",
    "PlanStep",
    "Progress",
    "QueryVariant",
    "Refusal",
    "RefusalReason",
    "SnippetBatch",
    "StageTiming",
    "StreamHeader",
    "StreamSummary",
    "TraceEntry",
]


class EndReason(NamedEnum):
    """Why a stream ended."""

    UNSPECIFIED = 0
    EXHAUSTED = 1
    TOP_K = 2
    SOFT_BUDGET = 3
    TOKEN_BUDGET = 4
    REFUSED = 5
    CLARIFICATION = 6
    GRAPH_BUDGET = 7
    SERVER_STOPPING = 8


class RefusalReason(NamedEnum):
    """Why an answer is refused."""

    UNSPECIFIED = 0
    NOTHING_FOUND = 1
    WEAK_CONTEXT = 2
    OUT_OF_SCOPE = 3
    UNLIKE_UNITS = 4
    NOT_ADDITIVE = 5
    OPERAND_MISSING = 6
    OPERAND_CONFLICTING = 7
    DIVISION_BY_ZERO = 8
    ANSWER_UNSUPPORTED = 9


class DegradationKind(NamedEnum):
    """What ran less well than planned."""

    UNSPECIFIED = 0
    VECTOR_OFF = 1
    RERANK_FALLBACK = 2
    LIBRARY_ROUTER_FALLBACK = 3
    FILTER_DROPPED = 4
    LIBRARY_UNREACHABLE = 5
    TRANSFORM_SKIPPED = 6
    BUDGET_CUT = 7
    TREE_ABSENT = 8
    MODEL_TEXT_DROPPED = 9
    VECTOR_PARTIAL = 10
    BRANCH_FAILED = 11
    FILTER_EXTRACTION_SKIPPED = 12
    POSTPROCESS_SKIPPED = 13
    ROUTER_FALLBACK = 14
    ANSWER_FALLBACK = 15
    GRAPH_ABSENT = 16
    UNLIKE_DAYS = 17
    LIBRARY_REFUSED = 18


class LossReason(NamedEnum):
    """Why a candidate was lost on the way."""

    UNSPECIFIED = 0
    NO_MATCH = 1
    DEPTH = 2
    TOP_K = 3
    DUPLICATE = 4
    BUDGET = 5
    WEAK = 6


@dataclass(frozen=True, slots=True)
class LibrarySnapshot:
    """A library at one state, as this caller sees it: equal ids give equal answers."""

    library_id: str
    snapshot_id: str


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One stage as it really runs. `coverage`: share of the candidates that have a vector, where that applies."""

    stage: str
    backend: str
    detail: str = ""
    library_id: str = ""
    coverage: float | None = None


@dataclass(frozen=True, slots=True)
class StreamHeader:
    """First frame: what will run, on what."""

    request_id: str
    server_version: str = ""
    snapshots: tuple[LibrarySnapshot, ...] = ()
    plan: tuple[PlanStep, ...] = ()
    filter_applied: Filter | None = None
    hint_applied: Filter | None = None
    reference_date: str = ""


@dataclass(frozen=True, slots=True)
class SnippetBatch:
    """Some snippets in rank order. `after` continues behind them. `branch`: the branch of Ask, else 0."""

    snippets: tuple[Snippet, ...]
    after: bytes | None = None
    branch: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """A sign of life from long work."""

    stage: str
    done: int = 0
    total: int | None = None
    unit: str = ""
    units_per_second: float | None = None
    remaining: timedelta | None = None
    branch: int = 0


@dataclass(frozen=True, slots=True)
class Refusal:
    """A typed no; its text is a fixed sentence without a figure."""

    reason: RefusalReason
    text: str


@dataclass(frozen=True, slots=True)
class Degradation:
    """Something ran less well than planned, or not at all.

    `detail` by kind: the coverage of vectors (VECTOR_PARTIAL), the filter that was dropped (FILTER_DROPPED), the number
    of sentences that were dropped (MODEL_TEXT_DROPPED).
    """

    kind: DegradationKind
    component: str
    library_id: str = ""
    cause: Cause | None = None
    detail: float | Filter | int | None = None


@dataclass(frozen=True, slots=True)
class StageTiming:
    """Wall time and candidate counts of one stage."""

    stage: str
    elapsed: timedelta
    items_in: int = 0
    items_out: int = 0
    library_id: str = ""


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """What a model cost; `cost` is decimal text in `currency`, empty without a price."""

    model: str
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: str = ""
    currency: str = ""


@dataclass(frozen=True, slots=True)
class QueryVariant:
    """A query that ran, and who made it ("caller", "glossary" ...)."""

    text: str
    made_by: str


@dataclass(frozen=True, slots=True)
class TraceEntry:
    """A candidate that was lost on the way. `snippet_id`: of one of which a snippet was made; else empty."""

    stage: str
    chunk_id: str
    rank: int = 0
    score: float | None = None
    reason: LossReason = LossReason.UNSPECIFIED
    library_id: str = ""
    snippet_id: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What was asked for by `explain`."""

    variants: tuple[QueryVariant, ...] = ()
    trace: tuple[TraceEntry, ...] = ()
    trace_omitted: int = 0


@dataclass(frozen=True, slots=True)
class StreamSummary:
    """Last frame: what came, what did not, and why it ended. `next` continues behind the last snippet."""

    returned: int
    candidates: int = 0
    degradations: tuple[Degradation, ...] = ()
    timings: tuple[StageTiming, ...] = ()
    next: bytes | None = None
    end_reason: EndReason = EndReason.UNSPECIFIED
    refusal: Refusal | None = None
    prompt_tokens: int = 0
    model_usage: tuple[ModelUsage, ...] = ()
    explanation: Explanation | None = None
