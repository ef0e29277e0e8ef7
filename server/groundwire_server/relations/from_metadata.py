"""What the attributes of a document say it is about, as edges (semantics 12): `document mentions term`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from groundwire_server.evidence import Attribute, Label, Locator
from groundwire_server.glossary import Glossary
from groundwire_server.relations.edge import make_edge
from groundwire_server.relations.nodes import DOCUMENT, Node, term_node
from groundwire_server.store import EdgeRecord

__all__ = ["MENTIONS", "METADATA", "metadata_edges"]

METADATA = "metadata"
MENTIONS = "mentions"
_PERIOD = "period"
# Attributes that name terms, and the axis on which they do; a dimension of the glossary is one of its own name.
_AXES = {"entity": "entity", "entities": "entity", "metric": "metric", "metrics": "metric", "channel": "channel"}


def metadata_edges(
    doc_id: str, attributes: Sequence[Attribute], label: Label, glossary: Glossary
) -> tuple[EdgeRecord, ...]:
    """From a document to each term that one of its attributes names, in the order of the attributes, each once.

    A value that names no term, or several, gives none. The period of the document goes along as an attribute.
    """
    named: dict[Node, str] = {}
    for name, node in _named(attributes, glossary):
        named.setdefault(node, name)
    carried = tuple(attribute for attribute in attributes if attribute.name == _PERIOD)
    return tuple(
        make_edge(
            (DOCUMENT, doc_id),
            MENTIONS,
            node,
            glossary=glossary,
            extractor=METADATA,
            place=Locator(doc_id, (("attribute", name),)),
            label=label,
            attributes=carried,
        )
        for node, name in named.items()
    )


def _named(attributes: Iterable[Attribute], glossary: Glossary) -> Iterator[tuple[str, Node]]:
    for attribute in sorted(attributes, key=lambda each: each.name):
        axis = _AXES.get(attribute.name) or (attribute.name if attribute.name in glossary.dimensions else "")
        value = attribute.value
        texts = (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ()
        for text in texts if axis else ():
            node = term_node(glossary, axis, text)
            if node is not None:
                yield attribute.name, node
