"""Vectors for what was ingested, behind its back: the job that embeds chunks while lexical search has them already."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from groundwire_server.dense import Embedder
from groundwire_server.errors import Cause, ErrorReason, GroundwireError
from groundwire_server.evidence import Call, Label, Principal
from groundwire_server.library import Snapshot

__all__ = ["EmbeddingJob", "EmbeddingProgress", "EmbeddingState", "EmbeddingTarget"]

# Every label that may be embedded: RESTRICTED never is.
_ALL_READABLE = Call(Principal("embedding", Label.CONFIDENTIAL))
_PAGE_ROWS = 1024
_LEAST_BATCH = 64
_BATCH_SECONDS = 2.0
_RATE_BATCHES = 16

Vector = NDArray[np.float32]


class EmbeddingTarget(Protocol):
    """The library whose chunks are embedded. It must use the embedder of the job."""

    @property
    def library_id(self) -> str: ...

    def snapshot(self) -> Snapshot: ...

    def add_vectors(self, vectors: Iterable[tuple[int, Vector]]) -> None:
        """Store vectors of chunk rows, durably, and search with them."""
        ...


class EmbeddingState(Enum):
    """Where a job stands."""

    RUNNING = "running"
    IDLE = "idle"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class EmbeddingProgress:
    """How far the library is: chunks that have a vector, of those that may have one.

    failed: chunks that the embedder could not embed; they are left out until the job is made anew.
    chunks_per_second, remaining_seconds: of the work that goes on; None while it is not known.
    error: why the job does not go on; set exactly in state FAILED. `wake` lets it try again.
    """

    state: EmbeddingState
    done: int
    total: int
    failed: int = 0
    chunks_per_second: float | None = None
    remaining_seconds: float | None = None
    error: Cause | None = None


class EmbeddingJob:
    """Embeds every visible chunk without a vector, then sleeps until it is woken.

    One text a run and one thread a worker, so that a vector never depends on its neighbours (semantics 2). Equal texts
    are embedded once. What is done is committed every two seconds or so: a process that dies loses no more than that,
    and the next one goes on from the store.

    Args:
        library: must use `embedder` already (`Library.use_embedder`).
        embedder: may be called from several threads.
        workers: threads that embed; 0: as many as cores.
    """

    def __init__(self, library: EmbeddingTarget, embedder: Embedder, workers: int = 0) -> None:
        self._library = library
        self._embedder = embedder
        self._workers = workers or os.cpu_count() or 1
        self._changed = threading.Condition()
        self._state = EmbeddingState.IDLE
        self._woken = False
        self._stopping = False
        self._error: Cause | None = None
        self._failed: set[int] = set()
        self._batches: deque[tuple[float, int]] = deque(maxlen=_RATE_BATCHES)
        self._thread: threading.Thread | None = None

    @property
    def workers(self) -> int:
        """Threads that embed."""
        return self._workers

    def start(self) -> None:
        """Begin, with whatever has no vector now. May be called once."""
        self._thread = threading.Thread(target=self._run, name=f"embed-{self._library.library_id}", daemon=True)
        self.wake()
        self._thread.start()

    def wake(self) -> None:
        """There may be new chunks. Cheap; may be called after every commit, from any thread."""
        with self._changed:
            if not self._stopping:
                self._woken = True
                self._state = EmbeddingState.RUNNING
                self._changed.notify_all()

    def stop(self, timeout: float | None = None) -> bool:
        """Finish the texts that are being embedded, keep what is done, and end. False when that took too long."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread is None:
            self._set_state(EmbeddingState.STOPPED)
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def wait_idle(self, timeout: float | None = None) -> bool:
        """Wait until nothing is left to do (or it failed, or was stopped). False when that took too long."""
        with self._changed:
            return self._changed.wait_for(lambda: self._state is not EmbeddingState.RUNNING, timeout)

    def progress(self) -> EmbeddingProgress:
        """How far it is now."""
        snapshot = self._library.snapshot()
        wanted = snapshot.candidates(_ALL_READABLE)
        total = int(np.count_nonzero(wanted))
        done = 0 if snapshot.vectors is None else int(np.count_nonzero(wanted & snapshot.vectors.present))
        with self._changed:
            state, failed, error = self._state, len(self._failed), self._error
            rate = self._rate() if state is EmbeddingState.RUNNING else None
        remaining = max(0, total - done - failed) / rate if rate else None
        return EmbeddingProgress(state, done, total, failed, rate, remaining, error)

    def _run(self) -> None:
        with ThreadPoolExecutor(self._workers, f"embed-{self._library.library_id}") as pool:
            while self._wait_for_work():
                try:
                    self._embed_all(pool)
                except GroundwireError as error:
                    self._fail(error.cause())
                except Exception:  # noqa: BLE001 - a job must say that it ended, whatever ended it
                    self._fail(Cause(ErrorReason.INTERNAL, "Embedding ended by a fault of the server."))
                else:
                    self._rest()
        self._set_state(EmbeddingState.STOPPED)

    def _wait_for_work(self) -> bool:
        """Sleep until woken; False when the job is to end."""
        with self._changed:
            self._changed.wait_for(lambda: self._woken or self._stopping)
            self._woken = False
            self._error = None
            self._batches.clear()
            return not self._stopping

    def _embed_all(self, pool: ThreadPoolExecutor) -> None:
        """Pass over the library until a pass finds nothing."""
        found = True
        while found and not self._stopping:
            found = False
            rows = self._rows_to_embed()
            while (page := list(islice(rows, _PAGE_ROWS))) and not self._stopping:
                found = True
                self._embed_page(pool, page)

    def _rows_to_embed(self) -> Iterator[tuple[int, str]]:
        snapshot = self._library.snapshot()
        if snapshot.vectors is None or snapshot.vectors.version != self._embedder.version:
            return
        for chunk_row, text in snapshot.reader.rows_without_embedding(self._embedder.version):
            if chunk_row not in self._failed:
                yield chunk_row, text

    def _embed_page(self, pool: ThreadPoolExecutor, page: list[tuple[int, str]]) -> None:
        rows_by_text: dict[str, list[int]] = {}
        for chunk_row, text in page:
            rows_by_text.setdefault(text, []).append(chunk_row)
        texts = iter(rows_by_text.items())
        while (batch := dict(islice(texts, self._batch_size()))) and not self._stopping:
            self._embed_batch(pool, batch)

    def _embed_batch(self, pool: ThreadPoolExecutor, batch: dict[str, list[int]]) -> None:
        """Embed some texts and keep their vectors. A text that fails is left out; all of them failing is a failure."""
        waiting: SimpleQueue[str] = SimpleQueue()
        for text in batch:
            waiting.put(text)
        embedded: dict[str, Vector | None] = {}
        for done in [pool.submit(self._embed_from, waiting) for _ in range(self._workers)]:
            embedded.update(done.result())
        vectors = [(row, vector) for text, vector in embedded.items() if vector is not None for row in batch[text]]
        broken = [row for text, vector in embedded.items() if vector is None for row in batch[text]]
        if broken and not vectors:
            raise GroundwireError(
                ErrorReason.INTERNAL,
                f"The embedder {self._embedder.name} failed on each of {len(embedded)} texts.",
                hint="Prepare the model again.",
            )
        if vectors:
            self._library.add_vectors(vectors)
        with self._changed:
            self._failed.update(broken)
            self._batches.append((time.monotonic(), len(vectors)))

    def _embed_from(self, waiting: SimpleQueue[str]) -> dict[str, Vector | None]:
        """Take texts until there are none, or the job is to end; None for one that the embedder breaks on."""
        embedded: dict[str, Vector | None] = {}
        while not self._stopping:
            try:
                text = waiting.get_nowait()
            except Empty:
                break
            try:
                embedded[text] = self._embedder.embed_passage(text)
            except Exception:  # noqa: BLE001 - each runtime has its own errors, and one text must not end the others
                embedded[text] = None
        return embedded

    def _batch_size(self) -> int:
        """Texts of about two seconds, so that little is lost and commits cost little."""
        with self._changed:
            rate = self._rate()
        return _LEAST_BATCH if rate is None else max(_LEAST_BATCH, min(_PAGE_ROWS, int(rate * _BATCH_SECONDS)))

    def _rate(self) -> float | None:
        """Chunks a second over the last batches; None until two are done. Called with the lock held."""
        if len(self._batches) < 2:
            return None
        elapsed = self._batches[-1][0] - self._batches[0][0]
        chunks = sum(count for _, count in islice(self._batches, 1, None))
        return chunks / elapsed if elapsed > 0 else None

    def _rest(self) -> None:
        with self._changed:
            if not self._woken:
                self._state = EmbeddingState.IDLE
                self._changed.notify_all()

    def _fail(self, cause: Cause) -> None:
        with self._changed:
            self._error = cause
            if not self._woken:
                self._state = EmbeddingState.FAILED
                self._changed.notify_all()

    def _set_state(self, state: EmbeddingState) -> None:
        with self._changed:
            self._state = state
            self._changed.notify_all()
