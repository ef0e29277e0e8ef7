"""One stream of documents (service IngestDocuments), without the wire."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from groundwire_server.errors import Cause, DocumentRefused, ErrorReason
from groundwire_server.ingest.documents import (
    DocumentRules,
    PreparedDocument,
    RefusedDocument,
    prepare_documents,
)
from groundwire_server.ingest.events import (
    DocumentOutcome,
    IngestEvent,
    decode_document_outcomes,
    encode_document_outcomes,
)
from groundwire_server.ingest.head import DocumentHead, decode_document_head, encode_document_head
from groundwire_server.ingest.reading import ReadResult, shared_read_ahead
from groundwire_server.ingest.stream import IngestLimits, IngestOpening, IngestStream, IngestTarget
from groundwire_server.ingest.upload import Upload
from groundwire_server.relations import DerivedEdges
from groundwire_server.relations.extractors import EXTRACTED_BY, note_documents
from groundwire_server.store.protocol import StoreReader, StoreWriter
from groundwire_server.store.rows import EdgeRecord, NewDocument

__all__ = ["DocumentIngest"]

_NONE = (0, 0)


@dataclass(frozen=True, slots=True)
class _Gathered:
    """The documents of a file that is complete, the part that completed it, and the rules that they were read by."""

    seq: int
    upload: Upload
    rules: DocumentRules
    documents: ReadResult[list[PreparedDocument | RefusedDocument]]


class DocumentIngest(IngestStream[DocumentOutcome]):
    """Takes documents in parts; each becomes visible whole or not at all.

    A document that cannot be read or stored gets an outcome with its cause, and the others go on.
    """

    kind = "documents"

    def __init__(
        self,
        target: IngestTarget,
        opening: IngestOpening,
        rules: Callable[[], DocumentRules],
        limits: IngestLimits,
        release: Callable[[], None],
    ) -> None:
        self._rules_now = rules
        self._refuse_warnings = opening.refuse_warnings
        self._gathered: list[_Gathered] = []
        super().__init__(target, opening, limits, release)

    def feed(self, seq: int, head: DocumentHead | None, content: bytes, last_part: bool) -> list[IngestEvent]:
        """Take a part: `head` with the first one of a document, `last_part` with its last.

        Returns what the client is to be told now; often nothing, until a group of parts is committed.
        """
        if not self._is_new(seq, len(content), "part.content"):
            return self._repeated()
        upload = self._add_to_upload(seq, None if head is None else encode_document_head(head), content)
        if last_part:
            self._gathered.append(self._prepare(seq, upload, self._rules()))
            self._upload = None
        return self._took(seq, len(content))

    def _rules(self) -> DocumentRules:
        """Those of the moment, with the bounds of the stream."""
        rules = self._rules_now()
        return replace(rules, read=self._limits.bound(rules.read))

    def _prepare(self, seq: int, upload: Upload, rules: DocumentRules) -> _Gathered:
        return _Gathered(seq, upload, rules, self._read(upload, rules))

    def _read(self, upload: Upload, rules: DocumentRules) -> ReadResult[list[PreparedDocument | RefusedDocument]]:
        head = decode_document_head(upload.head)
        if upload.too_large:
            most = self._limits.max_document_bytes
            cause = Cause(
                ErrorReason.DOCUMENT_TOO_LARGE,
                f"{head.doc_id}: it is over the limit of {most} bytes.",
                (("max_bytes", str(most)),),
            )
            return ReadResult([RefusedDocument(head.doc_id, cause)])
        raw = upload.content()
        return shared_read_ahead().read(head.doc_id, raw, head.media_type, lambda: prepare_documents(head, raw, rules))

    def _finish_reading(self) -> None:
        for gathered in self._gathered:
            gathered.documents.get()

    def _write_gathered(self, writer: StoreWriter) -> list[DocumentOutcome]:
        reader = self._target.store.reader()
        standing: dict[str, tuple[int, int]] = {}
        planned: dict[str, int] = {}
        changed: dict[str, NewDocument] = {}
        written: list[DocumentOutcome] = []
        relations: dict[str, tuple[EdgeRecord, ...]] = {}  # after all documents, which are inserted together
        rules = self._rules()  # settings do not change while the writer is open
        for gathered in self._gathered:
            seq, outcomes = gathered.seq, []
            current = gathered if gathered.rules == rules else self._prepare(seq, gathered.upload, rules)
            for prepared in current.documents.get():
                outcome = self._write(writer, seq, prepared)
                if isinstance(prepared, PreparedDocument) and outcome.error is None and not outcome.unchanged:
                    relations[outcome.doc_id] = prepared.relations
                if outcome.error is not None:
                    revision, chunks = standing.get(outcome.doc_id) or self._active(reader, outcome.doc_id)
                    outcome = replace(outcome, revision=revision, chunks=chunks)
                elif isinstance(prepared, PreparedDocument):
                    if not outcome.unchanged:
                        changed[outcome.doc_id] = prepared.document
                    readable = prepared.document.label <= self._clearance
                    if self._validate_only and readable and not outcome.unchanged:
                        outcome = replace(outcome, revision=self._next_known(reader, planned, outcome.doc_id))
                    standing[outcome.doc_id] = (outcome.revision, outcome.chunks) if readable else _NONE
                outcomes.append(outcome)
            self._finish_part(writer, seq, encode_document_outcomes(outcomes))
            written += outcomes
        self._derive(writer, changed.values())
        for doc_id, found in relations.items():
            writer.replace_edges(doc_id, EXTRACTED_BY, found)
        if relations:
            note_documents(writer, reader, None if rules.extractor is None else rules.extractor.version)
        return written

    def _derive(self, writer: StoreWriter, documents: Iterable[NewDocument]) -> None:
        """Have derived edges follow documents that are stored, after all of them: these are inserted together."""
        snapshot = self._target.snapshot()
        derived = DerivedEdges.of(snapshot.config, snapshot.glossary)
        for document in documents:
            derived.follow_document(writer, document.doc_id, document.attributes, document.label)

    def _write(self, writer: StoreWriter, seq: int, prepared: PreparedDocument | RefusedDocument) -> DocumentOutcome:
        if isinstance(prepared, RefusedDocument):
            return DocumentOutcome(prepared.doc_id, seq, error=prepared.error)
        refused = self._forbidden(prepared)
        if refused is not None:
            return DocumentOutcome(prepared.document.doc_id, seq, error=refused, warnings=prepared.warnings)
        try:
            replaced = writer.replace_document(prepared.document, clearance=self._clearance)
        except DocumentRefused as error:
            return DocumentOutcome(prepared.document.doc_id, seq, error=error.cause(), warnings=prepared.warnings)
        return DocumentOutcome(
            replaced.doc_id,
            seq,
            replaced.revision,
            replaced.chunks,
            replaced.unchanged,
            warnings=prepared.warnings,
        )

    def _forbidden(self, prepared: PreparedDocument) -> Cause | None:
        """Why a document with a warning that the caller does not take is refused; None where it has none."""
        for warning in prepared.warnings:
            if warning.kind in self._refuse_warnings:
                kind = warning.kind.name
                message = f"{prepared.document.doc_id}: {kind} is refused here: {warning.message} ({warning.locator})."
                return Cause(ErrorReason.DEGRADATION_FORBIDDEN, message, (("kind", kind),))
        return None

    def _next_known(self, reader: StoreReader, planned: dict[str, int], doc_id: str) -> int:
        """The next revision behind those that the caller may know of: a rehearsal must not count the others."""
        if doc_id not in planned:
            known = reader.revisions(doc_id, clearance=self._clearance)
            planned[doc_id] = max((each.revision for each in known), default=0)
        planned[doc_id] += 1
        return planned[doc_id]

    def _active(self, reader: StoreReader, doc_id: str) -> tuple[int, int]:
        """Revision and chunks that a refused document keeps, as far as the caller may know of it."""
        active = reader.active_revision(doc_id, clearance=self._clearance)
        return _NONE if active is None else (active.revision, active.chunks)

    def _forget_gathered(self) -> None:
        self._gathered.clear()

    def _decode(self, raw: bytes) -> list[DocumentOutcome]:
        return decode_document_outcomes(raw)

    def _events_of(self, outcome: DocumentOutcome) -> list[IngestEvent]:
        return [outcome]

    def _seq_of(self, outcome: DocumentOutcome) -> int:
        return outcome.seq

    def _counts_of(self, outcome: DocumentOutcome) -> tuple[int, int, int]:
        if outcome.error is not None:
            return 0, 0, 1
        return (0, 1, 0) if outcome.unchanged else (1, 0, 0)
