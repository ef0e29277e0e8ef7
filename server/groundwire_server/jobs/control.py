"""What work is given of its job: whether to go on, and where to say how far it is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from groundwire_server.evidence import Label, Progress
from groundwire_server.jobs.board import JobBoard
from groundwire_server.jobs.job import IndexPart, Job, JobState

__all__ = ["JobControl", "JobStopped", "Task"]


class JobStopped(Exception):
    """The work is to end: its job was cancelled, or the server stops and the next one goes on."""


class JobControl:
    """Of one work, for the thread that does it.

    Attributes:
        library_id, parts, argument: what the work is on, as it was ordered.
    """

    def __init__(self, board: JobBoard, jobs: tuple[Job, ...]) -> None:
        first = jobs[0]
        assert first.order is not None
        self.work_id = first.order.work_id
        self.library_id = first.library_id
        self.parts: tuple[IndexPart, ...] = first.parts
        self.argument = first.order.argument
        self._board = board
        self._jobs = {job.audience: job.job_id for job in jobs}
        self._stop = threading.Event()

    def stop(self) -> None:
        """Have the work end at its next check. From any thread."""
        self._stop.set()

    def check(self) -> None:
        """Raises JobStopped when the work is to end."""
        if self._stop.is_set():
            raise JobStopped

    def wait(self, seconds: float) -> None:
        """Sleep, but not beyond the moment in which the work is to end. Raises JobStopped."""
        self._stop.wait(seconds)
        self.check()

    def report(
        self,
        stage: str,
        unit: str,
        counts: Mapping[Label, tuple[int, int]],
        *,
        final: bool = False,
        rate: float | None = None,
    ) -> None:
        """Say how far the work is; each class of callers is told the sum of what it may read.

        Args:
            stage: what is being done, e.g. "lexical".
            unit: what is counted, e.g. "chunks".
            counts: (done, total) by label.
            final: nothing comes after this stage: for a class whose count is full the job has succeeded, whatever is
                still to be done that it may not read.
            rate: units a second.
        """
        for audience, job_id in self._jobs.items():
            done = sum(each for label, (each, _) in counts.items() if label <= audience)
            total = sum(each for label, (_, each) in counts.items() if label <= audience)
            remaining = (total - done) / rate if rate else None
            self._board.progress(job_id, Progress(stage, done, total, unit, rate, remaining))
            if final and done >= total:
                self._board.end([job_id], JobState.SUCCEEDED)


Task = Callable[[JobControl], None]
"""Work. It may be run again from its start at any time, after a restart: what is done then has to be passed over."""
