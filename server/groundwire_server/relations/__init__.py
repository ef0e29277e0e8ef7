"""Relations that a library makes of what it holds: of its glossary, its figures, the attributes of its documents."""

from groundwire_server.relations.deriving import DerivedEdges
from groundwire_server.relations.from_facts import FACTS, REPORTS, fact_edges
from groundwire_server.relations.from_glossary import (
    DERIVES,
    GLOSSARY,
    GLOSSARY_FILE,
    HAS_MEMBER,
    PARENT_OF,
    glossary_edges,
)
from groundwire_server.relations.from_metadata import MENTIONS, METADATA, metadata_edges
from groundwire_server.relations.nodes import Node, member_node

__all__ = [
    "DERIVES",
    "FACTS",
    "GLOSSARY",
    "GLOSSARY_FILE",
    "HAS_MEMBER",
    "MENTIONS",
    "METADATA",
    "PARENT_OF",
    "REPORTS",
    "DerivedEdges",
    "Node",
    "fact_edges",
    "glossary_edges",
    "member_node",
    "metadata_edges",
]
