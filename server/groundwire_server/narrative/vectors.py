"""Whether a library can be searched by meaning, and what to say where it cannot (semantics 2)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundwire_server.errors import Cause, ErrorReason, FailedPrecondition, GroundwireError
from groundwire_server.evidence import Call, CallCancelled, Degradation, DegradationKind, Label
from groundwire_server.narrative.parts import NoEmbedder, RetrievalParts
from groundwire_server.narrative.request import RetrievalMode

if TYPE_CHECKING:
    from groundwire_server.dense import Embedder
    from groundwire_server.library import Snapshot
    from groundwire_server.narrative.state import Search

__all__ = [
    "embed_or_explain",
    "model_name",
    "partial_degradation",
    "shortlist_for",
    "vector_degradation",
    "vector_fault",
]

_log = logging.getLogger(__name__)


def model_name(embedder: Embedder) -> str:
    """A model as plans name it: NAME@SHA-256 of its file."""
    return f"{embedder.name}@{embedder.version}"


def vector_fault(snapshot: Snapshot, parts: RetrievalParts, clearance: Label) -> Cause | None:
    """Why a library cannot be searched by meaning under a clearance; None when it can."""
    library, embedder = ("library_id", snapshot.library_id), parts.embedder
    if embedder is None:
        return Cause(ErrorReason.NO_EMBEDDER, parts.no_embedder.message, (library,))
    if snapshot.vectors is None:
        known = parts.vector_faults.get(snapshot.library_id)
        return known or Cause(ErrorReason.NO_EMBEDDER, parts.no_embedder.message, (library,))
    version = snapshot.vectors.version
    stored = version if version != embedder.version else snapshot.foreign_model(clearance)
    if stored is not None:
        facts = (("configured", embedder.version), library, ("stored", stored))
        return Cause(ErrorReason.INDEX_MISMATCH, "The vectors of the library are another model's.", facts)
    return None


def vector_degradation(
    call: Call, mode: RetrievalMode, library_id: str, cause: Cause, absence: NoEmbedder
) -> Degradation:
    """VECTOR_OFF, where the mode lets words answer alone.

    Raises:
        FailedPrecondition: the mode asks for vectors, or the call forbids to go on without.
    """
    if mode is not RetrievalMode.AUTO:
        raise FailedPrecondition(
            cause.reason,
            cause.message,
            hint=absence.hint,
            details={**dict(cause.details), "library_id": library_id, "mode": mode.name},
        )
    return call.accept(Degradation(DegradationKind.VECTOR_OFF, absence.component, library_id, cause))


def partial_degradation(call: Call, library_id: str, coverage: float) -> Degradation:
    """VECTOR_PARTIAL: some candidates have no vector yet. Raises FailedPrecondition when the call forbids it."""
    return call.accept(Degradation(DegradationKind.VECTOR_PARTIAL, "embedder", library_id, coverage=coverage))


def shortlist_for(search: Search) -> int:
    """How many rows the dense leg rescores, by the size of the search; 0, exact, where the call wants none left out.

    A call that forbids VECTOR_PARTIAL, by itself or as FAIL_ON_DEGRADED does, wants every candidate judged by its
    vector: it gets that, and waits longer for it.
    """
    vectors = search.snapshot.vectors
    if vectors is None or DegradationKind.VECTOR_PARTIAL in search.call.options.forbid:
        return 0
    return vectors.shortlist(search.candidates, search.depth)


def embed_or_explain(embed: Callable[[], NDArray[np.float32]]) -> NDArray[np.float32] | Cause:
    """The vector of a query, or why there is none: a model may fail, and words still answer."""
    try:
        return embed()
    except CallCancelled:
        raise
    except GroundwireError as error:
        return error.cause()
    except Exception as error:  # noqa: BLE001 - a runtime of models raises types of its own making
        _log.warning("embedding a query failed: %s", type(error).__name__)
        return Cause(ErrorReason.NO_EMBEDDER, "The embedder failed.")
