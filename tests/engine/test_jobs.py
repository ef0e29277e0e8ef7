"""Who may begin, end and see the work of a server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from groundwire_server.engine import Engine, LibraryDeletion
from groundwire_server.engine.jobs import Jobs
from groundwire_server.errors import Aborted, ErrorReason, NotPermitted, UnknownResource
from groundwire_server.evidence import Label, Principal
from groundwire_server.jobs import IndexPart, Job, JobBoard, JobState
from groundwire_server.library import LibraryConfig, Recut
from groundwire_server.settings import load_settings
from tests.support.eventually import eventually

LOCAL = Principal("local", Label.INTERNAL)
OTHER = Principal("other", Label.INTERNAL)
HIGHER = Principal("local", Label.CONFIDENTIAL)
WORDS = (IndexPart.LEXICAL,)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Engine]:
    made = Engine(load_settings({"data": tmp_path / "data", "embedding.backend": "none"}, environ={}))
    made.administration.save_library("a", LibraryConfig(), LOCAL, validate_only=False, if_snapshot_id="")
    yield made
    made.close()


def delete(here: Engine, principal: Principal, confirmation: str = "", *, rehearse: bool = False) -> LibraryDeletion:
    return here.administration.delete_library("a", confirmation, principal, validate_only=rehearse)


def ended(here: Engine, job: Job, principal: Principal = LOCAL) -> Job:
    assert eventually(lambda: here.jobs.job(job.job_id, principal).state.ended)
    return here.jobs.job(job.job_id, principal)


@pytest.mark.parametrize(
    ("principal", "method", "call"),
    [
        (
            replace(LOCAL, may_write=False),
            "StartReindex",
            lambda here, who, job: here.jobs.reindex("a", who, parts=WORDS),
        ),
        (replace(LOCAL, may_write=False), "CancelJob", lambda here, who, job: here.jobs.cancel(job.job_id, who)),
        (
            replace(LOCAL, may_administer=False),
            "DeleteLibrary",
            lambda here, who, job: delete(here, who, rehearse=True),
        ),
        (replace(LOCAL, may_administer=False), "DeleteLibrary", lambda here, who, job: delete(here, who, "x")),
    ],
)
def test_who_has_not_the_right_is_refused(
    here: Engine, principal: Principal, method: str, call: Callable[[Engine, Principal, Job], object]
) -> None:
    job = ended(here, here.jobs.reindex("a", LOCAL, parts=WORDS))
    with pytest.raises(NotPermitted) as refused:
        call(here, principal, job)
    assert refused.value.reason is ErrorReason.NOT_PERMITTED
    assert refused.value.details == {"method": method, "library_id": "a"}


def test_reading_needs_no_right(here: Engine) -> None:
    reader = replace(LOCAL, may_write=False, may_administer=False)
    job = ended(here, here.jobs.reindex("a", LOCAL, parts=WORDS))
    assert here.jobs.job(job.job_id, reader) == job
    assert here.jobs.page(reader, library_id="a", state=None, after=None, limit=9) == ([job], False)


def test_a_request_id_is_of_one_caller(here: Engine) -> None:
    request_id = "00000000-0000-4000-8000-000000000000"
    jobs = [
        here.jobs.reindex("a", principal, parts=WORDS, request_id=request_id)
        for principal in (LOCAL, LOCAL, OTHER, OTHER, HIGHER)
    ]
    assert jobs[0].job_id == jobs[1].job_id
    assert jobs[2].job_id == jobs[3].job_id
    assert len({job.job_id for job in jobs}) == 3


def test_a_confirmation_is_of_one_caller(here: Engine) -> None:
    token = delete(here, LOCAL, rehearse=True).confirmation
    for principal in (OTHER, HIGHER, replace(LOCAL, tenant="t")):
        with pytest.raises(Aborted) as refused:
            delete(here, principal, token)
        assert refused.value.reason is ErrorReason.CONFLICTING_CHANGE
    assert delete(here, LOCAL, token).job is not None


def test_settings_are_part_of_what_is_confirmed(here: Engine) -> None:
    token = delete(here, LOCAL, rehearse=True).confirmation
    here.administration.save_library(
        "a", LibraryConfig(description="minutes"), LOCAL, validate_only=False, if_snapshot_id=""
    )
    with pytest.raises(Aborted):
        delete(here, LOCAL, token)


def test_the_job_of_another_class_of_callers_is_unknown(here: Engine) -> None:
    job = ended(here, here.jobs.reindex("a", LOCAL, parts=WORDS))
    with pytest.raises(UnknownResource) as unknown:
        here.jobs.cancel(job.job_id, HIGHER)
    assert unknown.value.reason is ErrorReason.UNKNOWN_JOB
    (theirs,), _ = here.jobs.page(HIGHER, library_id="", state=None, after=None, limit=9)
    assert theirs.job_id != job.job_id
    assert ended(here, theirs, HIGHER).state is job.state


def test_nothing_is_ordered_behind_the_look_at_what_a_deletion_ends(
    here: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = delete(here, LOCAL, rehearse=True).confirmation
    look, late = JobBoard.open_jobs, list[Job]()
    waited: list[bool] = []

    def slowly(board: JobBoard, *args: Any, **more: Any) -> list[Job]:
        found = look(board, *args, **more)
        if args == ("a",) and not waited:
            waited.append(True)
            thread = threading.Thread(target=lambda: late.append(here.jobs.reindex("a", LOCAL, parts=WORDS)))
            thread.start()
            thread.join(0.2)
            waited[0] = thread.is_alive()
        return found

    monkeypatch.setattr(JobBoard, "open_jobs", slowly)
    delete(here, LOCAL, token)
    assert waited == [True]
    assert eventually(lambda: bool(late))
    assert ended(here, late[0]).state is JobState.FAILED  # there is no such library any more


def test_settings_that_change_while_a_cut_is_ordered_are_not_forgotten(
    here: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, first = Jobs.start_task, [True]

    def overtaken(jobs: Jobs, *args: Any, **more: Any) -> Job:
        job = start(jobs, *args, **more)
        if first:
            first.clear()
            library = here._libraries.for_reading("a")
            assert eventually(lambda: Recut.read(library.store.reader()).asked)  # the work is over
            library.change_config(lambda _: LibraryConfig(chunk_chars=50, overlap_chars=0))
        return job

    monkeypatch.setattr(Jobs, "start_task", overtaken)
    here.administration.save_library(
        "a", LibraryConfig(chunk_chars=90, overlap_chars=0), LOCAL, validate_only=False, if_snapshot_id=""
    )
    assert here.jobs.recut(here._libraries.for_reading("a"), LOCAL) is not None
