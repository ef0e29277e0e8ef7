"""A job as a row of the store, and back."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from groundwire_server.errors import Cause, ErrorReason
from groundwire_server.evidence import Label, Progress
from groundwire_server.jobs.job import IndexPart, Job, JobKind, JobState, WorkOrder
from groundwire_server.store import JobRow

__all__ = ["job_from_row", "job_to_row"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def job_to_row(job: Job) -> JobRow:
    """What is kept. Rates and estimates are not: they are of the process that works."""
    progress, error, order = job.progress, job.error, job.order
    content = {
        "kind": job.kind.name,
        "audience": job.audience.name,
        "state": job.state.name,
        "updated_at": _microseconds(job.updated_at),
        "ended_at": None if job.ended_at is None else _microseconds(job.ended_at),
        "parts": [part.name for part in job.parts],
        "progress": progress and [progress.stage, progress.done, progress.total, progress.unit],
        "error": error and [error.reason.name, error.message, error.details],
        "order": order and [order.work_id, order.task, order.argument, order.request],
    }
    written = json.dumps(content, ensure_ascii=False, sort_keys=True)
    return JobRow(job.job_id, job.library_id, _microseconds(job.created_at), job.state.ended, written)


def job_from_row(row: JobRow) -> Job:
    """The job that a row keeps."""
    content = json.loads(row.content)
    error, ended_at = content["error"], content["ended_at"]
    return Job(
        job_id=row.job_id,
        kind=JobKind[content["kind"]],
        library_id=row.library_id,
        audience=Label[content["audience"]],
        state=JobState[content["state"]],
        created_at=_moment(row.created_at),
        updated_at=_moment(content["updated_at"]),
        parts=tuple(IndexPart[name] for name in content["parts"]),
        progress=content["progress"] and Progress(*content["progress"]),
        ended_at=None if ended_at is None else _moment(ended_at),
        error=error and Cause(ErrorReason[error[0]], error[1], tuple((name, value) for name, value in error[2])),
        order=content["order"] and WorkOrder(*content["order"]),
    )


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


def _moment(microseconds: int) -> datetime:
    return _EPOCH + microseconds * _MICROSECOND
