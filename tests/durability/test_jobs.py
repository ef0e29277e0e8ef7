"""Jobs whose server is killed: they are there when it comes back, and go on where they were."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest

from groundwire.v1 import admin_pb2, admin_pb2_grpc, ingest_pb2, ingest_pb2_grpc
from tests.durability.server import ServerProcess
from tests.support.eventually import eventually

pytestmark = pytest.mark.timeout(400)  # several servers start here, and each slowly where others work

_CHUNKS = 400
_PATIENCE = 60.0
RUNNING, SUCCEEDED, CANCELLED = (
    admin_pb2.JOB_STATE_RUNNING,
    admin_pb2.JOB_STATE_SUCCEEDED,
    admin_pb2.JOB_STATE_CANCELLED,
)
Job = Callable[[], admin_pb2.Job]


@contextmanager
def server(folder: Path) -> Iterator[tuple[ServerProcess, grpc.Channel, admin_pb2_grpc.AdminServiceStub]]:
    with ServerProcess(folder, module="tests.durability.slow_server") as process:
        address = process.address()
        assert address is not None, process.log()
        with grpc.insecure_channel(address) as channel:
            yield process, channel, admin_pb2_grpc.AdminServiceStub(channel)


def ingest(channel: grpc.Channel) -> str:
    """Store one document of many chunks: they come in together, so that one job embeds them. Gives the job's id."""
    kind = ingest_pb2.IngestDocumentsRequest
    paragraphs = "\n".join(f"paragraph {number} {'word ' * 60}" for number in range(_CHUNKS))
    head = ingest_pb2.DocumentHead(doc_id="book.txt")
    frames = [
        kind(start=ingest_pb2.IngestStart(ingest_id=str(uuid.uuid4()), library_id="default")),
        kind(part=ingest_pb2.DocumentPart(seq=1, head=head, content=paragraphs.encode(), last_part=True)),
        kind(finish=ingest_pb2.IngestFinish(last_seq=1)),
    ]
    return list(ingest_pb2_grpc.IngestServiceStub(channel).IngestDocuments(iter(frames)))[-1].summary.embedding_job_id


def reader(admin: admin_pb2_grpc.AdminServiceStub, job_id: str) -> Job:
    return lambda: admin.GetJob(admin_pb2.GetJobRequest(job_id=job_id)).job


def coverage(admin: admin_pb2_grpc.AdminServiceStub) -> float:
    (library,) = admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
    return library.embedding_coverage


def test_embedding_goes_on_where_a_killed_server_was(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    done = 0
    job_id, made = "", None
    for _ in range(2):
        with server(folder) as (process, channel, admin):
            job_id = job_id or ingest(channel)
            job = reader(admin, job_id)
            here = done
            assert eventually(lambda: job().progress.done > here + 60, _PATIENCE)  # noqa: B023
            seen = job()
            made = made or seen.create_time
            assert (seen.state, seen.create_time, seen.progress.stage) == (RUNNING, made, "embed")
            done = seen.progress.done
            process.kill()
            process.wait_killed()
    assert done < _CHUNKS
    with server(folder) as (process, _, admin):
        job = reader(admin, job_id)
        first = job()
        assert (first.state, first.create_time) == (RUNNING, made)
        assert first.progress.done >= done
        watched = [each.job for each in admin.WatchJob(admin_pb2.WatchJobRequest(job_id=job_id), timeout=_PATIENCE)]
        counts = [each.progress.done for each in watched]
        assert counts == sorted(counts)
        assert {each.progress.total for each in watched} == {_CHUNKS}
        assert (watched[-1].state, counts[-1]) == (SUCCEEDED, _CHUNKS)
        assert coverage(admin) == 1.0
        (only,) = admin.ListJobs(admin_pb2.ListJobsRequest()).jobs
        assert only == watched[-1]
        process.stop()
        assert process.faults() == []


def test_reindexing_and_cancelling_outlive_a_killed_server(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with server(folder) as (process, channel, admin):
        job_id = ingest(channel)
        assert eventually(lambda: reader(admin, job_id)().progress.done > 0, _PATIENCE)
        cancelled = admin.CancelJob(admin_pb2.CancelJobRequest(job_id=job_id)).job
        assert cancelled.state == CANCELLED
        process.kill()
        process.wait_killed()
    with server(folder) as (process, _, admin):
        assert reader(admin, job_id)() == cancelled
        assert 0 < coverage(admin) < 1
        request = admin_pb2.StartReindexRequest(library_id="default", request_id=str(uuid.uuid4()))
        rebuild = admin.StartReindex(request).job
        job = reader(admin, rebuild.job_id)
        assert eventually(lambda: job().progress.stage == "embed", _PATIENCE)
        process.kill()
        process.wait_killed()
    with server(folder) as (_, _, admin):
        job = reader(admin, rebuild.job_id)
        assert job().state in (RUNNING, SUCCEEDED)
        assert admin.StartReindex(request).job.job_id == rebuild.job_id
        assert eventually(lambda: job().state == SUCCEEDED, _PATIENCE)
        assert job().progress.done == _CHUNKS
        assert coverage(admin) == 1.0
