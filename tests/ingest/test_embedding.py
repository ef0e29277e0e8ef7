from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire_server.dense import HashEmbedder
from groundwire_server.errors import ErrorReason, ResourceExhausted
from groundwire_server.evidence import Call, Label, Principal
from groundwire_server.ingest import EmbeddingJob, EmbeddingState
from groundwire_server.library import Library
from tests.ingest.support import OTHER_INGEST, make_library, send

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
        self._lock = threading.Lock()

    def embed_passage(self, text: str) -> NDArray[np.float32]:
        self.begun.release()
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


def run_to_the_end(library: Library, embedder: HashEmbedder, workers: int = 2) -> EmbeddingJob:
    library.use_embedder(embedder)
    job = EmbeddingJob(library, embedder, workers)
    job.start()
    assert job.wait_idle(PATIENCE)
    return job


def test_everything_visible_gets_a_vector(tmp_path: Path) -> None:
    library = filled(tmp_path)
    job = run_to_the_end(library, HashEmbedder())
    progress = job.progress()
    assert (progress.state, progress.done, progress.total, progress.failed) == (EmbeddingState.IDLE, 30, 30, 0)
    assert (progress.chunks_per_second, progress.remaining_seconds, progress.error) == (None, None, None)
    assert library.snapshot().coverage(library.snapshot().candidates(READER)) == 1.0
    assert job.stop(PATIENCE)
    assert job.progress().state is EmbeddingState.STOPPED


def test_new_chunks_wake_it(tmp_path: Path) -> None:
    library = filled(tmp_path, 3)
    job = run_to_the_end(library, HashEmbedder())
    send(library, ("new.txt", b"new"), ingest_id=OTHER_INGEST)
    assert job.progress().done == 3
    job.wake()
    assert job.wait_idle(PATIENCE)
    assert (job.progress().done, job.progress().total) == (4, 4)
    assert job.stop(PATIENCE)


def test_vectors_are_the_same_for_any_number_of_workers_and_any_order(tmp_path: Path) -> None:
    found = []
    for workers in (1, 2, 5):
        library = filled(tmp_path / str(workers))
        assert run_to_the_end(library, HashEmbedder(), workers).stop(PATIENCE)
        found.append(vectors(library))
    assert found[0] == found[1] == found[2]
    assert None not in found[0].values()
    backwards = make_library(tmp_path / "backwards")
    send(backwards, *((f"{n:03}.txt", f"text {n}\n増えた {n}".encode()) for n in reversed(range(30))))
    assert run_to_the_end(backwards, HashEmbedder()).stop(PATIENCE)
    assert sorted(map(str, vectors(backwards).values())) == sorted(map(str, found[0].values()))


def test_equal_texts_are_embedded_once(tmp_path: Path) -> None:
    library = make_library(tmp_path)
    send(library, *((f"{number}.txt", b"the same") for number in range(20)))
    embedder = WatchedEmbedder()
    assert run_to_the_end(library, embedder).stop(PATIENCE)
    assert embedder.seen == {"the same": 1}
    assert len(set(vectors(library).values())) == 1


def test_restricted_text_is_never_embedded(tmp_path: Path) -> None:
    library = make_library(tmp_path)
    send(library, ("secret.txt", b"hidden"), label=Label.RESTRICTED)
    send(library, ("open.txt", b"open"), ingest_id=OTHER_INGEST)
    embedder = WatchedEmbedder()
    job = run_to_the_end(library, embedder)
    assert embedder.seen == {"open": 1}
    assert (job.progress().done, job.progress().total) == (1, 1)
    assert job.stop(PATIENCE)


def test_it_stops_at_once_keeps_what_is_done_and_the_next_one_goes_on(tmp_path: Path) -> None:
    library = filled(tmp_path, 40)
    embedder = WatchedEmbedder()
    library.use_embedder(embedder)
    job = EmbeddingJob(library, embedder, workers=2)
    embedder.gate.clear()
    job.start()
    for _ in range(2):
        assert embedder.begun.acquire(timeout=PATIENCE)
    assert job.progress().state is EmbeddingState.RUNNING
    assert not job.wait_idle(0)
    assert not job.stop(0)
    embedder.gate.set()
    assert job.stop(PATIENCE)
    assert job.progress().state is EmbeddingState.STOPPED
    assert len(embedder.seen) == 2
    assert sum(vector is not None for vector in vectors(library).values()) == 2
    library.close()

    again = make_library(tmp_path)
    assert run_to_the_end(again, embedder).stop(PATIENCE)
    assert set(embedder.seen.values()) == {1}
    assert len(embedder.seen) == 40


def test_a_text_that_breaks_the_model_is_left_out_and_told(tmp_path: Path) -> None:
    library = filled(tmp_path, 5)
    embedder = WatchedEmbedder()
    embedder.broken = {"text 3\n増えた 3"}
    job = run_to_the_end(library, embedder)
    progress = job.progress()
    assert (progress.state, progress.done, progress.total, progress.failed) == (EmbeddingState.IDLE, 4, 5, 1)
    job.wake()
    assert job.wait_idle(PATIENCE)
    assert embedder.seen["text 3\n増えた 3"] == 1
    assert job.stop(PATIENCE)


def test_a_model_that_breaks_on_everything_fails_the_job_until_it_is_woken(tmp_path: Path) -> None:
    library = filled(tmp_path, 3)
    embedder = WatchedEmbedder()
    embedder.broken = {f"text {number}\n増えた {number}" for number in range(3)}
    job = run_to_the_end(library, embedder)
    progress = job.progress()
    assert (progress.state, progress.done) == (EmbeddingState.FAILED, 0)
    assert progress.error is not None
    assert progress.error.reason is ErrorReason.INTERNAL
    assert "breaks the model" not in progress.error.message
    embedder.broken.clear()
    job.wake()
    assert job.wait_idle(PATIENCE)
    assert (job.progress().state, job.progress().done, job.progress().error) == (EmbeddingState.IDLE, 3, None)
    assert job.stop(PATIENCE)


def test_a_full_disk_fails_the_job_and_it_goes_on_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = filled(tmp_path, 3)
    embedder = HashEmbedder()
    library.use_embedder(embedder)
    job = EmbeddingJob(library, embedder)
    with monkeypatch.context() as patched:
        patched.setattr(library, "add_vectors", _full_disk)
        job.start()
        assert job.wait_idle(PATIENCE)
    progress = job.progress()
    assert progress.error is not None
    assert (progress.state, progress.error.reason) == (EmbeddingState.FAILED, ErrorReason.STORAGE_FULL)
    job.wake()
    assert job.wait_idle(PATIENCE)
    assert job.progress().done == 3
    assert job.stop(PATIENCE)


def _full_disk(vectors: object) -> None:
    raise ResourceExhausted(ErrorReason.STORAGE_FULL, "The disk is full.")


def test_a_library_without_an_embedder_has_nothing_to_do(tmp_path: Path) -> None:
    library = filled(tmp_path, 2)
    job = EmbeddingJob(library, HashEmbedder())
    job.start()
    assert job.wait_idle(PATIENCE)
    assert (job.progress().done, job.progress().total) == (0, 2)
    assert job.stop(PATIENCE)


def test_a_job_that_never_began_stops(tmp_path: Path) -> None:
    job = EmbeddingJob(make_library(tmp_path), HashEmbedder())
    assert job.workers >= 1
    assert job.stop()
    assert job.wait_idle(0)
    job.wake()
    assert job.progress().state is EmbeddingState.STOPPED
