"""What a stream says about itself: the plan, the stages, what ran less well, and why it ended."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import timedelta
from enum import IntEnum

from groundwire_server.errors import Cause
from groundwire_server.evidence.filter import Filter

__all__ = [
    "Degradation",
    "DegradationKind",
    "EndReason",
    "LibrarySnapshot",
    "ModelUsage",
    "PlanStep",
    "QueryVariant",
    "Refusal",
    "RefusalReason",
    "StageTiming",
]


class DegradationKind(IntEnum):
    """What happened; numbers are those of `groundwire.v1.DegradationKind`."""

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


class EndReason(IntEnum):
    """Why a stream ended; numbers are those of `groundwire.v1.EndReason`."""

    EXHAUSTED = 1
    TOP_K = 2
    SOFT_BUDGET = 3
    TOKEN_BUDGET = 4
    REFUSED = 5
    CLARIFICATION = 6
    GRAPH_BUDGET = 7
    SERVER_STOPPING = 8


class RefusalReason(IntEnum):
    """Why an answer is refused; numbers are those of `groundwire.v1.RefusalReason`."""

    NOTHING_FOUND = 1
    WEAK_CONTEXT = 2
    OUT_OF_SCOPE = 3
    UNLIKE_UNITS = 4
    NOT_ADDITIVE = 5
    OPERAND_MISSING = 6
    OPERAND_CONFLICTING = 7
    DIVISION_BY_ZERO = 8
    ANSWER_UNSUPPORTED = 9


@dataclass(frozen=True, slots=True)
class Refusal:
    """A typed no; its text is fixed per reason and language and holds no figure."""

    reason: RefusalReason
    text: str


@dataclass(frozen=True, slots=True)
class Degradation:
    """Something ran less well than planned, or not at all (promise 5)."""

    kind: DegradationKind
    component: str
    library_id: str = ""
    cause: Cause | None = None
    coverage: float | None = None
    dropped_filter: Filter | None = None
    dropped_sentences: int | None = None


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One stage as it will really run. `coverage`, of dense stages: share of the candidates that have a vector."""

    stage: str
    backend: str
    detail: str = ""
    library_id: str = ""
    coverage: float | None = None


@dataclass(frozen=True, slots=True)
class StageTiming:
    """Wall time and candidate counts of one stage. `ended`: when, as `time.monotonic` reads."""

    stage: str
    elapsed: timedelta
    items_in: int
    items_out: int
    library_id: str = ""
    ended: float = field(default_factory=time.monotonic, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class LibrarySnapshot:
    """A library at one state, as one class of callers sees it. `snapshot_id` is opaque."""

    library_id: str
    snapshot_id: str


@dataclass(frozen=True, slots=True)
class QueryVariant:
    """A query that ran, and who made it ("caller", "glossary" ...)."""

    text: str
    made_by: str


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """What a model was asked in one call. `model` with its provider; `cost` exact, empty where no price is known."""

    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost: str = ""
