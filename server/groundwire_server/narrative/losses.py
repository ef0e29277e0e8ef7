"""What a retrieval lost on its way, for a call that asks (stream.proto, EXPLAIN_LEVEL_TRACE).

A candidate is what the caller may read and the filter keeps, so that nothing here tells of anything else. It is lost by
the legs when it stands in no list that is put together, and at the exit when it is below top_k. Where more are lost
than can be told of, those are told that came furthest; so each list is read as much deeper as it takes to know them,
and no further.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundwire_server.evidence import (
    MAX_TRACE_ENTRIES,
    BudgetOver,
    Call,
    ChunkId,
    LossReason,
    Snippet,
    Trace,
    TraceEntry,
)
from groundwire_server.narrative.exit import Found
from groundwire_server.narrative.reach import Reach
from groundwire_server.narrative.state import RankedList, Search
from groundwire_server.security import drop_unreadable

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["trace_losses"]

_AT_ONCE = 50  # rows that are fetched before the cancel token is asked again
_KEYS_AT_ONCE = 4096  # the same, of rows that are put in order
_STAGE = "trace"


@dataclass(frozen=True, slots=True)
class _Loss:
    row: int
    stage: str
    reason: LossReason
    rank: int = 0
    score: float | None = None


def trace_losses(
    found: Sequence[Found],
    snippets: Sequence[Snippet],
    searches: Sequence[Search],
    call: Call,
    reach: Reach,
    *,
    refused: bool = False,
) -> Trace:
    """Which candidates of some searches did not become snippets, in the order of the stages and then of the ranks.

    All that is lost is counted, also where a soft budget leaves no time to name it.

    Args:
        found: what the searches found together, best first.
        snippets: what was made of the first of them.
        refused: none was made, since what was found was judged to be too weak.

    Raises:
        CallCancelled, DeadlineExceeded: the time of the call itself is over.
    """
    lost = sum(search.candidate_count for search in searches) - len(snippets)
    try:
        end = ("grade", LossReason.WEAK) if refused else ("exit", LossReason.TOP_K)
        entries = _entries(found, snippets, searches, call, reach, end)
    except BudgetOver:
        entries = []
    return Trace(tuple(entries), max(0, lost - len(entries)))


def _entries(
    found: Sequence[Found],
    snippets: Sequence[Snippet],
    searches: Sequence[Search],
    call: Call,
    reach: Reach,
    end: tuple[str, LossReason],
) -> list[TraceEntry]:
    shown = {(each.lineage.library_id, each.lineage.chunk_id) for each in snippets}
    below: dict[str, list[_Loss]] = {}
    for rank, one in enumerate(found[len(snippets) : len(snippets) + MAX_TRACE_ENTRIES], start=len(snippets) + 1):
        loss = _Loss(one.hit.row, *end, rank, one.hit.fused)
        below.setdefault(one.snapshot.library_id, []).append(loss)
    room = MAX_TRACE_ENTRIES - sum(map(len, below.values()))
    of = {search.snapshot.library_id: search for search in searches}

    def told(snapshot: Snapshot) -> list[TraceEntry]:
        library_id = snapshot.library_id
        if library_id not in of:
            return []
        losses = [*_lost_by_legs(of[library_id], room), *below.get(library_id, [])]
        names = _chunk_ids(snapshot, [each.row for each in losses], call)
        return [
            TraceEntry(each.stage, each.reason, names[each.row], each.rank, each.score, library_id)
            for each in losses
            if each.row in names and (library_id, names[each.row]) not in shown
        ]

    told_of = reach.each(told)
    by_legs = [entry for entries in told_of.values() for entry in entries if entry.reason < LossReason.TOP_K]
    at_exit = [entry for entries in told_of.values() for entry in entries if entry.reason is end[1]]
    return list(Trace.of([*by_legs, *sorted(at_exit, key=lambda entry: entry.rank)]).entries)


def _lost_by_legs(search: Search, most: int) -> list[_Loss]:
    """Candidates in no list, those nearest to one: at most so many. Each with the leg in which it stands highest.

    The lists are read deep enough to hold `most` rows that are lost, or all that have a rank.
    """
    if most <= 0:
        return []
    hits = np.array([hit.row for hit in search.hits], dtype=np.int64)
    left = search.candidates.copy()
    left[hits] = False
    deep = list(_deep_lists(search, len(hits) + most))
    best: dict[int, tuple[int, int]] = {}
    for leg, (_, ranked) in enumerate(deep):
        for rank, row in enumerate(ranked.order.tolist(), start=1):
            if left[row]:
                best[row] = min(best.get(row, (rank, leg)), (rank, leg))
    nearest = sorted(best, key=best.__getitem__)[:most]
    losses: list[_Loss] = []
    for leg, (stage, ranked) in enumerate(deep):
        rows = [row for row in nearest if best[row][1] == leg]
        scores = _scores(ranked, rows)
        losses += [_Loss(row, stage, LossReason.DEPTH, best[row][0], scores[row]) for row in rows]
    if len(nearest) < most and deep:
        left[nearest] = False
        ask = partial(search.call.cancel.check, _STAGE)
        rest = heapq.nsmallest(most - len(nearest), _asking(np.flatnonzero(left), ask), key=search.snapshot.tie_key)
        losses += [_Loss(row, deep[-1][0], LossReason.NO_MATCH) for row in rest]
    return losses


def _deep_lists(search: Search, depth: int) -> Iterator[tuple[str, RankedList]]:
    """The lists of the legs by their stages, in the order of the plan, cut at another depth."""
    for stage, ranked in (("lexical", search.lexical), ("dense", search.dense)):
        if ranked is not None and ranked.deeper is not None:
            yield stage, ranked.deeper(depth)


def _scores(ranked: RankedList, rows: Sequence[int]) -> dict[int, float]:
    ascending = np.sort(np.array(rows, dtype=np.int64))
    return dict(zip(ascending.tolist(), ranked.scores_of(ascending).tolist(), strict=True))


def _asking(rows: NDArray[np.int64], ask: Callable[[], None]) -> Iterator[int]:
    for start in range(0, len(rows), _KEYS_AT_ONCE):
        ask()
        yield from rows[start : start + _KEYS_AT_ONCE].tolist()


def _chunk_ids(snapshot: Snapshot, rows: Sequence[int], call: Call) -> dict[int, str]:
    """Of the readable ones among some rows. As at every exit, another one would leave here."""
    names: dict[int, str] = {}
    waiting = iter(rows)
    while some := list(islice(waiting, _AT_ONCE)):
        call.cancel.check(_STAGE)
        chunks = snapshot.chunks(some, call.principal)
        readable = set(map(id, drop_unreadable(chunks, call.principal)))
        for row, chunk in zip(some, chunks, strict=True):
            if id(chunk) in readable:
                names[row] = str(ChunkId(chunk.doc_id, chunk.revision, chunk.seq))
    return names
