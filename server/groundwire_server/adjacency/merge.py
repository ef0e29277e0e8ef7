"""A table and what came after it, made into one table."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundwire_server.adjacency.ranges import Integers, lay_out
from groundwire_server.adjacency.table import ALIVE, Table, hash_ids
from groundwire_server.adjacency.tail import TailRows, TailView

__all__ = ["merge"]


def merge(table: Table, rows: TailRows, generation: int) -> Table:
    """Both in one, as they are at a generation: deaths that came later are left out."""
    view = TailView.of(table, rows)
    node_ids, node_ends, node_of = _merge_nodes(table, rows.node_ids)
    hashes = hash_ids(_split(node_ids, node_ends))
    by_hash = np.argsort(hashes, kind="stable")
    high = np.concatenate((table.id_high, view.id_high))
    low = np.concatenate((table.id_low, view.id_low))
    edge_order = np.lexsort((low, high))
    edge_of = _inverse(edge_order)
    names = sorted(rows.relations) if rows.relations else list(table.relations)
    relation_of = np.array([names.index(name) for name in rows.relations or table.relations], np.int32)

    def of_edges(name: str) -> NDArray[np.int32]:
        both: NDArray[np.int32] = np.concatenate((getattr(table, name), getattr(view, name)))[edge_order]
        return both

    source, target = node_of[of_edges("source")], node_of[of_edges("target")]
    relation = relation_of[of_edges("relation")] if len(edge_order) else np.zeros(0, np.int32)
    row_edge = edge_of[np.concatenate((table.row_edge, view.row_edge))]
    died = np.concatenate((table.died, rows.columns["died"]))

    def of_rows(name: str) -> NDArray[Any]:
        return np.concatenate((getattr(table, name), rows.columns[name]))

    out_start, out_edge = _leaving(source, target, relation, len(node_ends))
    in_start, in_edge = _leaving(target, source, relation, len(node_ends))
    return Table(
        node_ids=node_ids,
        node_ends=node_ends,
        node_hash=hashes[by_hash],
        node_by_hash=by_hash.astype(np.int32),
        id_high=high[edge_order],
        id_low=low[edge_order],
        source=source,
        target=target,
        relation=relation,
        first=of_edges("first"),
        last=of_edges("last"),
        out_start=out_start,
        out_edge=out_edge,
        in_start=in_start,
        in_edge=in_edge,
        row_start=_starts(row_edge, len(edge_order)),
        row_of=np.argsort(row_edge, kind="stable").astype(np.int32),
        row_edge=row_edge,
        edge_row=of_rows("edge_row"),
        label=of_rows("label"),
        born=of_rows("born"),
        died=np.where(died > generation, ALIVE, died),
        extractor=of_rows("extractor"),
        relations=tuple(names),
        extractors=rows.extractors or table.extractors,
        days=rows.days,
    )


def _merge_nodes(
    table: Table, fresh: tuple[bytes, ...]
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int32]]:
    """Ids in order, their ends, and where each old and each new node stands now."""
    order = sorted(range(len(fresh)), key=fresh.__getitem__)
    if table.nodes:
        olds = _split(table.node_ids, table.node_ends)
        below = np.array([bisect_left(olds, fresh[place]) for place in order], np.int64)
    else:
        below = np.zeros(len(order), np.int64)
    old = np.arange(table.nodes, dtype=np.int64)
    node_of = np.empty(table.nodes + len(fresh), np.int32)
    node_of[: table.nodes] = old + np.searchsorted(below, old, side="right")
    node_of[table.nodes + np.array(order, np.int64)] = below + np.arange(len(order))
    lengths = np.concatenate((np.diff(table.node_ends, prepend=0), np.array([len(each) for each in fresh], np.int64)))
    starts = np.cumsum(lengths) - lengths
    placed = _inverse(node_of)
    ids = np.concatenate((table.node_ids, np.frombuffer(b"".join(fresh), np.uint8)))
    return ids[lay_out(starts[placed], lengths[placed])[1]], np.cumsum(lengths[placed]), node_of


def _split(ids: NDArray[np.uint8], ends: NDArray[np.int64]) -> list[bytes]:
    whole, stops = ids.tobytes(), ends.tolist()
    return [whole[start:stop] for start, stop in zip((0, *stops), stops, strict=False)]


def _leaving(
    near: NDArray[np.int32], far: NDArray[np.int32], relation: NDArray[np.int32], nodes: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Edges by the node that they are left from, then by the other one, the relation and their ids."""
    order = np.lexsort((relation, near.astype(np.int64) * max(nodes, 1) + far))
    return _starts(near, nodes), order.astype(np.int32)


def _starts(keys: NDArray[np.int32], count: int) -> NDArray[np.int64]:
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(keys, minlength=count), out=starts[1:])
    return starts


def _inverse(order: Integers | NDArray[np.int32]) -> NDArray[np.int32]:
    places = np.empty(len(order), np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places
