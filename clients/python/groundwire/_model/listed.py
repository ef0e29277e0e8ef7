"""Stored figures and relations with their sources, for review and export."""

from __future__ import annotations

from dataclasses import dataclass

from groundwire._model.figure import MetricFact
from groundwire._model.lineage import Lineage
from groundwire._model.relation import GraphEdge

__all__ = ["ListedFact", "ListedRelation"]


@dataclass(frozen=True, slots=True)
class ListedFact:
    """A stored figure, and where it comes from."""

    fact: MetricFact
    lineage: Lineage


@dataclass(frozen=True, slots=True)
class ListedRelation:
    """A stored relation with its first source; the others stand in `lineage.members`.

    extractors: who found it, a source each: that of `lineage` first, then those of its members.
    """

    edge: GraphEdge
    lineage: Lineage
    extractors: tuple[str, ...] = ()
