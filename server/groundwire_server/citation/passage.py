"""Whether a passage stands where a citation says (semantics 5, 6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from groundwire_server.citation.request import NOT_FOUND, CitationCheck, CitationVerdict
from groundwire_server.evidence import ChunkId, Lineage, Locator, Principal, Span, slice_text, text_sha256
from groundwire_server.security import drop_unreadable

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot
    from groundwire_server.store import StoredChunk, StoredRevision

__all__ = ["verify_passage"]

_NO_SEQ = 2**31  # no document has so many chunks, and a citation can name any number


def verify_passage(lineage: Lineage, quote: str | None, snapshot: Snapshot, principal: Principal) -> CitationCheck:
    """Whether the quotation, or without one the text of the hash, stands at the cited place of the cited revision.

    All that the lineage says of the place has to agree: span, chunk, locator and hash, as far as they are given. A
    citation of which a part was changed was never given out.
    """
    clearance = principal.clearance
    if snapshot.reader.revision(lineage.doc_id, lineage.revision, clearance=clearance) is None:
        return NOT_FOUND
    source = snapshot.reader.source_text(lineage.doc_id, lineage.revision, clearance=clearance)
    if source is None:
        return NOT_FOUND
    for place in _places(lineage, snapshot, principal, source):
        cited = slice_text(source, place)
        if lineage.text_sha256 and text_sha256(cited) != lineage.text_sha256:
            continue
        if quote is None:
            return _judge(lineage, cited, place.start, snapshot, principal)
        if quote in cited:
            return _judge(lineage, quote, place.start + cited.index(quote), snapshot, principal)
    return NOT_FOUND


def _places(lineage: Lineage, snapshot: Snapshot, principal: Principal, source: str) -> Iterator[Span]:
    """The cited places: the span, where it lies within a chunk that is cited too; else every such chunk."""
    span = lineage.span
    if span is not None and span.end > len(source):
        return
    locator = lineage.source_locator
    if span is not None and not lineage.chunk_id and locator in ("", str(Locator(lineage.doc_id))):
        yield span
        return
    for chunk in _cited_chunks(lineage, snapshot, principal):
        if locator not in ("", chunk.locator):
            continue
        if span is None:
            yield chunk.span
        elif chunk.span.start <= span.start and span.end <= chunk.span.end:
            yield span


def _cited_chunks(lineage: Lineage, snapshot: Snapshot, principal: Principal) -> list[StoredChunk]:
    """The chunk that is named, none where the name is of another place; all of the revision where none is named."""
    if not lineage.chunk_id:
        return _chunks(snapshot, lineage.doc_id, lineage.revision, principal)
    try:
        cited = ChunkId.parse(lineage.chunk_id)
    except ValueError:
        return []
    if (cited.doc_id, cited.revision) != (lineage.doc_id, lineage.revision):
        return []
    return _chunks(snapshot, lineage.doc_id, lineage.revision, principal, cited.seq)


def _judge(lineage: Lineage, text: str, start: int, snapshot: Snapshot, principal: Principal) -> CitationCheck:
    active = snapshot.reader.active_revision(lineage.doc_id, clearance=principal.clearance)
    if active is not None and active.revision == lineage.revision:
        return CitationCheck(CitationVerdict.EXACT)
    now = _find(text, start, active, snapshot, principal) if active is not None else None
    return CitationCheck(CitationVerdict.SUPERSEDED, now)


def _find(text: str, start: int, active: StoredRevision, snapshot: Snapshot, principal: Principal) -> Lineage | None:
    """Where the same text stands in the active revision: nearest to where it stood, the earlier of two."""
    source = snapshot.reader.source_text(active.doc_id, active.revision, clearance=principal.clearance) or ""
    places: list[int] = []
    at = source.find(text)
    while at >= 0:
        places.append(at)
        at = source.find(text, at + 1)
    if not places:
        return None
    nearest = min(places, key=lambda place: (abs(place - start), place))
    span = Span(nearest, nearest + len(text))
    chunks = _chunks(snapshot, active.doc_id, active.revision, principal)
    around = [chunk for chunk in chunks if chunk.span.start <= span.start and span.end <= chunk.span.end]
    chunk = around[0] if around else None
    return Lineage(
        library_id=snapshot.library_id,
        doc_id=active.doc_id,
        revision=active.revision,
        title=active.title,
        chunk_id=str(ChunkId(chunk.doc_id, chunk.revision, chunk.seq)) if chunk is not None else "",
        source_locator=chunk.locator if chunk is not None else str(Locator(active.doc_id)),
        span=span,
        heading=chunk.heading if chunk is not None else "",
        valid_as_of=active.valid_as_of,
        ingested_at=active.ingested_at,
        text_sha256=text_sha256(text),
        attributes=tuple(sorted(active.attributes, key=lambda attribute: attribute.name)),
    )


def _chunks(
    snapshot: Snapshot, doc_id: str, revision: int, principal: Principal, seq: int | None = None
) -> list[StoredChunk]:
    """The readable chunks of a revision, in order; or the one with that number, if there is one."""
    first, limit = (0, None) if seq is None else (min(seq, _NO_SEQ), 1)
    found = snapshot.reader.chunks_of(doc_id, revision, first, limit, clearance=principal.clearance)
    return drop_unreadable(found, principal)
