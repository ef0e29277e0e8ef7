"""Stored documents, figures and relations: listing and reading them."""

from __future__ import annotations

from collections.abc import Iterable

from groundwire._errors import BrokenStream
from groundwire._model.document import DocumentChunk, DocumentRevision, StoredDocument, TextChange
from groundwire._model.figure import ReviewStatus
from groundwire._model.listed import ListedFact, ListedRelation
from groundwire._operation.kinds import Paged, Reader, ResultReader, Streamed, method
from groundwire._operation.options import number
from groundwire._wire.mirror import decode_as, rows_of
from groundwire.v1 import admin_pb2

__all__ = ["diff_revisions", "get_document", "list_documents", "list_facts", "list_relations", "list_revisions"]


def list_documents(library: str, prefix: str, include_withdrawn: bool) -> Paged[DocumentRevision]:
    """AdminService.ListDocuments."""
    request = admin_pb2.ListDocumentsRequest(
        library_id=library, doc_id_prefix=prefix, include_withdrawn=include_withdrawn
    )
    return Paged(method("AdminService/ListDocuments"), request, rows_of("documents", DocumentRevision))


class _Document:
    """Joins the frames of a document."""

    def __init__(self) -> None:
        self._revision: DocumentRevision | None = None
        self._texts: list[str] = []
        self._chunks: list[DocumentChunk] = []

    def add(self, response: admin_pb2.GetDocumentResponse) -> Iterable[object]:
        match response.WhichOneof("frame"):
            case "revision":
                self._revision = decode_as(DocumentRevision, response.revision)
            case "text":
                self._texts.append(response.text)
            case "chunks":
                self._chunks += [decode_as(DocumentChunk, chunk) for chunk in response.chunks.chunks]
        return ()

    def end(self) -> None:
        self.result()

    def result(self) -> StoredDocument:
        if self._revision is None:
            raise BrokenStream("the stream ended without the document")
        return StoredDocument(self._revision, "".join(self._texts), tuple(self._chunks))


def get_document(
    doc_id: str, library: str, revision: int, include_text: bool, include_chunks: bool
) -> Streamed[ResultReader[object, StoredDocument]]:
    """AdminService.GetDocument."""
    request = admin_pb2.GetDocumentRequest(
        library_id=library,
        doc_id=doc_id,
        revision=revision,
        include_text=include_text,
        include_chunks=include_chunks,
    )
    return Streamed(method("AdminService/GetDocument"), request, _Document())


def list_revisions(doc_id: str, library: str) -> Paged[DocumentRevision]:
    """AdminService.ListRevisions."""
    request = admin_pb2.ListRevisionsRequest(library_id=library, doc_id=doc_id)
    return Paged(method("AdminService/ListRevisions"), request, rows_of("revisions", DocumentRevision))


class _Changes:
    """Reads changes; there may be none."""

    _rows = staticmethod(rows_of("changes", TextChange))

    def add(self, response: admin_pb2.DiffRevisionsResponse) -> Iterable[TextChange]:
        return self._rows(response)

    def end(self) -> None:
        pass


def diff_revisions(doc_id: str, library: str, old_revision: int, new_revision: int) -> Streamed[Reader[TextChange]]:
    """AdminService.DiffRevisions."""
    request = admin_pb2.DiffRevisionsRequest(
        library_id=library, doc_id=doc_id, old_revision=old_revision, new_revision=new_revision
    )
    return Streamed(method("AdminService/DiffRevisions"), request, _Changes())


def list_facts(
    library: str,
    metric: str,
    entity: str,
    source_doc: str,
    review_status: ReviewStatus | str,
    include_versions: bool,
) -> Paged[ListedFact]:
    """AdminService.ListFacts."""
    request = admin_pb2.ListFactsRequest(
        library_id=library,
        metric=metric,
        entity=entity,
        source_doc=source_doc,
        review_status=number(ReviewStatus, review_status),
        include_versions=include_versions,
    )
    return Paged(method("AdminService/ListFacts"), request, rows_of("facts", ListedFact))


def list_relations(library: str, relation: str, source_doc: str) -> Paged[ListedRelation]:
    """AdminService.ListRelations."""
    request = admin_pb2.ListRelationsRequest(library_id=library, relation=relation, source_doc=source_doc)
    return Paged(method("AdminService/ListRelations"), request, rows_of("relations", ListedRelation))
