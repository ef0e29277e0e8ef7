"""The active documents of a library, cut anew as its settings now say (semantics 5).

Each becomes its next revision with the same text, whole or not at all; the one before stays for the citations that name
it. What is cut already is passed over, so that the work can be broken off at any moment and begun again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from groundwire_server.chunking import TextModel
from groundwire_server.errors import DocumentRefused, ErrorReason, FailedPrecondition
from groundwire_server.evidence import Label, Principal
from groundwire_server.ingest.documents import DocumentRules, cut_text, header_of, passage_fault
from groundwire_server.jobs import AUDIENCES, JobControl
from groundwire_server.library import Cut, Library, LibraryConfig, Recut, Snapshot
from groundwire_server.readers import place_stored_text, unpack_places
from groundwire_server.relations.extractors import EXTRACTED_BY, RelationExtractor, extract_edges, new_document
from groundwire_server.store import EdgeRecord, NewChunk, NewDocument, StoredRevision, StoreReader

__all__ = ["documents_to_recut", "recut"]

_PAGE = 500
_GROUP_DOCUMENTS = 64
_GROUP_CHARS = 1 << 20


@dataclass(frozen=True, slots=True)
class _Cut:
    """A revision with its new chunks; relations: what these state, None where that is found out later."""

    revision: StoredRevision
    chunker: str
    chunks: tuple[NewChunk, ...]
    relations: tuple[EdgeRecord, ...] | None


def recut(
    library: Library,
    control: JobControl,
    *,
    alone: bool = True,
    stored: Callable[[], None] = lambda: None,
    model: Callable[[], TextModel] | None = None,
    extractor: Callable[[Snapshot], RelationExtractor | None] = lambda _: None,
) -> None:
    """Cut every active document that does not stand as the settings say; nobody reads RESTRICTED ones, so they stay.

    Args:
        alone: it is all that the job does: for a class of callers it ends with the last document that it may read.
        stored: called each time that documents have been stored.
        model: as in `DocumentRules`.
        extractor: gives the one of a state, where relations are stored together with the chunks that state them.

    Raises:
        JobStopped: what is done stays, and the next run goes on.
        FailedPrecondition: only where it is `alone`: documents that cannot be cut so stayed as they were. NO_EMBEDDER:
            what was to cut them needs a model, and there is none.
        ResourceExhausted: STORAGE_FULL.
    """
    while True:
        run = _Run(library, control, alone=alone, stored=stored, model=model, extractor=extractor)
        if run.through():
            break
    if run.no_model is not None and alone:
        raise run.no_model
    if run.refused and alone:
        raise FailedPrecondition(
            ErrorReason.DOCUMENT_TOO_LARGE,
            "Some documents cannot be cut so and stay as they were: a passage would be too large for an answer.",
            hint="Choose smaller chunks.",
        )


def documents_to_recut(snapshot: Snapshot, config: LibraryConfig, principal: Principal) -> int:
    """How many documents of those that a caller may read would be cut anew under other settings."""
    state = Recut.read(snapshot.reader).after(snapshot.config, config)
    found = _active(snapshot.reader, min(principal.clearance, Label.CONFIDENTIAL))
    return sum(state.chunker(revision.chunker, revision.label, config) is not None for revision in found)


class _Run:
    """The documents that there are to cut under the settings of this moment, by label."""

    def __init__(
        self,
        library: Library,
        control: JobControl,
        *,
        alone: bool,
        stored: Callable[[], None],
        model: Callable[[], TextModel] | None,
        extractor: Callable[[Snapshot], RelationExtractor | None],
    ) -> None:
        self._library = library
        self._control = control
        self._alone = alone
        self._stored = stored
        self._reader = library.store.reader()
        snapshot = library.snapshot()
        self._config = snapshot.config
        self._rules = DocumentRules.of(self._config, model, extractor(snapshot))
        self._state = Recut.read(self._reader)
        self._waiting: dict[Label, list[StoredRevision]] = {label: [] for label in AUDIENCES}
        for revision in _active(self._reader, Label.CONFIDENTIAL):
            if self._state.chunker(revision.chunker, revision.label, self._config) is not None:
                self._waiting[revision.label].append(revision)
        self._first_rows = {
            span.doc_id: span.first_row for span in self._reader.revision_spans() if span.died is None and span.chunks
        }
        self._done = dict.fromkeys(AUDIENCES, 0)
        self._began = time.monotonic()
        self.refused: list[StoredRevision] = []
        self.no_model: FailedPrecondition | None = None

    def through(self) -> bool:
        """Cut them all. False: the settings have changed meanwhile, and there may be others to cut."""
        self._report()
        for label in AUDIENCES:
            for group in self._groups(self._waiting[label]):
                if not self._commit(label, group):
                    return False
        return self._conclude()

    def _groups(self, waiting: list[StoredRevision]) -> Iterator[list[_Cut]]:
        """The documents with their new chunks, as many at a time as are stored together."""
        group: list[_Cut] = []
        for revision in waiting:
            self._control.check()
            cut = self._cut(revision)
            if cut is None:
                self.refused.append(revision)
                continue
            group.append(cut)
            if _is_full(group):
                yield group
                group = []
        if group:
            yield group

    def _cut(self, revision: StoredRevision) -> _Cut | None:
        """The new chunks of a document; None where it cannot be cut so."""
        doc_id, number = revision.doc_id, revision.revision
        name = self._state.chunker(revision.chunker, revision.label, self._config)
        text = self._reader.source_text(doc_id, number, clearance=None)
        assert name is not None
        assert text is not None
        try:
            chunker = self._rules.make_chunker(name)
            kept = self._reader.source_places(doc_id, number, clearance=None)
            placed = unpack_places(kept) if kept else place_stored_text(doc_id, revision.media_type, text)
        except FailedPrecondition as error:
            self.no_model = error
            return None
        except DocumentRefused:
            return None
        if placed is None:
            return None
        body, places = placed
        titled, contextual = self._is_titled(revision), self._config.contextual
        header = header_of(revision.title, revision.attributes, contextual=contextual, titled=titled)
        try:
            chunks = cut_text(doc_id, text, body, places, header, chunker)
        except DocumentRefused:
            return None
        cut = str(Cut(chunker.spec, contextual, titled))
        anew = _document(revision, text, chunks)
        if passage_fault(anew) is not None:
            return None
        finds = self._rules.extractor
        return _Cut(revision, cut, chunks, None if finds is None else extract_edges(finds, new_document(anew))[0])

    def _is_titled(self, revision: StoredRevision) -> bool:
        """Whether the title goes before each chunk of a document in what is indexed, if it has no other header."""
        cut = Cut.parse(revision.chunker)
        if cut.contextual:
            return cut.titled
        first_row = self._first_rows.get(revision.doc_id)
        return first_row is not None and self._reader.chunks([first_row])[0].header != ""

    def _commit(self, label: Label, group: list[_Cut]) -> bool:
        """Store a group; a document that was replaced or withdrawn meanwhile has nothing left to be cut.

        False: the settings have changed, and nothing was stored.
        """
        with self._library.writing() as writer:
            if self._changed():
                return False
            stored = [
                cut
                for cut in group
                if writer.recut_document(cut.revision.doc_id, cut.revision.revision, cut.chunker, cut.chunks)
            ]
            for cut in stored:
                if cut.relations is not None:
                    writer.replace_edges(cut.revision.doc_id, EXTRACTED_BY, cut.relations)
        self._stored()
        self._done[label] += len(group)
        self._report()
        return True

    def _conclude(self) -> bool:
        """Take note that nothing stands in earlier cuts any more but what cannot be cut. False as in `_commit`."""
        left = self._state.once_done((revision.chunker, revision.label) for revision in self.refused)
        with self._library.writing() as writer:
            if self._changed():
                return False
            left.write(writer)
        return True

    def _changed(self) -> bool:
        """With the library's lock held: whether other settings hold now than this run began with."""
        return not self._library.config.cuts_like(self._config)

    def _report(self) -> None:
        counts = {label: (self._done[label], len(waiting)) for label, waiting in self._waiting.items()}
        rate = sum(self._done.values()) / max(time.monotonic() - self._began, 1e-6)
        self._control.report("recut", "documents", counts, final=self._alone, rate=rate or None)


def _active(reader: StoreReader, strictest: Label) -> Iterator[StoredRevision]:
    """Active documents up to a label, by id, with the store's own numbers of their revisions."""
    after = ""
    while page := reader.documents(after=after, limit=_PAGE, clearance=None):
        yield from (revision for revision in page if revision.label <= strictest)
        after = page[-1].doc_id


def _is_full(group: list[_Cut]) -> bool:
    return len(group) >= _GROUP_DOCUMENTS or sum(cut.revision.text_chars for cut in group) >= _GROUP_CHARS


def _document(revision: StoredRevision, text: str, chunks: tuple[NewChunk, ...]) -> NewDocument:
    return NewDocument(
        doc_id=revision.doc_id,
        title=revision.title,
        media_type=revision.media_type,
        text=text,
        raw_sha256=revision.raw_sha256,
        raw_bytes=revision.raw_bytes,
        chunker=revision.chunker,
        chunks=chunks,
        label=revision.label,
        valid_as_of=revision.valid_as_of,
        attributes=revision.attributes,
    )
