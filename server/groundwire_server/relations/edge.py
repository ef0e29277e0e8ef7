"""One edge of our own making, stored under the name that the library's glossary gives its relation."""

from __future__ import annotations

from groundwire_server.evidence import Attribute, Label, Locator
from groundwire_server.glossary import Glossary
from groundwire_server.relations.nodes import Node
from groundwire_server.store import EdgeRecord

__all__ = ["make_edge"]


def make_edge(
    source: Node,
    relation: str,
    target: Node,
    *,
    glossary: Glossary,
    extractor: str,
    place: Locator,
    label: Label,
    attributes: tuple[Attribute, ...] = (),
) -> EdgeRecord:
    """The edge, turned round where the glossary says that its name is that of another one read backwards."""
    stored, turned = glossary.relation_names.resolve(relation)
    start, end = (target, source) if turned else (source, target)
    return EdgeRecord(
        source_kind=start[0],
        source=start[1],
        relation=stored,
        target_kind=end[0],
        target=end[1],
        extractor=extractor,
        source_doc=place.doc_id,
        locator=str(place),
        attributes=attributes,
        label=label,
    )
