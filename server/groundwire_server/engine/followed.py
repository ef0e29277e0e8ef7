"""The engine of a process that reads what another one writes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from groundwire_server.dense import Embedder
from groundwire_server.engine.embedding import fault_of_wish
from groundwire_server.engine.engine import Engine
from groundwire_server.engine.info import Component, ServerInfo
from groundwire_server.engine.libraries import Libraries
from groundwire_server.errors import Cause, GroundwireError
from groundwire_server.evidence import Label, Principal
from groundwire_server.ingest import EmbeddingWorker
from groundwire_server.library import DataFolder, FollowedFolder, Library
from groundwire_server.narrative import NoEmbedder
from groundwire_server.settings import Settings

__all__ = ["FollowingEngine"]

_log = logging.getLogger(__name__)


class _FollowedLibraries(Libraries):
    """Libraries that another process writes, with the embedder that they are searched with. Nothing is embedded here.

    Raises:
        FailedPrecondition: there is no such data folder yet.
    """

    def __init__(self, settings: Settings) -> None:
        self._wished: dict[str, str] = {}
        super().__init__(settings)

    def _open_folder(self, settings: Settings, secret: bytes | None) -> DataFolder:
        return FollowedFolder(
            settings.data, secret=secret, opened=self._opened, gone=self._forget, moved=self._take_settings
        )

    def follow(self) -> None:
        """Take up at once what was written."""
        assert isinstance(self.folder, FollowedFolder)
        self.folder.follow()

    def use_embedder(self, embedder: Embedder) -> None:
        """Search with this embedder from now on, in every library that takes it."""
        with self._guard:
            self._embedder = embedder
            for library in list(self._open.values()):
                self._attach(library)

    def go_without(self, absence: NoEmbedder) -> None:
        """There is no embedder, and none on its way."""
        with self._guard:
            self._absence = absence

    def worker(self, library_id: str) -> EmbeddingWorker | None:
        """None: the other process embeds."""
        return None

    def embedding_job(self, library_id: str, audience: Label, since: datetime) -> str:
        """None that this process knows."""
        return ""

    def close(self) -> None:
        """Stop following."""
        self.folder.close()

    def _opened(self, library: Library) -> None:
        with self._guard:
            self._open[library.library_id] = library
            self._attach(library)

    def _forget(self, library_id: str) -> None:
        with self._guard:
            for held in (self._open, self._faults, self._wished):
                held.pop(library_id, None)

    def _take_settings(self, library: Library) -> None:
        """A library may take or leave the embedder since it was looked at last."""
        with self._guard:
            if self._open.get(library.library_id) is library:
                wished = self._wished.get(library.library_id)
                if self._embedder is not None and wished != library.config.embedder:
                    self._attach(library)

    def _attach(self, library: Library) -> None:
        library_id, embedder = library.library_id, self._embedder
        self._faults.pop(library_id, None)
        if embedder is None:
            return
        self._wished[library_id] = library.config.embedder
        fault: Cause | None = fault_of_wish(library.config.embedder, embedder)
        if fault is not None and library.config.embedder != "none":
            self._faults[library_id] = fault
        library.use_embedder(None if fault is not None else embedder)


class FollowingEngine(Engine):
    """Answers reads of what another process writes into the same data folder, and writes nothing itself.

    What changes something belongs to the other process: those methods are not to be called here.

    Args:
        settings: of the server.
        process: name of this process.
        writer_fault: why the other process does not answer now; empty: it does.

    Raises:
        FailedPrecondition: there is no data folder yet; the settings insist on a model that is not prepared.
        InvalidRequest: the settings name a library router that is not there, or a model that cannot be asked.
    """

    _libraries: _FollowedLibraries

    def __init__(
        self, settings: Settings, *, process: str = "reader", writer_fault: Callable[[], str] = lambda: ""
    ) -> None:
        self._process = process
        self._writer_fault = writer_fault
        super().__init__(settings)

    def server_info(self, principal: Principal) -> ServerInfo:
        """As `Engine.server_info`, with the processes that the caller has to do with."""
        info = super().server_info(principal)
        fault = self._writer_fault()
        writer = Component("process", "writer", active=not fault, inactive_reason=fault)
        components = (*info.components, Component("process", self._process), writer)
        return replace(info, components=tuple(sorted(components, key=lambda each: (each.kind, each.name))))

    def follow(self) -> None:
        """Take up at once what was written, for who must know the newest state; a thread does it by itself."""
        self._libraries.follow()

    def announce(self, address: str) -> None:
        """Nothing: who holds the folder says where the server answers."""

    def close(self) -> None:
        """Stop following."""
        if self._model is not None:
            self._model.close()
        self._opener.join()
        self._embedder.wait()
        self._libraries.close()

    def _open_libraries(self, settings: Settings, lock: int | None) -> Libraries:
        return _FollowedLibraries(settings)

    def _begin(self, settings: Settings) -> None:
        self._opener = threading.Thread(target=self._open_all, name="groundwire-open", daemon=True)
        self._opener.start()

    def _open_all(self) -> None:
        """Nobody's first question has to wait for a library to be opened."""
        try:
            self._libraries.opened()
        except GroundwireError as error:
            _log.warning("libraries cannot be opened now: %s", error.reason.name)
