"""The extractor that finds nothing: a graph of what was given, and of nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from groundwire_server.evidence import Label
from groundwire_server.relations.extractors.extraction import Check, Extraction, SourceDocument

__all__ = ["NoExtractor"]


@dataclass(frozen=True, slots=True)
class NoExtractor:
    """Leaves the graph as it is, to the byte."""

    name: str = "none"
    version: str = "none"
    unverified: bool = False
    clearance: Label = Label.CONFIDENTIAL
    immediate: bool = True
    parallel: int = 1

    def extract(self, document: SourceDocument, check: Check = lambda: None) -> Extraction:
        """Nothing."""
        return Extraction()
