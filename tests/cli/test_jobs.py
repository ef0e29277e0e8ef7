"""`groundwire jobs`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from groundwire import Cause, ErrorReason, Job, JobKind, JobState, Progress
from groundwire_server.cli.watching import how_far, outcome
from tests.cli.commands import furnish, run, server, write


def test_jobs_are_listed_and_shown() -> None:
    furnish()
    assert run("libraries", "reindex", "default", "--part", "lexical").code == 0
    (line,) = run("jobs", "list").out.splitlines()
    job, kind, library, state = line.split("\t")[:4]
    assert (kind, library, state) == ("reindex", "default", "succeeded")
    shown = dict(each.split("\t", 1) for each in run("jobs", "show", job).out.splitlines())
    assert shown["parts"] == "lexical"
    assert shown["ended"].endswith("Z")
    (frame,) = run("jobs", "list", "--json", "--library", "default", "--state", "succeeded").frames
    assert (frame["frame"], frame["job_id"]) == ("Job", job)
    assert run("jobs", "list", "--state", "failed").out == ""
    assert run("jobs", "cancel", job).code == 0  # one that has ended stays as it was
    assert run("jobs", "watch", job).out == "reindex of default succeeded\n"


def test_nothing_to_watch() -> None:
    assert run("jobs", "watch").out == "no job is running\n"
    assert run("jobs", "watch", "--json").out == ""


@pytest.mark.parametrize("command", ["show", "watch", "cancel"])
def test_a_job_that_is_not_there(command: str) -> None:
    ran = run("jobs", command, "nothing")
    assert ran.code == 1
    assert "(UNKNOWN_JOB)" in ran.complaint


def test_embedding_is_watched() -> None:
    write("mine", {f"{number}.txt": f"apples and pears {number}" for number in range(400)})
    with server(embedding__backend="deterministic"):
        assert run("ingest", "mine", "--no-wait").code == 0
        assert run("jobs", "watch").code == 0
        kinds = {line.split("\t")[1] for line in run("jobs", "list").out.splitlines()}
    assert kinds == {"embed"}


def test_how_far_a_job_is() -> None:
    running = Job(
        "j",
        JobKind.EMBED,
        "default",
        state=JobState.RUNNING,
        progress=Progress("embed", 50, 200, "chunks", 12.5, timedelta(seconds=12)),
    )
    assert how_far(running) == "50/200 chunks, 12.5/s, 12 s left"
    assert how_far(Job("j")) == ""
    failed = Job(
        "j",
        JobKind.EMBED,
        "default",
        state=JobState.FAILED,
        end_time=datetime.now(UTC),
        error=Cause(ErrorReason.STORAGE_FULL, "The disk is full."),
    )
    assert outcome(failed) == "embed of default failed: The disk is full. (STORAGE_FULL)"
