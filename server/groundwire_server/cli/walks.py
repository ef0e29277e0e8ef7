"""Relations and chains of them, as people read them."""

from __future__ import annotations

from collections.abc import Mapping

from groundwire import GraphEdge, GraphPath

__all__ = ["chain_text", "edge_text", "held_text"]


def edge_text(edge: GraphEdge) -> str:
    """A relation in a line, with the days on which it holds."""
    held = held_text(edge)
    return f"{_name(edge, edge.source.node_id)} {edge.relation} {_name(edge, edge.target.node_id)}" + (
        f" ({held})" if held else ""
    )


def held_text(edge: GraphEdge) -> str:
    """The days on which a relation holds; empty: not said."""
    if not edge.valid_from and not edge.valid_to:
        return ""
    return f"{edge.valid_from or '…'} to {edge.valid_to or '…'}"


def chain_text(path: GraphPath) -> str:
    """A chain in walking order; an arrow points the way the relation is stored.

    >>> from groundwire import GraphNode
    >>> a, b, c = (GraphNode(f"entity:{name}", "entity", name) for name in "ABC")
    >>> edges = (GraphEdge("1", a, b, "parent_of"), GraphEdge("2", c, b, "parent_of"))
    >>> chain_text(GraphPath(edges, ("entity:A", "entity:B", "entity:C")))
    'A -parent_of-> B <-parent_of- C'
    """
    names = _names(path)
    walked = path.node_ids or _walked(path)
    words = [names.get(walked[0], walked[0])] if walked else []
    for edge, here, there in zip(path.edges, walked, walked[1:], strict=False):
        forward = edge.source.node_id == here
        arrow = f"-{edge.relation}->" if forward else f"<-{edge.relation}-"
        words += [arrow, names.get(there, there)]
    return " ".join(words)


def _walked(path: GraphPath) -> tuple[str, ...]:
    """The nodes of a chain that does not name them: as the edges are read."""
    if not path.edges:
        return ()
    return (path.edges[0].source.node_id, *(edge.target.node_id for edge in path.edges))


def _names(path: GraphPath) -> Mapping[str, str]:
    return {node.node_id: node.label or node.node_id for edge in path.edges for node in (edge.source, edge.target)}


def _name(edge: GraphEdge, node_id: str) -> str:
    node = edge.source if edge.source.node_id == node_id else edge.target
    return node.label or node_id
