"""Communities: nodes that hang together more among themselves than with others (semantics 12).

Leiden over modularity (Traag, Waltman, van Eck 2019, "From Louvain to Leiden"), by graspologic, with a fixed seed over
nodes in the order of their ids: the same edges give the same communities, however they came to be stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundwire_server.evidence import make_snippet_id
from groundwire_server.graph.budget import Budget
from groundwire_server.graph.edges import EdgeTest, group_edges, node_id
from groundwire_server.graph.nodes import Node
from groundwire_server.store import StoredEdge, StoreReader

if TYPE_CHECKING:
    from groundwire_server.adjacency import Sight
    from groundwire_server.evidence import Call

__all__ = ["Community", "find_communities"]

_SEED = 7
_ROWS_A_READ = 5000


@dataclass(frozen=True, slots=True)
class Community:
    """Nodes that hang together.

    Attributes:
        nodes: the most central first: by how many edges within the community touch them, then by id.
        edges: numbers of the edges between them, in order.
    """

    nodes: tuple[Node, ...]
    edges: tuple[int, ...]

    @property
    def community_id(self) -> str:
        """The same for the same nodes."""
        return make_snippet_id("nodes", "", "\n".join(sorted(map(node_id, self.nodes))), b"")

    def order(self) -> tuple[int, str]:
        """Place among communities: the largest first, then by the first id in it."""
        return -len(self.nodes), min(map(node_id, self.nodes))


def find_communities(sight: Sight, reader: StoreReader, call: Call, test: EdgeTest, budget: Budget) -> list[Community]:
    """Every community of what the caller may see, in order. What no edge touches is in none.

    Each edge counts once between its ends, whatever its direction and however many sources it has.

    Args:
        budget: edges are looked at in their order, until one of the bounds is hit.

    Raises:
        CallCancelled, DeadlineExceeded: the call is over.
    """
    edges = _within(_passing(sight, reader, call, test), sight, budget)
    if not len(edges):
        return []
    call.cancel.check("walk")
    view = sight.view
    ends = np.stack([view.source(edges), view.target(edges)])
    numbers = np.unique(ends)
    numbers = numbers[np.argsort(view.rank(numbers), kind="stable")]
    place = np.zeros(view.nodes, np.int64)
    place[numbers] = np.arange(len(numbers))
    source, target = place[ends[0]], place[ends[1]]
    group = _clusters(source, target, len(numbers))
    found = []
    for community in _gather(sight, numbers, group, edges, source, target):
        call.cancel.check("walk")
        found.append(community)
    return sorted(found, key=Community.order)


def _passing(sight: Sight, reader: StoreReader, call: Call, test: EdgeTest) -> NDArray[np.int64]:
    """The visible edges, in order; where filters test them, those with a source that passes."""
    edges = sight.edges
    edges = edges[sight.edge_order(edges)]
    if not test.filters:
        return edges
    kept: list[bool] = []
    ids = sight.view.edge_ids(edges)
    for begin in range(0, len(edges), _ROWS_A_READ):
        call.cancel.check("walk")
        some = edges[begin : begin + _ROWS_A_READ]
        rows = reader.edge_rows(call.principal.clearance, sight.sources(some))
        passing = {edge.edge_id for edge in group_edges(_by_edge(rows), test)}
        kept += [edge_id in passing for edge_id in ids[begin : begin + _ROWS_A_READ]]
    return edges[np.array(kept, dtype=np.bool_)]


def _by_edge(rows: Sequence[StoredEdge]) -> list[StoredEdge]:
    return sorted(rows, key=lambda row: (row.edge_id, row.record.source_doc, row.record.locator))


def _within(edges: NDArray[np.int64], sight: Sight, budget: Budget) -> NDArray[np.int64]:
    """As many of the edges as the bounds allow, with the nodes that they touch."""
    visited: set[int] = set()
    ends = zip(sight.view.source(edges).tolist(), sight.view.target(edges).tolist(), strict=True)
    for count, pair in enumerate(ends):
        if not budget.look():
            return edges[:count]
        for node in pair:
            if node not in visited and not budget.visit():
                return edges[:count]
            visited.add(node)
    return edges


def _clusters(source: NDArray[np.int64], target: NDArray[np.int64], nodes: int) -> NDArray[np.int64]:
    """int64[nodes]: which community each is in."""
    from graspologic_native import leiden_csr  # only here: a server that clusters nothing does without it

    apart = source != target
    begins = np.concatenate([source[apart], target[apart]])
    ends = np.concatenate([target[apart], source[apart]])
    pairs, weights = np.unique(begins * nodes + ends, return_counts=True)
    starts = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(pairs // nodes, minlength=nodes), out=starts[1:])
    if not len(pairs):
        return np.arange(nodes)
    _, found = leiden_csr(starts, (pairs % nodes).astype(np.int32), weights.astype(np.float64), nodes, seed=_SEED)
    return np.array([found.get(node, nodes + node) for node in range(nodes)], dtype=np.int64)


def _gather(
    sight: Sight,
    numbers: NDArray[np.int64],
    group: NDArray[np.int64],
    edges: NDArray[np.int64],
    source: NDArray[np.int64],
    target: NDArray[np.int64],
) -> Iterator[Community]:
    inside = group[source] == group[target]
    touching = np.bincount(np.concatenate([source[inside], target[inside]]), minlength=len(numbers))
    members = np.lexsort((np.arange(len(numbers)), -touching, group))
    of_edges = group[source[inside]]
    by_group = np.argsort(of_edges, kind="stable")
    within = edges[inside][by_group]
    starts = np.searchsorted(of_edges[by_group], group)
    ends = np.searchsorted(of_edges[by_group], group, side="right")
    for _, places in groupby(members.tolist(), key=lambda place: int(group[place])):
        here = list(places)
        if len(here) > 1:
            first = here[0]
            nodes = tuple(sight.view.node(int(numbers[place])) for place in here)
            yield Community(nodes, tuple(within[starts[first] : ends[first]].tolist()))
