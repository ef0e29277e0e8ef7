"""From the bytes of a file to documents ready for the store: read, cut, labelled. Pure: the same in, the same out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date

from groundwire_server.chunking import (
    DEFAULT_CHUNK_CHARS,
    DEFAULT_OVERLAP_CHARS,
    Chunker,
    TextModel,
    make_chunker,
    needs_model,
)
from groundwire_server.errors import Cause, DocumentRefused, ErrorReason, FailedPrecondition, InvalidRequest
from groundwire_server.evidence import Attribute, Label, Locator, Period, Span, slice_text
from groundwire_server.glossary import PeriodError, parse_period
from groundwire_server.ingest.events import MAX_WARNINGS
from groundwire_server.ingest.head import DocumentHead, check_doc_id, check_head
from groundwire_server.ingest.index_header import contextual_header
from groundwire_server.library import Cut, LibraryConfig
from groundwire_server.readers import (
    Document,
    PlaceMap,
    ReadOptions,
    ReadWarning,
    RefusedPart,
    WarningKind,
    pack_places,
    places_follow,
    read_document,
)
from groundwire_server.relations.extractors import RelationExtractor, extract_edges, new_document
from groundwire_server.store.rows import EdgeRecord, NewChunk, NewDocument

__all__ = [
    "MAX_PASSAGE_BYTES",
    "DocumentRules",
    "PreparedDocument",
    "RefusedDocument",
    "cut_text",
    "header_of",
    "passage_fault",
    "prepare_documents",
]


# A period that reads alike on both does not count from the day of asking.
_TWO_DAYS = (date(2001, 1, 1), date(2032, 8, 19))


def read_period(text: str) -> Period:
    """A period as an attribute holds it, in any form that QueryMetric reads but the relative ones.

    Raises:
        ValueError: it cannot be read, or counts from the day of asking.
    """
    try:
        first, second = (parse_period(text, reference=day) for day in _TWO_DAYS)
    except PeriodError:
        raise ValueError("no period") from None
    if first != second:
        raise ValueError("counts from the day of asking")
    return first


MAX_PASSAGE_BYTES = 512 * 1024
"""Of a chunk with its title, heading and attributes: half of what one message on the wire may hold."""


@dataclass(frozen=True, slots=True)
class DocumentRules:
    """The library's own settings for what comes in.

    model: gives the embedding model that some chunkers and budgets ask for; None: there is none. It may wait for it,
        and raises FailedPrecondition (NO_EMBEDDER).
    extractor: finds the relations that are stored together with a document; None: none are.
    """

    default_label: Label = Label.INTERNAL
    chunker: str = "paragraph"
    chunk_chars: int = DEFAULT_CHUNK_CHARS
    overlap_chars: int = DEFAULT_OVERLAP_CHARS
    budget_unit: str = "characters"
    contextual: bool = False
    model: Callable[[], TextModel] | None = None
    extractor: RelationExtractor | None = None
    read: ReadOptions = field(default_factory=lambda: ReadOptions(parse_period=read_period))

    @classmethod
    def of(
        cls,
        config: LibraryConfig,
        model: Callable[[], TextModel] | None = None,
        extractor: RelationExtractor | None = None,
    ) -> DocumentRules:
        """The rules that a library's settings make."""
        return cls(
            config.default_label,
            config.chunker,
            config.chunk_chars,
            config.overlap_chars,
            config.budget_unit,
            config.contextual,
            model,
            extractor,
        )

    def make_chunker(self, name: str = "") -> Chunker:
        """The chunker of that name, by default the library's, with the library's budget. Raises as `make_chunker`."""
        name = name or self.chunker
        model = self.model() if self.model is not None and needs_model(name, self.budget_unit) else None
        return make_chunker(name, self.chunk_chars, self.overlap_chars, self.budget_unit, model)


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document ready for the store, what it states of relations, and what a person should look at."""

    document: NewDocument
    warnings: tuple[ReadWarning, ...] = ()
    relations: tuple[EdgeRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class RefusedDocument:
    """A document that cannot be stored, and why. Its id is the file's where its own could not be read."""

    doc_id: str
    error: Cause


