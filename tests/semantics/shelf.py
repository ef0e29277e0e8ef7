"""A library to test with: a clock that is set by hand, documents of plain text, and what a caller sees of them."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from groundwire_server.chunking import ParagraphChunker
from groundwire_server.evidence import Attribute, Call, CallOptions, Filter, Label, Locator, Principal
from groundwire_server.library import Library, LibraryConfig, Snapshot
from groundwire_server.store import FactRecord, NewChunk, NewDocument
from groundwire_server.text import tokenize

START = datetime(2025, 1, 1, tzinfo=UTC)


class Clock:
    """Stands still until it is told to go on."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> datetime:
        return self.time

    def go_on(self, hours: int = 1) -> datetime:
        """Later by so many hours; returns the time before."""
        before = self.time
        self.time += timedelta(hours=hours)
        return before


def make_library(folder: Path, clock: Clock | None = None) -> Library:
    """A new library without an embedder."""
    config = LibraryConfig(embedder="none")
    return Library(folder, "lib", secret=b"0" * 32, config=config, now=clock or Clock())


def document(
    doc_id: str,
    text: str,
    label: Label = Label.INTERNAL,
    attributes: Sequence[Attribute] = (),
    **changes: Any,
) -> NewDocument:
    """A document cut by the default chunker."""
    drafts = ParagraphChunker().chunk(text)
    made = NewDocument(
        doc_id=doc_id,
        title=f"title of {doc_id}",
        media_type="text/plain",
        text=text,
        raw_sha256=sha256(text.encode()).digest(),
        raw_bytes=len(text.encode()),
        chunker="paragraph(480,80)",
        chunks=tuple(NewChunk(draft.span, str(Locator(doc_id, (("line", "1"),)))) for draft in drafts),
        label=label,
        attributes=tuple(attributes),
    )
    return replace(made, **changes)


def put(library: Library, *documents: NewDocument) -> None:
    """Store documents in one transaction."""
    with library.writing() as writer:
        for each in documents:
            writer.replace_document(each)


def principal(clearance: Label = Label.INTERNAL) -> Principal:
    """A caller with a clearance."""
    return Principal("reader", clearance)


def call(clearance: Label = Label.INTERNAL, only: Filter | None = None, **options: Any) -> Call:
    """A call with its hard filter and options."""
    return Call(principal(clearance), CallOptions(filter=only, **options), now=lambda: START + timedelta(days=3650))


def visible(snapshot: Snapshot, of: Call) -> list[tuple[str, int, int]]:
    """(doc_id, revision, seq) of the candidates, in order."""
    return [snapshot.tie_key(int(row)) for row in np.flatnonzero(snapshot.candidates(of))]


def search(snapshot: Snapshot, query: str, of: Call) -> dict[tuple[str, int, int], float]:
    """Lexical scores of the candidates."""
    scores = snapshot.lexical.search(tokenize(query), snapshot.candidates(of))
    return {
        snapshot.tie_key(row): score for row, score in zip(scores.rows.tolist(), scores.scores.tolist(), strict=True)
    }


def fact(value: str, **changes: Any) -> FactRecord:
    """Revenue of ACME in 2024."""
    made = FactRecord(
        metric="revenue",
        entity="ACME",
        period="2024",
        period_first=date(2024, 1, 1),
        period_last=date(2024, 12, 31),
        channel="TOTAL",
        value=value,
        unit="USD",
        source_doc="facts.csv",
        locator="facts.csv#line=2",
    )
    return replace(made, **changes)


__all__ = [
    "START",
    "Clock",
    "call",
    "closing",
    "document",
    "fact",
    "make_library",
    "principal",
    "put",
    "search",
    "visible",
]
