"""What a retrieval is asked for, and what is wrong with it (narrative.proto)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from groundwire_server.errors import ErrorReason, Violation
from groundwire_server.narrative.fusion import FUSIONS
from groundwire_server.narrative.library_router import NO_ROUTER, KeywordLibraryRouter, library_routers
from groundwire_server.query import DECOMPOSERS, TRANSFORMS
from groundwire_server.query.filters import FILTER_EXTRACTORS
from groundwire_server.query.grades import GRADERS

__all__ = [
    "DEFAULT_TOP_K",
    "PRESETS",
    "RetrievalLimits",
    "RetrievalMode",
    "RetrievalTuning",
    "RetrieveRequest",
    "check_question",
    "check_request",
    "check_top_k",
    "check_tuning",
]

DEFAULT_TOP_K = 10
PRESETS = ("balanced", "economy", "quality")
"""Sets of stages that a call can name."""


class RetrievalMode(IntEnum):
    """Which legs to search; numbers are those of `groundwire.v1.RetrievalMode`."""

    AUTO = 1
    HYBRID = 2
    VECTOR = 3
    LEXICAL = 4


@dataclass(frozen=True, slots=True)
class RetrievalTuning:
    """Stages by name. Empty or None: the default; "none" or False: off."""

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
    corrective_judge: str = ""
    tree: bool | None = None
    graph: bool | None = None
    decomposition: str = ""
    adaptive: bool | None = None


@dataclass(frozen=True, slots=True)
class RetrieveRequest:
    """A query. `top_k` 0: the default (10)."""

    query: str
    top_k: int = 0
    mode: RetrievalMode = RetrievalMode.AUTO
    tuning: RetrievalTuning = field(default_factory=RetrievalTuning)


@dataclass(frozen=True, slots=True)
class RetrievalLimits:
    """What one retrieval may ask for. A value over a limit is refused, never cut in silence."""

    max_top_k: int = 200
    max_query_chars: int = 8192
    library_router_seconds: float = 2.0


def check_request(request: RetrieveRequest, limits: RetrievalLimits) -> list[Violation]:
    """Everything that is wrong with a request at once; the filter aside, which needs a library's attributes."""
    return [
        *check_question("query", request.query, limits),
        *check_top_k(request.top_k, limits),
        *check_tuning(request.tuning),
        *_only_for_answers(request.tuning),
    ]


def _only_for_answers(tuning: RetrievalTuning) -> list[Violation]:
    """Stages of Ask that a retrieval has none of."""
    asked = (("decomposition", tuning.decomposition not in ("", "none")), ("adaptive", bool(tuning.adaptive)))
    words = "cuts questions of Ask; a retrieval searches what it is given"
    return [Violation(f"tuning.{name}", ErrorReason.CONTRADICTION, words) for name, there in asked if there]


def check_question(name: str, text: str, limits: RetrievalLimits) -> list[Violation]:
    """A question has 1 to `max_query_chars` code points and is not blank."""
    if not text.strip():
        return [Violation(name, ErrorReason.VALUE_REQUIRED, "must not be blank")]
    if len(text) > limits.max_query_chars:
        words = f"{len(text)} code points, at most {limits.max_query_chars}"
        return [Violation(name, ErrorReason.VALUE_OUT_OF_RANGE, words)]
    return []


def check_top_k(top_k: int, limits: RetrievalLimits) -> list[Violation]:
    """top_k is 0 to `max_top_k`."""
    if 0 <= top_k <= limits.max_top_k:
        return []
    return [Violation("top_k", ErrorReason.VALUE_OUT_OF_RANGE, f"{top_k} is not in 0..{limits.max_top_k}")]


def _routers(named: str) -> tuple[str, ...]:
    """Valid names of a router; those of other packages are looked for only where a name is not one of ours."""
    ours = (NO_ROUTER, KeywordLibraryRouter.name)
    return ours if named in ("", *ours) else (NO_ROUTER, *library_routers())


# Stages that are not built have one name, "none": a switch that would do nothing is refused, not swallowed.
_ONLY_NONE = ("none",)


def check_tuning(tuning: RetrievalTuning) -> list[Violation]:
    """Names that no stage here has, and switches of stages that are not here."""
    named = [
        ("preset", tuning.preset, ("none", *PRESETS)),
        ("reranker", tuning.reranker, _ONLY_NONE),
        *((f"postprocessors[{place}]", name, _ONLY_NONE) for place, name in enumerate(tuning.postprocessors)),
        ("query_transform", tuning.query_transform, ("none", *TRANSFORMS)),
        ("filter_extractor", tuning.filter_extractor, ("none", *FILTER_EXTRACTORS)),
        ("library_router", tuning.library_router, _routers(tuning.library_router)),
        ("fusion", tuning.fusion, FUSIONS),
        ("corrective_judge", tuning.corrective_judge, GRADERS),
        ("decomposition", tuning.decomposition, ("none", *DECOMPOSERS)),
    ]
    found = [
        Violation(f"tuning.{field_name}", ErrorReason.UNKNOWN_NAME, f"{name!r} is none of {', '.join(choices)}")
        for field_name, name, choices in named
        if name and name not in choices
    ]
    switches = [
        ("tree", tuning.tree),
    ]
    found += [
        Violation(f"tuning.{field_name}", ErrorReason.UNKNOWN_NAME, "is not available on this server; leave it unset")
        for field_name, switch in switches
        if switch
    ]
    if tuning.adaptive and tuning.decomposition == "none":
        words = "it says when to cut a question, and decomposition says never"
        found.append(Violation("tuning.adaptive", ErrorReason.CONTRADICTION, words))
    if tuning.rerank_depth:
        found.append(Violation("tuning.rerank_depth", ErrorReason.CONTRADICTION, "there is no reranker to give it to"))
    return found
