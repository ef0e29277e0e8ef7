"""The extractors by name."""

from __future__ import annotations

from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.glossary import Glossary
from groundwire_server.relations.extractors.co_occurrence import CO_OCCURRENCE, CoOccurrenceExtractor
from groundwire_server.relations.extractors.extraction import RelationExtractor
from groundwire_server.relations.extractors.nothing import NoExtractor

__all__ = ["EXTRACTED_BY", "EXTRACTORS", "make_extractor"]

EXTRACTORS = ("none", CO_OCCURRENCE)
"""Names of all extractors, as a library's settings say them."""

EXTRACTED_BY = (CO_OCCURRENCE,)
"""Extractors that edges may name: those that find anything."""


def make_extractor(name: str, glossary: Glossary) -> RelationExtractor:
    """The extractor of that name.

    Raises:
        InvalidRequest: UNKNOWN_NAME.
    """
    if name == CO_OCCURRENCE:
        return CoOccurrenceExtractor(glossary)
    if name == "none":
        return NoExtractor()
    why = f"{name[:80]!r} is none of {', '.join(EXTRACTORS)}"
    raise InvalidRequest.one("relation_extractor", ErrorReason.UNKNOWN_NAME, why)
