# Made from _sync/running.py by `make client`; changes belong there.
"""Running the house: libraries, documents, jobs, the server itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from datetime import date, datetime

from groundwire._async.connection import AsyncConnection
from groundwire._async.stream import AsyncItems
from groundwire._model.document import DocumentRevision, StoredDocument, TextChange
from groundwire._model.figure import ReviewStatus
from groundwire._model.glossary import GlossaryUpdate, Term, TermRef
from groundwire._model.job import IndexPart, Job, JobState, Purge
from groundwire._model.library import Library, LibraryDeletion, LibraryUpdate
from groundwire._model.listed import ListedFact, ListedRelation
from groundwire._model.server import HealthStatus, ServerInfo
from groundwire._operation import documents, jobs, libraries, server

__all__ = ["AsyncRunningClient"]


class AsyncRunningClient(AsyncConnection):
    """The calls that list, change and watch. What is listed comes page by page, as it is asked for."""

    async def list_libraries(self, *, timeout: float | None = None) -> list[Library]:
        """All libraries that the caller may read, sorted by id."""
        return await self._all(libraries.list_libraries(), timeout)

    async def save_library(
        self,
        library: Library,
        *,
        validate_only: bool = False,
        if_snapshot_id: str = "",
        timeout: float | None = None,
    ) -> LibraryUpdate:
        """Create a library or change its settings; gives it as it is now, and the job that a change of index starts.

        if_snapshot_id: only if this is its present snapshot, else CONFLICTING_CHANGE.
        """
        return await self._value(libraries.save_library(library, validate_only, if_snapshot_id), timeout)

    async def delete_library(
        self,
        library: str,
        *,
        confirmation: str = "",
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> LibraryDeletion:
        """Delete a library with all that is in it, for good.

        Takes two calls: one with validate_only tells what would go and gives the confirmation that the other needs.
        """
        return await self._value(libraries.delete_library(library, confirmation, validate_only), timeout)

    async def update_glossary(
        self,
        put: Iterable[Term] = (),
        remove: Iterable[TermRef] = (),
        *,
        library: str = "default",
        replace_all: bool = False,
        validate_only: bool = False,
        if_snapshot_id: str = "",
        timeout: float | None = None,
    ) -> GlossaryUpdate:
        """Change and check the glossary of a library, all or nothing. replace_all: only the terms of `put` stay.

        if_snapshot_id: only if this is the library's present snapshot, else CONFLICTING_CHANGE.
        """
        operation = libraries.update_glossary(library, put, remove, replace_all, validate_only, if_snapshot_id)
        return await self._value(operation, timeout)

    def list_documents(
        self,
        *,
        library: str = "default",
        prefix: str = "",
        include_withdrawn: bool = False,
        timeout: float | None = None,
    ) -> AsyncIterator[DocumentRevision]:
        """Documents with their last revision, sorted by id; only ids that start with `prefix`."""
        return self._rows(documents.list_documents(library, prefix, include_withdrawn), timeout)

    async def get_document(
        self,
        doc_id: str,
        *,
        library: str = "default",
        revision: int = 0,
        include_text: bool = False,
        include_chunks: bool = False,
        timeout: float | None = None,
    ) -> StoredDocument:
        """One revision of a document. revision 0: the active one, else the last."""
        operation = documents.get_document(doc_id, library, revision, include_text, include_chunks)
        return await self._whole(operation, timeout)

    def list_revisions(
        self, doc_id: str, *, library: str = "default", timeout: float | None = None
    ) -> AsyncIterator[DocumentRevision]:
        """The revisions of a document, newest first."""
        return self._rows(documents.list_revisions(doc_id, library), timeout)

    def diff_revisions(
        self,
        doc_id: str,
        *,
        library: str = "default",
        old_revision: int = 0,
        new_revision: int = 0,
        timeout: float | None = None,
    ) -> AsyncItems[TextChange]:
        """What changed between two revisions of a document, in text order; nothing: the texts are equal.

        new_revision 0: the last. old_revision 0: the one before the new one.
        """
        operation = documents.diff_revisions(doc_id, library, old_revision, new_revision)
        return self._items(operation, self._seconds(timeout))

    def list_facts(
        self,
        *,
        library: str = "default",
        metric: str = "",
        entity: str = "",
        source_doc: str = "",
        review_status: ReviewStatus | str = ReviewStatus.UNSPECIFIED,
        include_versions: bool = False,
        timeout: float | None = None,
    ) -> AsyncIterator[ListedFact]:
        """Stored figures, one source and version each, for review and export.

        metric, entity: by name or code. review_status UNSPECIFIED: those that answer queries; PENDING needs the right
        to write. include_versions: also those that the same source has replaced.
        """
        operation = documents.list_facts(library, metric, entity, source_doc, review_status, include_versions)
        return self._rows(operation, timeout)

    def list_relations(
        self, *, library: str = "default", relation: str = "", source_doc: str = "", timeout: float | None = None
    ) -> AsyncIterator[ListedRelation]:
        """Stored relations, for review and export."""
        return self._rows(documents.list_relations(library, relation, source_doc), timeout)

    async def start_reindex(
        self,
        library: str,
        *,
        parts: Iterable[IndexPart | str] = (),
        validate_only: bool = False,
        request_id: str = "",
        timeout: float | None = None,
    ) -> Job:
        """Rebuild what is derived from the store. No parts: whatever is missing, damaged or older than the settings.

        request_id: a UUID; a repeat gives the same job.
        """
        return await self._value(jobs.start_reindex(library, parts, validate_only, request_id), timeout)

    async def purge_revisions(
        self,
        library: str,
        *,
        doc_id: str = "",
        keep_last: int = 0,
        retired_before: datetime | date | None = None,
        validate_only: bool = False,
        request_id: str = "",
        timeout: float | None = None,
    ) -> Purge:
        """Erase retired revisions for good, of one document or of all; their citations can be verified no more.

        keep_last: so many of each document stay beside the active one. retired_before: only those retired before.
        request_id: a UUID; a repeat gives the same job.
        """
        operation = jobs.purge_revisions(library, doc_id, keep_last, retired_before, validate_only, request_id)
        return await self._value(operation, timeout)

    async def get_job(self, job_id: str, *, timeout: float | None = None) -> Job:
        """A job as it is now."""
        return await self._value(jobs.get_job(job_id), timeout)

    def watch_job(self, job_id: str, *, timeout: float | None = None) -> AsyncItems[Job]:
        """A job as it is now, and again with each change, until it ends. Without a timeout it is watched that long."""
        return self._items(jobs.watch_job(job_id), timeout)

    async def cancel_job(self, job_id: str, *, timeout: float | None = None) -> Job:
        """Ask a job to stop; what it has done stays. One that had ended stays as it was."""
        return await self._value(jobs.cancel_job(job_id), timeout)

    def list_jobs(
        self, *, library: str = "", state: JobState | str = JobState.UNSPECIFIED, timeout: float | None = None
    ) -> AsyncIterator[Job]:
        """Jobs, newest first; of one library or all, in one state or any."""
        return self._rows(jobs.list_jobs(library, state), timeout)

    async def server_info(self, *, timeout: float | None = None) -> ServerInfo:
        """What the server is, can do and allows, and what is really active."""
        return await self._value(server.server_info(), timeout)

    async def health(self, service: str = "", *, timeout: float | None = None) -> HealthStatus:
        """Whether the server, or one service ("groundwire.v1.MetricService"), takes calls now."""
        return await self._value(server.health(service), timeout)
