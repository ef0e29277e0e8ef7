"""Figures that one library has and another one states otherwise (semantics 10)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

from groundwire_server.evidence import MetricFact, Snippet
from groundwire_server.metric.conflict import conflicting_figures, conflicting_values
from groundwire_server.metric.exit import fact_snippet_id
from groundwire_server.metric.figures import Figure
from groundwire_server.metric.fiscal import Days
from groundwire_server.metric.rollup import RolledUp
from groundwire_server.store import FactLine

__all__ = ["conflicts_of_parts", "mark_conflicts"]


def mark_conflicts(snippets: Iterable[Snippet], figures: Iterable[Figure]) -> tuple[list[Snippet], bool]:
    """The snippets, each once, those marked that another source contradicts; and whether there are any.

    Args:
        figures: the latest of each source, of one metric and any entities, from all libraries together.
    """
    groups: dict[tuple[str, date, date], list[Figure]] = {}
    for figure in figures:  # a fiscal year may be of other days in another library
        record = figure.record
        groups.setdefault((record.entity, record.period_first, record.period_last), []).append(figure)
    clashing = {name for group in groups.values() for name in _names_of_conflicts(group)}
    shown = {snippet.snippet_id: snippet for snippet in snippets}
    for name in clashing & shown.keys():
        payload = shown[name].payload
        if isinstance(payload, MetricFact):
            shown[name] = replace(shown[name], payload=replace(payload, conflicting=True))
    return list(shown.values()), bool(clashing)


def conflicts_of_parts(sums: Sequence[RolledUp]) -> frozenset[str]:
    """Ids of the snippets of parts that the part of another sum contradicts: of one entity and days, in one unit.

    A sum of one library stands on no figure that its own sources contradict; those of another one may.
    """
    if len(sums) < 2:
        return frozenset()
    groups: dict[tuple[str, Days], list[tuple[str, FactLine]]] = {}
    for each in sums:
        for name, part in zip(each.part_ids, each.parts, strict=True):
            groups.setdefault((part.entity, each.span_of(part)), []).append((name, part))
    found: set[str] = set()
    for group in groups.values():
        if len(group) > 1:
            found |= conflicting_values((name, part.value, part.unit, part.decimals) for name, part in group)
    return frozenset(found)


def _names_of_conflicts(group: Sequence[Figure]) -> set[str]:
    clashing = conflicting_figures(group)
    return {fact_snippet_id(each) for each in group if (each.library_id, each.fact.fact_id) in clashing}
