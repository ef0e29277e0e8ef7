"""Documents as they are stored, and what changed from one revision to the next."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from groundwire._model.value import Attribute, Span

__all__ = ["DocumentChunk", "DocumentRevision", "StoredDocument", "TextChange"]


@dataclass(frozen=True, slots=True)
class DocumentRevision:
    """One revision of a document; `active`: it answers queries now. Sizes of the content are bytes, of the text code
    points. `retired_at` None: it is active.
    """

    doc_id: str
    revision: int
    active: bool = False
    title: str = ""
    media_type: str = ""
    content_sha256: bytes = b""
    content_bytes: int = 0
    text_chars: int = 0
    chunks: int = 0
    valid_as_of: datetime | None = None
    ingested_at: datetime | None = None
    retired_at: datetime | None = None
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentChunk:
    """Where a chunk stands; its text is that stretch of the document's text."""

    chunk_id: str
    span: Span
    source_locator: str = ""
    heading: str = ""
    parent_id: str = ""
    embedded: bool = False


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A revision, with its text and chunks where they were asked for."""

    revision: DocumentRevision
    text: str = ""
    chunks: tuple[DocumentChunk, ...] = ()


@dataclass(frozen=True, slots=True)
class TextChange:
    """A stretch that changed. An empty `old_span`: inserted; an empty `new_span`: deleted."""

    old_span: Span
    new_span: Span
    old_text: str = ""
    new_text: str = ""
