"""What an extractor found, as sources of edges; and the exact place that stands in the locator of each."""

from __future__ import annotations

from collections.abc import Sequence

from groundwire_server.evidence import Locator, Span
from groundwire_server.relations.extractors.extraction import (
    Check,
    Extraction,
    Passage,
    RelationExtractor,
    SourceDocument,
)
from groundwire_server.store import EdgeRecord, NewDocument, StoredChunk, StoredRevision

__all__ = ["evidence_span", "extract_edges", "new_document", "stored_document"]

_SPAN = "span"


def extract_edges(
    extractor: RelationExtractor, document: SourceDocument, check: Check = lambda: None
) -> tuple[tuple[EdgeRecord, ...], Extraction]:
    """The sources of edges that an extractor finds in a document, and all that it says of it. Raises as it does."""
    found = extractor.extract(document, check)
    edges = [
        EdgeRecord(
            source_kind=relation.source[0],
            source=relation.source[1],
            relation=relation.relation,
            target_kind=relation.target[0],
            target=relation.target[1],
            extractor=extractor.name,
            source_doc=document.doc_id,
            locator=_locator(document.passages[relation.passage], relation.span),
            label=document.label,
        )
        for relation in found.relations
    ]
    return tuple(edges), found


def evidence_span(locator: str) -> Span | None:
    """The exact place that an extracted relation stands on, in code points of the source text; None: it has none.

    >>> evidence_span("notes.md#line=3-5,span=120-180")
    Span(start=120, end=180)
    """
    try:
        parts = dict(Locator.parse(locator).parts)
        start, end = parts[_SPAN].split("-")
        return Span(int(start), int(end))
    except (KeyError, ValueError):
        return None


def new_document(document: NewDocument) -> SourceDocument:
    """A document that is about to be stored, for an extractor."""
    passages = tuple(
        Passage(document.text[chunk.span.start : chunk.span.end], chunk.span, chunk.locator)
        for chunk in document.chunks
    )
    return SourceDocument(document.doc_id, document.label, passages)


def stored_document(revision: StoredRevision, chunks: Sequence[StoredChunk]) -> SourceDocument:
    """A stored document with its chunks, for an extractor."""
    passages = tuple(Passage(chunk.text, chunk.span, chunk.locator) for chunk in chunks)
    return SourceDocument(revision.doc_id, revision.label, passages)


def _locator(passage: Passage, span: Span) -> str:
    """The place of a passage, with the exact one behind it: a passage of a whole document has no other."""
    place = Locator.parse(passage.locator)
    return str(Locator(place.doc_id, (*place.parts, (_SPAN, f"{span.start}-{span.end}"))))
