"""AdminService: documents one by one, their revisions, and what changed between two."""

from __future__ import annotations

from collections.abc import Iterator

from groundwire.v1 import admin_pb2
from groundwire_server.engine import DocumentReads
from groundwire_server.errors import ErrorReason
from groundwire_server.rpc.call import RpcCall
from groundwire_server.rpc.encode_document import encode_changes, encode_reading, encode_revision
from groundwire_server.rpc.findings import Findings
from groundwire_server.rpc.paging import Pager
from groundwire_server.rpc.sending import send_frames
from groundwire_server.rpc.work import WorkPool

__all__ = ["DocumentService"]


class DocumentService:
    """The methods of AdminService that read documents."""

    def __init__(self, documents: DocumentReads, pool: WorkPool, pager: Pager) -> None:
        self._documents = documents
        self._pool = pool
        self._pager = pager

    async def list_documents(
        self, request: admin_pb2.ListDocumentsRequest, call: RpcCall
    ) -> admin_pb2.ListDocumentsResponse:
        """A page of documents by id."""
        findings = Findings()
        findings.required("library_id", request.library_id)
        page = self._pager.begin(request, call.principal, findings)
        findings.settle()
        found, more = await self._pool.run(
            lambda: self._documents.page(
                request.library_id,
                call.principal,
                prefix=request.doc_id_prefix,
                include_withdrawn=request.include_withdrawn,
                after=str(page.after[0]) if page.after else "",
                limit=page.limit,
            )
        )
        response = admin_pb2.ListDocumentsResponse()
        rows = ((encode_revision(each, call.principal), (each.doc_id,)) for each in found)
        response.next_page_token = page.fill(response.documents, rows, more)
        return response

    async def get_document(self, request: admin_pb2.GetDocumentRequest, call: RpcCall) -> None:
        """One revision of a document, with its text and chunks on demand."""
        findings = Findings()
        _check_document(request, findings)
        _check_revision("revision", request.revision, findings)
        findings.settle()

        def frames() -> Iterator[bytes]:
            reading = self._documents.read(request.library_id, request.doc_id, request.revision, call.principal)
            for frame in encode_reading(
                reading, call.principal, include_text=request.include_text, include_chunks=request.include_chunks
            ):
                call.cancel.check("document")
                yield frame.SerializeToString()

        await send_frames(self._pool, call, frames())

    async def list_revisions(
        self, request: admin_pb2.ListRevisionsRequest, call: RpcCall
    ) -> admin_pb2.ListRevisionsResponse:
        """A page of revisions of a document, newest first."""
        findings = Findings()
        _check_document(request, findings)
        page = self._pager.begin(request, call.principal, findings)
        findings.settle()
        before = int(page.after[0]) if page.after else None
        found, more = await self._pool.run(
            lambda: self._documents.revisions(
                request.library_id, request.doc_id, call.principal, before=before, limit=page.limit
            )
        )
        response = admin_pb2.ListRevisionsResponse()
        rows = ((encode_revision(each, call.principal), (each.revision,)) for each in found)
        response.next_page_token = page.fill(response.revisions, rows, more)
        return response

    async def diff_revisions(self, request: admin_pb2.DiffRevisionsRequest, call: RpcCall) -> None:
        """What makes the newer of two texts of the older one."""
        findings = Findings()
        _check_document(request, findings)
        for field in ("old_revision", "new_revision"):
            _check_revision(field, getattr(request, field), findings)
        findings.settle()

        def frames() -> Iterator[bytes]:
            changes = self._documents.changes(
                request.library_id,
                request.doc_id,
                request.old_revision,
                request.new_revision,
                call.principal,
                lambda: call.cancel.check("diff"),
            )
            for frame in encode_changes(changes):
                yield frame.SerializeToString()

        await send_frames(self._pool, call, frames())


def _check_document(
    request: admin_pb2.GetDocumentRequest | admin_pb2.ListRevisionsRequest | admin_pb2.DiffRevisionsRequest,
    findings: Findings,
) -> None:
    findings.required("library_id", request.library_id)
    findings.required("doc_id", request.doc_id)


def _check_revision(field: str, revision: int, findings: Findings) -> None:
    if revision < 0:
        findings.add(field, ErrorReason.VALUE_OUT_OF_RANGE, f"{revision} is no revision; they count from 1")
