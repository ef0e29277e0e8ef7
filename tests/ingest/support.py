"""A real library on disk, and what tests of the ingest room ask of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from groundwire_server.ingest import (
    Accepted,
    Ack,
    DocumentHead,
    DocumentIngest,
    DocumentOutcome,
    DocumentRules,
    IngestDesk,
    IngestEvent,
    IngestLimits,
    IngestOpening,
    IngestSummary,
)
from groundwire_server.library import Library
from groundwire_server.store import StoredRevision

__all__ = [
    "INGEST",
    "OTHER_INGEST",
    "acks",
    "active",
    "desk_for",
    "make_library",
    "opened",
    "outcomes",
    "send",
    "summary",
    "texts",
]

INGEST = "11111111-1111-4111-8111-111111111111"
OTHER_INGEST = "22222222-2222-4222-8222-222222222222"


def make_library(folder: Path, library_id: str = "default") -> Library:
    """A new library, or the one that is there."""
    return Library(folder / library_id, library_id, secret=b"secret of the tests")


def desk_for(*libraries: Library, limits: IngestLimits | None = None) -> IngestDesk:
    """A desk that knows these libraries."""
    return IngestDesk(lambda: libraries, limits)


@contextmanager
def opened(
    library: Library,
    ingest_id: str = INGEST,
    *,
    resume_after_seq: int = 0,
    validate_only: bool = False,
    rules: DocumentRules | None = None,
    limits: IngestLimits | None = None,
) -> Iterator[tuple[DocumentIngest, list[IngestEvent]]]:
    """An ingest on a connection of its own, with what it says at the beginning."""
    opening = IngestOpening(ingest_id, resume_after_seq, validate_only)
    with desk_for(library, limits=limits).open_documents(library, opening, lambda: rules or DocumentRules()) as ingest:
        yield ingest, list(ingest.opening())


def send(library: Library, *files: tuple[str, bytes], ingest_id: str = INGEST, **head: object) -> list[IngestEvent]:
    """Send whole files, one part each, and finish."""
    with opened(library, ingest_id) as (ingest, events):
        for seq, (doc_id, raw) in enumerate(files, 1):
            events += ingest.feed(seq, DocumentHead(doc_id, **head), raw, True)  # type: ignore[arg-type]
        return events + ingest.finish(len(files))


def outcomes(events: Iterable[IngestEvent]) -> list[DocumentOutcome]:
    """What became of the documents."""
    return [event for event in events if isinstance(event, DocumentOutcome)]


def acks(events: Iterable[IngestEvent]) -> list[int]:
    """What was said to be durable, at the opening too."""
    return [event.durable_seq for event in events if isinstance(event, Ack | Accepted)]


def summary(events: Iterable[IngestEvent]) -> tuple[int, int, int]:
    """Stored, unchanged, failed."""
    (last,) = (event for event in events if isinstance(event, IngestSummary))
    return last.stored, last.unchanged, last.failed


def active(library: Library) -> list[StoredRevision]:
    """Every active revision, hidden ones too."""
    return library.store.reader().documents(clearance=None)


def texts(library: Library) -> dict[str, str]:
    """Source text by document."""
    reader = library.store.reader()
    return {
        revision.doc_id: reader.source_text(revision.doc_id, revision.revision, clearance=None) or ""
        for revision in active(library)
    }
