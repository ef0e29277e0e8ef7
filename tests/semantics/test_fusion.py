"""Semantics 2: reciprocal rank fusion."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.narrative import rrf_fuse
from tests.semantics.hostile import quick

ids = st.sampled_from(["a", "b", "漢", "か", "😀", "a@1#c0", "a@1#c10", "a@1#c2", ""])
rankings = st.lists(st.lists(ids, unique=True, max_size=9), max_size=4)


def by_hand(lists: Sequence[Sequence[str]], k: int = 60, weights: Sequence[float] = ()) -> dict[str, float]:
    scores: dict[str, float] = {}
    for place, ranking in enumerate(lists):
        for rank, item in enumerate(ranking):
            scores[item] = scores.get(item, 0.0) + (weights[place] if weights else 1.0) / (k + rank + 1)
    return scores


@quick
@given(rankings)
def test_k_is_60_ranks_go_from_one_and_weights_are_one(lists: list[list[str]]) -> None:
    assert rrf_fuse(lists) == by_hand(lists)


@quick
@given(rankings, st.integers(0, 200), st.data())
def test_k_and_weights_may_be_given(lists: list[list[str]], k: int, data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.floats(0, 10), min_size=len(lists), max_size=len(lists)))
    assert rrf_fuse(lists, k, weights) == by_hand(lists, k, weights)


def test_a_doubled_id_in_one_list_counts_once_at_its_best_rank() -> None:
    assert rrf_fuse([["a", "a"]]) == {"a": 1 / 61}
    assert rrf_fuse([["b", "a", "a", "b"]]) == {"b": 1 / 61, "a": 1 / 62}
    assert rrf_fuse([["a"], ["a"]]) == {"a": 2 / 61}


def test_nothing_fuses_to_nothing() -> None:
    assert rrf_fuse([]) == rrf_fuse([[], []]) == {}


@quick
@given(rankings)
def test_the_order_of_two_lists_does_not_change_a_score(lists: list[list[str]]) -> None:
    pair = lists[:2]
    assert rrf_fuse(pair) == rrf_fuse(pair[::-1])
    assert rrf_fuse(lists) == pytest.approx(rrf_fuse(lists[::-1]))
