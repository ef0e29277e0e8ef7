"""The relations of the documents of a library, found by the extractor of its settings (semantics 12).

What is done stays done: the work goes on where it was broken off, and a document that is there already costs nothing. A
document that changes is worked on again, and no other.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice

from groundwire_server.errors import ErrorReason, GroundwireError
from groundwire_server.evidence import Label
from groundwire_server.jobs import AUDIENCES, JobControl, JobStopped
from groundwire_server.library import Library, Snapshot
from groundwire_server.relations.extractors import (
    EXTRACTED_BY,
    Check,
    Extraction,
    RelationExtractor,
    Worked,
    extract_edges,
    stored_document,
)
from groundwire_server.store import EdgeRecord, RevisionSpan, StoreReader

__all__ = ["ExtractorOf", "documents_to_relate", "relate"]

_log = logging.getLogger(__name__)

ExtractorOf = Callable[[Snapshot], RelationExtractor]
"""Gives the extractor that a library's settings ask for, over its glossary. Raises FailedPrecondition: NO_MODEL."""

_GROUP_DOCUMENTS = 64
_GROUP_CHUNKS = 1024


@dataclass(frozen=True, slots=True)
class _Found:
    """A revision with what was found in it."""

    span: RevisionSpan
    edges: tuple[EdgeRecord, ...]
    extraction: Extraction


def relate(
    library: Library, control: JobControl, extractor: ExtractorOf, *, anew: bool = False, final: bool = True
) -> None:
    """Have every active document worked on by the extractor of the library's settings, open ones first.

    Nobody reads RESTRICTED documents, so they are left out. For each class of callers the job ends with the last
    document that it may read.

    Args:
        anew: also those that are done. final: it is the last that the job does.

    Raises:
        JobStopped: what is done stays, and the next run goes on.
        FailedPrecondition: NO_MODEL.
        GroundwireError: the extractor does not work now, and what is done stays; or MODEL_FAILED, some passages could
            not be worked on, and all others have their relations.
        ResourceExhausted: STORAGE_FULL.
    """
    while True:
        run = _Run(library, control, extractor, anew=anew, final=final)
        if run.through():
            break
        anew = False  # other settings hold now: they begin from the start anyway
    if run.unread:
        raise GroundwireError(
            ErrorReason.MODEL_FAILED,
            "Some passages could not be read by the model; all others have their relations.",
            hint="Build the graph anew to have them tried again.",
        )


def documents_to_relate(snapshot: Snapshot, extractor: RelationExtractor, *, anew: bool = False) -> dict[Label, int]:
    """How many documents of each label there are to work on; none without any."""
    waiting, _ = _waiting(snapshot.reader, _begun(snapshot.reader, extractor, anew=anew))
    return {label: len(spans) for label, spans in waiting.items() if spans}