def prepare_documents(head: DocumentHead, raw: bytes, rules: DocumentRules) -> list[PreparedDocument | RefusedDocument]:
    """The documents of a file in order: one of most files, one a line of JSON lines. It never raises for a bad file.

    - The label is the stricter of what the head and what the file says; where neither says one, the library's default.
    - Attributes of the head win over those of the file, name by name; so do its title and valid_as_of. For a file of
      several documents the head's title is passed over, and all else of it holds for each of them.
    - Chunks are cut from the body of the text; spans and places count in the whole text.
    """
    try:
        check_head(head)
        chunker = _chunker(head, rules)
        if head.content_sha256 and hashlib.sha256(raw).digest() != head.content_sha256:
            raise DocumentRefused(
                ErrorReason.DOCUMENT_HASH_MISMATCH,
                f"{head.doc_id}: the content that arrived does not have the SHA-256 that its head gives.",
                hint="Send it again.",
            )
        outputs = read_document(head.doc_id, raw, head.media_type, head.charset, rules.read)
    except DocumentRefused as error:
        return [RefusedDocument(head.doc_id, error.cause())]
    prepared: list[PreparedDocument | RefusedDocument] = []
    for output in outputs:
        if isinstance(output, RefusedPart):
            prepared.append(RefusedDocument(output.doc_id, output.error.cause()))
        else:
            prepared.append(_prepared(head, output, chunker, rules))
    return prepared


def _prepared(
    head: DocumentHead, output: Document, chunker: Chunker, rules: DocumentRules
) -> PreparedDocument | RefusedDocument:
    try:
        return _prepare(head, output, chunker, rules)
    except DocumentRefused as error:  # by the chunker, which does not know what the text is called
        cause = error.cause()
        return RefusedDocument(output.doc_id, replace(cause, message=f"{output.doc_id}: {cause.message}"))


def _chunker(head: DocumentHead, rules: DocumentRules) -> Chunker:
    try:
        return rules.make_chunker(head.chunker)
    except FailedPrecondition as error:
        raise DocumentRefused(error.reason, f"{head.doc_id}: {error.message}", hint=error.hint) from None
    except InvalidRequest as error:
        reasons = {violation.reason for violation in error.violations}
        reason = reasons.pop() if len(reasons) == 1 else ErrorReason.INVALID_REQUEST
        raise DocumentRefused(reason, f"{head.doc_id}: {error.message}.", details={"field": "chunker"}) from None


def _prepare(
    head: DocumentHead, document: Document, chunker: Chunker, rules: DocumentRules
) -> PreparedDocument | RefusedDocument:
    try:
        check_doc_id(document.doc_id)
    except DocumentRefused as error:
        return RefusedDocument(head.doc_id, error.cause())
    labels = [label for label in (head.label, document.label) if label is not None]
    title = head.title if head.title and document.doc_id == head.doc_id else document.title
    attributes = _merged(document.attributes, head.attributes)
    cut = Cut(chunker.spec, rules.contextual, document.index_title)
    stored = NewDocument(
        doc_id=document.doc_id,
        title=title,
        media_type=document.media_type,
        text=document.text,
        raw_sha256=document.raw_sha256,
        raw_bytes=document.raw_bytes,
        chunker=str(cut),
        chunks=cut_text(
            document.doc_id,
            document.text,
            document.body,
            document.places,
            header_of(title, attributes, contextual=rules.contextual, titled=document.index_title),
            chunker,
        ),
        label=max(labels) if labels else rules.default_label,
        valid_as_of=head.valid_as_of or document.valid_as_of,
        attributes=attributes,
        places=b"" if places_follow(document.media_type) else pack_places(document.body, document.places),
    )
    too_large = passage_fault(stored)
    if too_large is not None:
        return RefusedDocument(document.doc_id, too_large)
    relations, further = _relations(stored, rules.extractor)
    return PreparedDocument(stored, _bounded(document.doc_id, (*document.warnings, *further)), relations)


