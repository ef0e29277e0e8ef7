"""The libraries of a server: the data folder, and the embedder that they search with."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial

import numpy as np
from numpy.typing import NDArray

from groundwire_server.dense import Embedder, unpack_vector
from groundwire_server.engine.embedding import fault_of_wish
from groundwire_server.engine.rehearsal import rehearsal_library
from groundwire_server.engine.resuming import pin_states, state_of, still_unreachable
from groundwire_server.engine.rights import may_write
from groundwire_server.errors import (
    Cause,
    ErrorReason,
    FailedPrecondition,
    GroundwireError,
    ResourceExhausted,
    Unavailable,
    UnknownResource,
)
from groundwire_server.evidence import Call, Label, Principal
from groundwire_server.ingest import EmbeddingWorker, EmbedJobs
from groundwire_server.jobs import AUDIENCES, JobBoard, JobKind, JobState
from groundwire_server.library import DEFAULT_LIBRARY, DataFolder, Library, LibraryConfig, Snapshot
from groundwire_server.narrative import NoEmbedder, Unreachable
from groundwire_server.relations import DerivedEdges
from groundwire_server.settings import Settings

__all__ = ["RESUME_WINDOW", "Libraries"]

_log = logging.getLogger(__name__)

RESUME_WINDOW = timedelta(days=7)
"""How long an ingest is known: until then a repeat is safe and an unfinished one goes on."""

_SWEEP_EVERY = timedelta(days=1)


class Libraries:
    """Opens libraries, gives each the embedder when both are there, and embeds what has no vector yet.

    Args:
        settings: of the server.
        lock: descriptor of the folder's lock that another process has handed on.

    Attributes:
        folder: the data folder.
        board: the jobs of the server.

    Raises:
        FailedPrecondition: another process has the data folder, or it cannot be written, or a newer version wrote it.
    """

    def __init__(self, settings: Settings, *, lock: int | None = None) -> None:
        self._lock = lock
        self._threads = settings.embedding.workers
        self._new_config = LibraryConfig(
            chunker=settings.ingest.chunker,
            contextual=settings.ingest.contextual,
            relation_extractor=settings.ingest.relation_extractor,
            query_transform=settings.retrieval.query_transform,
            decomposition=settings.retrieval.decomposition,
            adaptive=settings.retrieval.adaptive != "none",
            filter_extractor=settings.retrieval.filter_extractor,
            corrective=settings.retrieval.corrective != "none",
            corrective_judge="llm" if settings.retrieval.corrective == "llm" else "words",
        )
        self._guard = threading.RLock()
        self._embedder: Embedder | None = None
        self._absence: NoEmbedder | None = None
        self._open: dict[str, Library] = {}
        self._embed_jobs: dict[str, EmbedJobs] = {}
        self._workers: dict[str, EmbeddingWorker] = {}
        self._faults: dict[str, Cause] = {}
        self._swept: dict[str, datetime] = {}
        secret = settings.secret.get_secret_value().encode() or None
        self.folder = self._open_folder(settings, secret)
        try:
            self.board = JobBoard(self.folder.server_file)
        except BaseException:
            self.folder.close()
            raise

    def _open_folder(self, settings: Settings, secret: bytes | None) -> DataFolder:
        return DataFolder(settings.data, secret=secret, opened=self._opened, deriver=DerivedEdges.of, lock=self._lock)

    def snapshots(self, library_ids: Sequence[str] | None = None) -> tuple[list[Snapshot], list[Unreachable]]:
        """Libraries (by default all) at their newest state, and those that cannot be opened; both in order of id."""
        states: list[Snapshot] = []
        unreachable: list[Unreachable] = []
        for library_id in self.folder.list() if library_ids is None else library_ids:
            try:
                states.append(self.folder.library(library_id).snapshot())
            except GroundwireError as error:
                unreachable.append(Unreachable(library_id, error.cause(), self._description(library_id)))
            except Exception as error:  # noqa: BLE001 - a damaged library must not take the others along
                _log.error("library %s cannot be opened: %s", library_id, type(error).__name__)
                cause = Cause(ErrorReason.INTERNAL, "The library could not be opened.", (("library_id", library_id),))
                unreachable.append(Unreachable(library_id, cause, self._description(library_id)))
        return states, unreachable

    def reading(self, call: Call) -> tuple[list[Snapshot], list[Unreachable]]:
        """What a call reads: all libraries as they are, or as they were when the stream began that it goes on with.

        Raises:
            Aborted: RESUME_SNAPSHOT_GONE.
            Unavailable: one of those does not answer now.
        """
        resume = call.options.resume
        if resume is None:
            states, unreachable = self.snapshots()
        else:
            find = self.folder.library
            with self._guard:
                loads = self._embedder is None and self._absence is None
            states = [
                state_of(pin, call.principal, find, by_meaning=resume.by_meaning, embedder_loads=loads)
                for pin in resume.pins
                if pin.answered
            ]
            unreachable = [
                still_unreachable(pin, find, self._description(pin.library_id))
                for pin in resume.pins
                if not pin.answered
            ]
        pin_states(call, states, unreachable)
        return states, unreachable

    def _description(self, library_id: str) -> str | None:
        """What its file says of a library that cannot be opened; None where that cannot be read either."""
        path = self.folder.path / "libraries" / library_id / "library.toml"
        try:
            return LibraryConfig.from_toml(path.read_text("utf-8")).description
        except (GroundwireError, OSError, ValueError):
            return None

    def for_reading(self, library_id: str) -> Library:
        """A library. Raises UnknownResource, and Unavailable (LIBRARIES_UNREACHABLE) where it cannot be opened."""
        with _opening(library_id):
            return self.folder.library(library_id)

    def for_writing(self, library_id: str) -> Library:
        """A library to write to; the default one is made by its first use. Raises as `for_reading` does."""
        with _opening(library_id):
            if library_id == DEFAULT_LIBRARY:
                return self.folder.create(library_id, self._new_config)
            return self.folder.library(library_id)

    def for_rehearsal(self, library_id: str) -> Library:
        """A library to try a write on; where the default one is not there, an empty one in its place. Makes nothing.

        Raises as `for_reading` does.
        """
        if library_id == DEFAULT_LIBRARY and library_id not in self.folder.list():
            with _opening(library_id):
                return rehearsal_library(library_id, self._new_config)
        return self.for_reading(library_id)

    def to_write(self, library_id: str, principal: Principal, method: str, *, validate_only: bool) -> Library:
        """A library for a call that writes, or for one that tries the write.

        Raises:
            NotPermitted: the caller may not write; else as `for_reading` does.
        """
        may_write(principal, method, library_id)
        return self.for_rehearsal(library_id) if validate_only else self.for_writing(library_id)

    def opened(self) -> list[Library]:
        """Libraries that can be opened, by id."""
        self.snapshots()
        with self._guard:
            return [self._open[library_id] for library_id in sorted(self._open)]

    @property
    def earlier_states(self) -> int:
        """How many states of libraries are held beside the newest of each (`Library.earlier_states`)."""
        return sum(library.earlier_states for library in self.held())

    def held(self) -> list[Library]:
        """Libraries that are open already, by id."""
        with self._guard:
            return [self._open[library_id] for library_id in sorted(self._open)]

    def forget_old_ingests(self, library: Library) -> None:
        """Drop ledgers of ingests that nobody can resume any more; looks at most once a day."""
        now = datetime.now(UTC)
        with self._guard:
            last = self._swept.get(library.library_id)
            if last is not None and now - last < _SWEEP_EVERY:
                return
            self._swept[library.library_id] = now
        with library.writing() as writer:
            writer.forget_ingests(now - RESUME_WINDOW)

    def use_embedder(self, embedder: Embedder) -> None:
        """Search with this embedder from now on, in every library that takes it."""
        with self._guard:
            self._embedder = embedder
            for library in self._open.values():
                self._attach(library)

    def go_without(self, absence: NoEmbedder) -> None:
        """There is no embedder, and none on its way: what waits for one has waited in vain."""
        with self._guard:
            self._absence = absence
            for library in self._open.values():
                self._attach(library)

    def refresh(self, library: Library) -> None:
        """After a change of a library's settings: take or leave the embedder as they say."""
        with self._guard:
            self._detach(library.library_id)
            library.use_embedder(None)
            self._attach(library)

    def embed_anew(self, library: Library, *, keep_sound: bool) -> None:
        """Build the index of vectors anew, and take the embedder in place of one that made those that are stored.

        There must be an embedder, and the library must take it.
        """
        with self._guard:
            self._detach(library.library_id)
            embedder = self._embedder
        library.use_embedder(embedder, replace=True, anew=not keep_sound)
        with self._guard:
            self._faults.pop(library.library_id, None)
            if embedder is not None and library.library_id not in self._workers:
                self._start_worker(library, embedder)

    def wake_embedding(self, library_id: str) -> None:
        """Embed what is new, where the library has an embedder. Cheap; after every commit."""
        worker = self.worker(library_id)
        if worker is not None:
            worker.wake()

    def embedding_job(self, library_id: str, audience: Label, since: datetime) -> str:
        """Id of the job that embeds what a class of callers may read, or did so since a moment; "": there is none."""
        with self._guard:
            jobs, worker = self._embed_jobs.get(library_id), self._workers.get(library_id)
            library = self._open.get(library_id)
            waits = self._embedder is None and self._absence is None
        if jobs is None or library is None or library.config.embedder == "none" or not (worker or waits):
            return ""
        job_id = jobs.ensure(audience)
        if worker is not None:
            worker.wake()
        last = jobs.last(audience)
        return job_id or (last.job_id if last is not None and last.updated_at >= since else "")

    def call_off(self, library_id: str) -> None:
        """Cancel the embedding of a library; what is left waits until there is something new."""
        worker = self.worker(library_id)
        if worker is not None:
            worker.cancel()
        else:
            self._end_embedding(library_id)

    def worker(self, library_id: str) -> EmbeddingWorker | None:
        """Who embeds a library; None where it has no embedder."""
        with self._guard:
            return self._workers.get(library_id)

    def vector_faults(self) -> dict[str, Cause]:
        """Why libraries do not search with the server's embedder, by id: their vectors are another model's."""
        with self._guard:
            return dict(self._faults)

    def hide(self, library_id: str, check: Callable[[Snapshot], None]) -> str:
        """Take a library away from everybody, as `DataFolder.hide` does; its embedding is cancelled."""
        with self._guard:
            library, worker = self._open.get(library_id), self._workers.get(library_id)

        def last(snapshot: Snapshot) -> None:
            check(snapshot)
            if worker is not None:
                worker.cancel()

        # Without the guard: opening a library holds the folder when it asks for it.
        name = self.folder.hide(library_id, last)
        with self._guard:
            if self._open.get(library_id) is library:  # and not one that was made in its place meanwhile
                for held in (self._open, self._embed_jobs, self._workers, self._faults, self._swept):
                    held.pop(library_id, None)
                self._end_embedding(library_id)
        if worker is not None:
            worker.stop()
        return name

    def give_up_lost(self) -> None:
        """End the jobs of embedding of libraries that are not there any more, or cannot be opened."""
        opened = {library.library_id for library in self.opened()}
        lost = [job for job in self.board.open_jobs() if job.kind is JobKind.EMBED and job.library_id not in opened]
        cause = Cause(ErrorReason.LIBRARIES_UNREACHABLE, "The library cannot be opened.")
        self.board.end([job.job_id for job in lost], JobState.FAILED, cause)

    def close(self) -> None:
        """Stop embedding, close every library, let go of the folder."""
        with self._guard:
            for library_id in list(self._workers):
                self._detach(library_id)
        self.folder.close()

    def _end_embedding(self, library_id: str) -> None:
        open_jobs = [job for job in self.board.open_jobs(library_id) if job.kind is JobKind.EMBED]
        self.board.end([job.job_id for job in open_jobs], JobState.CANCELLED)

    def _opened(self, library: Library) -> None:
        with self._guard:
            self._open[library.library_id] = library
            self._embed_jobs[library.library_id] = EmbedJobs(self.board, library)
            self._attach(library)

    def _attach(self, library: Library) -> None:
        """Give the library the embedder, where its settings take it."""
        library_id, embedder = library.library_id, self._embedder
        jobs = self._embed_jobs[library_id]
        self._faults.pop(library_id, None)
        if library.config.embedder == "none":
            jobs.end(JobState.FAILED, Cause(ErrorReason.NO_EMBEDDER, "The library keeps no vectors."))
            return
        if embedder is None:
            if self._absence is not None:
                jobs.end(JobState.FAILED, Cause(ErrorReason.NO_EMBEDDER, self._absence.message))
            return
        fault = fault_of_wish(library.config.embedder, embedder)
        if fault is not None:
            self._faults[library_id] = fault
            jobs.end(JobState.FAILED, fault)
            return
        try:
            library.use_embedder(embedder)
        except GroundwireError as error:
            self._faults[library_id] = error.cause()
            jobs.end(JobState.FAILED, error.cause())
            _log.warning("library %s does not take the embedder: %s", library_id, error.reason.name)
            return
        self._end_foreign(library, jobs)
        self._start_worker(library, embedder)

    def _end_foreign(self, library: Library, jobs: EmbedJobs) -> None:
        """Vectors of another model: words answer, VECTOR_OFF says why, and nothing is thrown away unasked."""
        snapshot = library.snapshot()
        for audience in AUDIENCES:
            if snapshot.foreign_model(audience) is not None:
                _log.warning("library %s has vectors of another model", library.library_id)
                message = "The vectors of the library are another model's."
                jobs.end(JobState.FAILED, Cause(ErrorReason.INDEX_MISMATCH, message), audience=audience)
                return

    def _start_worker(self, library: Library, embedder: Embedder) -> None:
        jobs = self._embed_jobs[library.library_id]
        known = partial(self._known_vectors, library.library_id, embedder)
        worker = EmbeddingWorker(library, embedder, jobs, self._threads, known=known)
        self._workers[library.library_id] = worker
        worker.start()

    def _known_vectors(
        self, library_id: str, embedder: Embedder, texts: Sequence[str], label: Label
    ) -> dict[str, NDArray[np.float32]]:
        """Vectors that texts have in other libraries: equal texts have equal vectors, and it takes long to make one.

        Only of texts up to the label that the vectors are for: how soon a text is embedded then tells nothing that its
        readers could not read, as every caller may read every library.
        """
        # Without the guard: whoever holds it may be waiting for the worker that asks here.
        others = [library for key, library in sorted(self._open.copy().items()) if key != library_id]
        found: dict[str, NDArray[np.float32]] = {}
        for other in others:
            left = [text for text in texts if text not in found]
            try:
                packed = other.store.reader().vectors_of_texts(embedder.version, left, label)
            except Exception:  # noqa: BLE001 - it may be closed or damaged this moment: then the model is asked
                continue
            found.update((text, unpack_vector(each)) for text, each in packed.items() if len(each) == 4 * embedder.dim)
        return found

    def _detach(self, library_id: str) -> None:
        worker = self._workers.pop(library_id, None)
        if worker is not None:
            worker.stop()


@contextmanager
def _opening(library_id: str) -> Iterator[None]:
    """What is wrong with a library is no fault of the call that meets it."""
    try:
        yield
    except (UnknownResource, FailedPrecondition, ResourceExhausted, Unavailable):
        raise
    except Exception as error:
        _log.error("library %s cannot be opened: %s", library_id, type(error).__name__)
        raise Unavailable(
            ErrorReason.LIBRARIES_UNREACHABLE,
            f"The library {library_id} cannot be opened.",
            hint="ListLibraries says why.",
            details={"library_id": library_id},
        ) from error
