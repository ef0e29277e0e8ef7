"""The board: who sees which job, in which order, over restarts, and what is forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from groundwire_server.errors import Cause, ErrorReason, ResourceExhausted, UnknownResource
from groundwire_server.evidence import Label, Principal, Progress
from groundwire_server.jobs import (
    AUDIENCES,
    MAX_OPEN_JOBS,
    IndexPart,
    Job,
    JobBoard,
    JobKind,
    JobState,
    WorkOrder,
    new_job_id,
    place_of_job,
)
from groundwire_server.store import JobRow, ServerFile, storage_full

READER = Principal("reader", Label.INTERNAL)
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def file(tmp_path: Path) -> Iterator[ServerFile]:
    opened = ServerFile(tmp_path / "server.sqlite")
    yield opened
    opened.close()


def put(board: JobBoard, *, audience: Label = Label.INTERNAL, library: str = "default", **more: object) -> Job:
    def make(moment: datetime) -> list[Job]:
        job = Job(new_job_id(), JobKind.EMBED, library, audience, JobState.QUEUED, moment, moment, **more)  # type: ignore[arg-type]
        return [job]

    (made,) = board.add(make)
    return made


def ids(board: JobBoard, principal: Principal = READER, **more: object) -> list[str]:
    return [job.job_id for job in board.page(principal, limit=1000, **more)[0]]  # type: ignore[arg-type]


def test_a_job_lives_on_in_the_next_process_as_it_was(file: ServerFile) -> None:
    board = JobBoard(file)
    order = WorkOrder("w", "rebuild", "argument", "request")
    done, failed, running = (put(board, parts=(IndexPart.LEXICAL, IndexPart.VECTORS), order=order) for _ in range(3))
    board.progress(running.job_id, Progress("embed", 3, 10, "chunks", 2.0, 3.5))
    board.end([done.job_id], JobState.SUCCEEDED)
    board.end([failed.job_id], JobState.FAILED, Cause(ErrorReason.STORAGE_FULL, "The disk is full.", (("a", "b"),)))
    again = JobBoard(file)
    for job in (done, failed):
        assert again.job(job.job_id, READER) == board.job(job.job_id, READER)
    left = again.job(running.job_id, READER)
    assert (left.state, left.progress) == (JobState.RUNNING, Progress("embed", 3, 10, "chunks"))
    assert again.open_jobs() == [left]


@pytest.mark.parametrize("audience", AUDIENCES)
def test_a_job_exists_for_its_own_class_of_callers_alone(file: ServerFile, audience: Label) -> None:
    board = JobBoard(file)
    job = put(board, audience=audience)
    for clearance in Label:
        principal = Principal("anybody", clearance)
        sees = min(clearance, Label.CONFIDENTIAL) is audience
        assert ids(board, principal) == ([job.job_id] if sees else [])
        if not sees:
            with pytest.raises(UnknownResource) as hidden:
                board.job(job.job_id, principal)
            with pytest.raises(UnknownResource) as unknown:
                board.job("j-0000000000000000", principal)
            assert str(hidden.value).replace(job.job_id, "j-0000000000000000") == str(unknown.value)


def test_pages_are_newest_first_and_hold_still_while_jobs_come(file: ServerFile) -> None:
    board = JobBoard(file, now=lambda: BEGINNING)
    made = [put(board).job_id for _ in range(7)]
    seen: list[str] = []
    after, more = None, True
    while more:
        page, more = board.page(READER, after=after, limit=3)
        seen += [job.job_id for job in page]
        after = place_of_job(page[-1])
        put(board)
    assert seen == made[::-1]


def test_lists_of_one_library_and_of_one_state(file: ServerFile) -> None:
    board = JobBoard(file)
    first, second, other = put(board), put(board), put(board, library="other")
    board.end([first.job_id], JobState.CANCELLED)
    assert ids(board, library_id="default") == [second.job_id, first.job_id]
    assert ids(board, state=JobState.QUEUED) == [other.job_id, second.job_id]
    assert ids(board, library_id="default", state=JobState.CANCELLED) == [first.job_id]
    assert ids(board, library_id="none") == []


def test_times_never_go_back_and_an_ended_job_stays_as_it_was(file: ServerFile) -> None:
    clock = iter([BEGINNING, BEGINNING - timedelta(days=1), BEGINNING - timedelta(days=2), BEGINNING, BEGINNING])
    board = JobBoard(file, now=lambda: next(clock))
    job = put(board)
    board.progress(job.job_id, Progress("embed", 1, 2, "chunks", 5.0, 1.0))
    board.end([job.job_id], JobState.SUCCEEDED)
    ended = board.job(job.job_id, READER)
    assert ended.ended_at is not None
    assert ended.created_at < ended.updated_at == ended.ended_at
    assert ended.progress == Progress("embed", 1, 2, "chunks")
    board.progress(job.job_id, None)
    board.end([job.job_id, "j-unknown"], JobState.CANCELLED)
    assert board.job(job.job_id, READER) == ended


def test_the_last_ended_jobs_of_each_class_are_kept(file: ServerFile) -> None:
    board = JobBoard(file, kept=2)
    waiting = put(board)
    made = [put(board) for _ in range(4)]
    hidden = [put(board, audience=Label.CONFIDENTIAL) for _ in range(9)]
    for job in (*made, *hidden):
        board.end([job.job_id], JobState.SUCCEEDED)
    kept = [made[3].job_id, made[2].job_id, waiting.job_id]
    assert ids(board) == kept
    assert ids(JobBoard(file, kept=2)) == kept
    assert len(file.job_rows()) == 5


def test_too_many_orders_are_refused(file: ServerFile) -> None:
    board = JobBoard(file)
    order = WorkOrder("w", "task")

    def many(moment: datetime) -> list[Job]:
        return [
            Job(new_job_id(), JobKind.REINDEX, "a", Label.PUBLIC, JobState.QUEUED, moment, moment, order=order)
            for _ in range(MAX_OPEN_JOBS)
        ]

    board.add(many)
    with pytest.raises(ResourceExhausted) as refused:
        put(board, audience=Label.PUBLIC, order=order)
    assert refused.value.reason is ErrorReason.OVERLOADED
    put(board, order=order)
    put(board, audience=Label.PUBLIC)


class FullDisk:
    """A table that takes nothing while it is full."""

    def __init__(self, table: ServerFile) -> None:
        self.table = table
        self.full = False

    def job_rows(self) -> list[JobRow]:
        return self.table.job_rows()

    def save_jobs(self, rows: object, forgotten: object = ()) -> None:
        if self.full:
            raise storage_full()
        self.table.save_jobs(rows, forgotten)  # type: ignore[arg-type]


def test_a_full_disk_refuses_new_jobs_and_old_ones_are_written_later(file: ServerFile) -> None:
    table = FullDisk(file)
    board = JobBoard(table)
    job = put(board)
    table.full = True
    with pytest.raises(ResourceExhausted):
        put(board)
    assert ids(board) == [job.job_id]
    board.end([job.job_id], JobState.SUCCEEDED)
    assert board.job(job.job_id, READER).state is JobState.SUCCEEDED
    assert JobBoard(file).job(job.job_id, READER).state is JobState.QUEUED
    table.full = False
    put(board)
    assert JobBoard(file).job(job.job_id, READER).state is JobState.SUCCEEDED


def test_who_listens_is_told_of_changes_and_of_nothing_else(file: ServerFile) -> None:
    board = JobBoard(file)
    told: list[int] = []
    with board.listening(lambda: told.append(1)):
        job = put(board)
        board.progress(job.job_id, Progress("embed", 0, 1, "chunks"))
        board.progress(job.job_id, Progress("embed", 0, 1, "chunks"))
        board.end([job.job_id], JobState.SUCCEEDED)
        board.end([job.job_id], JobState.SUCCEEDED)
    assert len(told) == 3
    put(board)
    assert len(told) == 3
