"""Edge rows that came after those of the table: appended as columns, put in order when somebody looks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundwire_server.adjacency.ranges import Integers
from groundwire_server.adjacency.table import ALIVE, Table
from groundwire_server.evidence import format_node_id
from groundwire_server.store import EdgeColumns

__all__ = ["Tail", "TailRows", "TailView"]

_DTYPES: dict[str, Any] = {
    "edge_row": np.int64,
    "id_high": np.uint64,
    "id_low": np.uint64,
    "source": np.int32,
    "target": np.int32,
    "relation": np.int32,
    "first": np.int32,
    "last": np.int32,
    "label": np.uint8,
    "born": np.int64,
    "died": np.int64,
    "extractor": np.int32,
}


@dataclass(frozen=True, slots=True)
class TailRows:
    """What the tail has at one time. New nodes are numbered behind those of the table, in the order of coming.

    columns: as `Table` has them, but each row with its edge's own.
    """

    columns: dict[str, NDArray[Any]]
    node_ids: tuple[bytes, ...]
    relations: tuple[str, ...]
    extractors: tuple[str, ...]
    days: tuple[str, ...]


class Tail:
    """Follows a store behind a table. Only one thread at a time may use it; what `rows` gives is free."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._held = {name: np.zeros(0, dtype) for name, dtype in _DTYPES.items()}
        self._known: dict[tuple[str, str], int] = {}
        self._ids: list[bytes] = []
        self._relations = {name: code for code, name in enumerate(table.relations)}
        self._extractors = {name: code for code, name in enumerate(table.extractors)}
        self._days = {day: code for code, day in enumerate(table.days)}
        self.count = 0

    def add(self, columns: EdgeColumns) -> None:
        """Append rows that come after those that are here."""
        sources = list(zip(columns.source_kind, columns.source, strict=True))
        targets = list(zip(columns.target_kind, columns.target, strict=True))
        self._meet(dict.fromkeys((*sources, *targets)))
        ids = np.frombuffer(bytes.fromhex("".join(columns.edge_id)), ">u8").reshape(-1, 2)
        self._append(
            edge_row=columns.edge_row,
            id_high=ids[:, 0],
            id_low=ids[:, 1],
            source=[self._known[node] for node in sources],
            target=[self._known[node] for node in targets],
            relation=_codes(self._relations, columns.relation),
            first=_codes(self._days, columns.valid_from),
            last=_codes(self._days, columns.valid_to),
            label=columns.label,
            born=columns.born,
            died=[ALIVE if died is None else died for died in columns.died],
            extractor=_codes(self._extractors, columns.extractor),
        )

    def retire(self, rows: Sequence[int], died: Sequence[int]) -> None:
        """Note deaths of rows that are here."""
        places = np.searchsorted(self._held["edge_row"][: self.count], np.array(rows, np.int64))
        self._held["died"][places] = died

    def rows(self) -> TailRows:
        """All that is here now."""
        return TailRows(
            {name: held[: self.count] for name, held in self._held.items()},
            tuple(self._ids),
            tuple(self._relations),
            tuple(self._extractors),
            tuple(self._days),
        )

    def _meet(self, nodes: Iterable[tuple[str, str]]) -> None:
        fresh = [node for node in nodes if node not in self._known]
        ids = [format_node_id(*node).encode() for node in fresh]
        for node, node_id, place in zip(fresh, ids, self._table.find_nodes(ids), strict=True):
            if place < 0:
                place = self._table.nodes + len(self._ids)
                self._ids.append(node_id)
            self._known[node] = place

    def _append(self, **columns: Any) -> None:
        needed = self.count + len(columns["edge_row"])
        for name, values in columns.items():
            held = self._held[name]
            if needed > len(held):
                held = np.zeros(max(needed, 2 * len(held)), held.dtype)
                held[: self.count] = self._held[name][: self.count]
                self._held[name] = held
            held[self.count : needed] = values
        self.count = needed


def _codes(known: dict[str, int], names: Sequence[str]) -> list[int]:
    for name in dict.fromkeys(names):
        known.setdefault(name, len(known))
    return [known[name] for name in names]


@dataclass(frozen=True, slots=True, eq=False)
class TailView:
    """Rows behind a table, put in order. Edges that the table has keep their place there; others stand behind its own.

    Attributes:
        source, target, relation, first, last, id_high, id_low: of the new edges, in the order of their ids.
        row_edge: int64[rows], the edge of each row.
        rows_by_edge, edges_of_rows: int64[rows], rows in the order of their edges, and those edges.
        out_nodes, out_edges: int64, nodes ascending that new edges start at, and the edges.
        in_nodes, in_edges: the same for where they end.
    """

    columns: dict[str, NDArray[Any]]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    relation: NDArray[np.int32]
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    id_high: NDArray[np.uint64]
    id_low: NDArray[np.uint64]
    row_edge: Integers
    rows_by_edge: Integers
    edges_of_rows: Integers
    out_nodes: Integers
    out_edges: Integers
    in_nodes: Integers
    in_edges: Integers

    @classmethod
    def of(cls, table: Table, rows: TailRows) -> TailView:
        """Put rows in order."""
        columns = rows.columns
        high, low = columns["id_high"], columns["id_low"]
        order = np.lexsort((low, high))
        sorted_high, sorted_low = high[order], low[order]
        begins = np.ones(len(order), np.bool_)
        begins[1:] = (sorted_high[1:] != sorted_high[:-1]) | (sorted_low[1:] != sorted_low[:-1])
        firsts = order[begins]
        edges = table.find_edges(high[firsts], low[firsts])
        new = edges < 0
        edges[new] = table.edges + np.arange(np.count_nonzero(new))
        row_edge = np.empty(len(order), np.int64)
        row_edge[order] = edges[np.cumsum(begins) - 1]
        chosen = firsts[new]
        held = {name: columns[name][chosen] for name in ("source", "target", "relation", "first", "last")}
        by_edge = np.argsort(row_edge, kind="stable")
        out = np.argsort(held["source"], kind="stable")
        into = np.argsort(held["target"], kind="stable")
        return cls(
            columns,
            **held,
            id_high=high[chosen],
            id_low=low[chosen],
            row_edge=row_edge,
            rows_by_edge=by_edge,
            edges_of_rows=row_edge[by_edge],
            out_nodes=held["source"][out].astype(np.int64),
            out_edges=out + table.edges,
            in_nodes=held["target"][into].astype(np.int64),
            in_edges=into + table.edges,
        )
