"""The last stage: from hits to snippets that carry their citation (seed, "link"; semantics 6)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from groundwire_server.evidence import (
    Call,
    ChunkId,
    Lineage,
    Principal,
    Scores,
    Snippet,
    TextPassage,
    Trust,
    make_snippet_id,
)
from groundwire_server.narrative.parents import Context, ParentTexts
from groundwire_server.narrative.reach import Reach
from groundwire_server.narrative.state import Hit
from groundwire_server.security import drop_unreadable
from groundwire_server.text import Highlighter

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot
    from groundwire_server.store import StoredChunk

__all__ = ["Found", "make_snippets"]

_AT_ONCE = 50  # rows that are fetched before the cancel token is asked again


@dataclass(frozen=True, slots=True)
class Found:
    """A hit and the library that it is from."""

    snapshot: Snapshot
    hit: Hit


def make_snippets(
    found: Sequence[Found], top_k: int, call: Call, query_tokens: Collection[str], reach: Reach
) -> list[Snippet]:
    """The first `top_k` readable hits as snippets, in the order of the hits; each row is fetched once.

    A hit with a parent or a window brings that for the prompt, unless one before it has brought it.

    A row that the caller may not read has left before anything was scored. Should one be here all the same, it leaves
    before a snippet is made of it, and the next hit takes its place.
    """
    snippets: list[Snippet] = []
    if not found:
        return snippets
    highlighter = Highlighter(query_tokens)
    parents = {each.library_id: ParentTexts(each, call.principal) for each in reach.snapshots}
    waiting = iter(found)
    while len(snippets) < top_k and (some := list(islice(waiting, min(top_k - len(snippets), _AT_ONCE)))):
        call.cancel.check("exit")
        rows: dict[str, list[int]] = {}
        for one in some:
            rows.setdefault(one.snapshot.library_id, []).append(one.hit.row)
        chunks = reach.each(
            lambda snapshot, rows=rows: _readable(snapshot, rows, call.principal, parents)  # type: ignore[misc]
        )
        for one in some:
            readable = chunks.get(one.snapshot.library_id, {}).get(one.hit.row)
            if readable is not None:
                snippets.append(_snippet(one, *readable, highlighter))
    return snippets


def _readable(
    snapshot: Snapshot, rows: dict[str, list[int]], principal: Principal, parents: dict[str, ParentTexts]
) -> dict[int, tuple[StoredChunk, Context]]:
    """The readable ones of some rows, and what each is read with. The others leave before any parent is looked at."""
    wanted = rows.get(snapshot.library_id, [])
    chunks = snapshot.chunks(wanted, principal)
    readable = set(map(id, drop_unreadable(chunks, principal)))
    kept = [(row, chunk) for row, chunk in zip(wanted, chunks, strict=True) if id(chunk) in readable]
    contexts = parents[snapshot.library_id].of([chunk for _, chunk in kept])
    return {row: (chunk, context) for (row, chunk), context in zip(kept, contexts, strict=True)}


def _snippet(found: Found, chunk: StoredChunk, context: Context, highlighter: Highlighter) -> Snippet:
    library_id, hit = found.snapshot.library_id, found.hit
    chunk_id = str(ChunkId(chunk.doc_id, chunk.revision, chunk.seq))
    lineage = Lineage(
        library_id=library_id,
        doc_id=chunk.doc_id,
        revision=chunk.revision,
        title=chunk.title,
        chunk_id=chunk_id,
        source_locator=chunk.locator,
        span=chunk.span,
        heading=chunk.heading,
        parent_id=chunk.parent_id,
        parent_locator=context.locator,
        valid_as_of=chunk.valid_as_of,
        ingested_at=chunk.ingested_at,
        text_sha256=chunk.text_sha256,
        attributes=chunk.attributes,
    )
    scores = Scores(
        fused=hit.fused,
        bm25=hit.bm25,
        vector=hit.cosine,
        bm25_rank=hit.bm25_rank,
        vector_rank=hit.vector_rank,
        graph=hit.graph,
        graph_rank=hit.graph_rank,
    )
    return Snippet(
        snippet_id=make_snippet_id("text", library_id, chunk_id, chunk.text_sha256),
        lineage=lineage,
        trust=Trust.CITABLE,
        payload=TextPassage(chunk.text, context.text, highlights=tuple(highlighter.spans(chunk.text))),
        label=chunk.label,
        scores=scores,
    )
