"""Variants of a query are one list with it, and never outvote it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.lexical import LexicalScores, top
from groundwire_server.narrative.legs import Wording, merge_wordings
from groundwire_server.narrative.state import RankedList

LISTS = st.lists(st.dictionaries(st.integers(0, 40), st.floats(0.01, 100), max_size=25), min_size=1, max_size=5)
DEPTH = 10


def wording(scores: dict[int, float]) -> Wording:
    rows = sorted(scores)
    found = LexicalScores(np.array(rows, dtype=np.int64), np.array([scores[row] for row in rows], dtype=np.float64))
    order = top(found, DEPTH, lambda row: row)
    best = np.isin(found.rows, order)
    held = LexicalScores(found.rows[best], found.scores[best])
    return Wording(held, order, lambda rows: np.array([scores.get(row, 0.0) for row in rows.tolist()]))


@given(lists=LISTS)
def test_a_row_stands_by_its_best_rank_the_query_first(lists: list[dict[int, float]]) -> None:
    ranked = [wording(scores) for scores in lists]
    merged = merge_wordings(ranked, DEPTH)
    best: dict[int, tuple[int, int]] = {}
    for number, each in enumerate(ranked):
        for rank, row in enumerate(each.order):
            best[row] = min(best.get(row, (99, 99)), (rank, number))
    assert list(merged.order) == sorted(best, key=lambda row: best[row])[:DEPTH]


@given(lists=LISTS)
def test_no_score_of_a_variant_is_above_the_best_of_the_query(lists: list[dict[int, float]]) -> None:
    merged = merge_wordings([wording(scores) for scores in lists], DEPTH)
    rows = np.array(sorted({row for scores in lists for row in scores}), dtype=np.int64)
    own = lists[0]
    for row, score in zip(rows.tolist(), merged.scores_of(rows).tolist(), strict=True):
        assert score >= own.get(row, 0.0)
        if own:
            assert score <= max(own.values()) * (1 + 1e-12)


@given(scores=LISTS.map(lambda lists: lists[0]))
def test_alone_a_query_is_as_it_was(scores: dict[int, float]) -> None:
    alone = wording(scores)
    merged = merge_wordings([alone], DEPTH)
    assert merged.order.tolist() == alone.order
    assert merged.scores_of(np.array([*sorted(scores), 999], dtype=np.int64)).tolist() == [
        *(scores[row] for row in sorted(scores)),
        0.0,
    ]


@given(
    order=st.lists(st.integers(0, 30), unique=True, max_size=20), others=st.sets(st.integers(0, 30)), more=st.booleans()
)
def test_a_rank_is_the_place_in_the_list(order: list[int], others: set[int], more: bool) -> None:
    rows = sorted({*others, *(order if more else ())})
    ranked = RankedList(np.array(order, dtype=np.int64), lambda rows: np.zeros(len(rows)))
    places = {row: place for place, row in enumerate(order, start=1)}
    assert ranked.ranks_of(np.array(rows, dtype=np.int64)).tolist() == [places.get(row, 0) for row in rows]
