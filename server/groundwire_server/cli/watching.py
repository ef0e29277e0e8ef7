"""Following a job to its end."""

from __future__ import annotations

from groundwire import Client, Job
from groundwire_server.cli.output import show_json
from groundwire_server.cli.progress import ProgressLine, time_left
from groundwire_server.cli.values import as_words

__all__ = ["how_far", "outcome", "watch_job"]


def watch_job(client: Client, job_id: str, *, as_json: bool = False) -> Job:
    """Show how far a job is until it ends. Returns its last state. Raises GroundwireError."""
    line: ProgressLine | None = None
    job = Job(job_id)
    with client.watch_job(job_id) as states:
        for job in states:
            if as_json:
                show_json(job)
                continue
            progress = job.progress
            if progress is None:
                continue
            if line is None:
                line = ProgressLine(as_words(job.kind.name), progress.unit)
            line.total = progress.total
            line.update(progress.done)
    if line is not None and job.progress is not None:
        line.finish(job.progress.done)
    return job


def how_far(job: Job) -> str:
    """What a job has done, of how much, how fast, and what remains."""
    progress = job.progress
    if progress is None:
        return ""
    of = "" if progress.total is None else f"/{progress.total}"
    speed = f", {progress.units_per_second:.3g}/s" if progress.units_per_second and not job.ended else ""
    left = f", {time_left(progress.remaining.total_seconds())} left" if progress.remaining and not job.ended else ""
    return f"{progress.done}{of} {progress.unit}{speed}{left}".rstrip()


def outcome(job: Job) -> str:
    """How it ended, in a line."""
    why = f": {job.error.message} ({job.error.reason.name})" if job.error else ""
    return f"{as_words(job.kind.name)} of {job.library_id} {as_words(job.state.name)}{why}"
