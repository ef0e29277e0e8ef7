"""The extractors that there are (semantics 3): by the glossary, and by a language model."""

from __future__ import annotations

from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.query.filters.by_glossary import GlossaryExtractor
from groundwire_server.query.filters.by_model import ModelExtractor
from groundwire_server.query.filters.extractor import FilterExtractor

__all__ = ["FILTER_EXTRACTORS", "make_filter_extractor"]

_ALL: tuple[FilterExtractor, ...] = (GlossaryExtractor(), ModelExtractor())
FILTER_EXTRACTORS: tuple[str, ...] = tuple(sorted(each.name for each in _ALL))


def make_filter_extractor(name: str) -> FilterExtractor:
    """An extractor by name.

    Raises:
        InvalidRequest: a name that none has; it lists the valid ones.
    """
    for each in _ALL:
        if each.name == name:
            return each
    why = f"{name!r} is none of {', '.join(FILTER_EXTRACTORS)}"
    raise InvalidRequest.one("filter_extractor", ErrorReason.UNKNOWN_NAME, why)
