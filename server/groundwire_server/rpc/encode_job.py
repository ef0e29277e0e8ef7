"""Jobs onto the wire."""

from __future__ import annotations

from groundwire.v1 import admin_pb2
from groundwire_server.jobs import Job
from groundwire_server.rpc.encode_stream import encode_progress
from groundwire_server.rpc.encode_value import encode_cause, encode_time

__all__ = ["encode_job"]


def encode_job(job: Job) -> admin_pb2.Job:
    """A job as it is now."""
    message = admin_pb2.Job(
        job_id=job.job_id,
        kind=admin_pb2.JobKind.ValueType(job.kind),
        library_id=job.library_id,
        parts=[admin_pb2.IndexPart.ValueType(part) for part in job.parts],
        state=admin_pb2.JobState.ValueType(job.state),
        create_time=encode_time(job.created_at),
        update_time=encode_time(job.updated_at),
    )
    if job.progress is not None:
        message.progress.CopyFrom(encode_progress(job.progress))
    if job.ended_at is not None:
        message.end_time.CopyFrom(encode_time(job.ended_at))
    if job.error is not None:
        message.error.CopyFrom(encode_cause(job.error))
    return message
