"""Who does the work: in order, one a library, told to each class of callers, cancelled, and over restarts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from groundwire_server.errors import ErrorReason, ResourceExhausted
from groundwire_server.evidence import Label, Principal, Progress
from groundwire_server.jobs import AUDIENCES, IndexPart, Job, JobBoard, JobControl, JobKind, JobRunner, JobState, Task
from groundwire_server.store import ServerFile
from tests.support.eventually import eventually

PATIENCE = 30.0
READERS = {label: Principal("reader", label) for label in AUDIENCES}


@pytest.fixture
def board(tmp_path: Path) -> Iterator[JobBoard]:
    file = ServerFile(tmp_path / "server.sqlite")
    yield JobBoard(file)
    file.close()


class Gate:
    """Work that waits until it may end, and tells what it was given."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.open = threading.Event()
        self.seen: list[str] = []

    def __call__(self, control: JobControl) -> None:
        self.seen.append(control.argument)
        self.begun.release()
        while not self.open.is_set():
            control.wait(0.005)


def order(runner: JobRunner, task: str = "task", library: str = "a", **more: str) -> Job:
    return runner.order(task, JobKind.REINDEX, library, Label.INTERNAL, parts=(IndexPart.LEXICAL,), **more)


def state(board: JobBoard, job: Job) -> JobState:
    return board.job(job.job_id, READERS[job.audience]).state


def ended(board: JobBoard, job: Job) -> Job:
    assert eventually(lambda: state(board, job).ended)
    return board.job(job.job_id, READERS[job.audience])


def test_work_is_done_in_order_and_one_at_a_time_for_each_library(board: JobBoard) -> None:
    gate = Gate()
    runner = JobRunner(board, {"task": gate})
    first, second, other = order(runner, argument="1"), order(runner, argument="2"), order(runner, library="b")
    for _ in range(2):
        assert gate.begun.acquire(timeout=PATIENCE)
    assert [state(board, job) for job in (first, second, other)] == [
        JobState.RUNNING,
        JobState.QUEUED,
        JobState.RUNNING,
    ]
    gate.open.set()
    assert [ended(board, job).state for job in (first, second, other)] == [JobState.SUCCEEDED] * 3
    assert [each for each in gate.seen if each] == ["1", "2"]
    runner.close()


def test_each_class_of_callers_has_a_job_of_its_own(board: JobBoard) -> None:
    runner = JobRunner(board, {"task": lambda control: None})
    job = order(runner)
    jobs = {label: board.page(reader, limit=10)[0] for label, reader in READERS.items()}
    assert jobs[Label.INTERNAL][0].job_id == job.job_id
    assert len({each.job_id for (each,) in jobs.values()}) == 3
    ended(board, job)
    runner.close()


def test_a_class_hears_of_what_it_may_read_and_its_job_ends_with_that(board: JobBoard) -> None:
    gate = Gate()

    def task(control: JobControl) -> None:
        counts = {Label.PUBLIC: (0, 2), Label.INTERNAL: (1, 3), Label.CONFIDENTIAL: (0, 7)}
        control.report("recut", "documents", counts, final=True, rate=2.0)
        gate(control)
        counts = {Label.PUBLIC: (2, 2), Label.INTERNAL: (3, 3), Label.CONFIDENTIAL: (4, 7)}
        control.report("recut", "documents", counts, final=True)
        gate.open.clear()
        gate(control)

    runner = JobRunner(board, {"task": task})
    order(runner)
    public, internal, confidential = (board.page(READERS[label], limit=1)[0][0] for label in AUDIENCES)
    assert gate.begun.acquire(timeout=PATIENCE)
    told = [board.job(job.job_id, READERS[job.audience]).progress for job in (public, internal, confidential)]
    assert told == [
        Progress("recut", 0, 2, "documents", 2.0, 1.0),
        Progress("recut", 1, 5, "documents", 2.0, 2.0),
        Progress("recut", 1, 12, "documents", 2.0, 5.5),
    ]
    gate.open.set()
    assert gate.begun.acquire(timeout=PATIENCE)
    assert [state(board, job) for job in (public, internal, confidential)] == [
        JobState.SUCCEEDED,
        JobState.SUCCEEDED,
        JobState.RUNNING,
    ]
    assert board.job(confidential.job_id, READERS[Label.CONFIDENTIAL]).progress == Progress("recut", 9, 12, "documents")
    gate.open.set()
    assert ended(board, confidential).state is JobState.SUCCEEDED
    runner.close()


def full_disk(control: JobControl) -> None:
    raise ResourceExhausted(ErrorReason.STORAGE_FULL, "The disk is full.")


def fault(control: JobControl) -> None:
    raise RuntimeError("a secret of the library")


@pytest.mark.parametrize(("task", "reason"), [(full_disk, ErrorReason.STORAGE_FULL), (fault, ErrorReason.INTERNAL)])
def test_work_that_fails_says_why_and_nothing_else(board: JobBoard, task: Task, reason: ErrorReason) -> None:
    runner = JobRunner(board, {"task": task})
    job = ended(board, order(runner))
    assert (job.state, job.error is not None and job.error.reason) == (JobState.FAILED, reason)
    assert "secret" not in str(job.error)
    after = ended(board, order(runner))
    assert after.state is JobState.FAILED
    runner.close()


def test_what_is_cancelled_ends_at_once_and_the_next_goes_on(board: JobBoard) -> None:
    gate = Gate()
    runner = JobRunner(board, {"task": gate})
    first, second, third = (order(runner, argument=name) for name in "123")
    assert gate.begun.acquire(timeout=PATIENCE)
    for job in (second, first):
        assert job.order is not None
        runner.cancel(job.order.work_id)
        assert state(board, job) is JobState.CANCELLED
    gate.open.set()
    assert ended(board, third).state is JobState.SUCCEEDED
    assert gate.seen == ["1", "3"]
    runner.cancel("no such work")
    runner.close()


def test_the_next_runner_goes_on_with_what_one_left(board: JobBoard) -> None:
    gate = Gate()
    runner = JobRunner(board, {"task": gate})
    running, waiting = order(runner, argument="1"), order(runner, argument="2")
    assert gate.begun.acquire(timeout=PATIENCE)
    runner.close()
    assert order(runner).state is JobState.QUEUED  # too late for this one: it waits for the next
    assert [state(board, job) for job in (running, waiting)] == [JobState.RUNNING, JobState.QUEUED]
    again = JobRunner(board, {"task": gate})
    gate.open.set()
    again.take_up()
    assert [ended(board, job).state for job in (running, waiting)] == [JobState.SUCCEEDED] * 2
    assert gate.seen[:3] == ["1", "1", "2"]
    again.close()


def test_a_task_that_is_not_there_any_more_fails_its_job(board: JobBoard) -> None:
    gate = Gate()
    runner = JobRunner(board, {"task": gate})
    job = order(runner)
    runner.close()
    with pytest.raises(KeyError):
        order(runner, task="other")
    again = JobRunner(board, {})
    again.take_up()
    assert ended(board, job).state is JobState.FAILED
    again.close()
