"""Does what was ordered, in threads behind the calls: one work a library at a time, in order, over restarts."""

from __future__ import annotations

import logging
import threading
import uuid
from collections import deque
from collections.abc import Mapping, Sequence

from groundwire_server.errors import Cause, ErrorReason, GroundwireError
from groundwire_server.evidence import Label
from groundwire_server.jobs.board import JobBoard, new_job_id
from groundwire_server.jobs.control import JobControl, JobStopped, Task
from groundwire_server.jobs.job import AUDIENCES, IndexPart, Job, JobKind, JobState, WorkOrder

__all__ = ["JobRunner"]

_log = logging.getLogger(__name__)


class JobRunner:
    """One a server. Thread-safe.

    Args:
        board: where the jobs stand.
        tasks: what an order can name.
    """

    def __init__(self, board: JobBoard, tasks: Mapping[str, Task]) -> None:
        self._board = board
        self._tasks = dict(tasks)
        self._lock = threading.Lock()
        self._waiting: dict[str, deque[JobControl]] = {}
        self._running: dict[str, tuple[JobControl, threading.Thread]] = {}
        self._taken: set[str] = set()
        self._closed = False

    def take_up(self) -> None:
        """Go on with what a process before this one left, in the order in which it was asked for.

        What was ordered in this process already is in hand, and not taken up twice.
        """
        left: dict[str, list[Job]] = {}
        for job in self._board.open_jobs():
            if job.order is not None:
                left.setdefault(job.order.work_id, []).append(job)
        for jobs in left.values():
            self._enqueue(JobControl(self._board, tuple(jobs)))

    def order(
        self,
        task: str,
        kind: JobKind,
        library_id: str,
        audience: Label,
        *,
        parts: Sequence[IndexPart] = (),
        argument: str = "",
        request: str = "",
        audiences: Sequence[Label] = AUDIENCES,
    ) -> Job:
        """Have a task run. What was ordered is durable when this returns.

        Args:
            audiences: the classes of callers that may know of it, `audience` among them.

        Returns:
            The job as the class of callers `audience` may know of it. Each class has one of its own.

        Raises:
            KeyError: no such task.
            ResourceExhausted: OVERLOADED, too many jobs wait; STORAGE_FULL.
        """
        self._tasks[task]
        order = WorkOrder(uuid.uuid4().hex, task, argument, request)
        jobs = self._board.add(
            lambda moment: [
                Job(
                    job_id=new_job_id(),
                    kind=kind,
                    library_id=library_id,
                    audience=each,
                    state=JobState.QUEUED,
                    created_at=moment,
                    updated_at=moment,
                    parts=tuple(parts),
                    order=order,
                )
                for each in audiences
            ]
        )
        self._enqueue(JobControl(self._board, tuple(jobs)))
        return next(job for job in jobs if job.audience is audience)

    def cancel(self, work_id: str) -> None:
        """End a work for good. One that runs stops at its next check; until then the next of its library waits."""
        self._end_all(work_id, JobState.CANCELLED)
        with self._lock:
            running = [control for control, _ in self._running.values()]
            for control in (*running, *(each for queue in self._waiting.values() for each in queue)):
                if control.work_id == work_id:
                    control.stop()

    def close(self) -> None:
        """Have what runs end, and wait for it. Its jobs stay open: the next server goes on with them."""
        with self._lock:
            self._closed = True
            self._waiting.clear()
            running = list(self._running.values())
        for control, _ in running:
            control.stop()
        for _, thread in running:
            thread.join()

    def _enqueue(self, control: JobControl) -> None:
        with self._lock:
            if self._closed or control.work_id in self._taken:
                return
            self._taken.add(control.work_id)
            self._waiting.setdefault(control.library_id, deque()).append(control)
            self._start_next(control.library_id)

    def _start_next(self, library_id: str) -> None:
        """Called with the lock held."""
        queue = self._waiting.get(library_id)
        if library_id in self._running or not queue:
            return
        control = queue.popleft()
        thread = threading.Thread(target=self._run, args=(control,), name=f"job-{library_id}", daemon=True)
        self._running[library_id] = (control, thread)
        thread.start()

    def _run(self, control: JobControl) -> None:
        try:
            self._do(control)
        finally:
            with self._lock:
                del self._running[control.library_id]
                if not self._closed:
                    self._start_next(control.library_id)

    def _do(self, control: JobControl) -> None:
        jobs = self._board.open_jobs(work_id=control.work_id)
        order = jobs[0].order if jobs else None
        if order is None:
            return  # cancelled while it waited
        for job in jobs:
            self._board.progress(job.job_id, job.progress)
        try:
            control.check()
            task = self._tasks.get(order.task)
            if task is None:
                raise GroundwireError(ErrorReason.INTERNAL, "The server has no such work any more.")
            task(control)
        except JobStopped:
            return  # cancelled, so that its jobs have ended; or the server stops, and they stay open for the next one
        except GroundwireError as error:
            self._end_all(control.work_id, JobState.FAILED, error.cause())
        except Exception as error:  # noqa: BLE001 - a job must say that it ended, whatever ended it
            _log.error("the work %s ended by %s", order.task, type(error).__name__, exc_info=error)
            self._end_all(
                control.work_id,
                JobState.FAILED,
                Cause(ErrorReason.INTERNAL, "The work ended by a fault of the server."),
            )
        else:
            self._end_all(control.work_id, JobState.SUCCEEDED)

    def _end_all(self, work_id: str, state: JobState, error: Cause | None = None) -> None:
        self._board.end([job.job_id for job in self._board.open_jobs(work_id=work_id)], state, error)
