"""The stage that ranks what relations lead to along with what words and meaning found (semantics 12).

A document has the share of a walk that ends with it, its n-th best passage the n-th part of that. To it is added the
reciprocal rank that the passage has without relations, which tells apart what the walk does not: documents that nothing
leads to keep the order that they had. `docs/multi-hop.md` has the figures.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from groundwire_server.evidence import PlanStep, Snippet, StageTiming
from groundwire_server.narrative.fuse import legs_over, listed_rows, make_hit, order_of
from groundwire_server.narrative.fusion import RRF_K, Fusion, LinearFusion
from groundwire_server.narrative.state import Hit, Lazy, Search
from groundwire_server.narrative.walk import EvidenceWalk, Walked, WalkStart

__all__ = ["GRAPH_DEPTH", "SEEDS", "Followed", "follow_relations"]

SEEDS = 20
"""Passages that a walk begins with, the best ones."""
GRAPH_DEPTH = 200
"""How deep the lists of the legs are at least, so that the answer does not depend on how much of it is asked for."""

_SHARE = 3.0  # what the whole of a walk weighs, where the first rank weighs 1/61

_STAGE = "graph"
# Which of a document's passages is nearest to the question, whether or not it stands in a list.
_NEARNESS = LinearFusion()


@dataclass(frozen=True, slots=True, eq=False)
class Followed:
    """A search with what relations lead to; `absent`: there are none; `cut`: there are more than were followed.

    path: the chain of relations that leads to the document with an id, as a snippet.
    """

    search: Search
    step: PlanStep
    timing: StageTiming
    path: Callable[[str], Snippet | None]
    absent: bool = False
    cut: bool = False


def follow_relations(search: Search, fusion: Fusion, graph: EvidenceWalk) -> Followed:
    """Rank the passages of a search anew, with the documents to which relations lead from them and from the question.

    Raises:
        CallCancelled, DeadlineExceeded: the call is over.
    """
    search.call.cancel.check(_STAGE)
    started = time.perf_counter()
    library_id = search.snapshot.library_id
    ranked = _ranked(search, fusion) if search.ranking is None else search.ranking
    listed = np.sort(ranked)

    def score(rows: NDArray[np.int64]) -> NDArray[np.float64]:
        every = np.union1d(listed, rows)
        return _NEARNESS.fuse(legs_over(search, every))[np.searchsorted(every, rows)]

    start = WalkStart(
        search.snapshot, search.call, search.query, search.candidates, tuple(ranked[:SEEDS].tolist()), score
    )
    walked = graph.walk(start)
    if walked is None:
        elapsed = timedelta(seconds=time.perf_counter() - started)
        timing = StageTiming(_STAGE, elapsed, len(search.hits), len(search.hits), library_id)
        return Followed(search, PlanStep(_STAGE, "absent", "", library_id), timing, lambda doc_id: None, absent=True)
    found = _rank(search, ranked, walked)
    elapsed = timedelta(seconds=time.perf_counter() - started)
    return Followed(
        found,
        PlanStep(_STAGE, graph.name, f"{graph.detail},fused={_SHARE:g}*share/place+1/({RRF_K}+rank)", library_id),
        StageTiming(_STAGE, elapsed, len(search.hits), len(found.hits), library_id),
        _paths(search, walked),
        cut=walked.cut,
    )


def _ranked(search: Search, fusion: Fusion) -> NDArray[np.int64]:
    """The rows of the lists, best first."""
    listed = listed_rows(search)
    order = order_of(listed, fusion.fuse(legs_over(search, listed)), search.snapshot.tie_key)
    return listed[np.array(order, dtype=np.int64)]


def _rank(search: Search, ranked: NDArray[np.int64], walked: Walked) -> Search:
    """Every listed row, and every row of a document that the walk came to."""
    columns, tie_key = search.snapshot.columns, search.snapshot.tie_key
    places = np.array(sorted(walked.shares), dtype=np.int64)
    rows = np.union1d(ranked, _rows_of(search, places))
    legs = legs_over(search, rows)
    best_first = order_of(rows, _NEARNESS.fuse(legs), tie_key)
    share = np.zeros(columns.revisions)
    share[places] = [walked.shares[place] for place in places.tolist()]
    ordinal = np.ones(len(rows))
    taken = np.zeros(columns.revisions, dtype=np.int64)
    owner = columns.revision_of[rows]
    for at in best_first:
        taken[owner[at]] += 1
        ordinal[at] = taken[owner[at]]
    graph = share[owner] / ordinal
    plain = np.zeros(len(rows))
    plain[np.searchsorted(rows, ranked)] = 1.0 / (RRF_K + 1 + np.arange(len(ranked)))
    fused = _SHARE * graph + plain
    order = order_of(rows, fused, tie_key)
    by_graph = [at for at in order_of(rows, graph, tie_key) if graph[at] > 0]
    ranks = {at: rank for rank, at in enumerate(by_graph, start=1)}

    def hit(place: int) -> Hit:
        at = order[place]
        return replace(make_hit(legs, at, fused, search), graph=float(graph[at]) or None, graph_rank=ranks.get(at))

    return replace(search, hits=Lazy(len(order), hit))


def _rows_of(search: Search, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """The candidates among the rows of some revisions, ascending."""
    wanted = np.zeros(search.snapshot.columns.revisions, dtype=np.bool_)
    wanted[places] = True
    found: NDArray[np.int64] = np.flatnonzero(search.snapshot.columns.spread(wanted) & search.candidates)
    return found


def _paths(search: Search, walked: Walked) -> Callable[[str], Snippet | None]:
    columns = search.snapshot.columns
    places = {columns.doc_id(place): place for place in walked.shares}

    def path(doc_id: str) -> Snippet | None:
        return walked.path(places[doc_id]) if doc_id in places else None

    return path
