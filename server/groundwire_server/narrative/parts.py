"""What a retrieval works with; the engine picks the parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from groundwire_server.narrative.libraries import LibraryRouter
from groundwire_server.narrative.request import RetrievalLimits
from groundwire_server.security import SecurityGate

if TYPE_CHECKING:
    from groundwire_server.dense import Embedder

__all__ = ["RetrievalParts"]


@dataclass(frozen=True, slots=True)
class RetrievalParts:
    """The parts of this server.

    Attributes:
        embedder: None: words only.
        library_router: None: the one that the request names, by default keyword overlap.
    """

    embedder: Embedder | None = None
    gate: SecurityGate = field(default_factory=SecurityGate)
    limits: RetrievalLimits = field(default_factory=RetrievalLimits)
    library_router: LibraryRouter | None = None
