"""The extractors by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from groundwire_server.errors import ErrorReason, FailedPrecondition, InvalidRequest
from groundwire_server.evidence import Label
from groundwire_server.glossary import Glossary
from groundwire_server.relations.extractors.co_occurrence import CO_OCCURRENCE, CoOccurrenceExtractor
from groundwire_server.relations.extractors.extraction import RelationExtractor
from groundwire_server.relations.extractors.nothing import NoExtractor
from groundwire_server.security import SecurityGate

if TYPE_CHECKING:
    from groundwire_server.llm import ModelProvider

__all__ = ["EXTRACTED_BY", "EXTRACTORS", "LLM", "ModelAccess", "make_extractor"]

LLM = "llm"

EXTRACTORS = ("none", CO_OCCURRENCE, LLM)
"""Names of all extractors, as a library's settings say them."""

EXTRACTED_BY = (CO_OCCURRENCE, LLM)
"""Extractors that edges may name: those that find anything."""


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """A language model, and what it may be shown.

    provider: None: there is none. gate: names that are not answered about. clearance: the strictest label it may see.
    parallel: calls at a time.
    """

    provider: ModelProvider | None = None
    gate: SecurityGate = field(default_factory=SecurityGate)
    clearance: Label = Label.INTERNAL
    parallel: int = 1


def make_extractor(name: str, glossary: Glossary, model: ModelAccess | None = None) -> RelationExtractor:
    """The extractor of that name. What speaks to a model is loaded by the first that asks one.

    Raises:
        InvalidRequest: UNKNOWN_NAME.
        FailedPrecondition: NO_MODEL.
    """
    if name == CO_OCCURRENCE:
        return CoOccurrenceExtractor(glossary)
    if name == "none":
        return NoExtractor()
    if name == LLM:
        if model is None or model.provider is None:
            raise FailedPrecondition(
                ErrorReason.NO_MODEL, "The server has no language model.", hint="Set llm.provider and llm.model."
            )
        from groundwire_server.relations.extractors.model import ModelExtractor

        return ModelExtractor(glossary, model.provider, model.gate, model.clearance, model.parallel)
    why = f"{name[:80]!r} is none of {', '.join(EXTRACTORS)}"
    raise InvalidRequest.one("relation_extractor", ErrorReason.UNKNOWN_NAME, why)
