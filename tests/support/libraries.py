"""Small real libraries for tests: SQLite store, indexes and all."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from groundwire_server.dense import Embedder
from groundwire_server.evidence import Attribute, Label, Span
from groundwire_server.glossary import Glossary
from groundwire_server.library import Library, LibraryConfig
from groundwire_server.store import EdgeRecord, FactRecord, NewChunk, NewDocument

__all__ = ["Doc", "embed_all", "make_library", "new_document"]

START = datetime(2025, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Doc:
    """A document of one chunk, or of one a span."""

    doc_id: str
    text: str
    title: str = ""
    label: Label = Label.INTERNAL
    attributes: tuple[Attribute, ...] = ()
    valid_as_of: datetime | None = None
    spans: tuple[Span, ...] = ()


def new_document(doc: Doc) -> NewDocument:
    """As the ingest room would hand it to a store."""
    spans = doc.spans or (Span(0, len(doc.text)),)
    raw = doc.text.encode("utf-8", "surrogatepass")
    return NewDocument(
        doc_id=doc.doc_id,
        title=doc.title,
        media_type="text/plain",
        text=doc.text,
        raw_sha256=hashlib.sha256(raw).digest(),
        raw_bytes=len(raw),
        chunker="whole",
        chunks=tuple(NewChunk(span, f"{doc.doc_id}#line={number}") for number, span in enumerate(spans, start=1)),
        label=doc.label,
        valid_as_of=doc.valid_as_of,
        attributes=doc.attributes,
    )


def make_library(
    folder: Path,
    docs: Iterable[Doc] = (),
    *,
    library_id: str = "default",
    facts: Sequence[FactRecord] = (),
    edges: Sequence[EdgeRecord] = (),
    glossary: Glossary | None = None,
    embedder: Embedder | None = None,
    config: LibraryConfig | None = None,
) -> Library:
    """A library in `folder/library_id`; every document in a transaction of its own, the clock a second on each time."""
    moments = iter(START + timedelta(seconds=second) for second in range(1_000_000))
    library = Library(
        folder / library_id, library_id, secret=b"secret of the tests", config=config, now=lambda: next(moments)
    )
    if glossary is not None:
        library.set_glossary(glossary)
    if embedder is not None:
        library.use_embedder(embedder)
    for doc in docs:
        with library.writing() as writer:
            writer.replace_document(new_document(doc))
    if facts or edges:
        with library.writing() as writer:
            writer.put_facts(facts)
            writer.put_edges(edges)
    if embedder is not None:
        embed_all(library, embedder)
    return library


def embed_all(library: Library, embedder: Embedder) -> None:
    """What the embedding job would do."""
    missing = list(library.rows_without_embedding())
    library.add_vectors((row, embedder.embed_passage(text)) for row, text in missing)
