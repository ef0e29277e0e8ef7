"""The likeliest way through a net to a document, and the chain of relations that it is."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from groundwire_server.evidence import Label, Locator, make_snippet_id
from groundwire_server.graph.edges import Edge, Trail
from groundwire_server.graph.evidence_net import DOCUMENT, NAME, Link, LinkKind, Mention, Net
from groundwire_server.graph.nodes import Node
from groundwire_server.graph.pagerank import GO_ON
from groundwire_server.store import EdgeRecord, StoredEdge

__all__ = ["TITLES", "EvidencePaths"]

TITLES = "titles"
"""Extractor of edges that no store holds: the title of one document stands in the text of another."""
MENTIONS = "mentions"


@dataclass(frozen=True, slots=True)
class _Arc:
    """A link in one direction: places of the nodes, and what taking it costs (the less likely, the more)."""

    begin: int
    end: int
    cost: float
    link: Link


class EvidencePaths:
    """Ways that lead from where a walk begins to documents.

    Args:
        restart: float64[nodes], how likely the walk begins at each node.
        bearer: the first document that bears a name, by its id; None: there is none.
        label: that of a document.
    """

    def __init__(
        self,
        net: Net,
        restart: NDArray[np.float64],
        bearer: Callable[[str], str | None],
        label: Callable[[str], Label],
    ) -> None:
        self._net = net
        self._place = net.places()
        self._bearer = bearer
        self._label = label
        self._arriving: list[list[_Arc]] = [[] for _ in net.nodes]
        self._leaving: list[list[_Arc]] = [[] for _ in net.nodes]
        links = (*net.links, *net.links)
        for begin, end, chance, link in zip(
            net.begins.tolist(), net.ends.tolist(), net.chances.tolist(), links, strict=True
        ):
            arc = _Arc(begin, end, -math.log(GO_ON * chance) if chance > 0 else math.inf, link)
            self._leaving[begin].append(arc)
            self._arriving[end].append(arc)
        self._begin_costs = [-math.log(share) if share > 0 else math.inf for share in restart.tolist()]
        self._costs: list[float] = []
        self._last: list[_Arc | None] = []

    def trail(self, doc_id: str) -> Trail | None:
        """The chain of relations to a document; None where it is where the walk begins, or no relation leads there."""
        target = self._place.get((DOCUMENT, doc_id))
        if target is None:
            return None
        if not self._costs:
            self._search()
        arcs = self._arcs_to(target)
        return None if arcs is None else self._chain(arcs)

    def _search(self) -> None:
        """Dijkstra from everywhere that the walk begins; of ways that cost the same, that over the first nodes."""
        self._costs = list(self._begin_costs)
        self._last = [None] * len(self._costs)
        waiting = [(cost, place) for place, cost in enumerate(self._costs) if cost < math.inf]
        heapq.heapify(waiting)
        done = [False] * len(self._costs)
        while waiting:
            cost, place = heapq.heappop(waiting)
            if done[place]:
                continue
            done[place] = True
            for arc in self._leaving[place]:
                if cost + arc.cost < self._costs[arc.end]:
                    self._costs[arc.end] = cost + arc.cost
                    self._last[arc.end] = arc
                    heapq.heappush(waiting, (self._costs[arc.end], arc.end))

    def _arcs_to(self, target: int) -> list[_Arc] | None:
        """The arcs of the cheapest way that has one: to a node at which the walk begins, from another such."""
        ways: list[tuple[float, int, list[_Arc]]] = []
        for number, arc in enumerate(self._arriving[target]):
            if self._costs[arc.begin] < math.inf:
                arcs = [*self._way(arc.begin), arc]
                if all(each.begin != target for each in arcs):
                    ways.append((self._costs[arc.begin] + arc.cost, number, arcs))
        return min(ways, key=lambda way: way[:2])[2] if ways else None

    def _way(self, place: int) -> list[_Arc]:
        arcs: list[_Arc] = []
        while (arc := self._last[place]) is not None:
            arcs.append(arc)
            place = arc.begin
        return arcs[::-1]

    def _chain(self, arcs: Sequence[_Arc]) -> Trail | None:
        """Arcs as edges, each of which begins where the one before it ends."""
        steps: list[tuple[Node, Edge, Node]] = []
        nodes = [self._net.nodes[arcs[0].begin], *(self._net.nodes[arc.end] for arc in arcs)]
        for number, (arc, (begin, end)) in enumerate(zip(arcs, pairwise(nodes), strict=True)):
            first, final = number == 0, number == len(arcs) - 1
            if arc.link.kind is LinkKind.RELATION and arc.link.edge is not None:
                steps.append((begin, arc.link.edge, end))
            elif arc.link.kind is LinkKind.STATES and arc.link.edge is not None:
                if not (first or final):
                    return None
                steps += _stated(arc.link.edge, begin if final else end, steps, final=final)
            elif end[0] == NAME:
                if final:
                    return None
            else:
                before = arcs[number - 1].link if not first else None
                made = self._over_a_name(before, arc.link, nodes[number - 1] if not first else None, end)
                if made is None:
                    return None
                steps += made
        if not steps or any(left[2] != right[0] for left, right in pairwise(steps)):
            return None
        walked = (steps[0][0], *(end for _, _, end in steps))
        if len(set(walked)) < len(walked):
            return None
        return Trail(walked, tuple(edge for _, edge, _ in steps))

    def _over_a_name(
        self, before: Link | None, after: Link, begin: Node | None, end: Node
    ) -> list[tuple[Node, Edge, Node]] | None:
        """The steps that lead over a name to a document, from another one or, without one, from the question."""
        named_by = before.mention if before is not None and before.kind is LinkKind.NAMES else None
        bears = after.kind is LinkKind.TITLED
        if begin is None:
            if bears:
                return []
            bearer = self._bearer(after.end[1])
            if bearer is None or after.mention is None:
                return []
            return [((DOCUMENT, bearer), self._mention(after.mention, bearer), end)]
        if bears:
            return [(begin, self._mention(named_by, end[1]), end)] if named_by is not None else None
        if after.mention is None:
            return None
        if named_by is None:
            return [(begin, self._mention(after.mention, begin[1]), end)]
        bearer = self._bearer(after.end[1])
        if bearer is None:
            return None
        between = (DOCUMENT, bearer)
        return [
            (begin, self._mention(named_by, bearer), between),
            (between, self._mention(after.mention, bearer), end),
        ]

    def _mention(self, mention: Mention, bearer: str) -> Edge:
        """That a document names another one by its title, and where."""
        chunk = mention.chunk
        place = Locator.parse(chunk.locator)
        begin = chunk.span.start + mention.span.start
        span = f"{begin}-{begin + mention.span.end - mention.span.start}"
        record = EdgeRecord(
            source_kind=DOCUMENT,
            source=chunk.doc_id,
            relation=MENTIONS,
            target_kind=DOCUMENT,
            target=bearer,
            extractor=TITLES,
            source_doc=chunk.doc_id,
            locator=str(Locator(place.doc_id, (*place.parts, ("span", span)))),
            label=max(chunk.label, self._label(bearer)),
        )
        edge_id = make_snippet_id(TITLES, "", f"{chunk.doc_id}\n{bearer}", b"")
        return Edge((StoredEdge(0, edge_id, record, chunk.ingested_at, 0, None),))


def _stated(
    edge: Edge, node: Node, steps: Sequence[tuple[Node, Edge, Node]], *, final: bool
) -> Iterator[tuple[Node, Edge, Node]]:
    """The edge that a document states, as the last or the first step of a chain."""
    if steps and steps[-1][1].edge_id == edge.edge_id:
        return
    other = edge.end if edge.start == node else edge.start
    yield (node, edge, other) if final else (other, edge, node)