def _relations(
    document: NewDocument, extractor: RelationExtractor | None
) -> tuple[tuple[EdgeRecord, ...], list[ReadWarning]]:
    """What a document states, and where it states more than is kept."""
    if extractor is None:
        return (), []
    edges, found = extract_edges(extractor, new_document(document))
    warnings = [
        ReadWarning(
            document.chunks[place].locator,
            f"the passage gives {more} more relations than are kept of one",
            WarningKind.RELATIONS_LEFT_OUT,
        )
        for place, more in sorted(found.left_out.items())
    ]
    return edges, warnings


def passage_fault(document: NewDocument) -> Cause | None:
    """Why a passage of the document could not be answered with: it travels whole, with all that is said of it."""
    around = _size(document.title) + sum(_size(repr(each.value)) + len(each.name) for each in document.attributes)
    for chunk in document.chunks:
        text = slice_text(document.text, chunk.span)
        parent = "" if chunk.parent_span is None else slice_text(document.text, chunk.parent_span)
        said = (text, parent, chunk.heading, chunk.locator, chunk.parent_id, chunk.parent_locator)
        size = around + sum(map(_size, said))
        if size > MAX_PASSAGE_BYTES:
            return Cause(
                ErrorReason.DOCUMENT_TOO_LARGE,
                f"{document.doc_id}: a passage takes {size} bytes with its title and attributes, at most "
                f"{MAX_PASSAGE_BYTES} fit into an answer. Cut it into smaller chunks.",
                (("max_passage_bytes", str(MAX_PASSAGE_BYTES)),),
            )
    return None


def _size(text: str) -> int:
    """Bytes of UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def header_of(title: str, attributes: tuple[Attribute, ...], *, contextual: bool, titled: bool) -> Callable[[str], str]:
    """What goes before a chunk under a heading in what is indexed.

    Args:
        contextual: the contextual header; else the title, where the document is `titled`, or nothing.
    """
    if contextual:
        return lambda heading: contextual_header(title, attributes, heading)
    return lambda heading: title if titled else ""


def cut_text(
    doc_id: str, text: str, body: Span, places: PlaceMap, header: Callable[[str], str], chunker: Chunker
) -> tuple[NewChunk, ...]:
    """The chunks of a document's body; spans and places count in the whole text.

    Args:
        header: what goes before a chunk under a heading in what is indexed; see `header_of`.
    """
    chunks = []
    known = places.headings
    within = [
        (start - body.start, path)
        for start, path in zip(known.starts, known.headings, strict=True)
        if path and body.start <= start < body.end
    ]
    for draft in chunker.chunk(slice_text(text, body), within):
        span = Span(draft.span.start + body.start, draft.span.end + body.start)
        parent = draft.parent_span and Span(draft.parent_span.start + body.start, draft.parent_span.end + body.start)
        heading = draft.heading or places.heading(span)
        chunks.append(
            NewChunk(
                span=span,
                locator=str(Locator(doc_id, places.locate(span))),
                header=header(heading),
                heading=heading,
                parent_id=draft.parent_id,
                parent_span=parent,
                parent_locator=str(Locator(doc_id, places.locate(parent))) if parent else "",
            )
        )
    return tuple(chunks)


def _merged(from_file: tuple[Attribute, ...], from_head: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
    by_name = {attribute.name: attribute for attribute in (*from_file, *from_head)}
    return tuple(by_name[name] for name in sorted(by_name))


def _bounded(doc_id: str, warnings: tuple[ReadWarning, ...]) -> tuple[ReadWarning, ...]:
    if len(warnings) <= MAX_WARNINGS:
        return warnings
    first = {warning.kind: warning for warning in reversed(warnings)}.values()
    kept = [*first, *(warning for warning in warnings if warning not in first)][: MAX_WARNINGS - 1]
    kept.sort(key=warnings.index)
    return (*kept, ReadWarning(doc_id, f"and {len(warnings) - len(kept)} more", WarningKind.MORE))
