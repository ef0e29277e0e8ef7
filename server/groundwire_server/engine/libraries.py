"""The libraries of a server: the data folder, and the embedder that they search with."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from groundwire_server.dense import Embedder
from groundwire_server.errors import Cause, ErrorReason, GroundwireError
from groundwire_server.ingest import EmbeddingJob
from groundwire_server.library import DEFAULT_LIBRARY, DataFolder, Library, LibraryConfig, Snapshot
from groundwire_server.narrative import Unreachable
from groundwire_server.settings import Settings

__all__ = ["RESUME_WINDOW", "Libraries"]

_log = logging.getLogger(__name__)

RESUME_WINDOW = timedelta(days=7)
"""How long an ingest is known: until then a repeat is safe and an unfinished one goes on."""

_SWEEP_EVERY = timedelta(days=1)


class Libraries:
    """Opens libraries, gives each the embedder when both are there, and embeds what has no vector yet.

    Raises:
        FailedPrecondition: another process has the data folder, or it cannot be written, or a newer version wrote it.
    """

    def __init__(self, settings: Settings) -> None:
        self._workers = settings.embedding.workers
        self._new_config = LibraryConfig(chunker=settings.ingest.chunker)
        self._guard = threading.RLock()
        self._embedder: Embedder | None = None
        self._open: dict[str, Library] = {}
        self._jobs: dict[str, EmbeddingJob] = {}
        self._faults: dict[str, Cause] = {}
        self._swept: dict[str, datetime] = {}
        secret = settings.secret.get_secret_value().encode() or None
        self.folder = DataFolder(settings.data, secret=secret, opened=self._opened)

    def snapshots(self, library_ids: Sequence[str] | None = None) -> tuple[list[Snapshot], list[Unreachable]]:
        """Libraries (by default all) at their newest state, and those that cannot be opened; both in order of id."""
        states: list[Snapshot] = []
        unreachable: list[Unreachable] = []
        for library_id in self.folder.list() if library_ids is None else library_ids:
            try:
                states.append(self.folder.library(library_id).snapshot())
            except GroundwireError as error:
                unreachable.append(Unreachable(library_id, error.cause()))
            except Exception as error:  # noqa: BLE001 - a damaged library must not take the others along
                _log.error("library %s cannot be opened: %s", library_id, type(error).__name__)
                cause = Cause(ErrorReason.INTERNAL, "The library could not be opened.", (("library_id", library_id),))
                unreachable.append(Unreachable(library_id, cause))
        return states, unreachable

    def for_reading(self, library_id: str) -> Library:
        """A library. Raises UnknownResource."""
        return self.folder.library(library_id)

    def for_writing(self, library_id: str) -> Library:
        """A library to write to; the default one is made by its first use. Raises UnknownResource."""
        if library_id == DEFAULT_LIBRARY:
            return self.folder.create(library_id, self._new_config)
        return self.folder.library(library_id)

    def opened(self) -> list[Library]:
        """Libraries that can be opened, by id."""
        self.snapshots()
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

    def refresh(self, library: Library) -> None:
        """After a change of a library's settings: take or leave the embedder as they say."""
        with self._guard:
            self._detach(library.library_id)
            library.use_embedder(None)
            self._attach(library)

    def wake_embedding(self, library_id: str) -> str:
        """Embed what is new. Returns the job's id, or "" where the library has no embedder."""
        with self._guard:
            job = self._jobs.get(library_id)
        if job is None:
            return ""
        job.wake()
        return f"embed-{library_id}"

    def vector_faults(self) -> dict[str, Cause]:
        """Why libraries do not search with the server's embedder, by id: their vectors are another model's."""
        with self._guard:
            return dict(self._faults)

    def close(self) -> None:
        """Stop embedding, close every library, let go of the folder."""
        with self._guard:
            for library_id in list(self._jobs):
                self._detach(library_id)
        self.folder.close()

    def _opened(self, library: Library) -> None:
        with self._guard:
            self._open[library.library_id] = library
            self._attach(library)

    def _attach(self, library: Library) -> None:
        """Give the library the embedder, where its settings take it."""
        library_id, embedder = library.library_id, self._embedder
        self._faults.pop(library_id, None)
        if embedder is None or library.config.embedder == "none":
            return
        try:
            library.use_embedder(embedder)
        except GroundwireError as error:
            # Stored vectors of another model: words answer, VECTOR_OFF says why, and nothing is thrown away unasked.
            self._faults[library_id] = error.cause()
            _log.warning("library %s does not take the embedder: %s", library_id, error.reason.name)
            return
        job = EmbeddingJob(library, embedder, workers=self._workers)
        self._jobs[library_id] = job
        job.start()

    def _detach(self, library_id: str) -> None:
        job = self._jobs.pop(library_id, None)
        if job is not None:
            job.stop()
