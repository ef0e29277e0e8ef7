"""Codes: bounds that hold, estimates that are the same wherever they are made."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire_server.dense import VectorIndex, code_folder, encode, vector_index
from groundwire_server.dense.kernel import fixed_dots
from groundwire_server.dense.row_codes import QueryCode, encode_rows
from groundwire_server.dense.sign_codes import QuerySigns, estimates
from groundwire_server.dense.signs_search import nearest_by_signs
from tests.dense.legs import LEGS, kernels_of, use

SEEDS = st.integers(0, 2**32)
DIMS = st.sampled_from([1, 7, 24, 64, 96, 384, 1024])


def units(rng: np.random.Generator, n: int, dim: int) -> NDArray[np.float32]:
    rows = rng.standard_normal((n, dim)) + 2 * rng.random(dim)
    unit: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


SCALES = st.sampled_from([1e-45, 1e-44, 1e-38, 1e-30, 1.0, 1e15, 3e37])


@given(SEEDS, DIMS, SCALES, SCALES, st.floats(0, 1))
def test_true_scores_lie_within_the_bounds(seed: int, dim: int, scale: float, asked: float, zeros: float) -> None:
    rng = np.random.default_rng(seed)
    rows = (scale * rng.uniform(-9, 9, (40, dim))).astype(np.float32)
    rows[rng.random(rows.shape) < zeros] = 0
    query = (asked * rng.uniform(-9, 9, dim)).astype(np.float32)
    query[rng.random(dim) < zeros] = 0
    norm = float(np.linalg.norm(rows.astype(np.float64), axis=1).max())
    codes, code = encode_rows(rows), QueryCode.of(query, norm)
    exact = fixed_dots(rows, query)
    steps = codes.steps.astype(np.float64)
    products = codes.codes.astype(np.int64) @ code.numbers.astype(np.int64)
    assert np.abs(products).max(initial=0) < 2**31
    error = steps[:, 1] * code.norm + code.slack
    assert (np.abs(products * code.step * steps[:, 0] - exact) <= error).all()


def test_bounds_are_close() -> None:
    rng = np.random.default_rng(1)
    rows, query = units(rng, 100, 384), units(rng, 1, 384)[0]
    code = QueryCode.of(query, 1.001)
    assert (encode_rows(rows).steps[:, 1] * code.norm + code.slack).max() < 0.02


@pytest.mark.parametrize("leg", LEGS)
@settings(max_examples=50)
@given(seed=SEEDS, dim=DIMS, n=st.integers(1, 5000), wanted=st.integers(1, 3000), share=st.floats(0, 1))
def test_the_shortlist_is_that_of_the_definition(
    seed: int, dim: int, n: int, wanted: int, share: float, leg: str
) -> None:
    rng = np.random.default_rng(seed)
    matrix = units(rng, n, dim)
    if seed % 3 == 0:
        matrix = matrix[rng.integers(0, min(n, 9), n)]  # many equal estimates
    query, centre = units(rng, 1, dim)[0], matrix.mean(axis=0).astype(np.float32)
    signs = encode(matrix, np.ones(n, np.bool_), centre).signs
    assert signs is not None
    asked = QuerySigns.of(query, centre)
    candidates = rng.random(n) < share
    values = _plain_estimates(matrix, query, centre)
    assert estimates(signs, asked, slice(None)).reshape(-1)[:n].tolist() == values
    allowed = sorted((values[row] for row in np.flatnonzero(candidates)), reverse=True)
    least = allowed[min(wanted, len(allowed)) - 1] if allowed else 0
    expected = [row for row in range(n) if candidates[row] and values[row] >= least]
    assert nearest_by_signs(signs, asked, candidates, wanted, kernels_of(leg), lambda: None).tolist() == expected


def _plain_estimates(matrix: NDArray[np.float32], query: NDArray[np.float32], centre: NDArray[np.float32]) -> list[int]:
    """By the levels of the query and the signs of the rows, without planes, words or distances."""
    n, dim = matrix.shape
    signs = encode(matrix, np.ones(n, np.bool_), centre).signs
    assert signs is not None
    asked = QuerySigns.of(query, centre)
    planes = np.unpackbits(asked.planes.view(np.uint8), axis=1, bitorder="little")[:, :dim].astype(np.int64)
    levels = 2 * (planes * [[1], [2], [4], [8]]).sum(axis=0) - 15
    signed = np.where(matrix.astype(np.float64) > centre.astype(np.float64), 1, -1)
    marks = signs.marks.astype(np.int64).transpose(0, 2, 1).reshape(-1, 2)[:n]
    found: list[int] = (((signed @ levels * marks[:, 0] * asked.factor) >> asked.shift) + marks[:, 1]).tolist()
    assert max(map(abs, found)) < 2**31
    return found


def test_estimates_are_near_the_scores() -> None:
    rng = np.random.default_rng(5)
    matrix, query = units(rng, 2000, 384), units(rng, 1, 384)[0]
    centre = matrix.mean(axis=0).astype(np.float32)
    signs = encode(matrix, np.ones(2000, np.bool_), centre).signs
    assert signs is not None
    estimated = estimates(signs, QuerySigns.of(query, centre), slice(None)).reshape(-1)[:2000] / 2**24
    true = fixed_dots(matrix, query) - float(query @ centre)
    assert np.abs(estimated - true).max() < 0.1
    assert np.corrcoef(estimated, true)[0, 1] > 0.7


@pytest.mark.parametrize("leg", LEGS)
def test_a_search_with_a_shortlist_scores_as_an_exact_one_does(leg: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use(leg, monkeypatch)
    monkeypatch.setattr(vector_index, "SHORTLIST_FROM", 3000)
    rng = np.random.default_rng(6)
    matrix = units(rng, 6000, 64)
    present = rng.random(6000) < 0.9
    index = VectorIndex(matrix, present, "v", codes=encode(matrix, present, matrix.mean(axis=0)))
    for share in (0.3, 0.7, 1.0):
        candidates = rng.random(6000) < share
        query = units(rng, 1, 64)[0]
        shortlist = index.shortlist(candidates, 10)
        assert (shortlist > 0) == (np.count_nonzero(candidates & present) >= 3000)
        exact = index.search(query, candidates, 10, int)
        hits = index.search(query, candidates, 10, int, shortlist=shortlist)
        assert hits.rows.tolist() == exact.rows.tolist()
        assert hits.scores.tolist() == exact.scores.tolist()


@pytest.mark.parametrize("leg", LEGS)
def test_rows_that_are_no_candidates_change_nothing(leg: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use(leg, monkeypatch)
    monkeypatch.setattr(vector_index, "SHORTLIST_FROM", 1000)
    rng = np.random.default_rng(8)
    own, hidden, centre = units(rng, 3000, 96), units(rng, 2500, 96), units(rng, 1, 96)[0]
    alone = VectorIndex(own, np.ones(3000, np.bool_), "v", codes=encode(own, np.ones(3000, np.bool_), centre))
    places = np.sort(rng.choice(5500, 3000, replace=False))
    mixed = np.empty((5500, 96), np.float32)
    mixed[places], mixed[np.setdiff1d(np.arange(5500), places)] = own, hidden
    both = VectorIndex(mixed, np.ones(5500, np.bool_), "v", codes=encode(mixed, np.ones(5500, np.bool_), centre))
    candidates = np.isin(np.arange(5500), places)
    everything = np.ones(3000, np.bool_)
    assert both.shortlist(candidates, 5) == alone.shortlist(everything, 5) > 0
    for wanted in (0, 5, 40):
        query = units(rng, 1, 96)[0]
        first = alone.search(query, everything, 5, int, shortlist=wanted)
        second = both.search(query, candidates, 5, int, shortlist=wanted)
        assert places[first.rows].tolist() == second.rows.tolist()
        assert first.scores.tolist() == second.scores.tolist()


def test_a_centre_is_the_mean_of_fixed_texts() -> None:
    from groundwire_server.dense import HashEmbedder, model_centre

    embedder = HashEmbedder()
    centre = model_centre(embedder)
    assert centre.shape == (embedder.dim,)
    assert not centre.flags.writeable
    assert centre.tobytes() == model_centre(embedder).tobytes()
    assert code_folder.SIGNS_FROM < vector_index.SHORTLIST_FROM
