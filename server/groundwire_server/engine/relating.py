"""Who finds relations in the documents of which library, and what there is left to do."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from groundwire_server.errors import FailedPrecondition, GroundwireError
from groundwire_server.evidence import Label
from groundwire_server.glossary import Glossary
from groundwire_server.ingest import documents_to_relate, relate
from groundwire_server.jobs import AUDIENCES, JobControl
from groundwire_server.library import Library, LibraryConfig, Snapshot
from groundwire_server.llm import Usage, UsageMeter
from groundwire_server.relations.extractors import LLM, ModelAccess, RelationExtractor, Worked, make_extractor

__all__ = ["RELATE", "Relating", "RelatingCalls"]

RELATE = "relate"
"""The task that has the documents of a library worked on."""

_log = logging.getLogger(__name__)


class Relating:
    """Extractors of relations, by what a library's settings say.

    Args:
        model: what the extractor that asks a model asks.
    """

    def __init__(self, model: ModelAccess) -> None:
        self._model = model

    def extractor(self, snapshot: Snapshot) -> RelationExtractor:
        """The extractor of a library, over its glossary. Raises FailedPrecondition: NO_MODEL."""
        return self._make(snapshot.config, snapshot.glossary)

    def immediate(self, snapshot: Snapshot) -> RelationExtractor | None:
        """The same where relations are stored together with the documents that state them; else None."""
        if snapshot.config.relation_extractor == LLM:
            return None
        extractor = self.extractor(snapshot)
        return extractor if extractor.immediate else None

    def fault(self, config: LibraryConfig) -> FailedPrecondition | None:
        """Why nothing can be extracted by these settings: NO_MODEL, they ask for one, and there is none."""
        try:
            self._make(config, Glossary())
        except FailedPrecondition as error:
            return error
        return None

    def relate(self, library: Library, control: JobControl, *, anew: bool = False, final: bool = True) -> None:
        """The work of the task; raises as `ingest.relate` does."""
        provider = self._model.provider
        before = Usage() if provider is None else provider.meter.total()
        try:
            relate(library, control, self.extractor, anew=anew, final=final)
        finally:
            if provider is not None:
                _tell(library.library_id, provider.meter, provider.meter.total() - before)

    def waiting(self, snapshot: Snapshot, config: LibraryConfig | None = None) -> dict[Label, int]:
        """How many documents are to be worked on, by label; none where the extractor is not to be had.

        Args:
            config: as if the library had these settings.
        """
        config = config or snapshot.config
        if self.fault(config) is not None:
            return {}
        extractor = self._make(config, snapshot.glossary)
        if Worked.read(snapshot.reader) == Worked(extractor.version):
            return {}
        return documents_to_relate(snapshot, extractor)

    def audiences(self, waiting: dict[Label, int]) -> tuple[Label, ...]:
        """The classes of callers that may read something of what waits."""
        return tuple(audience for audience in AUDIENCES if any(label <= audience for label in waiting))

    def _make(self, config: LibraryConfig, glossary: Glossary) -> RelationExtractor:
        return make_extractor(config.relation_extractor, glossary, self._model)


class RelatingCalls:
    """Orders the work for libraries that have new documents, in a thread, so that nobody who stores any waits for it.

    Args:
        order: has a library's documents worked on, where there are any.
    """

    def __init__(self, order: Callable[[str], None]) -> None:
        self._order = order
        self._changed = threading.Condition()
        self._called: dict[str, None] = {}
        self._closed = False
        self._thread: threading.Thread | None = None

    def call(self, library_id: str) -> None:
        """A library may have something new. Never waits; what is called again while it waits is called once."""
        with self._changed:
            if self._closed:
                return
            self._called[library_id] = None
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="groundwire-relate", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def close(self) -> None:
        """Order nothing more; the next server finds by itself what is left."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._called or self._closed)
                if self._closed:
                    return
                library_id = next(iter(self._called))
                del self._called[library_id]
            try:
                self._order(library_id)
            except Exception as error:  # noqa: BLE001 - one library must not end the thread of all
                why = error.reason.name if isinstance(error, GroundwireError) else type(error).__name__
                _log.warning("library %s is not looked through for relations yet: %s", library_id, why)


def _tell(library_id: str, meter: UsageMeter, used: Usage) -> None:
    """What the model was asked; calls of others at the same time are among them."""
    if used == Usage():
        return
    _log.info(
        "library %s: the model answered %d times and failed %d times, %d tries were repeated; %d tokens of prompts, "
        "%d of replies, %d replies uncounted, cost %s",
        library_id,
        used.calls,
        used.failures,
        used.retries,
        used.prompt_tokens,
        used.reply_tokens,
        used.uncounted,
        meter.prices.cost(used),
    )
