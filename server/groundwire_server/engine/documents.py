"""Documents of a library as one caller may see them: lists, texts, chunks, and what changed between two revisions.

What the caller may not read is not there: a document of which it may read no revision is unknown like one that never
was, and revisions are counted over those that it may read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from groundwire_server.engine.libraries import Libraries
from groundwire_server.errors import ErrorReason, InvalidRequest, UnknownResource
from groundwire_server.evidence import Label, Principal, Span
from groundwire_server.library import Snapshot
from groundwire_server.security import drop_unreadable
from groundwire_server.store import StoredChunk, StoredRevision
from groundwire_server.text import differences

__all__ = ["MAX_STRETCH", "DocumentReading", "DocumentReads", "TextChange"]

MAX_STRETCH = 64 * 1024
"""Code points of a stretch of text: a document is given and a change is told in stretches of at most so many."""

_CHUNKS_A_READ = 500


@dataclass(frozen=True, slots=True)
class TextChange:
    """A stretch that changed: its places and what stood and stands there. An empty span: inserted or deleted."""

    old_span: Span
    new_span: Span
    old_text: str
    new_text: str


@dataclass(frozen=True, slots=True)
class DocumentReading:
    """One revision of a document at one state of its library."""

    revision: StoredRevision
    _snapshot: Snapshot
    _clearance: Label

    def text(self) -> str:
        """The stored source text."""
        found = self._snapshot.reader.source_text(
            self.revision.doc_id, self.revision.revision, clearance=self._clearance
        )
        return found or ""

    def stretches(self) -> Iterator[str]:
        """The stored source text in stretches of at most `MAX_STRETCH` code points."""
        text = self.text()
        for start in range(0, len(text), MAX_STRETCH):
            yield text[start : start + MAX_STRETCH]

    def chunks(self) -> Iterator[tuple[StoredChunk, bool]]:
        """Chunks in text order, each with whether it has a vector of the present model."""
        doc_id, revision = self.revision.doc_id, self.revision.revision
        seq = 0
        while some := self._snapshot.reader.chunks_of(doc_id, revision, seq, _CHUNKS_A_READ, clearance=self._clearance):
            yield from zip(some, self._embedded(some), strict=True)
            seq = some[-1].seq + 1

    def _embedded(self, chunks: list[StoredChunk]) -> list[bool]:
        vectors = self._snapshot.vectors
        # Whether one that is retired had its vector in time is no part of the state that answers.
        if vectors is None or self.revision.died is not None:
            return [False] * len(chunks)
        rows = self._snapshot.columns.rows_of(np.array([chunk.chunk_row for chunk in chunks], np.int64))
        return [bool(each) for each in vectors.present[rows]]


class DocumentReads:
    """Reads of documents. Any thread.

    Every method raises UnknownResource (UNKNOWN_LIBRARY, or UNKNOWN_DOCUMENT where no such document or revision can be
    read) and Unavailable (LIBRARIES_UNREACHABLE, the library cannot be opened).
    """

    def __init__(self, libraries: Libraries) -> None:
        self._libraries = libraries

    def page(
        self, library_id: str, principal: Principal, *, prefix: str, include_withdrawn: bool, after: str, limit: int
    ) -> tuple[list[StoredRevision], bool]:
        """Up to `limit` documents behind an id, each as its last readable revision, and whether there are more."""
        found = self._snapshot(library_id).reader.documents(
            prefix, after, limit + 1, clearance=principal.clearance, include_withdrawn=include_withdrawn
        )
        return drop_unreadable(found[:limit], principal), len(found) > limit

    def revisions(
        self, library_id: str, doc_id: str, principal: Principal, *, before: int | None, limit: int
    ) -> tuple[list[StoredRevision], bool]:
        """Up to `limit` revisions below a number, newest first, and whether there are more."""
        snapshot = self._snapshot(library_id)
        found = snapshot.reader.revisions(doc_id, before, limit + 1, clearance=principal.clearance)
        if not found and before is None:
            raise _unknown(library_id, doc_id)
        return drop_unreadable(found[:limit], principal), len(found) > limit

    def read(self, library_id: str, doc_id: str, revision: int, principal: Principal) -> DocumentReading:
        """One revision; 0: the active one, else the last."""
        snapshot = self._snapshot(library_id)
        found = _find(snapshot, doc_id, revision, principal)
        return DocumentReading(found, snapshot, principal.clearance)

    def changes(
        self,
        library_id: str,
        doc_id: str,
        old_revision: int,
        new_revision: int,
        principal: Principal,
        check: Callable[[], None],
    ) -> Iterator[TextChange]:
        """What makes the newer text of the older one, in stretches, in text order.

        Args:
            old_revision: 0: the one before the newer one.
            new_revision: 0: the last.
            check: called now and then; what it raises ends the work.

        Raises:
            InvalidRequest: CONTRADICTION, the older one comes after the newer one.
        """
        snapshot = self._snapshot(library_id)
        new = _find(snapshot, doc_id, new_revision, principal)
        if old_revision > new.revision:
            words = f"{old_revision} comes after {new.revision}"
            raise InvalidRequest.one("old_revision", ErrorReason.CONTRADICTION, words)
        old = (
            _find(snapshot, doc_id, old_revision, principal)
            if old_revision
            else _last_before(snapshot, doc_id, new.revision, principal)
        )
        old_text, new_text = (DocumentReading(each, snapshot, principal.clearance).text() for each in (old, new))
        for each in differences(old_text, new_text, check):
            yield from _stretches(each.old, each.new, old_text, new_text)

    def _snapshot(self, library_id: str) -> Snapshot:
        return self._libraries.for_reading(library_id).snapshot()


def _find(snapshot: Snapshot, doc_id: str, revision: int, principal: Principal) -> StoredRevision:
    reader, clearance = snapshot.reader, principal.clearance
    if revision:
        found = reader.revision(doc_id, revision, clearance=clearance)
    else:
        # An active revision is the last one of all.
        found = next(iter(reader.revisions(doc_id, None, 1, clearance=clearance)), None)
    if found is None or not principal.may_read(found.label):
        raise _unknown(snapshot.library_id, doc_id, revision)
    return found


def _last_before(snapshot: Snapshot, doc_id: str, revision: int, principal: Principal) -> StoredRevision:
    found = snapshot.reader.revisions(doc_id, revision, 1, clearance=principal.clearance)
    if not found:
        raise UnknownResource(
            ErrorReason.UNKNOWN_DOCUMENT,
            f"There is no revision before {revision} of {doc_id[:200]!r}.",
            details={"library_id": snapshot.library_id, "doc_id": doc_id[:200]},
        )
    return found[0]


def _unknown(library_id: str, doc_id: str, revision: int = 0) -> UnknownResource:
    what = f"no revision {revision} of" if revision else "no document"
    return UnknownResource(
        ErrorReason.UNKNOWN_DOCUMENT,
        f"There is {what} {doc_id[:200]!r} in the library {library_id}.",
        details={"library_id": library_id, "doc_id": doc_id[:200]},
    )


def _stretches(old: Span, new: Span, old_text: str, new_text: str) -> Iterator[TextChange]:
    for start in range(0, max(old.end - old.start, new.end - new.start), MAX_STRETCH):
        old_part, new_part = _part(old, start), _part(new, start)
        yield TextChange(
            old_part,
            new_part,
            old_text[old_part.start : old_part.end],
            new_text[new_part.start : new_part.end],
        )


def _part(span: Span, start: int) -> Span:
    begin = min(span.start + start, span.end)
    return Span(begin, min(begin + MAX_STRETCH, span.end))
