"""Work in the background: starting, reading, watching and cancelling it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime

from groundwire._errors import BrokenStream
from groundwire._model.job import IndexPart, Job, JobState, Purge
from groundwire._operation.kinds import Paged, Reader, Streamed, Unary, method
from groundwire._operation.options import number, numbers
from groundwire._wire.mirror import rows_of, value_of
from groundwire._wire.value import fill_timestamp
from groundwire.v1 import admin_pb2

__all__ = ["cancel_job", "get_job", "list_jobs", "purge_revisions", "start_reindex", "watch_job"]


_job = value_of(Job, "job")


def start_reindex(library: str, parts: Iterable[IndexPart | str], validate_only: bool, request_id: str) -> Unary[Job]:
    """AdminService.StartReindex."""
    request = admin_pb2.StartReindexRequest(
        library_id=library, parts=numbers(IndexPart, parts), validate_only=validate_only, request_id=request_id
    )
    return Unary(method("AdminService/StartReindex"), request, _job)


def purge_revisions(
    library: str,
    doc_id: str,
    keep_last: int,
    retired_before: datetime | date | None,
    validate_only: bool,
    request_id: str,
) -> Unary[Purge]:
    """AdminService.PurgeRevisions."""
    request = admin_pb2.PurgeRevisionsRequest(
        library_id=library, doc_id=doc_id, keep_last=keep_last, validate_only=validate_only, request_id=request_id
    )
    if retired_before is not None:
        fill_timestamp(retired_before, request.retired_before)
    return Unary(method("AdminService/PurgeRevisions"), request, value_of(Purge))


def get_job(job_id: str) -> Unary[Job]:
    """AdminService.GetJob."""
    return Unary(method("AdminService/GetJob"), admin_pb2.GetJobRequest(job_id=job_id), _job)


class _Watched:
    """Reads the states of a job; the last one is its end."""

    def __init__(self) -> None:
        self._last: Job | None = None

    def add(self, response: admin_pb2.WatchJobResponse) -> Iterable[Job]:
        self._last = _job(response)
        return (self._last,)

    def end(self) -> None:
        if self._last is None or not self._last.ended:
            raise BrokenStream("the stream ended before the job did")


def watch_job(job_id: str) -> Streamed[Reader[Job]]:
    """AdminService.WatchJob."""
    return Streamed(method("AdminService/WatchJob"), admin_pb2.WatchJobRequest(job_id=job_id), _Watched())


def cancel_job(job_id: str) -> Unary[Job]:
    """AdminService.CancelJob."""
    return Unary(method("AdminService/CancelJob"), admin_pb2.CancelJobRequest(job_id=job_id), _job)


def list_jobs(library: str, state: JobState | str) -> Paged[Job]:
    """AdminService.ListJobs."""
    request = admin_pb2.ListJobsRequest(library_id=library, state=number(JobState, state))
    return Paged(method("AdminService/ListJobs"), request, rows_of("jobs", Job))
