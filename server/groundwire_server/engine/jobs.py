"""The work behind the calls: what was asked for, what goes on, and what nobody has to ask for."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime

from groundwire_server.engine.libraries import Libraries
from groundwire_server.engine.purge import PURGE, Purging, pack_purge
from groundwire_server.engine.reindex import DAMAGED, REBUILD, RECUT, Reindexing
from groundwire_server.engine.relating import RELATE, Relating
from groundwire_server.engine.rights import may_write
from groundwire_server.errors import ErrorReason, GroundwireError, InvalidRequest, UnknownResource
from groundwire_server.evidence import Label, Principal, Progress
from groundwire_server.ingest import documents_to_recut
from groundwire_server.jobs import IndexPart, Job, JobControl, JobKind, JobPlace, JobRunner, JobState, audience_of
from groundwire_server.library import Library, LibraryConfig, Recut, Snapshot
from groundwire_server.store import PurgePolicy

__all__ = ["Jobs"]

_log = logging.getLogger(__name__)

_FREE = "free"
_CUT_PARTS = (IndexPart.LEXICAL,)  # the vectors of new chunks come by a job of their own
_GRAPH_PARTS = (IndexPart.GRAPH,)


class Jobs:
    """The jobs of a server, for its callers and for its own work. Any thread; `job` never waits.

    A job exists for the callers of one class alone, so that nothing of what a caller may not read shows in it (`Job`).
    Every caller may read every library that there is; the job that frees a deleted one stays.
    """

    def __init__(self, libraries: Libraries, reindexing: Reindexing, relating: Relating) -> None:
        self._libraries = libraries
        self._reindexing = reindexing
        self._relating = relating
        self._board = libraries.board
        tasks = {_FREE: self._free, **reindexing.tasks(), **Purging(libraries).tasks()}
        self._runner = JobRunner(self._board, tasks)
        self._ordering = threading.Lock()

    def start(self) -> None:
        """Go on with what an earlier process left, and free what it hid without leaving a job."""
        with self._ordering:
            waiting = {job.order.argument for job in self._board.open_jobs() if job.order is not None}
            hidden = self._libraries.folder.hidden()
            self._runner.take_up()
            for name in hidden.keys() - waiting:
                try:
                    self._runner.order(_FREE, JobKind.DELETE_LIBRARY, hidden[name], Label.PUBLIC, argument=name)
                except GroundwireError as error:
                    _log.warning("%s is not freed yet: %s", name, error.reason.name)

    def close(self) -> None:
        """Have the work end; the next server goes on with it."""
        self._runner.close()

    def job(self, job_id: str, principal: Principal) -> Job:
        """A job as it is now. Raises UnknownResource (UNKNOWN_JOB)."""
        return self._board.job(job_id, principal)

    def page(
        self, principal: Principal, *, library_id: str, state: JobState | None, after: JobPlace | None, limit: int
    ) -> tuple[list[Job], bool]:
        """Up to `limit` jobs behind a place, newest first, and whether there are more.

        Raises:
            UnknownResource: UNKNOWN_LIBRARY, there is neither such a library nor a job of it.
        """
        found, more = self._board.page(principal, library_id=library_id, state=state, after=after, limit=limit)
        if library_id and not self._board.page(principal, library_id=library_id, limit=1)[0]:
            self._libraries.for_reading(library_id)  # raises where there is none
        return found, more

    def listening(self, listener: Callable[[], None]) -> AbstractContextManager[None]:
        """Call something whenever a job changes, from whatever thread changed it."""
        return self._board.listening(listener)

    def cancel(self, job_id: str, principal: Principal) -> Job:
        """End a job; what it has done stays. One that has ended stays as it was.

        A library that was deleted is gone whatever becomes of the job that frees its space, so that one goes on.

        Raises:
            UnknownResource: UNKNOWN_JOB.
            NotPermitted: the caller may not write.
        """
        job = self.job(job_id, principal)
        may_write(principal, "CancelJob", job.library_id)
        if job.state.ended or job.kind is JobKind.DELETE_LIBRARY:
            return job
        if job.order is not None:
            self._runner.cancel(job.order.work_id)
        if job.embeds:
            self._libraries.call_off(job.library_id)
        return self.job(job_id, principal)

    def reindex(
        self,
        library_id: str,
        principal: Principal,
        *,
        parts: Iterable[IndexPart],
        validate_only: bool = False,
        request_id: str = "",
    ) -> Job:
        """Have what is derived built anew; without parts, whatever is missing, damaged or of another model.

        Raises:
            UnknownResource: UNKNOWN_LIBRARY.
            NotPermitted: the caller may not write.
            FailedPrecondition: NO_EMBEDDER, vectors are asked for, and nothing makes them.
            InvalidRequest: the request id was used for something else.
        """
        may_write(principal, "StartReindex", library_id)
        library = self._libraries.for_reading(library_id)
        asked = tuple(parts)
        wanted = self._reindexing.parts(library.config, asked)
        if not validate_only:
            argument = "" if asked else DAMAGED
            return self.start_task(
                REBUILD, library_id, principal, parts=wanted, argument=argument, request_id=request_id
            )
        stage, chunks = self._reindexing.work_for(library.snapshot(), principal, wanted)
        return _planned(library_id, principal, wanted, Progress(stage, 0, chunks, "chunks"))

    def purge(
        self,
        library_id: str,
        principal: Principal,
        *,
        doc_id: str = "",
        keep_last: int = 0,
        retired_before: datetime | None = None,
        validate_only: bool = False,
        request_id: str = "",
    ) -> tuple[int, Job | None]:
        """Have retired revisions erased for good that the caller may read and no bound keeps.

        Args:
            doc_id: only of this document. keep_last: so many of each document stay beside the active one.
            retired_before: only those that were retired before.
            validate_only: count, and erase nothing.

        Returns:
            How many go, and the job; a repeat of a request gives its job and what is left.

        Raises:
            UnknownResource: UNKNOWN_LIBRARY; UNKNOWN_DOCUMENT, the caller can read no revision of it.
            NotPermitted: the caller may not write.
            InvalidRequest: the request id was used for something else.
            ResourceExhausted: OVERLOADED, STORAGE_FULL.
        """
        may_write(principal, "PurgeRevisions", library_id)
        reader = self._libraries.for_reading(library_id).snapshot().reader
        policy, clearance = PurgePolicy(reader.generation, doc_id, keep_last, retired_before), audience_of(principal)
        asked = [principal.name, request_id, PURGE, library_id, doc_id, keep_last, str(retired_before)]
        request = json.dumps(asked) if request_id else ""
        with self._ordering:
            known = self._of_request(principal, request_id) if request_id and not validate_only else None
            if known is None and doc_id and not reader.revisions(doc_id, None, 1, clearance=clearance):
                raise _unknown_document(library_id, doc_id)
            revisions = sum(reader.purgeable(policy, clearance=clearance).values())
            if known is not None:
                return revisions, _of_same_request(known, request)
            if validate_only:
                return revisions, None
            argument = pack_purge(policy, clearance)
            return revisions, self._runner.order(
                PURGE, JobKind.PURGE, library_id, clearance, argument=argument, request=request
            )

    def start_task(
        self,
        task: str,
        library_id: str,
        principal: Principal,
        *,
        parts: Sequence[IndexPart],
        argument: str = "",
        request_id: str = "",
    ) -> Job:
        """Have a task of `engine.reindex` run on a library; durable when this returns.

        Args:
            request_id: a repeat of it, by the same caller for the same, gives the same job.

        Raises:
            InvalidRequest: the request id was used for something else.
            ResourceExhausted: OVERLOADED, too many jobs wait; STORAGE_FULL.
        """
        audience = audience_of(principal)
        request = json.dumps([principal.name, request_id, task, library_id, argument, *parts]) if request_id else ""
        with self._ordering:
            known = self._of_request(principal, request_id) if request_id else None
            if known is None:
                return self._runner.order(
                    task, JobKind.REINDEX, library_id, audience, parts=parts, argument=argument, request=request
                )
        return _of_same_request(known, request)

    def recut(self, library: Library, principal: Principal) -> Job | None:
        """Have the documents of a library cut anew as its settings say; None where nothing has to be ordered for it.

        A process that dies between a change of settings and this call orders it when it starts again.

        Raises:
            ResourceExhausted: OVERLOADED, too many jobs wait; STORAGE_FULL.
        """
        wanted = Recut.read(library.store.reader())
        if wanted.asked:
            return None
        job = self.start_task(RECUT, library.library_id, principal, parts=_CUT_PARTS)
        with library.writing() as writer:
            # Settings that have changed once more since are somebody else's to ask for, and not to be lost.
            if Recut.read(library.store.reader()) == wanted:
                replace(wanted, asked=True).write(writer)
        return job

    def relate(self, library: Library, principal: Principal) -> Job | None:
        """Have documents worked on that the library's extractor of relations has not seen; None where there are none.

        A job that waits for its turn is as good as a new one; one that runs may have passed what has come since. Nobody
        learns by a job of what he may not read.

        Raises:
            ResourceExhausted: OVERLOADED, too many jobs wait; STORAGE_FULL.
        """
        waiting = self._relating.waiting(library.snapshot())
        audiences = self._relating.audiences(waiting)
        if not audiences:
            return None
        audience = audience_of(principal)
        with self._ordering:
            for job in self._board.open_jobs(library.library_id):
                ordered = job.state is JobState.QUEUED and job.order is not None and job.order.task == RELATE
                if ordered and job.audience is audiences[0]:
                    return next((each for each in self._of_work(job) if each.audience is audience), None)
            least = audience if audience in audiences else audiences[-1]
            made = self._runner.order(
                RELATE, JobKind.REINDEX, library.library_id, least, parts=_GRAPH_PARTS, audiences=audiences
            )
        return made if made.audience is audience else None

    def planned_relate(self, snapshot: Snapshot, config: LibraryConfig, principal: Principal) -> Job | None:
        """What `relate` would order if the library had other settings; without an id."""
        audience = audience_of(principal)
        waiting = self._relating.waiting(snapshot, config)
        documents = sum(count for label, count in waiting.items() if label <= audience)
        if not documents:
            return None
        return _planned(snapshot.library_id, principal, _GRAPH_PARTS, Progress("relate", 0, documents, "documents"))

    def planned_recut(self, snapshot: Snapshot, config: LibraryConfig, principal: Principal) -> Job | None:
        """What `recut` would order if the library had other settings; without an id."""
        if Recut.read(snapshot.reader).after(snapshot.config, config).asked:
            return None
        documents = documents_to_recut(snapshot, config, principal)
        return _planned(snapshot.library_id, principal, _CUT_PARTS, Progress("recut", 0, documents, "documents"))

    def free(self, library_id: str, principal: Principal, check: Callable[[Snapshot], None]) -> Job:
        """Take a library away from everybody at once, and free its space behind the call. Its other jobs end.

        Args:
            check: given the last state of one that is open; what it raises leaves everything as it was.
        """

        def last(snapshot: Snapshot) -> None:
            check(snapshot)
            for work_id in others:
                self._runner.cancel(work_id)

        with self._ordering:  # of what is looked at, too: nothing is ordered behind the look
            ordered = {
                job.order.work_id: job.kind for job in self._board.open_jobs(library_id) if job.order is not None
            }
            # Not what frees a library that had the id before.
            others = [work_id for work_id, kind in ordered.items() if kind is not JobKind.DELETE_LIBRARY]
            name = self._libraries.hide(library_id, last)
            for work_id in others:  # of a library that is not open, too
                self._runner.cancel(work_id)
            return self._runner.order(_FREE, JobKind.DELETE_LIBRARY, library_id, audience_of(principal), argument=name)

    def _of_work(self, job: Job) -> list[Job]:
        """The jobs that tell of the same work."""
        return [] if job.order is None else self._board.open_jobs(work_id=job.order.work_id)

    def _of_request(self, principal: Principal, request_id: str) -> Job | None:
        """The job of an earlier call with a request id."""
        start = json.dumps([principal.name, request_id])[:-1] + ","
        found = [
            job
            for job in self._board.jobs()
            if job.audience is audience_of(principal) and job.order is not None and job.order.request.startswith(start)
        ]
        return found[-1] if found else None

    def _free(self, control: JobControl) -> None:
        self._libraries.folder.free(control.argument)


def _of_same_request(known: Job, request: str) -> Job:
    """The job of an earlier call. Raises InvalidRequest when that call asked for something else."""
    if known.order is None or known.order.request != request:
        raise InvalidRequest.one("request_id", ErrorReason.CONTRADICTION, "was used for another request")
    return known


def _unknown_document(library_id: str, doc_id: str) -> UnknownResource:
    return UnknownResource(
        ErrorReason.UNKNOWN_DOCUMENT,
        f"There is no document {doc_id[:200]!r} in the library {library_id}.",
        details={"library_id": library_id, "doc_id": doc_id[:200]},
    )


def _planned(library_id: str, principal: Principal, parts: tuple[IndexPart, ...], progress: Progress) -> Job:
    """A job that is not ordered."""
    now = datetime.now(UTC)
    return Job(
        job_id="",
        kind=JobKind.REINDEX,
        library_id=library_id,
        audience=audience_of(principal),
        state=JobState.QUEUED,
        created_at=now,
        updated_at=now,
        parts=parts,
        progress=progress,
    )
