"""What there are figures of, as edges (semantics 12): who reports what, and on which members of further axes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from groundwire_server.evidence import Label, Locator
from groundwire_server.glossary import Glossary
from groundwire_server.relations.edge import make_edge
from groundwire_server.relations.from_glossary import HAS_MEMBER
from groundwire_server.relations.nodes import CHANNEL, ENTITY, METRIC, Node, channel_node, member_node, term_node
from groundwire_server.store import EdgeRecord, FactAxes

__all__ = ["FACTS", "REPORTS", "entity_node", "fact_edges"]

FACTS = "facts"
REPORTS = "reports"


def entity_node(code: str, glossary: Glossary) -> Node:
    """The node of an entity that figures name by a code, or by a name that the glossary has learnt since."""
    if code in glossary.entities:
        return ENTITY, code
    return term_node(glossary, ENTITY, code) or (ENTITY, code)


def fact_edges(axes: Iterable[FactAxes], glossary: Glossary) -> tuple[EdgeRecord, ...]:
    """`reports`, from an entity to each metric of which it has figures; `has_member`, to channels and members likewise.

    One edge a source, however many figures it has: their number makes no more of them, that of their axes does. Each
    has the least label of the figures that show it, and no figure in it.
    """
    found: dict[tuple[str, Node, str, Node], Label] = {}
    for each in axes:
        start = entity_node(each.entity, glossary)
        for relation, end in _ends(each, glossary):
            key = (each.source_doc, start, relation, end)
            found[key] = min(found.get(key, each.label), each.label)
    return tuple(
        make_edge(
            start,
            relation,
            end,
            glossary=glossary,
            extractor=FACTS,
            place=Locator(source_doc, (start, end)),
            label=label,
        )
        for (source_doc, start, relation, end), label in sorted(found.items())
    )


def _ends(axes: FactAxes, glossary: Glossary) -> Iterator[tuple[str, Node]]:
    """What an entity is related to by the axes of its figures, each by its term where there is one."""
    metric = (METRIC, axes.metric)
    yield REPORTS, metric if axes.metric in glossary.metrics else term_node(glossary, METRIC, axes.metric) or metric
    channel = channel_node(axes.channel)
    if channel is not None:
        yield HAS_MEMBER, term_node(glossary, CHANNEL, axes.channel) or channel
    for part in axes.dimensions:
        yield HAS_MEMBER, term_node(glossary, part.name, part.member) or member_node(part.name, part.member)
