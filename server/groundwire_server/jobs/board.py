"""The board: every job of a server, in memory for those who look and in `server.sqlite` for the next start."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

from groundwire_server.errors import Cause, ErrorReason, GroundwireError, ResourceExhausted, UnknownResource
from groundwire_server.evidence import Label, Principal, Progress
from groundwire_server.jobs.job import Job, JobState, audience_of
from groundwire_server.jobs.job_row import job_from_row, job_to_row
from groundwire_server.store import JobRow

__all__ = ["KEPT_JOBS", "MAX_OPEN_JOBS", "JobBoard", "JobPlace", "JobTable", "new_job_id", "place_of_job"]

_log = logging.getLogger(__name__)

KEPT_JOBS = 1000
"""Ended jobs that are kept for each class of callers; older ones are forgotten."""

MAX_OPEN_JOBS = 1000
"""Jobs of each class of callers that somebody asked for and that may wait or run."""

_TICK = timedelta(microseconds=1)

# Where a job stands in a list: newest first, and by id among those of one moment.
JobPlace = tuple[datetime, str]


class JobTable(Protocol):
    """Where jobs are kept."""

    def job_rows(self) -> list[JobRow]: ...

    def save_jobs(self, rows: Sequence[JobRow], forgotten: Sequence[str] = ()) -> None: ...


def new_job_id() -> str:
    """An id that tells nothing."""
    return f"j-{secrets.token_hex(8)}"


def place_of_job(job: Job) -> JobPlace:
    """Where a job stands in a list."""
    return job.created_at, job.job_id


def _utc_now() -> datetime:
    return datetime.now(UTC)


class JobBoard:
    """One a server. Any thread; what is kept is read by the first use, and from then on nobody who reads waits for the
    disk, so that the event loop may read as well.

    Args:
        table: where jobs are kept.
        kept: how many ended ones of each class of callers.
        now: clock; a later change never has an earlier time, whatever the clock says.
    """

    def __init__(self, table: JobTable, *, kept: int = KEPT_JOBS, now: Callable[[], datetime] = _utc_now) -> None:
        self._table = table
        self._kept = kept
        self._now = now
        self._lock = threading.Lock()  # of what is in memory
        self._saving = threading.Lock()  # of the table; never taken while the other is held
        self._held: dict[str, Job] | None = None
        self._last = datetime.min.replace(tzinfo=UTC)
        self._unsaved: set[str] = set()
        self._listeners: dict[object, Callable[[], None]] = {}

    # ---- for callers

    def job(self, job_id: str, principal: Principal) -> Job:
        """A job. Raises UnknownResource (UNKNOWN_JOB): never there, forgotten, or not for this caller."""
        with self._lock:
            job = self._jobs.get(job_id)
        if job is None or job.audience is not audience_of(principal):
            raise UnknownResource(
                ErrorReason.UNKNOWN_JOB,
                f"There is no job {job_id[:80]!a}.",
                hint="ListJobs has those that there are.",
                details={"job_id": job_id[:80]},
            )
        return job

    def page(
        self,
        principal: Principal,
        *,
        library_id: str = "",
        state: JobState | None = None,
        after: JobPlace | None = None,
        limit: int,
    ) -> tuple[list[Job], bool]:
        """Up to `limit` jobs behind a place, newest first, and whether there are more."""
        with self._lock:
            jobs = list(self._jobs.values())
        audience = audience_of(principal)
        found = [
            job
            for job in jobs
            if job.audience is audience
            and library_id in ("", job.library_id)
            and state in (None, job.state)
            and (after is None or place_of_job(job) < after)
        ]
        found.sort(key=place_of_job, reverse=True)
        return found[:limit], len(found) > limit

    @contextmanager
    def listening(self, listener: Callable[[], None]) -> Iterator[None]:
        """Call something whenever a job changes, from the thread that changed it; it must be quick and not fail."""
        mark = object()
        with self._lock:
            self._listeners[mark] = listener
        try:
            yield
        finally:
            with self._lock:
                del self._listeners[mark]

    # ---- for those who do the work

    def open_jobs(self, library_id: str = "", work_id: str = "") -> list[Job]:
        """Jobs that have not ended, of one library or work or of all, oldest first."""
        return [
            job
            for job in self.jobs(library_id)
            if not job.state.ended and (not work_id or (job.order is not None and job.order.work_id == work_id))
        ]

    def jobs(self, library_id: str = "") -> list[Job]:
        """All jobs of one library, or of all, oldest first; those of every class of callers."""
        with self._lock:
            found = [job for job in self._jobs.values() if library_id in ("", job.library_id)]
        return sorted(found, key=place_of_job)

    def add(self, make: Callable[[datetime], Sequence[Job]]) -> Sequence[Job]:
        """Put jobs on the board, durably; all or none.

        Args:
            make: is given the time at which they are made.

        Raises:
            ResourceExhausted: OVERLOADED, too many are open; STORAGE_FULL.
        """
        with self._lock:
            made = make(self._tick())
            for audience in {job.audience for job in made if job.order is not None}:
                if self._count_open(audience) >= MAX_OPEN_JOBS:
                    raise ResourceExhausted(
                        ErrorReason.OVERLOADED, "Too many jobs wait.", hint="Wait for some, or cancel them."
                    )
            self._jobs.update((job.job_id, job) for job in made)
            self._unsaved.update(job.job_id for job in made)
        try:
            self._save()
        except GroundwireError:
            with self._lock:
                for job in made:
                    self._jobs.pop(job.job_id, None)
                    self._unsaved.discard(job.job_id)
            raise
        self._tell()
        return made

    def progress(self, job_id: str, progress: Progress | None) -> None:
        """Say that a job runs, and how far it is. An ended one stays as it was."""
        self._change({job_id: lambda job: replace(job, state=JobState.RUNNING, progress=progress)})

    def end(self, job_ids: Sequence[str], state: JobState, error: Cause | None = None) -> None:
        """End jobs; those that have ended stay as they were."""
        self._change(
            {
                job_id: lambda job: replace(job, state=state, error=error, progress=_still(job.progress))
                for job_id in job_ids
            }
        )

    def _change(self, changes: dict[str, Callable[[Job], Job]]) -> None:
        with self._lock:
            moment = self._tick()
            for job_id, change in changes.items():
                before = self._jobs.get(job_id)
                if before is None or before.state.ended or (after := change(before)) == before:
                    continue
                ended_at = moment if after.state.ended else None
                self._jobs[job_id] = replace(after, updated_at=moment, ended_at=ended_at)
                self._unsaved.add(job_id)
            changed = bool(self._unsaved)
        if not changed:
            return
        try:
            self._save()
        except GroundwireError as error:
            # What is on the disk tells of work that is further than it says; the next change is written with this one.
            _log.warning("the state of jobs cannot be kept: %s", error.reason.name)
        self._tell()

    def _save(self) -> None:
        with self._saving:
            with self._lock:
                forgotten = self._forget()
                saved, self._unsaved = self._unsaved, set()
                rows = [job_to_row(self._jobs[job_id]) for job_id in saved if job_id in self._jobs]
            try:
                self._table.save_jobs(rows, forgotten)
            except BaseException:
                with self._lock:
                    self._unsaved |= saved
                raise

    def _forget(self) -> list[str]:
        """Take the oldest ended jobs away. Each class counts its own: what it cannot see drops nothing."""
        gone: list[str] = []
        for audience in Label:
            ended = [job for job in self._jobs.values() if job.state.ended and job.audience is audience]
            if len(ended) > self._kept:
                ended.sort(key=lambda job: (job.ended_at or job.created_at, job.job_id))
                gone += [job.job_id for job in ended[: len(ended) - self._kept]]
        for job_id in gone:
            del self._jobs[job_id]
        return gone

    @property
    def _jobs(self) -> dict[str, Job]:
        """All jobs by id. To be asked for with the lock held."""
        return self._load()

    def _load(self) -> dict[str, Job]:
        if self._held is None:
            self._held = {job.job_id: job for job in map(job_from_row, self._table.job_rows())}
            self._last = max((job.updated_at for job in self._held.values()), default=self._last)
        return self._held

    def _count_open(self, audience: Label) -> int:
        return sum(1 for job in self._jobs.values() if job.audience is audience and job.order and not job.state.ended)

    def _tick(self) -> datetime:
        """The time of a change: behind that of every other."""
        self._load()
        self._last = max(self._now(), self._last + _TICK)
        return self._last

    def _tell(self) -> None:
        with self._lock:
            listeners = list(self._listeners.values())
        for listener in listeners:
            listener()


def _still(progress: Progress | None) -> Progress | None:
    """How far a job came, without the pace of work that goes on no more."""
    return progress and replace(progress, units_per_second=None, remaining_seconds=None)
