"""The jobs of kind EMBED of one library: for each class of callers one, while chunks that it may read lack a vector."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from groundwire_server.errors import Cause, ErrorReason
from groundwire_server.evidence import Call, Label, Principal, Progress
from groundwire_server.jobs import AUDIENCES, Job, JobBoard, JobKind, JobState, new_job_id
from groundwire_server.library import Snapshot, model_of

__all__ = ["EmbedJobs", "Embeddable", "missing_vectors"]


class Embeddable(Protocol):
    """The library whose chunks are embedded."""

    @property
    def library_id(self) -> str: ...

    def snapshot(self) -> Snapshot: ...


def missing_vectors(snapshot: Snapshot, audience: Label) -> NDArray[np.bool_]:
    """bool[rows]: chunks that a class of callers may read and that have no vector; all of them without an embedder."""
    wanted = snapshot.candidates(Call(Principal("embedding", audience)))
    return wanted & ~snapshot.vectors.present if snapshot.vectors is not None else wanted.copy()


class EmbedJobs:
    """Keeps the jobs on the board in step with the library. Thread-safe.

    How far a job is, is read from the library: what lacked a vector when it was looked at last and has one now is done,
    and what lacks one now is left. After a restart the first look compares with what the board says. So a job goes on
    where it was, and never ends while something is left for its callers.

    What a cancelled job has left waits until something comes in that its callers may read: what they may not read wakes
    nothing of theirs, and no job of a wider class takes it along.

    Args:
        board: where the jobs stand. A job that embeds as a part of other work takes their place while it is open.
    """

    def __init__(self, board: JobBoard, library: Embeddable) -> None:
        self._board = board
        self._library = library
        self._lock = threading.Lock()
        self._broken: Collection[int] = ()
        self._broken_before: dict[str, int] = {}
        self._seen_missing: dict[Label, NDArray[np.bool_]] = {}
        self._cancelled_at: dict[Label, int] = {}

    def wanted(self, snapshot: Snapshot) -> list[tuple[Label, NDArray[np.bool_]]]:
        """For each class of callers, the lowest first: bool[rows], chunks that are to be embedded for it.

        None for a class that reads vectors of another model: it takes a reindex to put others in their place.
        """
        held = np.zeros(snapshot.columns.rows, bool)
        wanted = []
        for audience in AUDIENCES:
            missing = missing_vectors(snapshot, audience)
            if snapshot.foreign_model(audience) is not None:
                missing[:] = False
            if self._waits(snapshot, audience, missing):
                held |= missing
            wanted.append((audience, missing & ~held))
        return wanted

    def settle(self, broken: Collection[int], rate: float | None, going: Callable[[], bool]) -> None:
        """Begin, move on and end the jobs as the library stands now.

        Args:
            broken: chunk rows that the embedder could not embed; nobody waits for them.
            rate: chunks a second.
            going: asked with the lock held; when it says no, embedding has been called off meanwhile.
        """
        with self._lock:
            if not going():
                return
            self._broken = tuple(broken)
            snapshot = self._library.snapshot()
            for audience, missing in self.wanted(snapshot):
                failed = self._take_broken(snapshot, missing)
                gained = self._gained(snapshot, audience)
                self._seen_missing[audience] = missing
                self._move(audience, int(np.count_nonzero(missing)), failed, gained, rate)

    def ensure(self, audience: Label) -> str:
        """Id of the job that embeds what a class of callers may read; "" when nothing is to be embedded.

        The library must be on its way to an embedder, or have one.
        """
        with self._lock:
            job = self._open(audience)
            if job is None and self._lacks(audience):
                job = self._begin(audience, JobState.QUEUED)
            return job.job_id if job is not None else ""

    def last(self, audience: Label) -> Job | None:
        """The newest job that embedded what a class of callers may read."""
        jobs = [job for job in self._board.jobs(self._library.library_id) if job.embeds and job.audience is audience]
        return jobs[-1] if jobs else None

    def end(self, state: JobState, error: Cause | None = None, *, audience: Label = AUDIENCES[0]) -> None:
        """End all that are open: cancelled, or failed and why.

        Args:
            audience: the lowest class of callers that is concerned: what happens to what the lower ones may not read
                ends nothing of theirs.
        """
        with self._lock:
            open_jobs = self._board.open_jobs(self._library.library_id)
            jobs = [job for job in open_jobs if job.kind is JobKind.EMBED and job.audience >= audience]
            self._board.end([job.job_id for job in jobs], state, error)
            if state is JobState.CANCELLED:
                generation = self._library.snapshot().generation
                self._cancelled_at.update((job.audience, generation) for job in jobs)
            self._broken_before.clear()

    def _waits(self, snapshot: Snapshot, audience: Label, missing: NDArray[np.bool_]) -> bool:
        """Whether the last job of a class was cancelled, and nothing new that lacks a vector has come in since."""
        last = self.last(audience)
        if last is None or last.kind is not JobKind.EMBED or last.state is not JobState.CANCELLED:
            return False
        before = self._cancelled_at.get(audience)
        if before is None:  # by an earlier process
            before = self._cancelled_at[audience] = snapshot.generation_at(last.updated_at)
        return not bool((missing & snapshot.columns.spread(snapshot.columns.born > before)).any())

    def _take_broken(self, snapshot: Snapshot, missing: NDArray[np.bool_]) -> int:
        """Take what the embedder could not embed out of what is missing. Returns how many that are."""
        rows = snapshot.columns.rows_of(np.array(self._broken, np.int64))
        failed = int(np.count_nonzero(missing[rows]))
        missing[rows] = False
        return failed

    def _gained(self, snapshot: Snapshot, audience: Label) -> int | None:
        """How many of the chunks that lacked a vector at the last look have one now; None at the first look."""
        before = self._seen_missing.get(audience)
        if before is None or snapshot.vectors is None:
            return None
        return int(np.count_nonzero(before & snapshot.vectors.present[: len(before)]))

    def _move(self, audience: Label, pending: int, failed: int, gained: int | None, rate: float | None) -> None:
        job = self._open(audience)
        if job is None:
            if pending == 0:
                return
            job = self._begin(audience, JobState.RUNNING)
        if job.kind is not JobKind.EMBED:
            return  # it tells of itself
        broken = max(0, failed - self._broken_before.setdefault(job.job_id, failed if job.progress is None else 0))
        done = 0
        if job.progress is not None:
            before = job.progress.done
            done = max(before, (job.progress.total or 0) - pending) if gained is None else before + gained
        progress = Progress("embed", done, done + pending + broken, "chunks", rate, pending / rate if rate else None)
        self._board.progress(job.job_id, progress)
        if pending == 0:
            del self._broken_before[job.job_id]
            error = _broken(broken) if broken else None
            self._board.end([job.job_id], JobState.FAILED if error else JobState.SUCCEEDED, error)

    def _begin(self, audience: Label, state: JobState) -> Job:
        (job,) = self._board.add(
            lambda moment: [Job(new_job_id(), JobKind.EMBED, self._library.library_id, audience, state, moment, moment)]
        )
        return job

    def _open(self, audience: Label) -> Job | None:
        jobs = self._board.open_jobs(self._library.library_id)
        return next((job for job in jobs if job.embeds and job.audience is audience), None)

    def _lacks(self, audience: Label) -> bool:
        """Whether there is something to embed. While the embedder is on its way: as its last models left it."""
        snapshot = self._library.snapshot()
        missing = dict(self.wanted(snapshot))[audience]
        if snapshot.vectors is not None:
            self._take_broken(snapshot, missing)
            return bool(missing.any())
        return any(_lacks(snapshot, missing, label) for label in AUDIENCES if label <= audience)


def _lacks(snapshot: Snapshot, missing: NDArray[np.bool_], label: Label) -> bool:
    """Whether chunks of a label, of those that are missing, lack vectors of the model that made its last ones."""
    own = missing & snapshot.columns.spread(snapshot.columns.label == label)
    model = model_of(snapshot.reader, label)
    if model is None or not own.any():
        return bool(own.any())
    chunk_rows = [chunk_row for chunk_row, _ in snapshot.reader.rows_without_embedding(model)]
    return bool(own[snapshot.columns.rows_of(np.array(chunk_rows, np.int64))].any())


def _broken(chunks: int) -> Cause:
    why = f"The embedder could not embed {chunks} of its chunks; the others have their vectors."
    return Cause(ErrorReason.INTERNAL, why)
