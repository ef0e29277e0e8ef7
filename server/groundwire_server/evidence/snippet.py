"""What every call returns: a typed snippet with lineage, scores and trust."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum

from groundwire_server.evidence.figure import DerivedFigure, MetricFact
from groundwire_server.evidence.label import Label
from groundwire_server.evidence.relation import GraphCommunity, GraphEdge, GraphPath
from groundwire_server.evidence.value import Attribute, Span

__all__ = ["Lineage", "Payload", "Scores", "Snippet", "TextPassage", "Trust", "make_snippet_id", "text_sha256"]


class Trust(IntEnum):
    """What a snippet may be used for; numbers are those of `groundwire.v1.Trust`."""

    CITABLE = 1
    CONTEXT_ONLY = 2
    MODEL_DERIVED_UNVERIFIED = 3


@dataclass(frozen=True, slots=True)
class Lineage:
    """The way back to the place in the source. Empty strings and None mean: does not apply."""

    library_id: str
    doc_id: str = ""
    revision: int = 0
    title: str = ""
    chunk_id: str = ""
    source_locator: str = ""
    span: Span | None = None
    heading: str = ""
    parent_id: str = ""
    parent_locator: str = ""
    valid_as_of: datetime | None = None
    ingested_at: datetime | None = None
    text_sha256: bytes = b""
    members: tuple[Lineage, ...] = ()
    members_omitted: int = 0
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class Scores:
    """How a snippet was ranked. None was not computed; that is not zero."""

    fused: float | None = None
    bm25: float | None = None
    vector: float | None = None
    rerank: float | None = None
    bm25_rank: int | None = None
    vector_rank: int | None = None
    graph: float | None = None
    graph_rank: int | None = None


@dataclass(frozen=True, slots=True)
class TextPassage:
    """A verbatim passage: `source_text[span.start:span.end] == text`. `prompt_text` is never cited."""

    text: str
    prompt_text: str = ""
    highlights: tuple[Span, ...] = ()


Payload = TextPassage | MetricFact | DerivedFigure | GraphEdge | GraphPath | GraphCommunity


@dataclass(frozen=True, slots=True)
class Snippet:
    """One piece of evidence.

    `rank` is the place in the whole stream, from 1; 0 until the stream gives it one.
    `label` is the strictest label of all that is in it; it is checked at the exits and never encoded.
    """

    snippet_id: str
    lineage: Lineage
    trust: Trust
    payload: Payload
    label: Label = field(repr=False)
    scores: Scores | None = None
    rank: int = 0


def text_sha256(text: str) -> bytes:
    """SHA-256 of the UTF-8 of a text, 32 bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def make_snippet_id(kind: str, library_id: str, item_id: str, sha256: bytes) -> str:
    """128-bit hex: the same over restarts, different for equal chunks of two libraries."""
    parts = (kind.encode(), library_id.encode(), item_id.encode("utf-8", "surrogatepass"), sha256)
    framed = b"".join([len(part).to_bytes(8, "big") + part for part in parts])
    return hashlib.sha256(framed).hexdigest()[:32]
