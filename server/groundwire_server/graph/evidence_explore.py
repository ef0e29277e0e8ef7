"""From passages and the names in a question to what hangs together with them: bounded, the same on every run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundwire_server.graph.edges import Edge
from groundwire_server.graph.evidence_net import DOCUMENT, NAME, Link, LinkKind, Mention, NetBuilder
from groundwire_server.graph.evidence_seeds import named_nodes
from groundwire_server.graph.nodes import Node
from groundwire_server.library import TitleBook
from groundwire_server.narrative import WalkStart
from groundwire_server.store import StoredChunk, StoredEdge, StoreReader

if TYPE_CHECKING:
    from groundwire_server.adjacency import Sight

__all__ = ["ROUNDS", "Explorer"]

ROUNDS = 4
"""Steps out from where a walk begins: document, name, document, name, document."""

_PASSAGES_READ = 2  # of a document that was not found by the search
_MOST_NAMES = 64  # of a passage
_MOST_DOCUMENTS = 256  # that are read
_MOST_NODES = 2000
_HUB = 256  # edges at a node that is crossed; one with more of them leads everywhere


class Explorer:
    """Collects the part of a library around where a walk begins.

    Attributes:
        net: what was found.
        documents: of the passages that the walk begins with, by id, with what each weighs: the sum of 1 / rank.
        named: what the question names: names of documents, and nodes.
        cut: a bound was hit.
    """

    def __init__(self, start: WalkStart, reader: StoreReader, sight: Sight) -> None:
        self._start = start
        self._columns = start.snapshot.columns
        self._book = start.snapshot.titles()
        self._reader = reader
        self._sight = sight
        self._visible = start.candidates[self._columns.first_place]
        self._kept_out = self._filtered_out()
        self._wanted: dict[str, list[int]] = {}
        self._seen: set[Node] = set()
        self._documents_read = 0
        self.net = NetBuilder()
        self.documents: dict[str, float] = {}
        self.named: list[Node] = []
        self.cut = False

    @property
    def book(self) -> TitleBook:
        """Titles of the library."""
        return self._book

    @property
    def visible(self) -> NDArray[np.bool_]:
        """bool[revisions]: which may be looked at."""
        return self._visible

    @property
    def has_relations(self) -> bool:
        """Whether there is anything to follow: an edge, or a title, that the caller may see."""
        return self._book.any(self._visible) or bool(self._sight.relations)

    def explore(self) -> None:
        """Go out from the passages and from the names in the question.

        Raises:
            CallCancelled, DeadlineExceeded: the call is over.
        """
        frontier = self._begin()
        for _ in range(ROUNDS):
            self._start.call.cancel.check("graph")
            fresh = [node for node in frontier if node not in self._seen]
            self._seen.update(fresh)
            reached: dict[Node, None] = {}
            for links in (
                self._names_in([code for kind, code in fresh if kind == DOCUMENT]),
                self._bearers_of([code for kind, code in fresh if kind == NAME]),
                self._edges_at([node for node in fresh if node[0] != NAME]),
            ):
                for link in links:
                    if len(self.net) >= _MOST_NODES:
                        self.cut = True
                        return
                    self.net.link(link)
                    reached.setdefault(link.start)
                    reached.setdefault(link.end)
            frontier = list(reached)

    def _begin(self) -> list[Node]:
        for rank, row in enumerate(self._start.seeds, start=1):
            doc_id = self._columns.doc_id(int(self._columns.revision_of[row]))
            self.documents[doc_id] = self.documents.get(doc_id, 0.0) + 1.0 / rank
            self._wanted.setdefault(doc_id, []).append(row)
        names = [(NAME, mention.name) for mention in self._book.find(self._start.question, self._visible)]
        names += named_nodes(self._start.question, self._start.snapshot.glossary, self._sight)
        self.named = list(dict.fromkeys(names))
        begin: list[Node] = [*((DOCUMENT, doc_id) for doc_id in self.documents), *self.named]
        for node in begin:
            self.net.add(node)
        return begin

    def _names_in(self, doc_ids: Sequence[str]) -> list[Link]:
        """What documents name, and what they are called."""
        room = _MOST_DOCUMENTS - self._documents_read
        if len(doc_ids) > room:
            self.cut = True
        read = list(doc_ids[:room])
        self._documents_read += len(read)
        links: list[Link] = []
        for doc_id, chunks in self._passages(read).items():
            seen: set[str] = set()
            for name in self._own_names(doc_id):
                seen.add(name)
                links.append(Link(LinkKind.TITLED, (NAME, name), (DOCUMENT, doc_id), even=True))
            for chunk in chunks:
                for mention in self._book.find(chunk.text, self._visible)[:_MOST_NAMES]:
                    if mention.name not in seen:
                        seen.add(mention.name)
                        held = Mention(chunk, mention.span)
                        links.append(Link(LinkKind.NAMES, (DOCUMENT, doc_id), (NAME, mention.name), mention=held))
        return links

    def _own_names(self, doc_id: str) -> Iterable[str]:
        place = self._book.place(doc_id, self._visible)
        return () if place is None else self._book.names(place, self._visible)

    def _bearers_of(self, names: Sequence[str]) -> list[Link]:
        """The documents that are called so, by their ids."""
        links: list[Link] = []
        for name in names:
            doc_ids = sorted(map(self._columns.doc_id, self._book.bearers(name, self._visible)))
            links += [Link(LinkKind.TITLED, (NAME, name), (DOCUMENT, doc_id), even=True) for doc_id in doc_ids]
        return links

    def _passages(self, doc_ids: Sequence[str]) -> dict[str, list[StoredChunk]]:
        """The passages of documents that are read for names: those that were found, else the nearest."""
        others: dict[str, NDArray[np.int64]] = {}
        for doc_id in doc_ids:
            if doc_id not in self._wanted and (place := self._book.place(doc_id, self._visible)) is not None:
                others[doc_id] = self._rows_of(place)
        if others:
            every = np.unique(np.concatenate(list(others.values())))
            scores = self._start.score(every)
            for doc_id, rows in others.items():
                near = scores[np.searchsorted(every, rows)]
                self._wanted[doc_id] = rows[np.argsort(-near, kind="stable")[:_PASSAGES_READ]].tolist()
        wanted = [(doc_id, row) for doc_id in doc_ids for row in self._wanted.get(doc_id, ())]
        chunks = self._start.snapshot.chunks([row for _, row in wanted], self._start.call.principal)
        found: dict[str, list[StoredChunk]] = {doc_id: [] for doc_id in doc_ids}
        for (doc_id, _), chunk in zip(wanted, chunks, strict=True):
            if self._start.call.principal.may_read(chunk.label):
                found[doc_id].append(chunk)
        return found

    def _rows_of(self, place: int) -> NDArray[np.int64]:
        """The rows of a revision; all of them are candidates where one is."""
        starts = self._columns.first_place
        end = int(starts[place + 1]) if place + 1 < len(starts) else self._columns.rows
        return np.arange(int(starts[place]), end, dtype=np.int64)

    def _edges_at(self, nodes: Sequence[Node]) -> list[Link]:
        """The stored edges at nodes, and the documents that state them."""
        view = self._sight.view
        numbers = [number for node in nodes if (number := view.find(*node)) is not None]
        if not numbers:
            return []
        places = np.array(numbers, dtype=np.int64)
        steps = self._sight.steps(places, along=None, against=None)
        crossed = np.bincount(steps.origin, minlength=len(places)) <= _HUB
        edges = np.unique(steps.edge[crossed[steps.origin]])
        clearance = self._start.call.principal.clearance
        rows = [row for row in self._reader.edge_rows(clearance, self._sight.sources(edges)) if self._may_use(row)]
        links: list[Link] = []
        for _, sources in groupby(rows, key=lambda row: row.edge_id):
            links += self._links_of(Edge(tuple(sources)))
        return links

    def _links_of(self, edge: Edge) -> list[Link]:
        ends = (edge.start, edge.end)
        if any(self._hidden(node) for node in ends):
            return []
        term = self._start.snapshot.glossary.relations.get(edge.relation)
        even = edge.relation == "co_occurs_with" or (term is not None and term.symmetric)
        links = [Link(LinkKind.RELATION, *ends, even=even, edge=edge)]
        for doc_id in dict.fromkeys(source.record.source_doc for source in edge.sources):
            document = (DOCUMENT, doc_id)
            if document not in ends and self._book.place(doc_id, self._visible) is not None:
                links += [Link(LinkKind.STATES, document, node, edge=edge) for node in ends]
        return links

    def _hidden(self, node: Node) -> bool:
        """Whether a node is a document that the filter keeps out."""
        return node[0] == DOCUMENT and self._book.place(node[1], self._kept_out) is not None

    def _may_use(self, source: StoredEdge) -> bool:
        """A source that is a document which the filter keeps out is none."""
        return self._start.call.principal.may_read(source.record.label) and (
            self._book.place(source.record.source_doc, self._kept_out) is None
        )

    def _filtered_out(self) -> NDArray[np.bool_]:
        """bool[revisions]: what the caller could read and the filters keep out."""
        call = self._start.call
        unfiltered = replace(call, options=replace(call.options, filter=None))
        readable = self._start.snapshot.candidates(unfiltered)[self._columns.first_place]
        kept_out: NDArray[np.bool_] = readable & ~self._visible
        return kept_out
