"""What the sources of a community say, in their own sentences; and the community as a snippet (semantics 12)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groundwire_server.evidence import (
    ChunkId,
    GraphCommunity,
    Label,
    Lineage,
    Snippet,
    Span,
    Trust,
    make_snippet_id,
    slice_text,
    text_sha256,
)
from groundwire_server.glossary import names_of
from groundwire_server.graph.communities import Community
from groundwire_server.graph.kept import ENTITY, METRIC
from groundwire_server.graph.nodes import Node
from groundwire_server.graph.opened import OpenGraph
from groundwire_server.store import StoredChunk, StoredEdge
from groundwire_server.text import has_borders, normalize, sentence_spans

if TYPE_CHECKING:
    from groundwire_server.adjacency import Sight
    from groundwire_server.evidence import Call

__all__ = ["MOST_NODES", "SENTENCES", "community_snippet"]

MOST_NODES = 50
"""Nodes of a community that are shown, the most central ones."""
SENTENCES = 3
"""Sentences of a summary."""

_EDGES_READ = 500
_DOCUMENTS_READ = 16
_PASSAGES_READ = 32  # of a document
_LONGEST_SENTENCE = 400
_DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence of a source, and which nodes it names, by their places in the community."""

    chunk: StoredChunk
    span: Span  # within the passage
    named: frozenset[int]

    @property
    def text(self) -> str:
        """As it stands there."""
        return slice_text(self.chunk.text, self.span)


def community_snippet(community: Community, graph: OpenGraph, sight: Sight, call: Call) -> Snippet:
    """A community with its most central nodes, and a summary of sentences that name several of them.

    Context only. The lineage is where the sentences stand; without any, the sources of the edges.
    """
    clearance, library_id = call.principal.clearance, graph.library_id
    numbers = np.array(community.edges[:_EDGES_READ], dtype=np.int64)
    rows = [
        row
        for row in graph.reader.edge_rows(clearance, sight.sources(numbers))
        if call.principal.may_read(row.record.label)
    ]
    labels = [row.record.label for row in rows]
    shown = community.nodes[:MOST_NODES]
    language = call.options.language or "en"
    sources = Counter(row.record.source_doc for row in rows)
    sentences = _pick(list(_sentences(shown, graph, sources, call)))
    members = [_quoted(each, library_id) for each in sentences] or _cited(rows, library_id)
    summary = "\n".join(each.text for each in sentences)
    return Snippet(
        snippet_id=make_snippet_id("community", library_id, community.community_id, text_sha256(summary)),
        lineage=Lineage(library_id=library_id, members=tuple(members)),
        trust=Trust.CONTEXT_ONLY,
        payload=GraphCommunity(
            community_id=community.community_id,
            size=len(community.nodes),
            nodes=tuple(graph.names.show(node, language) for node in shown),
            summary=summary,
        ),
        label=max((*labels, *(each.chunk.label for each in sentences)), default=Label.PUBLIC),
    )


def _sentences(nodes: Sequence[Node], graph: OpenGraph, sources: Counter[str], call: Call) -> Iterator[_Sentence]:
    """Sentences of the documents that state most of the edges, with the nodes that each names."""
    reader, principal = graph.reader, call.principal
    names = [_names(node, graph) for node in nodes]
    for doc_id in sorted(sources, key=lambda each: (-sources[each], each))[:_DOCUMENTS_READ]:
        call.cancel.check("exit")
        revision = reader.active_revision(doc_id, clearance=principal.clearance)
        if revision is None:
            continue
        chunks = reader.chunks_of(doc_id, revision.revision, 0, _PASSAGES_READ, clearance=principal.clearance)
        for chunk in chunks:
            if not principal.may_read(chunk.label):
                continue
            for span in sentence_spans(chunk.text):
                text = slice_text(chunk.text, span)
                lead = len(text) - len(text.lstrip())
                kept = Span(span.start + lead, span.start + len(text.rstrip())) if text.strip() else span
                if 0 < kept.end - kept.start <= _LONGEST_SENTENCE:
                    normal = normalize(text)
                    named = frozenset(place for place, known in enumerate(names) if _names_one(normal, known))
                    if named:
                        yield _Sentence(chunk, kept, named)


def _names(node: Node, graph: OpenGraph) -> tuple[str, ...]:
    """What a node is called, in normal form; a document is named by nothing."""
    kind, code = node
    glossary = graph.snapshot.glossary
    term = glossary.entities.get(code) if kind == ENTITY else glossary.metrics.get(code) if kind == METRIC else None
    names = (code,) if term is None else names_of(term)
    return () if kind == _DOCUMENT else tuple(sorted({normal for name in names if (normal := normalize(name).strip())}))


def _names_one(normal: str, names: Sequence[str]) -> bool:
    for name in names:
        at = normal.find(name)
        while at >= 0:
            if has_borders(normal, at, at + len(name)):
                return True
            at = normal.find(name, at + 1)
    return False


def _pick(sentences: Sequence[_Sentence]) -> list[_Sentence]:
    """The sentences that together name most, the most central nodes first; what was said is not said again.

    Each further one is worth what it adds; of equal ones the first by document and place is taken.
    """
    chosen: list[_Sentence] = []
    told: set[int] = set()
    texts: set[str] = set()
    while len(chosen) < SENTENCES:
        best = max(
            (
                (sum(1.0 / (2 + place) for place in each.named - told), -number)
                for number, each in enumerate(sentences)
                if each.text not in texts
            ),
            default=(0.0, 0),
        )
        if best[0] <= 0:
            break
        each = sentences[-best[1]]
        chosen.append(each)
        told |= each.named
        texts.add(each.text)
    return chosen


def _quoted(sentence: _Sentence, library_id: str) -> Lineage:
    chunk, text = sentence.chunk, sentence.text
    begin = chunk.span.start + sentence.span.start
    return Lineage(
        library_id=library_id,
        doc_id=chunk.doc_id,
        revision=chunk.revision,
        title=chunk.title,
        chunk_id=str(ChunkId(chunk.doc_id, chunk.revision, chunk.seq)),
        source_locator=chunk.locator,
        span=Span(begin, begin + sentence.span.end - sentence.span.start),
        heading=chunk.heading,
        valid_as_of=chunk.valid_as_of,
        ingested_at=chunk.ingested_at,
        text_sha256=text_sha256(text),
    )


def _cited(rows: Sequence[StoredEdge], library_id: str) -> list[Lineage]:
    """The places that state the edges, each once, up to as many nodes as are shown."""
    places: dict[tuple[str, str], Lineage] = {}
    for row in rows:
        record = row.record
        places.setdefault(
            (record.source_doc, record.locator),
            Lineage(
                library_id=library_id,
                doc_id=record.source_doc,
                source_locator=record.locator,
                ingested_at=row.recorded_at,
            ),
        )
    return list(places.values())[:MOST_NODES]
