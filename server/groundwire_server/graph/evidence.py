"""Evidence paths for a question: which documents what was found hangs together with, and how (semantics 12)."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundwire_server.evidence import GraphNode, Label, Snippet, format_node_id
from groundwire_server.graph.evidence_explore import ROUNDS, Explorer
from groundwire_server.graph.evidence_net import BACK, DOCUMENT, Net
from groundwire_server.graph.evidence_paths import EvidencePaths
from groundwire_server.graph.exit import path_snippet
from groundwire_server.graph.nodes import Node, NodeNames
from groundwire_server.graph.pagerank import GO_ON, pagerank
from groundwire_server.narrative import Walked, WalkStart
from groundwire_server.store import StoreReader

if TYPE_CHECKING:
    from groundwire_server.adjacency import Sight

__all__ = ["PageRankWalk"]

FROM_NAMES = 0.3
"""How much of a walk begins at what the question names, where it names anything; the rest at the passages."""


STAYS = 0.3
"""What the beginning of a walk weighs beside the walk itself: a document is not lost for others that all are linked."""


class PageRankWalk:
    """A walk with restarts over titles that documents name and over the relations of the library.

    It begins at the passages that the search puts first, and at what the question names: documents by their titles,
    terms of the glossary, entities by their codes. What only a model says is not followed.
    """

    name = "pagerank"
    detail = f"titles+relations,rounds={ROUNDS},go_on={GO_ON:g},names={FROM_NAMES:g},back={BACK:g},stays={STAYS:g}"

    def walk(self, start: WalkStart) -> Walked | None:
        """See `narrative.EvidenceWalk`."""
        reader = start.snapshot.reader_at(start.call.options.known_at)
        explorer = Explorer(start, reader, _sight(start))
        if not explorer.has_relations:
            return None
        explorer.explore()
        net = explorer.net.build()
        restart = _restart(explorer, net)
        at = pagerank(net, restart) + STAYS * restart
        book, visible = explorer.book, explorer.visible
        places = {node[1]: book.place(node[1], visible) for node in net.nodes if node[0] == DOCUMENT}
        shares = {
            place: float(share)
            for node, share in zip(net.nodes, at, strict=True)
            if node[0] == DOCUMENT and (place := places[node[1]]) is not None and share > 0
        }
        columns = start.snapshot.columns

        def bearer(name: str) -> str | None:
            return min(map(columns.doc_id, book.bearers(name, visible)), default=None)

        def label(doc_id: str) -> Label:
            place = places.get(doc_id)
            return Label.RESTRICTED if place is None else Label(int(columns.label[place]))

        paths = EvidencePaths(net, restart, bearer, label)
        names = _Titles(start, reader, explorer)
        language = start.call.options.language or "en"

        def path(place: int) -> Snippet | None:
            trail = paths.trail(columns.doc_id(place))
            return None if trail is None else path_snippet(trail, start.snapshot.library_id, names, language)

        return Walked(shares, path, len(net.nodes), len(net.links), explorer.cut)


class _Titles(NodeNames):
    """Names of nodes for people: documents by their titles."""

    def __init__(self, start: WalkStart, reader: StoreReader, explorer: Explorer) -> None:
        super().__init__(start.snapshot, reader, start.call.principal)
        self._explorer = explorer

    def show(self, node: Node, language: str) -> GraphNode:
        """See `NodeNames.show`."""
        kind, code = node
        place = self._explorer.book.place(code, self._explorer.visible) if kind == DOCUMENT else None
        if place is None:
            return super().show(node, language)
        return GraphNode(format_node_id(kind, code), kind, self._explorer.book.title(place) or code)


def _sight(start: WalkStart) -> Sight:
    """The relations that the caller may see, as they hold on the day of the call, if it names one."""
    options = start.call.options
    day: date | None = options.valid_at.date() if options.valid_at is not None else None
    generation = start.snapshot.generation_at(options.known_at)
    return start.snapshot.relations().sight(start.call.principal.clearance, generation, first=day, last=day)


def _restart(explorer: Explorer, net: Net) -> NDArray[np.float64]:
    """float64[nodes]: how likely the walk begins at each; what fewer links touch is the surer place."""
    place = net.places()
    restart = np.zeros(len(net.nodes))
    total = sum(explorer.documents.values())
    for doc_id, weight in explorer.documents.items():
        restart[place[DOCUMENT, doc_id]] += weight / total
    touching = np.bincount(net.begins, minlength=len(net.nodes))
    named = {place[node]: 1.0 / touching[place[node]] for node in explorer.named if touching[place[node]]}
    if named:
        restart *= 1.0 - FROM_NAMES
        for at, weight in named.items():
            restart[at] += FROM_NAMES * weight / sum(named.values())
    return restart
