"""What one caller sees of an adjacency: what is hidden, dead or out of season is not there."""

from __future__ import annotations

from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundwire_server.adjacency.ranges import Integers

if TYPE_CHECKING:
    from groundwire_server.adjacency.view import AdjacencyView
    from groundwire_server.evidence import Label

__all__ = ["STATED_BY", "Sight", "Steps"]

STATED_BY = frozenset({"glossary", "facts", "metadata", "file", "co_occurrence", "titles"})
"""Who finds edges without a model in between."""

Allowed = NDArray[np.bool_] | None


class Steps(NamedTuple):
    """Edges as they are walked: place of the node that is left, the node that is led to, the edge."""

    origin: Integers
    far: Integers
    edge: Integers

    def kept(self, mask: NDArray[np.bool_]) -> Steps:
        """Some of them."""
        return Steps(self.origin[mask], self.far[mask], self.edge[mask])


class Sight:
    """Made by `AdjacencyView.sight`. For any thread."""

    def __init__(
        self,
        view: AdjacencyView,
        strictest: Label,
        generation: int,
        first: date | None,
        last: date | None,
        include_unverified: bool,
    ) -> None:
        self.view = view
        self._strictest = int(strictest)
        self._generation = generation
        self._stated = (
            None if include_unverified else np.array([name in STATED_BY for name in view.extractors], np.bool_)
        )
        self._begun = self._lasting = None
        if first is not None and last is not None:  # days are texts; an end that is not known is open
            self._begun = np.array([not day or day <= last.isoformat() for day in view.days], np.bool_)
            self._lasting = np.array([not day or day >= first.isoformat() for day in view.days], np.bool_)

    def sees_rows(self, rows: Integers) -> NDArray[np.bool_]:
        """Which sources may be shown."""
        view = self.view
        kept = view.label(rows) <= self._strictest
        kept &= view.born(rows) <= self._generation
        kept &= view.died(rows) > self._generation
        if self._stated is not None:
            kept &= self._stated[view.extractor(rows)]
        return kept

    def sees(self, edges: Integers) -> NDArray[np.bool_]:
        """Which edges are there: those that hold, and have a source that may be shown."""
        place, rows = self.view.rows_at(edges)
        kept = np.zeros(len(edges), np.bool_)
        kept[place[self.sees_rows(rows)]] = True
        return kept & self._holds(edges) if self._begun is not None else kept

    def _holds(self, edges: Integers) -> NDArray[np.bool_]:
        if self._begun is None or self._lasting is None:
            return np.ones(len(edges), np.bool_)
        first, last = self.view.days_of(edges)
        holding: NDArray[np.bool_] = self._begun[first] & self._lasting[last]
        return holding

    def steps(self, nodes: Integers, *, along: Allowed, against: Allowed, loops: bool = False) -> Steps:
        """Every step from nodes, in order: by node as given, by id of the node that is led to, then by the edge (its
        relation, ids of its ends, its id).

        Args:
            along, against: bool by code of the relation: which may be walked from source to target, and from target to
                source; None: all.
            loops: with edges that lead back to the same node, each once.
        """
        found: list[Steps] = []
        ordered = True
        for outgoing, allowed in ((True, along), (False, against)):
            if allowed is not None and not allowed.any():
                continue
            origin, edges, in_order = self.view.at(nodes, outgoing=outgoing)
            kept = self.sees(edges)
            if allowed is not None and not allowed.all():
                kept &= allowed[self.view.relation(edges)]
            far = self.view.target(edges) if outgoing else self.view.source(edges)
            stays = far == nodes[origin]
            if not loops or found:
                kept &= ~stays
            ordered &= in_order and not found
            found.append(Steps(origin, far, edges).kept(kept))
        if not found:
            none = np.zeros(0, np.int64)
            return Steps(none, none, none)
        if len(found) == 1 and ordered:
            return found[0]
        steps = Steps(*map(np.concatenate, zip(*found, strict=True)))
        order = self.step_order(*steps)
        return Steps(*(part[order] for part in steps))

    def step_order(self, origin: Integers, far: Integers, edge: Integers) -> Integers:
        """Places that put steps in order: by `origin` as a number, then as `steps` says."""
        view = self.view
        relation = view.relation_rank[view.relation(edge)]
        high, low = view.id_halves(edge)
        start = view.rank(view.source(edge))  # between two nodes an edge goes one way or the other
        return np.lexsort((low, high, start, relation, view.rank(far), origin)).astype(np.int64)

    def edge_order(self, edges: Integers) -> Integers:
        """Places that put edges in their order: by relation, ids of the ends, own id."""
        view = self.view
        high, low = view.id_halves(edges)
        start, end = view.rank(view.source(edges)), view.rank(view.target(edges))
        return np.lexsort((low, high, end, start, view.relation_rank[view.relation(edges)])).astype(np.int64)

    def sources(self, edges: Integers) -> list[int]:
        """The store's numbers of the rows that may be shown of some edges."""
        _, rows = self.view.rows_at(edges)
        numbers: list[int] = self.view.edge_row(rows[self.sees_rows(rows)]).tolist()
        return numbers

    def touches(self, node: int) -> bool:
        """Whether an edge that is there touches a node."""
        nodes = np.array([node], np.int64)
        return any(self.sees(self.view.at(nodes, outgoing=outgoing)[1]).any() for outgoing in (True, False))

    @cached_property
    def edges(self) -> Integers:
        """Every edge that is there, ascending by number."""
        view = self.view
        seen = np.zeros(view.edges, np.bool_)
        seen[view.edges_of_all_rows()[self.sees_rows(view.all_rows())]] = True
        found = np.flatnonzero(seen)
        return found if self._begun is None else found[self._holds(found)]

    @cached_property
    def nodes(self) -> Integers:
        """Every node that an edge which is there touches, in the order of their ids."""
        view = self.view
        touched = np.zeros(view.nodes, np.bool_)
        touched[view.source(self.edges)] = True
        touched[view.target(self.edges)] = True
        found = np.flatnonzero(touched)
        return found[np.argsort(view.rank(found))]

    @cached_property
    def relations(self) -> tuple[str, ...]:
        """Names of the relations of the edges that are there, sorted."""
        codes = np.unique(self.view.relation(self.edges)).tolist()
        return tuple(sorted(self.view.relations[code] for code in codes))

    def matrix(self, *, along: Allowed = None, against: Allowed = None) -> tuple[Integers, Integers, Integers]:
        """(nodes, starts, neighbours): all that is there as one sparse matrix over `nodes`, which are in order of id.

        starts: int64[nodes + 1]; neighbours: places in `nodes`, those of one node ascending, once an edge; no loops.
        """
        view, edges = self.view, self.edges
        codes = view.relation(edges)
        place = np.zeros(view.nodes, np.int64)
        place[self.nodes] = np.arange(len(self.nodes))
        source, target = place[view.source(edges)], place[view.target(edges)]
        near: list[Integers] = []
        far: list[Integers] = []
        for allowed, begin, end in ((along, source, target), (against, target, source)):
            kept = begin != end if allowed is None else (begin != end) & allowed[codes]
            near.append(begin[kept])
            far.append(end[kept])
        begins, ends = np.concatenate(near), np.concatenate(far)
        order = np.lexsort((ends, begins))
        starts = np.zeros(len(self.nodes) + 1, np.int64)
        np.cumsum(np.bincount(begins, minlength=len(self.nodes)), out=starts[1:])
        return self.nodes, starts, ends[order]
