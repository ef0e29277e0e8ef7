"""The extractors that there are (semantics 3): by the glossary, and by a language model."""

from __future__ import annotations

from groundwire_server.query.choice import choose, names_of
from groundwire_server.query.filters.by_glossary import GlossaryExtractor
from groundwire_server.query.filters.by_model import ModelExtractor
from groundwire_server.query.filters.extractor import FilterExtractor

__all__ = ["FILTER_EXTRACTORS", "make_filter_extractor"]

_ALL: tuple[FilterExtractor, ...] = (GlossaryExtractor(), ModelExtractor())
FILTER_EXTRACTORS: tuple[str, ...] = names_of(_ALL)


def make_filter_extractor(name: str) -> FilterExtractor:
    """An extractor by name.

    Raises:
        InvalidRequest: a name that none has; it lists the valid ones.
    """
    return choose(_ALL, name, "filter_extractor")
