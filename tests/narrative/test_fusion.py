"""RRF against the loop that everybody would write, and what the linear fusion promises."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.narrative import COSINE_SCALE, FUSIONS, Legs, LinearFusion, RrfFusion, make_fusion, rrf_fuse

VECTORS = Path(__file__).parents[1] / "conformance" / "rrf.json"
CASES = json.loads(VECTORS.read_text("utf-8"))["cases"]

IDS = st.integers(0, 30)
RANKINGS = st.lists(st.lists(IDS, max_size=20), max_size=5)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_vectors_that_every_client_runs(case: dict[str, Any]) -> None:
    scores = rrf_fuse(case["rankings"], case["k"], case["weights"])
    order = sorted(scores, key=lambda item: (-scores[item], item))
    assert order == case["order"]
    assert [scores[item] for item in order] == case["scores"]


@given(rankings=RANKINGS, k=st.integers(0, 100))
def test_rrf_is_the_plain_loop(rankings: list[list[int]], k: int) -> None:
    expected: dict[int, float] = {}
    for ranking in rankings:
        unique: list[int] = []
        for item in ranking:
            if item not in unique:
                unique.append(item)
        for place, item in enumerate(unique):
            expected[item] = expected.get(item, 0.0) + 1.0 / (k + place + 1)
    assert rrf_fuse(rankings, k) == expected


def legs(lexical: list[int], dense: list[int], bm25: dict[int, float], cosine: dict[int, float]) -> Legs:
    rows = sorted({*lexical, *dense})
    return Legs(
        np.array(rows, dtype=np.int64),
        np.array([bm25.get(row, 0.0) for row in rows]),
        np.array([cosine.get(row, np.nan) for row in rows]),
        np.array([lexical.index(row) + 1 if row in lexical else 0 for row in rows], dtype=np.int64),
        np.array([dense.index(row) + 1 if row in dense else 0 for row in rows], dtype=np.int64),
    )


@given(
    lexical=st.lists(IDS, unique=True, max_size=20),
    dense=st.lists(IDS, unique=True, max_size=20),
)
def test_rrf_over_legs_is_rrf_over_lists(lexical: list[int], dense: list[int]) -> None:
    given_legs = legs(lexical, dense, {}, {})
    fused = RrfFusion().fuse(given_legs)
    assert dict(zip(given_legs.rows.tolist(), fused.tolist(), strict=True)) == rrf_fuse([lexical, dense])


SCORES = st.dictionaries(IDS, st.floats(0, 50), max_size=20)
COSINES = st.dictionaries(IDS, st.floats(-1, 1), max_size=20)


def words(bm25: dict[int, float], row: int) -> float:
    best = max(bm25.values(), default=0.0)
    return bm25.get(row, 0.0) / math.sqrt(best) if best > 0 else 0.0


@given(bm25=SCORES, cosine=COSINES)
def test_linear_adds_both_scores_and_nothing_else_counts(bm25: dict[int, float], cosine: dict[int, float]) -> None:
    lexical, dense = sorted(bm25), sorted(cosine)
    fused = LinearFusion().fuse(legs(lexical, dense, bm25, cosine))
    by_row = dict(zip(sorted({*bm25, *cosine}), fused.tolist(), strict=True))
    for row in cosine:
        assert by_row[row] == words(bm25, row) + COSINE_SCALE * cosine[row]


@given(bm25=SCORES.filter(bool), cosine=COSINES.filter(bool))
def test_a_row_without_a_vector_is_as_near_as_its_peers_on_average(
    bm25: dict[int, float], cosine: dict[int, float]
) -> None:
    fused = LinearFusion().fuse(legs(sorted(bm25), sorted(cosine), bm25, cosine))
    by_row = dict(zip(sorted({*bm25, *cosine}), fused.tolist(), strict=True))
    peers = [value for row, value in cosine.items() if row in bm25] or list(cosine.values())
    for row in bm25.keys() - cosine.keys():
        assert min(peers) - 1e-9 <= (by_row[row] - words(bm25, row)) / COSINE_SCALE <= max(peers) + 1e-9


def test_without_any_vector_words_decide_alone() -> None:
    fused = LinearFusion().fuse(legs([1, 2], [], {1: 3.0, 2: 4.0}, {}))
    assert fused.tolist() == [1.5, 2.0]


def test_without_any_word_vectors_decide_alone() -> None:
    fused = LinearFusion().fuse(legs([], [1, 2], {}, {1: 0.5, 2: 0.25}))
    assert fused.tolist() == [COSINE_SCALE / 2, COSINE_SCALE / 4]


@given(bm25=SCORES, cosine=COSINES, order=st.randoms(use_true_random=False))
def test_the_order_of_rows_shows_in_no_bit(bm25: dict[int, float], cosine: dict[int, float], order: object) -> None:
    straight = legs(sorted(bm25), sorted(cosine), bm25, cosine)
    shuffled = list(range(len(straight.rows)))
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    turned = Legs(*(getattr(straight, name)[shuffled] for name in Legs.__slots__))
    assert LinearFusion().fuse(turned).tolist() == LinearFusion().fuse(straight)[shuffled].tolist()


def test_fusions_are_made_by_name() -> None:
    assert FUSIONS == ("linear", "rrf")
    assert [make_fusion(name).name for name in FUSIONS] == list(FUSIONS)
    assert make_fusion().name == "linear"
    assert make_fusion("rrf").detail == "k=60,w=1"
    with pytest.raises(InvalidRequest) as raised:
        make_fusion("borda")
    assert raised.value.violations[0].reason is ErrorReason.UNKNOWN_NAME
    assert "linear, rrf" in raised.value.violations[0].description
