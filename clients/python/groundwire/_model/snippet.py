"""One piece of evidence: what it is, where it comes from, how it ranked, what it may be used for."""

from __future__ import annotations

from dataclasses import dataclass

from groundwire._model.figure import DerivedFigure, MetricFact
from groundwire._model.lineage import Lineage
from groundwire._model.named import NamedEnum
from groundwire._model.relation import GraphCommunity, GraphEdge, GraphPath
from groundwire._model.value import Span

__all__ = ["PageHit", "Payload", "Scores", "Snippet", "TextPassage", "TreeSummary", "Trust"]


class Trust(NamedEnum):
    """What a snippet may be used for. UNSPECIFIED is to be treated as CONTEXT_ONLY."""

    UNSPECIFIED = 0
    CITABLE = 1
    CONTEXT_ONLY = 2
    MODEL_DERIVED_UNVERIFIED = 3


@dataclass(frozen=True, slots=True)
class Scores:
    """How a snippet was ranked. None was not computed; that is not zero."""

    fused: float | None = None
    bm25: float | None = None
    vector: float | None = None
    rerank: float | None = None
    late_interaction: float | None = None
    sparse: float | None = None
    bm25_rank: int | None = None
    vector_rank: int | None = None
    tree: float | None = None
    graph: float | None = None
    late_interaction_rank: int | None = None
    sparse_rank: int | None = None
    tree_rank: int | None = None
    graph_rank: int | None = None


@dataclass(frozen=True, slots=True)
class TextPassage:
    """A passage of a document. `text` is verbatim and the only text to quote; `prompt_text` is wider context.

    `highlights` are the parts of `text` that matched the query.
    """

    text: str
    prompt_text: str = ""
    highlights: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class TreeSummary:
    """A summary over many passages; context only."""

    node_id: str
    level: int
    leaf_count: int = 0
    summary: str = ""


@dataclass(frozen=True, slots=True)
class PageHit:
    """A page found by its image; context only. The locator names the file."""

    page: int


Payload = TextPassage | MetricFact | DerivedFigure | GraphEdge | GraphPath | TreeSummary | PageHit | GraphCommunity


@dataclass(frozen=True, slots=True)
class Snippet:
    """One piece of evidence. `snippet_id` is the key to cite and to de-duplicate by; `rank` counts from 1."""

    snippet_id: str
    rank: int
    lineage: Lineage
    trust: Trust
    payload: Payload
    scores: Scores | None = None

    @property
    def citable(self) -> bool:
        """Whether it may stand as evidence."""
        return self.trust is Trust.CITABLE
