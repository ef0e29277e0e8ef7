"""Names that a model may choose from when it calls a tool: those that the caller can ask by, and no other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from groundwire_server.evidence import Principal
from groundwire_server.glossary import TOTAL, ChannelTerm, EntityTerm, MetricTerm, Term
from groundwire_server.library import Snapshot

__all__ = ["ToolNames", "tool_names"]


@dataclass(frozen=True, slots=True)
class ToolNames:
    """Ids of libraries; codes of metrics, entities and channels, each with its label, "" where it has none. All sorted.

    The channel that is the whole is among them wherever there is a library.
    """

    libraries: tuple[str, ...]
    metrics: tuple[tuple[str, str], ...]
    entities: tuple[tuple[str, str], ...]
    channels: tuple[tuple[str, str], ...]


def tool_names(snapshots: Sequence[Snapshot], principal: Principal) -> ToolNames:
    """Names of the glossaries, and codes of readable figures that no term has.

    A code that two libraries label differently takes the label of the first, in order of id.
    """
    ordered = sorted(snapshots, key=lambda each: each.library_id)
    return ToolNames(
        tuple(each.library_id for each in ordered),
        _codes(ordered, principal, "metric", MetricTerm),
        _codes(ordered, principal, "entity", EntityTerm),
        _codes(ordered, principal, "channel", ChannelTerm),
    )


def _codes(
    snapshots: Iterable[Snapshot], principal: Principal, axis: str, kind: type[MetricTerm | EntityTerm | ChannelTerm]
) -> tuple[tuple[str, str], ...]:
    labels: dict[str, str] = {}
    for snapshot in snapshots:
        terms: Iterable[Term] = snapshot.glossary.terms
        for term in terms:
            if isinstance(term, kind) and not labels.get(term.code):
                labels[term.code] = term.label
        for code in snapshot.reader.fact_codes(principal.clearance, axis):
            labels.setdefault(code, "")
        if kind is ChannelTerm:
            labels.setdefault(TOTAL, "")
    return tuple(sorted(labels.items()))
