"""What a retrieval works with; the engine picks the parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from groundwire_server.errors import Cause
from groundwire_server.evidence import Label
from groundwire_server.llm import ModelProvider
from groundwire_server.narrative.libraries import RouterChoice
from groundwire_server.narrative.request import RetrievalLimits
from groundwire_server.narrative.walk import EvidenceWalk
from groundwire_server.security import SecurityGate

if TYPE_CHECKING:
    from groundwire_server.dense import Embedder

__all__ = ["NoEmbedder", "RetrievalParts"]


@dataclass(frozen=True, slots=True)
class NoEmbedder:
    """Why a server or a library has no embedder, as a caller is told. `component` names the part and its state."""

    component: str = "embedder"
    message: str = "There is no embedder."
    hint: str = "`groundwire models prepare` fetches the default model; mode LEXICAL needs none."


@dataclass(frozen=True, slots=True)
class RetrievalParts:
    """The parts of this server.

    Attributes:
        embedder: None: words only.
        no_embedder: why there is none, or none in a library.
        vector_faults: why a library that has no vectors here has none, by its id, where there is more to say than that.
        library_router: where a request names none; None: all libraries are searched.
        graph: what follows relations where a request asks for it; None: nothing here does.
        model: the language model that stages of the query ask; None: there is none.
        model_clearance: strictest label of what it may be shown; none sees RESTRICTED.
    """

    embedder: Embedder | None = None
    no_embedder: NoEmbedder = field(default_factory=NoEmbedder)
    vector_faults: Mapping[str, Cause] = field(default_factory=dict)
    gate: SecurityGate = field(default_factory=SecurityGate)
    limits: RetrievalLimits = field(default_factory=RetrievalLimits)
    library_router: RouterChoice | None = field(default_factory=RouterChoice.default)
    graph: EvidenceWalk | None = None
    model: ModelProvider | None = None
    model_clearance: Label = Label.INTERNAL
