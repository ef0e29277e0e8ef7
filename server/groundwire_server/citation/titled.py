"""Whether a document names another one by its title where a citation says so."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from groundwire_server.citation.request import NOT_FOUND, CitationCheck, CitationVerdict
from groundwire_server.evidence import GraphEdge, Lineage, Locator, Principal, Span, parse_node_id, slice_text
from groundwire_server.library import title_names

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["TITLES", "verify_titled"]

TITLES = "titles"
"""Extractor of relations that are read from titles and texts when a question is asked, and are not stored."""

_DOCUMENT, _MENTIONS = "document", "mentions"
_MOST_REVISIONS = 100


def verify_titled(
    sources: Sequence[Lineage], claim: GraphEdge, snapshot: Snapshot, principal: Principal
) -> CitationCheck:
    """EXACT when the title stands at every cited place of the text of today, SUPERSEDED when it stood there before."""
    try:
        (kind, doc_id), (other_kind, other) = parse_node_id(claim.source.node_id), parse_node_id(claim.target.node_id)
    except ValueError:
        return NOT_FOUND
    if (kind, other_kind, claim.relation) != (_DOCUMENT, _DOCUMENT, _MENTIONS) or not sources:
        return NOT_FOUND
    named = snapshot.reader.active_revision(other, clearance=principal.clearance)
    if named is None or not principal.may_read(named.label):
        return NOT_FOUND
    names = frozenset(title_names(named.title))
    found = [_verdict(each, doc_id, names, snapshot, principal) for each in sources]
    return CitationCheck(max(found))


def _verdict(
    source: Lineage, doc_id: str, names: frozenset[str], snapshot: Snapshot, principal: Principal
) -> CitationVerdict:
    span = _span(source.source_locator)
    if source.doc_id != doc_id or span is None:
        return CitationVerdict.NOT_FOUND
    reader, clearance = snapshot.reader, principal.clearance
    active = reader.active_revision(doc_id, clearance=clearance)
    for each in islice(reader.revisions(doc_id, limit=_MOST_REVISIONS, clearance=clearance), _MOST_REVISIONS):
        text = reader.source_text(doc_id, each.revision, clearance=clearance)
        if text is None or span.end > len(text) or names.isdisjoint(title_names(slice_text(text, span))):
            continue
        today = active is not None and active.revision == each.revision
        return CitationVerdict.EXACT if today else CitationVerdict.SUPERSEDED
    return CitationVerdict.NOT_FOUND


def _span(locator: str) -> Span | None:
    try:
        start, end = dict(Locator.parse(locator).parts)["span"].split("-")
        return Span(int(start), int(end))
    except (KeyError, ValueError):
        return None
