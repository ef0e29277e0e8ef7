"""`groundwire jobs`."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire import Cause, ErrorReason, Job, JobKind, JobState, Progress
from groundwire_server.cli.watching import how_far, outcome
from groundwire_server.dense import HashEmbedder, factory
from tests.cli.commands import finish, furnish, run, server, spawn, write


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


class Patient(HashEmbedder):
    """An embedder that takes its time until the test lets it go."""

    def __init__(self, gate: threading.Event) -> None:
        super().__init__()
        self._gate = gate

    def embed_passage(self, text: str) -> NDArray[np.float32]:
        self._gate.wait(0.05)
        return super().embed_passage(text)


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server that embeds four hundred documents, slowly."""
    gate = threading.Event()
    monkeypatch.setattr(factory, "HashEmbedder", lambda: Patient(gate))
    write("mine", {f"{number}.txt": f"apples and pears {number}" for number in range(400)})
    with server(embedding__backend="deterministic"):
        assert run("ingest", "mine", "--no-wait").code == 0
        yield
        gate.set()


def running_job() -> str:
    (job,) = (frame["job_id"] for frame in run("jobs", "list", "--state", "running", "--json").frames)
    return str(job)


@pytest.mark.usefixtures("busy")
def test_ctrl_c_ends_the_watching_and_not_the_job() -> None:
    job = running_job()
    watching = spawn("jobs", "watch", "--json")
    assert watching.stdout is not None
    assert json.loads(watching.stdout.readline())["state"] == "RUNNING"
    watching.send_signal(signal.SIGINT)
    ran = finish(watching)
    assert (ran.code, ran.err.strip()) == (130, "stopped")
    assert running_job() == job


@pytest.mark.usefixtures("busy")
def test_who_waits_for_vectors_is_told_that_none_will_come() -> None:
    waiting = spawn("ingest", "mine")
    assert waiting.stdout is not None
    assert waiting.stdout.readline() == "0 stored, 400 unchanged, 0 refused\n"
    cancelled = run("jobs", "cancel", running_job())
    assert "state\tcancelled" in cancelled.out or "state\trunning" in cancelled.out
    ran = finish(waiting)
    assert ran.code == 0
    assert "embed of default cancelled; " in ran.err
    watched = run("jobs", "watch", run("jobs", "list", "--json").frames[0]["job_id"])
    assert (watched.code, watched.out) == (1, "embed of default cancelled\n")


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
