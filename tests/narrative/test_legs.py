"""Variants of a query are one list with it, and never outvote it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.lexical import LexicalScores, top
from groundwire_server.narrative.legs import merge_variants

LISTS = st.lists(st.dictionaries(st.integers(0, 40), st.floats(0.01, 100), max_size=25), min_size=1, max_size=5)
DEPTH = 10


def lexical(scores: dict[int, float]) -> tuple[LexicalScores, list[int]]:
    rows = sorted(scores)
    found = LexicalScores(np.array(rows, dtype=np.int64), np.array([scores[row] for row in rows], dtype=np.float64))
    return found, top(found, DEPTH, lambda row: row)


@given(lists=LISTS)
def test_a_row_stands_by_its_best_rank_the_query_first(lists: list[dict[int, float]]) -> None:
    ranked = [lexical(scores) for scores in lists]
    merged = merge_variants(ranked, DEPTH)
    best: dict[int, tuple[int, int]] = {}
    for number, (_, order) in enumerate(ranked):
        for rank, row in enumerate(order):
            best[row] = min(best.get(row, (99, 99)), (rank, number))
    assert list(merged.order) == sorted(best, key=lambda row: best[row])[:DEPTH]


@given(lists=LISTS)
def test_no_score_of_a_variant_is_above_the_best_of_the_query(lists: list[dict[int, float]]) -> None:
    merged = merge_variants([lexical(scores) for scores in lists], DEPTH)
    assert merged.rows.tolist() == sorted({row for scores in lists for row in scores})
    own = lists[0]
    for row, score in zip(merged.rows.tolist(), merged.scores.tolist(), strict=True):
        assert score >= own.get(row, 0.0)
        if own:
            assert score <= max(own.values()) * (1 + 1e-12)


@given(scores=LISTS.map(lambda lists: lists[0]))
def test_alone_a_query_is_as_it_was(scores: dict[int, float]) -> None:
    found, order = lexical(scores)
    merged = merge_variants([(found, order)], DEPTH)
    assert list(merged.order) == order
    assert merged.scores_of(np.array([*sorted(scores), 999], dtype=np.int64)).tolist() == [
        *(scores[row] for row in sorted(scores)),
        0.0,
    ]
