"""The bulk of an adjacency: sorted arrays of nodes, edges and their sources, which lie in one mapped file."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, fields
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ALIVE", "Table", "hash_ids"]

ALIVE = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Nodes in the order of their ids, edges in the order of theirs, sources ("rows") in the order of edge rows.

    Nodes, edges, relations and days are named by their places.

    Attributes:
        node_ids: uint8, UTF-8 of the node ids, one behind the other.
        node_ends: int64[nodes], where each of them ends.
        node_hash, node_by_hash: uint64[nodes] ascending, int32[nodes]: hashes of the ids, and whose they are.
        id_high, id_low: uint64[edges], the halves of the 128-bit edge id.
        source, target: int32[edges], the ends.
        relation: int32[edges], into `relations`.
        first, last: int32[edges], into `days`: when it begins and ends to hold.
        out_start, out_edge: int64[nodes + 1], int32[edges]: edges that start at a node, by target, relation, edge id.
        in_start, in_edge: the same for edges that end at a node, by source, relation, edge id.
        row_start, row_of: int64[edges + 1], int32[rows]: the rows of an edge.
        row_edge: int32[rows], the edge that a row is a source of.
        edge_row: int64[rows], the store's number of it, ascending.
        label: uint8[rows].
        born, died: int64[rows], generations; `ALIVE` when it has not died. Deaths are written in place: whoever holds
            an older state asks for older generations, at which such a row is alive either way.
        extractor: int32[rows], into `extractors`.
        relations: names, sorted. extractors, days: as they came; days[0] is the empty text, a day that is not known.
    """

    node_ids: NDArray[np.uint8]
    node_ends: NDArray[np.int64]
    node_hash: NDArray[np.uint64]
    node_by_hash: NDArray[np.int32]
    id_high: NDArray[np.uint64]
    id_low: NDArray[np.uint64]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    relation: NDArray[np.int32]
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    out_start: NDArray[np.int64]
    out_edge: NDArray[np.int32]
    in_start: NDArray[np.int64]
    in_edge: NDArray[np.int32]
    row_start: NDArray[np.int64]
    row_of: NDArray[np.int32]
    row_edge: NDArray[np.int32]
    edge_row: NDArray[np.int64]
    label: NDArray[np.uint8]
    born: NDArray[np.int64]
    died: NDArray[np.int64]
    extractor: NDArray[np.int32]
    relations: tuple[str, ...] = ()
    extractors: tuple[str, ...] = ()
    days: tuple[str, ...] = ("",)

    @classmethod
    def empty(cls) -> Table:
        """A table of nothing."""
        arrays: dict[str, Any] = {
            name: np.zeros(int(name.endswith("_start")), dtype) for name, dtype in cls.dtypes().items()
        }
        return cls(**arrays)

    @classmethod
    def dtypes(cls) -> dict[str, Any]:
        """The arrays, in order, with the types of their numbers."""
        narrow = {"node_ids": np.uint8, "label": np.uint8}
        wide = {"node_ends", "out_start", "in_start", "row_start", "edge_row", "born", "died"}
        hashes = {"node_hash", "id_high", "id_low"}
        return {
            each.name: narrow.get(
                each.name,
                np.int64 if each.name in wide else np.uint64 if each.name in hashes else np.int32,
            )
            for each in fields(cls)
            if each.name not in ("relations", "extractors", "days")
        }

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.node_ends)

    @property
    def edges(self) -> int:
        """How many edges there are."""
        return len(self.source)

    @property
    def rows(self) -> int:
        """How many sources of edges there are."""
        return len(self.edge_row)

    def node_id(self, node: int) -> bytes:
        """Id of a node, in UTF-8."""
        start = int(self.node_ends[node - 1]) if node else 0
        return self.node_ids[start : int(self.node_ends[node])].tobytes()

    def raw_ids(self, nodes: NDArray[np.int64]) -> list[memoryview]:
        """Ids of many nodes, in UTF-8."""
        ends = self.node_ends[nodes]
        starts = np.where(nodes > 0, self.node_ends[nodes - 1], 0)
        whole = self.node_ids.data
        return [whole[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]

    def find_nodes(self, ids: Sequence[bytes]) -> list[int]:
        """The nodes of some ids; -1 for those that are not here."""
        if not self.nodes or not ids:
            return [-1] * len(ids)
        hashes = hash_ids(ids)
        places = np.searchsorted(self.node_hash, hashes).tolist()
        return [self._find(place, value, each) for place, value, each in zip(places, hashes.tolist(), ids, strict=True)]

    def _find(self, place: int, value: int, wanted: bytes) -> int:
        while place < self.nodes and int(self.node_hash[place]) == value:
            node = int(self.node_by_hash[place])
            if self.node_id(node) == wanted:
                return node
            place += 1
        return -1

    def nodes_below(self, wanted: bytes) -> int:
        """How many nodes have an id before this one."""
        return bisect_left(range(self.nodes), wanted, key=self.node_id)

    def find_edges(self, high: NDArray[np.uint64], low: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The edges of some ids; -1 for those that are not here."""
        found = np.full(len(high), -1, np.int64)
        if not self.edges:
            return found
        place = np.searchsorted(self.id_high, high)
        waiting = np.flatnonzero(place < self.edges)
        while len(waiting):  # more than once only where ids share their first half
            waiting = waiting[self.id_high[place[waiting]] == high[waiting]]
            met = self.id_low[place[waiting]] == low[waiting]
            found[waiting[met]] = place[waiting[met]]
            waiting = waiting[~met]
            place[waiting] += 1
            waiting = waiting[place[waiting] < self.edges]
        return found


def hash_ids(ids: Sequence[bytes]) -> NDArray[np.uint64]:
    """A 64-bit hash of each."""
    return np.frombuffer(b"".join([blake2b(each, digest_size=8).digest() for each in ids]), "<u8").astype(np.uint64)
