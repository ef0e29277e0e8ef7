"""AdminService: the work behind the calls, and the calls that begin it."""

from __future__ import annotations

import asyncio
import time

from groundwire.v1 import admin_pb2
from groundwire_server.engine import Engine
from groundwire_server.errors import ErrorReason, Unavailable
from groundwire_server.jobs import Job
from groundwire_server.rpc.call import RpcCall
from groundwire_server.rpc.decode_job import (
    as_page_place,
    decode_job_state,
    decode_parts,
    decode_request_id,
    from_page_place,
)
from groundwire_server.rpc.decode_value import decode_time
from groundwire_server.rpc.encode_admin import encode_listed_library
from groundwire_server.rpc.encode_job import encode_job
from groundwire_server.rpc.findings import Findings
from groundwire_server.rpc.paging import Pager
from groundwire_server.rpc.work import WorkPool

__all__ = ["JobService"]

# The least time between two messages of a watch.
_PACE_SECONDS = 1.0


class JobService:
    """The methods of AdminService that are about jobs.

    Args:
        stopping: set when the server stops; watches then say so and end.
    """

    def __init__(self, engine: Engine, pool: WorkPool, pager: Pager, stopping: asyncio.Event) -> None:
        self._engine = engine
        self._pool = pool
        self._pager = pager
        self._stopping = stopping

    async def get_job(self, request: admin_pb2.GetJobRequest, call: RpcCall) -> admin_pb2.GetJobResponse:
        """A job as it is now."""
        _check_id(request.job_id)
        return admin_pb2.GetJobResponse(job=encode_job(self._engine.jobs.job(request.job_id, call.principal)))

    async def list_jobs(self, request: admin_pb2.ListJobsRequest, call: RpcCall) -> admin_pb2.ListJobsResponse:
        """A page of jobs, newest first."""
        findings = Findings()
        page = self._pager.begin(request, call.principal, findings)
        state = decode_job_state(request.state, findings)
        findings.settle()
        after = from_page_place(page.after)
        jobs, more = await self._pool.run(
            lambda: self._engine.jobs.page(
                call.principal, library_id=request.library_id, state=state, after=after, limit=page.limit
            )
        )
        response = admin_pb2.ListJobsResponse()
        rows = ((encode_job(job), as_page_place(job)) for job in jobs)
        response.next_page_token = page.fill(response.jobs, rows, more)
        return response

    async def watch_job(self, request: admin_pb2.WatchJobRequest, call: RpcCall) -> None:
        """A job as it is now, and then each change; ends with the job. Holds no thread while it waits."""
        _check_id(request.job_id)
        jobs, loop, changed = self._engine.jobs, asyncio.get_running_loop(), asyncio.Event()
        job = jobs.job(request.job_id, call.principal)
        with jobs.listening(lambda: _set_soon(loop, changed)):
            sent: Job | None = None
            while True:
                changed.clear()
                job = jobs.job(request.job_id, call.principal)
                if job != sent:
                    sent, moment = job, time.monotonic()
                    await call.write(admin_pb2.WatchJobResponse(job=encode_job(job)))
                    if job.state.ended:
                        return
                    await self._wait(None, _PACE_SECONDS - (time.monotonic() - moment))
                await self._wait(changed, None)

    async def cancel_job(self, request: admin_pb2.CancelJobRequest, call: RpcCall) -> admin_pb2.CancelJobResponse:
        """End a job."""
        _check_id(request.job_id)
        job = await self._pool.run(lambda: self._engine.jobs.cancel(request.job_id, call.principal))
        return admin_pb2.CancelJobResponse(job=encode_job(job))

    async def start_reindex(
        self, request: admin_pb2.StartReindexRequest, call: RpcCall
    ) -> admin_pb2.StartReindexResponse:
        """Have what is derived built anew."""
        findings = Findings()
        findings.required("library_id", request.library_id)
        request_id = decode_request_id(request.request_id, findings)
        parts = decode_parts(request.parts, findings)
        findings.settle()
        job = await self._pool.run(
            lambda: self._engine.jobs.reindex(
                request.library_id,
                call.principal,
                parts=parts,
                validate_only=request.validate_only,
                request_id=request_id,
            )
        )
        return admin_pb2.StartReindexResponse(job=encode_job(job))

    async def purge_revisions(
        self, request: admin_pb2.PurgeRevisionsRequest, call: RpcCall
    ) -> admin_pb2.PurgeRevisionsResponse:
        """Have old revisions erased for good."""
        findings = Findings()
        findings.required("library_id", request.library_id)
        request_id = decode_request_id(request.request_id, findings)
        if request.keep_last < 0:
            findings.add("keep_last", ErrorReason.VALUE_OUT_OF_RANGE, f"{request.keep_last} is below 0")
        before = None
        if request.HasField("retired_before"):
            before = decode_time(request.retired_before, "retired_before", findings)
        findings.settle()
        revisions, job = await self._pool.run(
            lambda: self._engine.jobs.purge(
                request.library_id,
                call.principal,
                doc_id=request.doc_id,
                keep_last=request.keep_last,
                retired_before=before,
                validate_only=request.validate_only,
                request_id=request_id,
            )
        )
        return admin_pb2.PurgeRevisionsResponse(revisions=revisions, job=None if job is None else encode_job(job))

    async def delete_library(
        self, request: admin_pb2.DeleteLibraryRequest, call: RpcCall
    ) -> admin_pb2.DeleteLibraryResponse:
        """Take a library away, and have its space freed."""
        findings = Findings()
        findings.required("library_id", request.library_id)
        findings.settle()
        deletion = await self._pool.run(
            lambda: self._engine.administration.delete_library(
                request.library_id, request.confirmation, call.principal, validate_only=request.validate_only
            )
        )
        response = admin_pb2.DeleteLibraryResponse(
            library=encode_listed_library(deletion.library), confirmation=deletion.confirmation
        )
        if deletion.job is not None:
            response.job.CopyFrom(encode_job(deletion.job))
        return response

    async def _wait(self, changed: asyncio.Event | None, seconds: float | None) -> None:
        """Until something changes or the time is over.

        Raises:
            Unavailable: NOT_SERVING, the server stops.
        """
        waiting = [asyncio.ensure_future(each.wait()) for each in (self._stopping, changed) if each is not None]
        try:
            await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waiting:
                each.cancel()
        if self._stopping.is_set():
            raise Unavailable(
                ErrorReason.NOT_SERVING,
                "The server is stopping; the job goes on when it is back.",
                details={"phase": "draining"},
            )


def _check_id(job_id: str) -> None:
    findings = Findings()
    findings.required("job_id", job_id)
    findings.settle()


def _set_soon(loop: asyncio.AbstractEventLoop, changed: asyncio.Event) -> None:
    """From whatever thread a job was changed in."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(changed.set)
