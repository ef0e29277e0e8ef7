"""What a glossary says of its terms, as edges (semantics 12): parents, formulas, members of axes."""

from __future__ import annotations

from collections.abc import Iterator

from groundwire_server.evidence import Label, Locator
from groundwire_server.glossary import Glossary, derivation_codes
from groundwire_server.relations.edge import make_edge
from groundwire_server.relations.nodes import CHANNEL, ENTITY, METRIC, Node, axis_node, channel_node, member_node
from groundwire_server.store import EdgeRecord

__all__ = ["DERIVES", "GLOSSARY", "GLOSSARY_FILE", "HAS_MEMBER", "PARENT_OF", "glossary_edges"]

GLOSSARY = "glossary"
GLOSSARY_FILE = "glossary.toml"
PARENT_OF, DERIVES, HAS_MEMBER = "parent_of", "derives", "has_member"

_Said = tuple[Node, str, Node, tuple[tuple[str, str], ...]]  # start, relation, end, and the term that says it


def glossary_edges(glossary: Glossary) -> tuple[EdgeRecord, ...]:
    """The edges of a glossary, in the order of its terms. The source of each is the term that says it, by its code.

    - `parent_of`, from an entity to each that names it as its parent.
    - `derives`, from each metric that a formula names, and the glossary has, to the metric whose formula it is. A text
      that is no formula gives none.
    - `has_member`, from an axis to each of its members, channels included.

    A glossary is for all who read a library, and so are its edges.
    """
    said = [*_parents(glossary), *_formulas(glossary), *_members(glossary)]
    return tuple(
        make_edge(
            start,
            relation,
            end,
            glossary=glossary,
            extractor=GLOSSARY,
            place=Locator(GLOSSARY_FILE, term),
            label=Label.PUBLIC,
        )
        for start, relation, end, term in said
    )


def _parents(glossary: Glossary) -> Iterator[_Said]:
    for child in glossary.entities.values():
        if child.parent_code:
            yield (ENTITY, child.parent_code), PARENT_OF, (ENTITY, child.code), ((ENTITY, child.code),)


def _formulas(glossary: Glossary) -> Iterator[_Said]:
    for metric in glossary.metrics.values():
        try:
            named = derivation_codes(metric.derivation, glossary.metrics) if metric.derivation else ()
        except ValueError:
            continue
        for code in named:
            if code in glossary.metrics and code != metric.code:
                yield (METRIC, code), DERIVES, (METRIC, metric.code), ((METRIC, metric.code),)


def _members(glossary: Glossary) -> Iterator[_Said]:
    for channel in glossary.channels:
        node = channel_node(channel)
        if node is not None:
            yield axis_node(CHANNEL), HAS_MEMBER, node, ((CHANNEL, channel),)
    for dimension, members in glossary.dimensions.items():
        for code in members:
            term = (("dimension", dimension), ("member", code))
            yield axis_node(dimension), HAS_MEMBER, member_node(dimension, code), term
