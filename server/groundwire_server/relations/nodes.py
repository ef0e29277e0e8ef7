"""The nodes that edges of our own making lead from and to: kind and code (semantics 12)."""

from __future__ import annotations

import re

from groundwire_server.glossary import TOTAL, Glossary, Resolved

__all__ = [
    "CHANNEL",
    "DIMENSION",
    "DOCUMENT",
    "ENTITY",
    "METRIC",
    "Node",
    "axis_node",
    "channel_node",
    "member_node",
    "term_node",
]

ENTITY, METRIC, DOCUMENT = "entity", "metric", "document"
CHANNEL, DIMENSION = "channel", "dimension"
_KIND = re.compile(r"[a-z][a-z0-9_]{0,63}")
# Kinds that are no dimension, whatever a dimension is called.
_TAKEN = frozenset({ENTITY, METRIC, DOCUMENT, DIMENSION, CHANNEL, "literal", "member", "name", "outside"})

Node = tuple[str, str]
"""Kind and code."""


def member_node(dimension: str, code: str) -> Node:
    """A member of a further axis: its dimension is its kind, where that can be the name of a kind.

    >>> member_node("segment", "CLOUD"), member_node("地域", "関東")
    (('segment', 'CLOUD'), ('member', '地域=関東'))
    """
    if _KIND.fullmatch(dimension) and dimension not in _TAKEN:
        return dimension, code
    return "member", f"{dimension}={code}"


def channel_node(code: str) -> Node | None:
    """A channel; None for the whole, which is no part."""
    return None if code == TOTAL else (CHANNEL, code)


def axis_node(dimension: str) -> Node:
    """What a member is a member of; "channel" for channels."""
    return DIMENSION, dimension


def term_node(glossary: Glossary, axis: str, name: str) -> Node | None:
    """The node that a name means on an axis: "entity", "metric", "channel" or a dimension; None: none or several."""
    if not name.strip():
        return None
    match axis:
        case "entity":
            found = glossary.resolve_entity(name)
        case "metric":
            found = glossary.resolve_metric(name)
        case "channel":
            found = glossary.resolve_channel(name)
        case _:
            found = glossary.resolve_member(axis, name)
    if not isinstance(found, Resolved):
        return None
    if axis == CHANNEL:
        return channel_node(found.code)
    return (axis, found.code) if axis in (ENTITY, METRIC) else member_node(axis, found.code)
