"""Vectors for what was ingested, behind its back: chunks are embedded while lexical search has them already."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from queue import Empty, SimpleQueue
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from groundwire_server.dense import Embedder
from groundwire_server.errors import Cause, ErrorReason, GroundwireError
from groundwire_server.evidence import Label
from groundwire_server.ingest.embed_jobs import Embeddable, EmbedJobs
from groundwire_server.jobs import AUDIENCES, JobState
from groundwire_server.library import Snapshot

__all__ = ["EmbeddingState", "EmbeddingTarget", "EmbeddingWorker", "KnownVectors"]

_LEAST_BATCH = 64
_MOST_BATCH = 1024
_BATCH_SECONDS = 2.0
_RATE_BATCHES = 16

Vector = NDArray[np.float32]
KnownVectors = Callable[[Sequence[str], Label], dict[str, Vector]]
"""Vectors that the embedder gave to texts before, elsewhere: for a label or one below it. May know none."""


class EmbeddingTarget(Embeddable, Protocol):
    """The library whose chunks are embedded. It must use the embedder of the worker."""

    def add_vectors(self, vectors: Iterable[tuple[int, Vector]]) -> None:
        """Store vectors of chunk rows, durably, and search with them."""
        ...


class EmbeddingState(Enum):
    """What a worker is at."""

    RUNNING = "running"
    IDLE = "idle"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class _Batch:
    """Chunk rows by their text, and the lowest label that any of them has."""

    rows: dict[str, list[int]]
    label: Label


class EmbeddingWorker:
    """Embeds every visible chunk without a vector, then sleeps until it is woken.

    One text a run and one thread a worker, so that a vector never depends on its neighbours (semantics 2). Equal texts
    are embedded once: the store keeps vectors by what the text says, over restarts, and those of other libraries are
    asked for before the model is. What is done is committed every two seconds or so: a process that dies loses no more
    than that, and the next one goes on from the store. What more people may read goes first, so that nobody waits for
    what is hidden from him.

    Args:
        library: must use `embedder` already (`Library.use_embedder`).
        embedder: may be called from several threads.
        jobs: tell of the work.
        threads: threads that embed; 0: as many as cores.
        known: asked before the embedder is.
    """

    def __init__(
        self,
        library: EmbeddingTarget,
        embedder: Embedder,
        jobs: EmbedJobs,
        threads: int = 0,
        *,
        known: KnownVectors | None = None,
    ) -> None:
        self._library = library
        self._embedder = embedder
        self._jobs = jobs
        self._threads = threads or os.cpu_count() or 1
        self._known = known
        self._changed = threading.Condition()
        self._state = EmbeddingState.IDLE
        self._woken = False
        self._called_off = False
        self._stopping = False
        self._error: Cause | None = None
        self._at = AUDIENCES[0]
        self._worked = False
        self._suspect: set[int] = set()
        self._broken: set[int] = set()
        self._batches: deque[tuple[float, int]] = deque(maxlen=_RATE_BATCHES)
        self._thread: threading.Thread | None = None

    @property
    def threads(self) -> int:
        """Threads that embed."""
        return self._threads

    @property
    def state(self) -> EmbeddingState:
        """What it is at."""
        return self._state

    @property
    def error(self) -> Cause | None:
        """Why it does not go on; set exactly in state FAILED. `wake` lets it try again."""
        return self._error

    @property
    def broken(self) -> frozenset[int]:
        """Chunk rows that the embedder could not embed; they are left out until another worker takes over."""
        with self._changed:
            return frozenset(self._broken)

    def rate(self) -> float | None:
        """Chunks a second over the last batches; None until two are done."""
        with self._changed:
            batches = list(self._batches)
        if len(batches) < 2:
            return None
        elapsed = batches[-1][0] - batches[0][0]
        return sum(count for _, count in batches[1:]) / elapsed if elapsed > 0 else None

    def start(self) -> None:
        """Begin, with whatever has no vector now and does not wait behind a cancelled job. May be called once."""
        self._thread = threading.Thread(target=self._run, name=f"embed-{self._library.library_id}", daemon=True)
        self.wake()
        self._thread.start()

    def wake(self) -> None:
        """There may be new chunks. Cheap; may be called after every commit, from any thread."""
        with self._changed:
            if not self._stopping:
                self._woken = True
                self._called_off = False
                self._state = EmbeddingState.RUNNING
                self._changed.notify_all()

    def cancel(self) -> None:
        """Call the work off: its jobs are cancelled, and what is left waits for something new (`EmbedJobs`)."""
        with self._changed:
            self._called_off = True
        self._jobs.end(JobState.CANCELLED)

    def stop(self, timeout: float | None = None) -> bool:
        """Finish the texts that are being embedded, keep what is done, and end. False when that took too long."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread is None:
            self._rest(EmbeddingState.STOPPED)
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def wait_idle(self, timeout: float | None = None) -> bool:
        """Wait until nothing is left to do (or it failed, or was stopped). False when that took too long."""
        with self._changed:
            return self._changed.wait_for(lambda: self._state is not EmbeddingState.RUNNING, timeout)

    def _run(self) -> None:
        with ThreadPoolExecutor(self._threads, f"embed-{self._library.library_id}") as pool:
            while self._wait_for_work():
                try:
                    self._embed_all(pool)
                except GroundwireError as error:
                    self._fail(error.cause())
                except Exception:  # noqa: BLE001 - a job must say that it ended, whatever ended it
                    self._fail(Cause(ErrorReason.INTERNAL, "Embedding ended by a fault of the server."))
                else:
                    self._rest(EmbeddingState.IDLE)
        self._rest(EmbeddingState.STOPPED)

    def _wait_for_work(self) -> bool:
        """Sleep until woken; False when the worker is to end."""
        with self._changed:
            self._changed.wait_for(lambda: self._woken or self._stopping)
            self._woken = False
            self._error = None
            self._batches.clear()
            return not self._stopping

    def _going(self) -> bool:
        return not (self._stopping or self._called_off)

    def _embed_all(self, pool: ThreadPoolExecutor) -> None:
        """Batch after batch, each from the newest state, until none is found.

        Raises:
            GroundwireError: INTERNAL, the embedder could embed nothing; so much that it must be the embedder's fault.
        """
        self._at, self._worked = AUDIENCES[0], False
        self._suspect.clear()
        while self._going():
            batch = self._next_batch()
            # By the state of the batch or a later one: nothing is embedded before its job stands on the board, and none
            # waits for what was withdrawn meanwhile.
            self._settle()
            if batch is None:
                break
            self._embed_batch(pool, batch)
        if self._suspect and self._going():
            self._judge_suspects()
            self._settle()

    def _settle(self) -> None:
        self._jobs.settle(self._broken, self.rate(), self._going)

    def _next_batch(self) -> _Batch | None:
        """Chunks without a vector, for the lowest class of callers that lacks any; None: nobody does."""
        snapshot = self._library.snapshot()
        if snapshot.vectors is None or snapshot.vectors.version != self._embedder.version:
            return None
        for audience, missing in self._jobs.wanted(snapshot):
            left_out = np.array(sorted(self._broken | self._suspect), np.int64)
            missing[snapshot.columns.rows_of(left_out)] = False
            rows = np.flatnonzero(missing)[: self._batch_size()]
            if len(rows):
                if not self._suspect:
                    self._at = audience
                columns = snapshot.columns
                label = Label(int(columns.label[columns.revision_of[rows]].min()))
                return _Batch(_texts(snapshot, columns.chunk_rows(rows.astype(np.int64))), label)
        return None

    def _embed_batch(self, pool: ThreadPoolExecutor, batch: _Batch) -> None:
        """Embed some texts and keep their vectors. Which of those that fail are to blame shows when others succeed."""
        embedded: dict[str, Vector | None] = {}
        if self._known is not None:
            embedded.update(self._known(list(batch.rows), batch.label))
        waiting: SimpleQueue[str] = SimpleQueue()
        for text in batch.rows:
            if text not in embedded:
                waiting.put(text)
        known = len(embedded)
        for done in [pool.submit(self._embed_from, waiting) for _ in range(self._threads)]:
            embedded.update(done.result())
        vectors = [(row, vector) for text, vector in embedded.items() if vector is not None for row in batch.rows[text]]
        broken = [row for text, vector in embedded.items() if vector is None for row in batch.rows[text]]
        made = sum(vector is not None for vector in embedded.values()) - known
        if vectors:
            self._library.add_vectors(vectors)
        self._worked = self._worked or made > 0
        self._suspect.update(broken)
        if self._worked or len(self._suspect) >= _LEAST_BATCH:
            self._judge_suspects()
        if made or broken:
            with self._changed:
                self._batches.append((time.monotonic(), made))

    def _judge_suspects(self) -> None:
        """Leave out what could not be embedded; where nothing could, it is no fault of the texts."""
        if not self._worked:
            raise GroundwireError(
                ErrorReason.INTERNAL,
                f"The embedder {self._embedder.name} failed on every text.",
                hint="Prepare the model again.",
            )
        with self._changed:
            self._broken |= self._suspect
        self._suspect.clear()

    def _embed_from(self, waiting: SimpleQueue[str]) -> dict[str, Vector | None]:
        """Take texts until there are none, or the job is to end; None for one that the embedder breaks on."""
        embedded: dict[str, Vector | None] = {}
        while self._going():
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
        rate = self.rate()
        return _LEAST_BATCH if rate is None else max(_LEAST_BATCH, min(_MOST_BATCH, int(rate * _BATCH_SECONDS)))

    def _fail(self, cause: Cause) -> None:
        if not self._going():  # what is called off, or whose library goes, has not failed
            self._rest(EmbeddingState.IDLE)
            return
        with self._changed:
            self._error = cause
        self._jobs.end(JobState.FAILED, cause, audience=self._at)
        self._rest(EmbeddingState.FAILED)

    def _rest(self, state: EmbeddingState) -> None:
        with self._changed:
            if state is EmbeddingState.STOPPED or not self._woken:
                self._state = state
                self._changed.notify_all()


def _texts(snapshot: Snapshot, chunk_rows: NDArray[np.int64]) -> dict[str, list[int]]:
    """Chunk rows by the text that is embedded for them; rows that follow one another are read together."""
    ends = np.flatnonzero(np.diff(chunk_rows) > 1) + 1
    borders = [0, *ends.tolist(), len(chunk_rows)]
    rows_by_text: dict[str, list[int]] = {}
    for start, stop in pairwise(borders):
        for chunk_row, text in snapshot.reader.index_texts(int(chunk_rows[start]), int(chunk_rows[stop - 1])):
            rows_by_text.setdefault(text, []).append(chunk_row)
    return rows_by_text
