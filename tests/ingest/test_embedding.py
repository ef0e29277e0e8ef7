from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire_server.dense import HashEmbedder
from groundwire_server.errors import ErrorReason, ResourceExhausted
from groundwire_server.evidence import Call, Label, Principal
from groundwire_server.ingest import EmbeddingState, EmbeddingWorker, EmbedJobs
from groundwire_server.ingest.embedding import KnownVectors
from groundwire_server.jobs import Job, JobBoard, JobState
from groundwire_server.jobs.job_row import job_to_row
from groundwire_server.library import Library
from groundwire_server.store import JobRow
from tests.ingest.support import OTHER_INGEST, make_library, send
from tests.support.eventually import eventually

PATIENCE = 30.0
READER = Call(Principal("reader", Label.CONFIDENTIAL))


class WatchedEmbedder(HashEmbedder):
    """Counts what it embeds; can break on some texts, and can hold its breath."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: Counter[str] = Counter()
        self.broken: set[str] = set()
        self.begun = threading.Semaphore(0)
        self.gate = threading.Event()
        self.gate.set()
        self.held = ""
        self.holding = False
        self._lock = threading.Lock()

    def hold(self, text: str) -> None:
        """Wait before this text until the gate is open."""
        self.held = text
        self.gate.clear()

    def embed_passage(self, text: str) -> NDArray[np.float32]:
        self.begun.release()
        if self.held in ("", text):
            self.holding = self.held != ""
            assert self.gate.wait(PATIENCE)
        with self._lock:
            self.seen[text] += 1
        if text in self.broken:
            raise RuntimeError("a text that breaks the model")
        return super().embed_passage(text)


def filled(folder: Path, documents: int = 30) -> Library:
    library = make_library(folder)
    send(library, *((f"{number:03}.txt", f"text {number}\n増えた {number}".encode()) for number in range(documents)))
    return library


def vectors(library: Library) -> dict[int, bytes | None]:
    reader = library.store.reader()
    return dict(reader.embeddings(HashEmbedder().version, 1, reader.chunk_count()))


class Table:
    """A table of jobs in memory."""

    def __init__(self) -> None:
        self.rows: dict[str, JobRow] = {}

    def job_rows(self) -> list[JobRow]:
        return list(self.rows.values())

    def save_jobs(self, rows: Sequence[JobRow], forgotten: Sequence[str] = ()) -> None:
        self.rows.update((row.job_id, row) for row in rows)


class Embedding:
    """A worker on a library, and what its jobs tell a reader."""

    def __init__(
        self,
        library: Library,
        embedder: HashEmbedder,
        threads: int = 2,
        table: Table | None = None,
        *,
        use: bool = True,
        known: KnownVectors | None = None,
    ) -> None:
        if use:
            library.use_embedder(embedder)
        self.library = library
        self.board = JobBoard(table or Table())
        self.jobs = EmbedJobs(self.board, library)
        self.worker = EmbeddingWorker(library, embedder, self.jobs, threads, known=known)

    def run(self) -> Embedding:
        self.worker.start()
        assert self.worker.wait_idle(PATIENCE)
        return self

    def again(self) -> None:
        self.worker.wake()
        assert self.worker.wait_idle(PATIENCE)

    def told(self, clearance: Label = Label.CONFIDENTIAL) -> list[Job]:
        """Jobs of a class of callers, oldest first."""
        return self.board.page(Principal("reader", clearance), limit=100)[0][::-1]

    def last(self, clearance: Label = Label.CONFIDENTIAL) -> tuple[JobState, int, int | None]:
        job = self.told(clearance)[-1]
        done, total = (
            (job.progress.done, job.progress.total) if job.progress is not None else (-1, None)
        )  # not yet told
        return job.state, done, total

    def stop(self) -> None:
        assert self.worker.stop(PATIENCE)
        assert self.worker.state is EmbeddingState.STOPPED


def test_everything_visible_gets_a_vector(tmp_path: Path) -> None:
    here = Embedding(filled(tmp_path), HashEmbedder()).run()
    assert here.last() == (JobState.SUCCEEDED, 30, 30)
    snapshot = here.library.snapshot()
    assert snapshot.coverage(snapshot.candidates(READER)) == 1.0
    here.again()
    assert len(here.told()) == 1
    here.stop()


def test_new_chunks_wake_it(tmp_path: Path) -> None:
    here = Embedding(filled(tmp_path, 3), HashEmbedder()).run()
    send(here.library, ("new.txt", b"new"), ingest_id=OTHER_INGEST)
    here.again()
    assert [job.progress and job.progress.done for job in here.told()] == [3, 1]
    assert here.last() == (JobState.SUCCEEDED, 1, 1)
    here.stop()


def test_vectors_are_the_same_for_any_number_of_threads_and_any_order(tmp_path: Path) -> None:
    found = []
    for threads in (1, 2, 5):
        library = filled(tmp_path / str(threads))
        Embedding(library, HashEmbedder(), threads).run().stop()
        found.append(vectors(library))
    assert found[0] == found[1] == found[2]
    assert None not in found[0].values()
    backwards = make_library(tmp_path / "backwards")
    send(backwards, *((f"{n:03}.txt", f"text {n}\n増えた {n}".encode()) for n in reversed(range(30))))
    Embedding(backwards, HashEmbedder()).run().stop()
    assert sorted(map(str, vectors(backwards).values())) == sorted(map(str, found[0].values()))


def test_equal_texts_are_embedded_once(tmp_path: Path) -> None:
    library = make_library(tmp_path)
    send(library, *((f"{number}.txt", b"the same") for number in range(20)))
    embedder = WatchedEmbedder()
    Embedding(library, embedder).run().stop()
    assert embedder.seen == {"the same": 1}
    assert len(set(vectors(library).values())) == 1


def test_vectors_that_are_known_elsewhere_are_not_made_again(tmp_path: Path) -> None:
    embedder, asked = WatchedEmbedder(), []

    def known(texts: Sequence[str], label: Label) -> dict[str, NDArray[np.float32]]:
        asked.append(label)
        return {text: HashEmbedder().embed_passage(text) for text in texts if text.endswith("3")}

    library = filled(tmp_path)
    embedding = Embedding(library, embedder, known=known).run()
    assert vectors(library) == vectors(Embedding(filled(tmp_path / "alone"), WatchedEmbedder()).run().library)
    assert embedder.seen
    assert not [text for text in embedder.seen if text.endswith("3")]
    assert set(asked) == {Label.INTERNAL}
    assert embedding.last()[0] is JobState.SUCCEEDED


def test_a_model_that_breaks_on_all_that_is_not_known_is_at_fault(tmp_path: Path) -> None:
    embedder = WatchedEmbedder()
    embedder.broken = {f"text {number}\n増えた {number}" for number in range(1, 30)}

    def known(texts: Sequence[str], label: Label) -> dict[str, NDArray[np.float32]]:
        return {text: HashEmbedder().embed_passage(text) for text in texts if text not in embedder.broken}

    embedding = Embedding(filled(tmp_path), embedder, known=known).run()
    assert embedding.last()[0] is JobState.FAILED
    assert embedding.worker.error is not None
    assert not embedding.worker.broken


def test_restricted_text_is_never_embedded_and_makes_no_job(tmp_path: Path) -> None:
    library = make_library(tmp_path)
    send(library, ("secret.txt", b"hidden"), label=Label.RESTRICTED)
    embedder = WatchedEmbedder()
    here = Embedding(library, embedder).run()
    assert (embedder.seen, here.told()) == ({}, [])
    send(library, ("open.txt", b"open"), ingest_id=OTHER_INGEST)
    here.again()
    assert embedder.seen == {"open": 1}
    assert here.last() == (JobState.SUCCEEDED, 1, 1)
    here.stop()


def test_a_class_of_callers_hears_of_what_it_may_read_alone(tmp_path: Path) -> None:
    library = make_library(tmp_path)
    embedder = WatchedEmbedder()
    send(library, *((f"{n}.txt", f"open {n}".encode()) for n in range(3)))
    send(
        library,
        *((f"s{n}.txt", f"secret {n}".encode()) for n in range(5)),
        label=Label.CONFIDENTIAL,
        ingest_id=OTHER_INGEST,
    )
    here = Embedding(library, embedder, threads=1)
    embedder.hold("secret 0")
    here.worker.start()
    assert eventually(lambda: here.told(Label.INTERNAL) != [] and here.told(Label.INTERNAL)[0].state.ended)
    assert here.told(Label.PUBLIC) == []
    assert here.last(Label.INTERNAL) == (JobState.SUCCEEDED, 3, 3)
    assert here.last(Label.CONFIDENTIAL) == (JobState.RUNNING, 3, 8)
    embedder.gate.set()
    assert here.worker.wait_idle(PATIENCE)
    assert here.last(Label.CONFIDENTIAL) == (JobState.SUCCEEDED, 8, 8)
    assert len(here.told(Label.INTERNAL)) == 1
    here.stop()


def test_it_stops_at_once_keeps_what_is_done_and_the_next_one_goes_on(tmp_path: Path) -> None:
    library = filled(tmp_path, 40)
    embedder, table = WatchedEmbedder(), Table()
    here = Embedding(library, embedder, table=table)
    embedder.gate.clear()
    here.worker.start()
    for _ in range(2):
        assert embedder.begun.acquire(timeout=PATIENCE)
    assert here.worker.state is EmbeddingState.RUNNING
    assert not here.worker.wait_idle(0)
    assert not here.worker.stop(0)
    embedder.gate.set()
    here.stop()
    assert len(embedder.seen) == 2
    assert sum(vector is not None for vector in vectors(library).values()) == 2
    library.close()

    again = Embedding(make_library(tmp_path), embedder, table=table)
    assert again.last() == (JobState.RUNNING, 0, 40)
    again.run().stop()
    assert set(embedder.seen.values()) == {1}
    assert len(embedder.seen) == 40
    assert len(again.told()) == 1
    assert again.last() == (JobState.SUCCEEDED, 40, 40)


def test_a_job_goes_on_where_it_was(tmp_path: Path) -> None:
    library = filled(tmp_path, 100)
    embedder, table = WatchedEmbedder(), Table()
    here = Embedding(library, embedder, threads=1, table=table)
    embedder.hold("text 70\n増えた 70")
    here.worker.start()
    assert eventually(lambda: here.told() != [] and here.last() == (JobState.RUNNING, 64, 100))
    (job,) = here.told()
    embedder.gate.set()
    assert here.worker.wait_idle(PATIENCE)
    here.stop()
    # As a process that died after 64 left it.
    old_table = Table()
    old_table.save_jobs([job_to_row(job)])
    send(library, ("late.txt", b"late"), ingest_id=OTHER_INGEST)
    again = Embedding(library, embedder, table=old_table)
    assert again.last() == (JobState.RUNNING, 64, 100)
    again.run().stop()
    assert [each.job_id for each in again.told()] == [job.job_id]
    assert again.last() == (JobState.SUCCEEDED, 100, 100)


def test_what_is_cancelled_waits_until_there_is_something_new(tmp_path: Path) -> None:
    library = filled(tmp_path, 5)
    embedder, table = WatchedEmbedder(), Table()
    here = Embedding(library, embedder, threads=1, table=table)
    embedder.hold("text 3\n増えた 3")
    here.worker.start()
    assert eventually(lambda: embedder.holding)
    here.worker.cancel()
    assert here.last() == (JobState.CANCELLED, 0, 5)
    embedder.gate.set()
    assert here.worker.wait_idle(PATIENCE)
    assert sum(vector is not None for vector in vectors(library).values()) == 4
    assert len(here.told()) == 1
    here.stop()

    again = Embedding(library, embedder, table=table).run()
    again.again()
    assert sum(vector is not None for vector in vectors(library).values()) == 4
    send(library, ("new.txt", b"something new"), ingest_id=OTHER_INGEST)
    again.again()
    assert None not in vectors(library).values()
    assert [job.state for job in again.told()] == [JobState.CANCELLED, JobState.SUCCEEDED]
    assert again.last() == (JobState.SUCCEEDED, 2, 2)
    again.stop()


def test_who_asks_gets_the_job_that_embeds_what_is_new(tmp_path: Path) -> None:
    library = filled(tmp_path, 3)
    here = Embedding(library, HashEmbedder())
    assert here.jobs.ensure(Label.PUBLIC) == ""
    job_id = here.jobs.ensure(Label.INTERNAL)
    assert here.jobs.ensure(Label.INTERNAL) == job_id
    assert here.told(Label.INTERNAL)[0].state is JobState.QUEUED
    here.run()
    assert here.last(Label.INTERNAL) == (JobState.SUCCEEDED, 3, 3)
    assert here.jobs.ensure(Label.INTERNAL) == ""
    assert here.jobs.last(Label.INTERNAL) == here.told(Label.INTERNAL)[0]
    here.stop()


def test_while_the_embedder_is_on_its_way_the_stored_vectors_tell_what_is_missing(tmp_path: Path) -> None:
    library = filled(tmp_path, 3)
    assert Embedding(library, HashEmbedder(), use=False).jobs.ensure(Label.INTERNAL) != ""
    Embedding(library, HashEmbedder()).run().stop()
    library.use_embedder(None)
    assert Embedding(library, HashEmbedder(), use=False).jobs.ensure(Label.INTERNAL) == ""
    send(library, ("hidden.txt", b"hidden"), ingest_id=OTHER_INGEST, label=Label.CONFIDENTIAL)
    waiting = Embedding(library, HashEmbedder(), use=False)
    assert waiting.jobs.ensure(Label.INTERNAL) == ""
    assert waiting.jobs.ensure(Label.CONFIDENTIAL) != ""


def test_a_text_that_breaks_the_model_is_left_out_and_told(tmp_path: Path) -> None:
    library = filled(tmp_path, 5)
    embedder = WatchedEmbedder()
    embedder.broken = {"text 3\n増えた 3"}
    here = Embedding(library, embedder).run()
    assert here.last() == (JobState.FAILED, 4, 5)
    error = here.told()[-1].error
    assert error is not None
    assert (error.reason, "1 of its chunks" in error.message) == (ErrorReason.INTERNAL, True)
    assert len(here.worker.broken) == 1
    here.again()
    assert embedder.seen["text 3\n増えた 3"] == 1
    assert here.jobs.ensure(Label.INTERNAL) == ""
    assert len(here.told()) == 1
    send(library, ("new.txt", b"new"), ingest_id=OTHER_INGEST)
    here.again()
    assert here.last() == (JobState.SUCCEEDED, 1, 1)
    here.stop()


def test_a_model_that_breaks_on_everything_fails_the_job_until_it_is_woken(tmp_path: Path) -> None:
    library = filled(tmp_path, 3)
    embedder = WatchedEmbedder()
    embedder.broken = {f"text {number}\n増えた {number}" for number in range(3)}
    here = Embedding(library, embedder).run()
    assert (here.worker.state, here.last()) == (EmbeddingState.FAILED, (JobState.FAILED, 0, 3))
    error = here.told()[-1].error
    assert error is not None
    assert here.worker.error == error
    assert error.reason is ErrorReason.INTERNAL
    assert "breaks the model" not in error.message
    embedder.broken.clear()
    here.again()
    assert (here.worker.state, here.worker.error) == (EmbeddingState.IDLE, None)
    assert here.last() == (JobState.SUCCEEDED, 3, 3)
    here.stop()


def test_a_text_that_breaks_the_model_does_not_stand_in_the_way_of_others(tmp_path: Path) -> None:
    library = make_library(tmp_path)
    send(library, ("bad.txt", b"bad"), label=Label.PUBLIC)
    send(library, ("good.txt", b"good"), ingest_id=OTHER_INGEST)
    embedder = WatchedEmbedder()
    embedder.broken = {"bad"}
    here = Embedding(library, embedder).run()
    assert (here.worker.state, here.worker.error) == (EmbeddingState.IDLE, None)
    assert here.last(Label.PUBLIC) == (JobState.FAILED, 0, 1)
    assert here.last(Label.INTERNAL) == (JobState.FAILED, 1, 2)
    here.again()
    assert embedder.seen["bad"] == 1
    here.stop()


def test_a_dead_model_is_not_asked_for_every_text(tmp_path: Path) -> None:
    library = filled(tmp_path, 300)
    embedder = WatchedEmbedder()
    embedder.broken = {f"text {number}\n増えた {number}" for number in range(300)}
    here = Embedding(library, embedder).run()
    assert (here.worker.state, here.last()) == (EmbeddingState.FAILED, (JobState.FAILED, 0, 300))
    assert sum(embedder.seen.values()) == 64
    here.stop()


def test_hidden_texts_that_break_the_model_fail_no_job_of_those_who_may_not_read_them(tmp_path: Path) -> None:
    library = make_library(tmp_path)
    send(library, ("secret.txt", b"secret"), label=Label.CONFIDENTIAL)
    embedder = WatchedEmbedder()
    embedder.broken = {"secret"}
    here = Embedding(library, embedder, threads=1)
    embedder.hold("secret")
    here.worker.start()
    assert eventually(lambda: embedder.holding)
    send(library, ("open.txt", b"open"), ingest_id=OTHER_INGEST)
    job_id = here.jobs.ensure(Label.INTERNAL)
    here.worker.wake()
    embedder.gate.set()
    assert here.worker.wait_idle(PATIENCE)
    (job,) = here.told(Label.INTERNAL)
    assert (job.job_id, job.state) == (job_id, JobState.SUCCEEDED)
    assert JobState.FAILED in {each.state for each in here.told(Label.CONFIDENTIAL)}
    here.stop()


def test_a_full_disk_fails_the_job_and_it_goes_on_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = filled(tmp_path, 3)
    here = Embedding(library, HashEmbedder())
    with monkeypatch.context() as patched:
        patched.setattr(library, "add_vectors", _full_disk)
        here.run()
    error = here.told()[-1].error
    assert (here.last(), error and error.reason) == ((JobState.FAILED, 0, 3), ErrorReason.STORAGE_FULL)
    here.again()
    assert here.last() == (JobState.SUCCEEDED, 3, 3)
    here.stop()


def _full_disk(vectors: object) -> None:
    raise ResourceExhausted(ErrorReason.STORAGE_FULL, "The disk is full.")


def test_a_worker_that_never_began_stops(tmp_path: Path) -> None:
    here = Embedding(make_library(tmp_path), HashEmbedder(), threads=0)
    assert here.worker.threads >= 1
    assert here.worker.stop()
    assert here.worker.wait_idle(0)
    here.worker.wake()
    assert here.worker.state is EmbeddingState.STOPPED


def test_a_job_ends_when_what_it_waits_for_is_withdrawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also between its beginning and the first look for something to embed."""
    library = filled(tmp_path, 1)
    embedding = Embedding(library, HashEmbedder())
    settle = embedding.jobs.settle
    times = iter(range(9))

    def withdraw_then(*given: Any) -> None:
        settle(*given)
        if next(times) == 0:
            with library.writing() as writer:
                writer.withdraw_document("000.txt")

    monkeypatch.setattr(embedding.jobs, "settle", withdraw_then)
    embedding.run()
    assert [job.state for job in embedding.told()] == [JobState.SUCCEEDED]
    embedding.worker.stop()


def test_what_comes_while_it_looks_has_its_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what comes between two of its steps, before it is woken for it."""
    library = filled(tmp_path, 1)
    embedding = Embedding(library, HashEmbedder()).run()
    look = embedding.worker._next_batch
    texts = iter([b"new"])

    def come_then() -> Any:
        for text in texts:
            send(library, ("new.txt", text), ingest_id=OTHER_INGEST)
        return look()

    monkeypatch.setattr(embedding.worker, "_next_batch", come_then)
    embedding.again()
    assert [job.state for job in embedding.told()] == [JobState.SUCCEEDED] * 2
    assert all(vectors(library).values())
    embedding.worker.stop()
