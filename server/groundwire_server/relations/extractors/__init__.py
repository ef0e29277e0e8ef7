"""Relations found in texts: one protocol, and who keeps to it (semantics 12)."""

from groundwire_server.relations.extractors.co_occurrence import (
    CO_OCCURRENCE,
    MAX_MENTIONS,
    MAX_PAIRS,
    MAX_REACH,
    CoOccurrenceExtractor,
)
from groundwire_server.relations.extractors.edges import (
    evidence_span,
    extract_edges,
    new_document,
    stored_document,
)
from groundwire_server.relations.extractors.extraction import (
    Check,
    Extraction,
    FoundRelation,
    Passage,
    RelationExtractor,
    SourceDocument,
)
from groundwire_server.relations.extractors.nothing import NoExtractor
from groundwire_server.relations.extractors.registry import (
    EXTRACTED_BY,
    EXTRACTORS,
    LLM,
    ModelAccess,
    make_extractor,
)
from groundwire_server.relations.extractors.worked import EVERYTHING, Worked, note_documents

__all__ = [
    "CO_OCCURRENCE",
    "EVERYTHING",
    "EXTRACTED_BY",
    "EXTRACTORS",
    "LLM",
    "MAX_MENTIONS",
    "MAX_PAIRS",
    "MAX_REACH",
    "Check",
    "CoOccurrenceExtractor",
    "Extraction",
    "FoundRelation",
    "ModelAccess",
    "NoExtractor",
    "Passage",
    "RelationExtractor",
    "SourceDocument",
    "Worked",
    "evidence_span",
    "extract_edges",
    "make_extractor",
    "new_document",
    "note_documents",
    "stored_document",
]
