"""The server's embedder: there, on its way, or not there and why. Never a silent downgrade."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from groundwire_server.dense import DEFAULT_MODEL, Embedder, find_model, make_embedder
from groundwire_server.engine.info import Component
from groundwire_server.errors import Cause, ErrorReason, FailedPrecondition, GroundwireError
from groundwire_server.narrative import NoEmbedder
from groundwire_server.settings import Settings

__all__ = ["ServerEmbedder", "fault_of_wish"]

_log = logging.getLogger(__name__)
_FOR_TESTS = "deterministic"
_PREPARE = "`groundwire models prepare` fetches the default model; mode LEXICAL needs none."
_PREPARE_TO_CUT = (
    "`groundwire models prepare` fetches the default model; every chunker but semantic, with a budget in characters, "
    "needs none."
)
_LOADING = NoEmbedder(
    "embedder:loading", "The embedder is loading.", "Try again in a moment; mode LEXICAL answers now."
)
# Said of a library that does not take the embedder that is there.
_NOT_TAKEN = NoEmbedder(
    message="The library keeps no vectors.", hint="Set the library's embedder; mode LEXICAL needs none."
)


def fault_of_wish(wished: str, embedder: Embedder) -> Cause | None:
    """Why a library whose settings wish for an embedder does not search with the one that is there; None: it does."""
    if wished == "none":
        return Cause(ErrorReason.NO_EMBEDDER, "The library keeps no vectors.")
    if wished != "auto" and (wished == _FOR_TESTS) is not (embedder.name == _FOR_TESTS):
        why = f"The library is set to the embedder {wished}, and the server has {embedder.name}."
        return Cause(ErrorReason.NO_EMBEDDER, why)
    return None


class ServerEmbedder:
    """Loads the embedder that the settings name, in a thread of its own, so that words answer at once.

    Args:
        settings: `embedding.backend`, `retrieval.mode` and `models` are read.
        ready: called once in that thread with the embedder, to give it to the libraries.
        absent: called once when there is none, and none on its way.

    Raises:
        FailedPrecondition: NO_MODEL, the settings insist on the model and it is not prepared.
    """

    def __init__(
        self, settings: Settings, ready: Callable[[Embedder], None], absent: Callable[[NoEmbedder], None]
    ) -> None:
        self._ready = ready
        self._absent = absent
        self._backend = settings.embedding.backend
        self._folder = settings.models
        self._embedder: Embedder | None = None
        self._known = threading.Event()  # whether there is one
        self._absence = self._decide(settings)
        self._thread = threading.Thread(target=self._load, name="groundwire-embedder", daemon=True)
        if self._absence is _LOADING:
            self._thread.start()
        else:
            self._known.set()
            absent(self._absence)

    @property
    def embedder(self) -> Embedder | None:
        """The embedder, once it is there: before any library has it, so that vectors are never without it."""
        return self._embedder

    @property
    def loading(self) -> bool:
        """Whether it is on its way, to the server or to its libraries."""
        return self._absence is _LOADING

    @property
    def name(self) -> str:
        """Name of the model that there is, or that would be used."""
        if self._embedder is not None:
            return self._embedder.name
        return DEFAULT_MODEL if self._backend in ("auto", "onnx") else self._backend

    @property
    def absence(self) -> NoEmbedder:
        """Why there is none, or why a library has none; told to callers."""
        return self._absence

    def component(self) -> Component:
        """The embedder as GetServerInfo lists it."""
        if self._embedder is not None and not self.loading:
            return Component("embedder", self.name, version=self._embedder.version)
        return Component("embedder", self.name, active=False, inactive_reason=self.absence.message)

    def cutting_model(self) -> Embedder:
        """The model that cuts texts by meaning or by tokens; waits for one that is on its way.

        It does not wait for the libraries to take it, which may wait for the caller.

        Raises:
            FailedPrecondition: NO_EMBEDDER; what stands in for a model in tests is none.
        """
        self._known.wait()
        embedder = self._embedder
        if embedder is None or embedder.for_tests:
            raise FailedPrecondition(ErrorReason.NO_EMBEDDER, self.cutting_fault, hint=_PREPARE_TO_CUT)
        return embedder

    @property
    def cutting_fault(self) -> str:
        """Why nothing can be cut by a model now; empty: it can. Does not wait."""
        embedder = self._embedder
        if embedder is None:
            return self._absence.message
        if embedder.for_tests:
            return f"The embedder {embedder.name} is for tests: it knows neither meaning nor the tokens of a model."
        return ""

    def wait(self, seconds: float | None = None) -> None:
        """Until it is loaded, or has failed; for commands and tests that need it."""
        if self._thread.is_alive():
            self._thread.join(seconds)

    def _decide(self, settings: Settings) -> NoEmbedder:
        """Whether to load one at all."""
        if self._backend == "none":
            return NoEmbedder(message="The server is set to embedding.backend = none.", hint="Use mode LEXICAL.")
        if settings.retrieval.mode == "lexical":
            return NoEmbedder(message="The server is set to retrieval.mode = lexical.", hint="Use mode LEXICAL.")
        if self._backend == "deterministic" or find_model(DEFAULT_MODEL, None, self._folder) is not None:
            return _LOADING
        if self._backend == "onnx":
            raise FailedPrecondition(
                ErrorReason.NO_MODEL,
                f"embedding.backend is onnx, and the model {DEFAULT_MODEL} is not prepared.",
                hint="Run `groundwire models prepare`, or set embedding.backend = none.",
                details={"model": DEFAULT_MODEL},
            )
        return NoEmbedder(message=f"The model {DEFAULT_MODEL} is not prepared.", hint=_PREPARE)

    def _load(self) -> None:
        try:
            self._try_to_load()
        finally:
            self._known.set()
        if self._embedder is None:
            self._absent(self._absence)

    def _try_to_load(self) -> None:
        try:
            embedder = make_embedder(self._backend, folder=self._folder)
            if embedder is None:  # its files went away since they were seen
                self._absence = NoEmbedder(message=f"The model {DEFAULT_MODEL} is not prepared.", hint=_PREPARE)
                return
            self._embedder = embedder
            self._known.set()
            self._ready(embedder)
            self._absence = _NOT_TAKEN
        except GroundwireError as error:
            self._embedder = None
            _log.error("the embedder cannot be loaded: %s", error.reason.name)
            self._absence = NoEmbedder("embedder:failed", error.message, error.hint)
        except Exception as error:  # noqa: BLE001 - whatever a model runtime raises, words go on answering
            self._embedder = None
            _log.error("the embedder cannot be loaded: %s", type(error).__name__)
            self._absence = NoEmbedder("embedder:failed", "The embedder cannot be loaded.", _PREPARE)
