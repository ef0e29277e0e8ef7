"""Filters that are read out of a question: by the glossary, or by a language model (semantics 3)."""

from groundwire_server.query.filters.extractor import (
    COMPONENT,
    Attributes,
    Extracted,
    FilterExtractor,
    FilterSource,
    ValuesOf,
    extraction_skipped,
)
from groundwire_server.query.filters.factory import FILTER_EXTRACTORS, make_filter_extractor

__all__ = [
    "COMPONENT",
    "FILTER_EXTRACTORS",
    "Attributes",
    "Extracted",
    "FilterExtractor",
    "FilterSource",
    "ValuesOf",
    "extraction_skipped",
    "make_filter_extractor",
]
