"""What any store of relations must do: the part of `Store` that a graph needs, and all that an adapter has to have.

`conformance.GRAPH_CHECKS` hold each sentence of these docstrings with a test.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from groundwire_server.evidence import Label
from groundwire_server.store.rows import EdgeColumns, EdgePlace, EdgeRecord, StoredEdge, Withdrawn, WriteCounts

__all__ = ["GraphReader", "GraphStore", "GraphWriter"]


class GraphReader(Protocol):
    """Relations as they are at `generation`. Usable from any thread.

    `clearance` bounds what is returned: rows with a stricter label do not exist, and RESTRICTED never does.
    """

    @property
    def generation(self) -> int: ...

    def state(self) -> str:
        """What tells this state from any other, also from one that a store restored from a copy came to instead."""
        ...

    def edges(self, clearance: Label, nodes: Sequence[tuple[str, str]], *, outgoing: bool) -> list[StoredEdge]:
        """Edge rows that start (outgoing) or end at the nodes, by (edge_id, source_doc, locator)."""
        ...

    def edge(self, clearance: Label, edge_id: str) -> list[StoredEdge]:
        """Every readable source of one edge, by (source_doc, locator)."""
        ...

    def retired_edge(self, clearance: Label, edge_id: str) -> list[StoredEdge]:
        """Readable sources of one edge that are there no more, in the order of `edge`: old citations name them."""
        ...

    def edge_rows(self, clearance: Label, rows: Sequence[int]) -> list[StoredEdge]:
        """The readable ones of some edge rows, in the order of `edges`; rows that are not there are left out."""
        ...

    def edge_count(self) -> int:
        """Edge rows ever written up to this generation, dead ones included."""
        ...

    def edge_columns(self, after_row: int = 0) -> Iterator[EdgeColumns]:
        """Every edge row above `after_row`, ascending, dead and hidden ones included: the adjacency is made of them.

        Some rows at a time, never none.
        """
        ...

    def retired_edges(self, after_generation: int) -> list[tuple[int, int]]:
        """(edge_row, died) of every edge row that died in (after_generation, generation], hidden ones included."""
        ...

    def edge_page(
        self,
        clearance: Label,
        *,
        relation: str | None = None,
        source_doc: str | None = None,
        after: EdgePlace | None = None,
        limit: int,
    ) -> list[list[StoredEdge]]:
        """Relations behind a place, each as its readable sources in the order of `edge`, of one source_doc on demand.

        By relation, source_kind, source, target_kind, target, edge_id.
        """
        ...

    def relations(self, clearance: Label) -> list[str]:
        """Distinct names of the relations of readable edges, sorted."""
        ...

    def has_node(self, clearance: Label, kind: str, code: str) -> bool:
        """Whether a readable edge touches the node."""
        ...

    def nodes(self, clearance: Label) -> list[tuple[str, str]]:
        """Every (kind, code) that a readable edge touches, sorted."""
        ...


class GraphWriter(Protocol):
    """One open write transaction: all of it becomes visible at once, at `generation`, or nothing does."""

    @property
    def generation(self) -> int: ...

    def put_edges(self, records: Iterable[EdgeRecord], *, clearance: Label | None = None) -> WriteCounts:
        """Add sources of edges, one a (edge_id, source_doc, locator, extractor).

        A repeat changes nothing, or replaces what differs. A bad record is refused and the others go on.
        """
        ...

    def take_back_edges(self, records: Iterable[EdgeRecord], *, clearance: Label | None = None) -> WriteCounts:
        """End the sources of relations that an extractor found in a source_doc, wherever in it.

        Ends, relation, days, source_doc and extractor of a record say which; what a stricter label hides from
        `clearance` stays, and is told as what is not there. `stored` counts the records of which there was anything.
        """
        ...

    def replace_edges(
        self,
        source_doc: str,
        extractors: Collection[str],
        records: Iterable[EdgeRecord],
        *,
        start: tuple[str, str] | None = None,
    ) -> WriteCounts:
        """Make what some extractors found in one source be these records, all of them of it and by one of those.

        What is there already stays as it is, the rest of theirs ends, and what others found there is left alone. It is
        the house's own work, which knows of rows of every label.

        What the extractors "glossary", "metadata" and "facts" find is no part of `content_digest`, which holds what it
        is derived of; and "glossary" keeps its own when a document of the name of its source is withdrawn.

        Args:
            start: only those from this node, and so all of the records.

        Raises:
            ValueError: a record is of another source or extractor, or from another node.
        """
        ...

    def withdraw_document(self, doc_id: str, *, clearance: Label | None = None) -> Withdrawn:
        """End the sources of edges that a document states, but what is hidden from `clearance`.

        Raises UnknownResource when there never was anything to see.
        """
        ...


class GraphStore(Protocol):
    """A system of record for relations."""

    def was(self, state: str) -> bool:
        """Whether it is in a state, or was before it came to the present one."""
        ...

    def reader(self, generation: int | None = None) -> GraphReader:
        """The state at `generation`, by default the last one."""
        ...

    def writer(self) -> AbstractContextManager[GraphWriter]:
        """A transaction, there on a clean exit and undone on an exception. One at a time.

        One that changed nothing makes no generation.
        """
        ...

    def close(self) -> None: ...
