"""Jobs and libraries over a socket."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import date
from typing import Any

import grpc
import pytest

import groundwire
from groundwire import JobState
from groundwire.v1 import admin_pb2
from tests.client.both import Connect
from tests.client.serving import serving


def _job(state: int, done: int = 0) -> dict[str, Any]:
    return {
        "job_id": "j-1",
        "kind": 1,
        "library_id": "lib",
        "state": state,
        "progress": {"stage": "embed", "done": done},
    }


def test_a_job_is_watched_to_its_end(connect: Connect) -> None:
    def method(request: admin_pb2.WatchJobRequest, context: grpc.ServicerContext) -> Iterator[Any]:
        assert request.job_id == "j-1"
        assert (context.time_remaining() or 1e9) > 1e6  # a job may take longer than a call of this client
        for state, done in ((1, 0), (2, 5), (3, 9)):
            yield admin_pb2.WatchJobResponse(job=_job(state, done))

    with serving(WatchJob=method) as address, connect(address, timeout=30) as client:
        jobs = list(client.watch_job("j-1"))
    assert [job.state for job in jobs] == [JobState.QUEUED, JobState.RUNNING, JobState.SUCCEEDED]
    assert [job.ended for job in jobs] == [False, False, True]
    assert jobs[1].progress == groundwire.Progress("embed", 5)


def test_a_watch_that_ends_before_the_job_is_broken(connect: Connect) -> None:
    answers = [admin_pb2.WatchJobResponse(job=_job(2))]
    with serving(WatchJob=lambda request, context: iter(answers)) as address, connect(address) as client:
        jobs = client.watch_job("j-1")
        assert next(jobs).state is JobState.RUNNING
        with pytest.raises(groundwire.BrokenStream, match="before the job did"):
            next(jobs)


def test_whoever_stops_watching_ends_the_call(connect: Connect) -> None:
    ended = threading.Event()

    def method(request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        context.add_callback(ended.set)
        yield admin_pb2.WatchJobResponse(job=_job(2))
        ended.wait(20)

    with serving(WatchJob=method) as address, connect(address) as client:
        with client.watch_job("j-1") as jobs:
            assert next(jobs).state is JobState.RUNNING
        assert ended.wait(10)
        assert list(jobs) == []


def test_jobs_are_started_read_cancelled_and_listed(connect: Connect) -> None:
    seen: list[Any] = []

    def answer(response: Any, **fields: Any) -> Any:
        def method(request: Any, context: grpc.ServicerContext) -> Any:
            seen.append(request)
            return response(**fields)

        return method

    with (
        serving(
            StartReindex=answer(admin_pb2.StartReindexResponse, job=_job(1)),
            GetJob=answer(admin_pb2.GetJobResponse, job=_job(2)),
            CancelJob=answer(admin_pb2.CancelJobResponse, job=_job(5)),
            ListJobs=answer(admin_pb2.ListJobsResponse, jobs=[_job(3), _job(4)]),
        ) as address,
        connect(address) as client,
    ):
        started = client.start_reindex("lib", parts=["lexical", groundwire.IndexPart.VECTORS], request_id="r")
        states = [started.state, client.get_job("j-1").state, client.cancel_job("j-1").state]
        listed = [job.state for job in client.list_jobs(library="lib", state="failed")]
    assert states == [JobState.QUEUED, JobState.RUNNING, JobState.CANCELLED]
    assert listed == [JobState.SUCCEEDED, JobState.FAILED]
    assert (list(seen[0].parts), seen[0].request_id) == ([1, 2], "r")
    assert (seen[3].library_id, seen[3].state) == ("lib", admin_pb2.JOB_STATE_FAILED)


def test_old_revisions_are_counted_and_purged(connect: Connect) -> None:
    seen: list[admin_pb2.PurgeRevisionsRequest] = []

    def method(request: admin_pb2.PurgeRevisionsRequest, context: grpc.ServicerContext) -> Any:
        seen.append(request)
        return admin_pb2.PurgeRevisionsResponse(revisions=3, job=None if request.validate_only else _job(1))

    with serving(PurgeRevisions=method) as address, connect(address) as client:
        planned = client.purge_revisions("lib", keep_last=2, validate_only=True)
        purged = client.purge_revisions("lib", doc_id="a.md", retired_before=date(2024, 1, 2), request_id="r")
    assert (planned.revisions, planned.job) == (3, None)
    assert purged.job is not None
    assert (purged.revisions, purged.job.state) == (3, JobState.QUEUED)
    assert (seen[0].keep_last, seen[0].validate_only, seen[0].HasField("retired_before")) == (2, True, False)
    assert (seen[1].doc_id, seen[1].request_id, seen[1].retired_before.seconds) == ("a.md", "r", 1704153600)


def test_a_library_goes_after_a_confirmation(connect: Connect) -> None:
    def method(request: admin_pb2.DeleteLibraryRequest, context: grpc.ServicerContext) -> Any:
        if request.validate_only:
            return admin_pb2.DeleteLibraryResponse(library={"library_id": "lib", "documents": 7}, confirmation="yes")
        assert request.confirmation == "yes"
        return admin_pb2.DeleteLibraryResponse(library={"library_id": "lib"}, job={"job_id": "j", "kind": 4})

    with serving(DeleteLibrary=method) as address, connect(address) as client:
        told = client.delete_library("lib", validate_only=True)
        gone = client.delete_library("lib", confirmation=told.confirmation)
    assert (told.library.documents, told.job) == (7, None)
    assert gone.job is not None
    assert gone.job.kind is groundwire.JobKind.DELETE_LIBRARY
