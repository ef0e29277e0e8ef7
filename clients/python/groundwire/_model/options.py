"""What every read can be told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TypedDict

from groundwire._model.filter import Filter
from groundwire._model.named import NamedEnum
from groundwire._model.stream import DegradationKind

__all__ = ["CallOptions", "EmptyFilterPolicy", "ExplainLevel", "RetrievalMode", "RetrievalTuning", "StrictnessPolicy"]


class EmptyFilterPolicy(NamedEnum):
    """What to do when the hint leaves no candidate. The hard filter is never dropped."""

    UNSPECIFIED = 0
    NEVER_WIDEN = 1
    RETRY_WITHOUT_MARKED = 2


class ExplainLevel(NamedEnum):
    """How much to tell about the way."""

    UNSPECIFIED = 0
    NONE = 1
    PLAN = 2
    TRACE = 3


class StrictnessPolicy(NamedEnum):
    """Whether fallbacks are accepted."""

    UNSPECIFIED = 0
    ALLOW_DEGRADED = 1
    FAIL_ON_DEGRADED = 2


class RetrievalMode(NamedEnum):
    """Which legs to search."""

    UNSPECIFIED = 0
    AUTO = 1
    HYBRID = 2
    VECTOR = 3
    LEXICAL = 4


class CallOptions(TypedDict, total=False):
    """Keyword arguments that every reading method takes; enums may be given by name.

    request_id: echoed in header, errors and logs; else the server makes one.
    libraries: ids of the libraries to read; none: the server chooses among those that the caller may read.
    filter: hard bound, never dropped.
    hint: soft wish, dropped once if it leaves nothing, and only with a mark.
    on_empty: what to do then.
    known_at: read what the server had recorded then (aware datetime).
    valid_at: read only what holds then (aware datetime).
    explain: how much to tell about the way.
    strictness: whether fallbacks are accepted.
    forbid: fallbacks that this call does not accept.
    resume: cursor of a batch or summary of the very same request.
    soft_budget: send what is final by then, and name the rest.
    token_budget: bound on the tokens of the prompt texts.
    language: of statements and refusals, "en", "zh", "ja".
    reference_date: day from which "last year" is counted.
    timeout: seconds until the call fails with DEADLINE_EXCEEDED; the only one that is not sent as a field.
    """

    request_id: str
    libraries: Sequence[str]
    filter: Filter
    hint: Filter
    on_empty: EmptyFilterPolicy | str
    known_at: datetime
    valid_at: datetime
    explain: ExplainLevel | str
    strictness: StrictnessPolicy | str
    forbid: Sequence[DegradationKind | str]
    resume: bytes
    soft_budget: timedelta
    token_budget: int
    language: str
    reference_date: date
    timeout: float


@dataclass(frozen=True, slots=True)
class RetrievalTuning:
    """Stages by the names that `Client.server_info` lists. Empty or None: the library's default; "none": off."""

    preset: str = ""
    reranker: str = ""
    rerank_depth: int = 0
    postprocessors: tuple[str, ...] = ()
    query_transform: str = ""
    glossary_variants: bool | None = None
    filter_extractor: str = ""
    library_router: str = ""
    fusion: str = ""
    corrective: bool | None = None
    tree: bool | None = None
    graph: bool | None = None
    decomposition: str = ""
    adaptive: bool | None = None
    corrective_judge: str = ""