class _Run:
    """The documents that there are to work on under the settings of this moment, by label."""

    def __init__(
        self, library: Library, control: JobControl, extractor: ExtractorOf, *, anew: bool, final: bool
    ) -> None:
        self._library = library
        self._control = control
        self._extractor_of = extractor
        self._final = final
        snapshot = library.snapshot()
        self._extractor = extractor(snapshot)
        self._reader = snapshot.reader
        self._worked = _begun(self._reader, self._extractor, anew=anew)
        self._done = dict.fromkeys(AUDIENCES, 0)
        self._total = dict.fromkeys(AUDIENCES, 0)
        self._dropped: Counter[str] = Counter()
        self._left_out = 0
        self.unread = False

    def through(self) -> bool:
        """Work on them all, also those that come meanwhile. False: the settings have changed, and all begins anew."""
        while True:
            waiting, last_row = _waiting(self._reader, self._worked)
            for label, spans in waiting.items():
                self._total[label] += len(spans)
            self._report()
            for label, spans in waiting.items():
                for group in self._groups(spans):
                    if not self._commit(label, group):
                        return False
            if not any(waiting.values()) or self._extractor.immediate:
                break
            self._reader = self._library.snapshot().reader
        if self._dropped:
            counts = ", ".join(f"{count} {reason}" for reason, count in sorted(self._dropped.items()))
            _log.info("library %s: relations of the model that were not taken: %s", self._library.library_id, counts)
        if self._left_out:
            _log.info(
                "library %s: %d relations stand in passages that give more than are kept of one",
                self._library.library_id,
                self._left_out,
            )
        return self._conclude(last_row)

    def _groups(self, spans: list[RevisionSpan]) -> Iterator[list[_Found]]:
        """The documents with what was found in them, as many at a time as are stored together."""
        if not self._extractor.immediate:
            yield from ([found] for found in self._found_in_turn(spans))
            return
        group: list[_Found] = []
        chunks = 0
        for span in spans:
            self._control.check()
            group.append(self._find(span, self._control.check))
            chunks += span.chunks
            if len(group) >= _GROUP_DOCUMENTS or chunks >= _GROUP_CHUNKS:
                yield group
                group, chunks = [], 0
        if group:
            yield group

    def _found_in_turn(self, spans: list[RevisionSpan]) -> Iterator[_Found]:
        """What is found in each document, in their order; a few are worked on at a time, ahead of who takes them."""
        given = iter(spans)
        ended = threading.Event()

        def check() -> None:
            self._control.check()
            if ended.is_set():
                raise JobStopped

        with ThreadPoolExecutor(self._extractor.parallel, f"relate-{self._library.library_id}") as pool:
            ahead = deque(pool.submit(self._find, span, check) for span in islice(given, self._extractor.parallel))
            try:
                while ahead:
                    found = ahead.popleft().result()
                    ahead.extend(pool.submit(self._find, span, check) for span in islice(given, 1))
                    yield found
            finally:
                ended.set()

    def _find(self, span: RevisionSpan, check: Check) -> _Found:
        revision = self._reader.revision(span.doc_id, span.revision, clearance=None)
        assert revision is not None
        chunks = self._reader.chunks_of(span.doc_id, span.revision, clearance=None)
        return _Found(span, *extract_edges(self._extractor, stored_document(revision, chunks), check))

    def _commit(self, label: Label, group: list[_Found]) -> bool:
        """Store a group; a document that was replaced or withdrawn meanwhile keeps what it has.

        False: the settings have changed, and nothing was stored.
        """
        with self._library.writing() as writer:
            if self._changed():
                return False
            now = self._library.store.reader()
            for found in group:
                active = now.active_revision(found.span.doc_id, clearance=None)
                if active is not None and active.born == found.span.born:
                    writer.replace_edges(found.span.doc_id, EXTRACTED_BY, found.edges)
            self._worked = self._worked.after(label, group[-1].span.first_row)
            self._worked.write(writer)
        for found in group:
            self._dropped.update(found.extraction.dropped)
            self._left_out += sum(found.extraction.left_out.values())
            self.unread = self.unread or bool(found.extraction.unread)
            # One that could not be worked on whole is not done for those who may read it: their job is to say so.
            self._done[label] += not found.extraction.unread
        self._report()
        return True

    def _conclude(self, last_row: int) -> bool:
        """Take note that nothing is left up to a row. False as in `_commit`."""
        with self._library.writing() as writer:
            if self._changed():
                return False
            if self._extractor.immediate:  # and what came meanwhile was worked on as it came
                self._worked = self._worked.done()
            else:  # also for labels of which there is nothing: the next look begins there
                for label in AUDIENCES:
                    self._worked = self._worked.after(label, max(last_row, self._worked.row(label)))
            self._worked.write(writer)
        return True

    def _changed(self) -> bool:
        """With the library's lock held: whether another extractor is asked for than this run began with."""
        return self._extractor_of(self._library.snapshot()).version != self._extractor.version

    def _report(self) -> None:
        counts = {label: (self._done[label], self._total[label]) for label in AUDIENCES}
        self._control.report("relate", "documents", counts, final=self._final)


def _begun(reader: StoreReader, extractor: RelationExtractor, *, anew: bool) -> Worked:
    """What is done of the work of an extractor."""
    worked = Worked.read(reader)
    return worked if worked.version == extractor.version and not anew else Worked.not_begun(extractor.version)


def _waiting(reader: StoreReader, worked: Worked) -> tuple[dict[Label, list[RevisionSpan]], int]:
    """Active documents that are not done, by label, open ones first, as they were stored; and the last row of all."""
    waiting: dict[Label, list[RevisionSpan]] = {label: [] for label in AUDIENCES}
    last_row = 0
    for span in reader.revision_spans(min(worked.row(label) for label in AUDIENCES)):
        last_row = span.first_row
        if span.died is None and span.label in waiting and span.first_row > worked.row(span.label):
            waiting[span.label].append(span)
    return waiting, last_row
