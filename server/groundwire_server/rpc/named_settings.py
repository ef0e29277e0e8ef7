"""Settings of a library that go by name and text on the wire (`Library.settings`)."""

from __future__ import annotations

from collections.abc import Callable

from groundwire_server.evidence import Label
from groundwire_server.library import LibraryConfig

__all__ = ["NAMED", "default_text", "setting_text"]


def _number(text: str) -> float:
    if "_" in text:
        raise ValueError
    return float(text)


def _whole_number(text: str) -> int:
    if "_" in text:
        raise ValueError
    return int(text)


def _truth(text: str) -> bool:
    return {"true": True, "false": False}[text.strip().casefold()]


# How each is read, and what its text must be. Label and names are judged by the config itself.
NAMED: dict[str, tuple[Callable[[str], object], str]] = {
    "adaptive": (_truth, "true or false"),
    "ambiguous": (str, "text"),
    "b": (_number, "number"),
    "budget_unit": (str, "text"),
    "corrective": (_truth, "true or false"),
    "corrective_judge": (str, "text"),
    "decomposition": (str, "text"),
    "default_label": (str, "text"),
    "filter_extractor": (str, "text"),
    "fusion": (str, "text"),
    "glossary_variants": (_truth, "true or false"),
    "graph": (_truth, "true or false"),
    "k1": (_number, "number"),
    "query_transform": (str, "text"),
    "relations_from": (str, "text"),
    "vector_depth": (_whole_number, "whole number"),
}


def setting_text(config: LibraryConfig, name: str) -> str:
    """The value as it goes over the wire.

    >>> setting_text(LibraryConfig(k1=0.9), "k1"), setting_text(LibraryConfig(), "default_label")
    ('0.9', 'INTERNAL')
    """
    value = getattr(config, name)
    if isinstance(value, Label):
        return value.name
    return str(value).lower() if isinstance(value, bool) else str(value)


def default_text(name: str) -> str:
    """The value of a library that does not say."""
    return setting_text(LibraryConfig(), name)
