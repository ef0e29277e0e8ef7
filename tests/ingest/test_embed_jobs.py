"""Jobs of embedding under whatever happens to a library, held to what a class of callers may know of it."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from groundwire_server.dense import HashEmbedder
from groundwire_server.evidence import Label, Principal
from groundwire_server.ingest import EmbedJobs
from groundwire_server.jobs import AUDIENCES, Job, JobBoard, JobState
from groundwire_server.store import JobRow
from tests.support.libraries import Doc, make_library, new_document

EMBEDDER = HashEmbedder()
READER = Principal("reader", Label.INTERNAL)


class Table:
    """A table of jobs in memory."""

    def __init__(self) -> None:
        self.rows: dict[str, JobRow] = {}

    def job_rows(self) -> list[JobRow]:
        return list(self.rows.values())

    def save_jobs(self, rows: Sequence[JobRow], forgotten: Sequence[str] = ()) -> None:
        self.rows.update((row.job_id, row) for row in rows)


@dataclass(frozen=True)
class Ingest:
    label: Label
    documents: int


@dataclass(frozen=True)
class Withdraw:
    label: Label


@dataclass(frozen=True)
class Embed:
    """A batch of the lowest label that lacks vectors; nothing when the worker has been called off."""

    chunks: int


@dataclass(frozen=True)
class Ask:
    """What the summary of an ingest asks for."""

    audience: Label


@dataclass(frozen=True)
class Cancel:
    """By a reader, who can cancel what it sees."""


@dataclass(frozen=True)
class Restart:
    """The process is killed and comes back."""


Step = Ingest | Withdraw | Embed | Ask | Cancel | Restart
LABELS = st.sampled_from([Label.PUBLIC, Label.INTERNAL, Label.CONFIDENTIAL, Label.RESTRICTED])
STEPS = st.one_of(
    st.builds(Ingest, LABELS, st.integers(1, 4)),
    st.builds(Withdraw, LABELS),
    st.builds(Embed, st.integers(1, 3)),
    st.builds(Ask, st.sampled_from(AUDIENCES)),
    st.just(Cancel()),
    st.just(Restart()),
)


class World:
    """A library with its jobs, its worker played by hand."""

    def __init__(self, folder: Path) -> None:
        self.library = make_library(folder, embedder=EMBEDDER)
        self.table = Table()
        self.board = JobBoard(self.table)
        self.jobs = EmbedJobs(self.board, self.library)
        self.going = True
        self.stored: dict[Label, list[str]] = {label: [] for label in Label}

    def take(self, step: Step) -> None:
        match step:
            case Ingest(label, documents):
                with self.library.writing() as writer:
                    for _ in range(documents):
                        name = f"{label.name}-{len(self.stored[label])}"
                        writer.replace_document(new_document(Doc(name, f"text of {name}", label=label)))
                        self.stored[label].append(name)
                self.going = True
                self.settle()
            case Withdraw(label):
                if self.stored[label]:
                    with self.library.writing() as writer:
                        writer.withdraw_document(self.stored[label][0], clearance=None)
                    self.settle()
            case Embed(chunks):
                self.embed(chunks)
            case Ask(audience):
                wanted = dict(self.jobs.wanted(self.library.snapshot()))[audience]
                assert (self.jobs.ensure(audience) != "") >= bool(wanted.any())
            case Cancel():
                if any(not job.state.ended for job in self.seen()):
                    self.going = False
                    self.jobs.end(JobState.CANCELLED)
            case Restart():
                self.board = JobBoard(self.table)
                self.jobs = EmbedJobs(self.board, self.library)
                self.going = True
                self.settle()

    def embed(self, chunks: int) -> None:
        snapshot = self.library.snapshot()
        for _audience, wanted in self.jobs.wanted(snapshot):
            rows = np.flatnonzero(wanted)[:chunks]
            if self.going and len(rows):
                found = zip(snapshot.columns.chunk_rows(rows).tolist(), snapshot.chunks(rows.tolist()), strict=True)
                self.library.add_vectors((row, EMBEDDER.embed_passage(chunk.text)) for row, chunk in found)
                break
        self.settle()

    def settle(self) -> None:
        self.jobs.settle((), None, lambda: self.going)

    def seen(self, clearance: Label = Label.INTERNAL) -> list[Job]:
        return self.board.page(Principal("reader", clearance), limit=1000)[0]

    def check(self, before: dict[str, Job]) -> None:
        snapshot = self.library.snapshot()
        for audience, wanted in self.jobs.wanted(snapshot):
            missing = int(np.count_nonzero(wanted))
            jobs = self.seen(audience)
            waiting = [job for job in jobs if not job.state.ended]
            assert len(waiting) <= 1
            assert bool(waiting) or missing == 0 or not self.going
            for job in jobs:
                progress = job.progress
                if progress is None:
                    continue
                assert progress.total is not None
                assert 0 <= progress.done <= progress.total
                if job.state is JobState.SUCCEEDED:
                    assert progress.done == progress.total
                if job.state is JobState.RUNNING and self.going:
                    assert progress.total - progress.done == missing
                was = before.get(job.job_id)
                if was is not None and was.progress is not None:
                    assert progress.done >= was.progress.done
                    assert job == was or not was.state.ended


CANCELLED = [Ingest(Label.PUBLIC, 1), Cancel(), Ingest(Label.CONFIDENTIAL, 1), Embed(3)]


@settings(max_examples=25)
@given(st.lists(STEPS, max_size=14))
@example(CANCELLED)
@example([*CANCELLED, Restart(), Embed(3), Ingest(Label.INTERNAL, 1), Embed(3), Embed(3), Ingest(Label.PUBLIC, 1)])
def test_jobs_follow_the_library_and_tell_nothing_of_what_is_hidden(steps: list[Step]) -> None:
    hidden = (Label.CONFIDENTIAL, Label.RESTRICTED)
    with tempfile.TemporaryDirectory() as folder:
        whole, without = World(Path(folder) / "whole"), World(Path(folder) / "without")
        try:
            for step in steps:
                before = {job.job_id: job for label in AUDIENCES for job in whole.seen(label)}
                whole.take(step)
                whole.check(before)
                if not (isinstance(step, Ingest | Withdraw) and step.label in hidden):
                    without.take(step)
                told = [
                    [(job.kind, job.state, job.progress, job.parts, job.error) for job in world.seen()]
                    for world in (whole, without)
                ]
                assert told[0] == told[1]
        finally:
            whole.library.close()
            without.library.close()
