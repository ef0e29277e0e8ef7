"""Exact search, bit for bit that of a plain loop."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire_server.dense import DenseHits, VectorIndex, encode
from tests.dense.legs import LEGS, use
from tests.dense.plain import plain_search

DIM = 24


@pytest.fixture(params=LEGS, autouse=True, scope="module")
def leg(request: pytest.FixtureRequest) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        use(request.param, monkeypatch)
        yield request.param


def _units(rows: NDArray[Any]) -> NDArray[np.float32]:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0), np.float32)


def _index(matrix: NDArray[np.float32], present: NDArray[np.bool_]) -> VectorIndex:
    return VectorIndex(matrix, present, "v", codes=encode(matrix, present, np.full(DIM, 0.1, np.float32)))


def _shuffled_key(n: int, seed: int) -> Callable[[int], tuple[str, int]]:
    places = list(range(n))
    random.Random(seed).shuffle(places)
    return lambda row: ("doc", places[row])


def _same(hits: DenseHits, expected: list[tuple[int, float]]) -> None:
    assert hits.rows.tolist() == [row for row, _ in expected]
    assert hits.scores.view(np.uint64).tolist() == np.array([s for _, s in expected], np.float64).view("u8").tolist()


def _random(rng: np.random.Generator, n: int) -> NDArray[np.float32]:
    return _units(rng.standard_normal((n, DIM)))


def _near_ties(rng: np.random.Generator, n: int) -> NDArray[np.float32]:
    """All within a few last bits of each other: the float32 scores of most are equal or in the wrong order."""
    rows = np.repeat(_random(rng, 1), n, axis=0)
    steps = rng.integers(-1, 2, rows.shape)
    return np.where(steps > 0, np.nextafter(rows, np.float32(2)), np.where(steps < 0, np.nextafter(rows, -2), rows))


def _duplicates(rng: np.random.Generator, n: int) -> NDArray[np.float32]:
    return _random(rng, 5)[rng.integers(0, 5, n)]


def _equal(rng: np.random.Generator, n: int) -> NDArray[np.float32]:
    return np.repeat(_random(rng, 1), n, axis=0)


def _denormal(rng: np.random.Generator, n: int) -> NDArray[np.float32]:
    """Too small for float32 products."""
    return (1e-40 * rng.integers(-9, 10, (n, DIM))).astype(np.float32)


def _zeros(rng: np.random.Generator, n: int) -> NDArray[np.float32]:
    rows = _random(rng, n)
    rows[rng.random(n) < 0.5] = 0
    return rows


def _longest(rng: np.random.Generator, n: int) -> NDArray[np.float32]:
    """As long as float32 allows."""
    return (np.finfo(np.float32).max * rng.choice([-1, -0.99, 0, 0.5, 1], (n, DIM))).astype(np.float32)


def _of_all_lengths(rng: np.random.Generator, n: int) -> NDArray[np.float32]:
    """One step of a denormal row, a unit row and a long one do not fit one another."""
    lengths = 10.0 ** rng.choice([-44.0, -38.0, -20.0, 0.0, 20.0, 37.0], (n, 1))
    return (lengths * rng.uniform(-1, 1, (n, DIM))).astype(np.float32)


def _long(rng: np.random.Generator, n: int) -> NDArray[np.float32]:
    """Beyond what a float32 product can hold."""
    return (1e30 * rng.standard_normal((n, DIM))).astype(np.float32)


@pytest.mark.parametrize(
    "make", [_random, _near_ties, _duplicates, _equal, _denormal, _zeros, _long, _longest, _of_all_lengths]
)
@pytest.mark.parametrize("share", [0.05, 0.6, 1.0])
@pytest.mark.parametrize("depth", [1, 7, 40])
def test_equals_the_plain_loop(
    make: Callable[[np.random.Generator, int], NDArray[np.float32]], share: float, depth: int
) -> None:
    rng = np.random.default_rng([len(make.__name__), depth])
    n = 700
    matrix = make(rng, n)
    present = rng.random(n) < 0.95
    candidates = rng.random(n) < share
    key = _shuffled_key(n, depth)
    index = _index(matrix, present)
    for query in (_random(rng, 1)[0], matrix[3], np.zeros(DIM, np.float32), -matrix[5]):
        hits = index.search(query, candidates, depth, key)
        _same(hits, plain_search(matrix, candidates & present, query, depth, key))


@given(st.integers(0, 2**32), st.integers(0, 60), st.integers(0, 300), st.floats(0, 1))
def test_equals_the_plain_loop_anywhere(seed: int, depth: int, n: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    # Few distinct values: many equal and nearly equal scores.
    matrix = _units(rng.integers(-1, 2, (n, DIM)).astype(np.float64))
    candidates = rng.random(n) < share
    query = _units(rng.integers(-1, 2, (1, DIM)).astype(np.float64))[0]
    key = _shuffled_key(n, seed)
    hits = _index(matrix, np.ones(n, np.bool_)).search(query, candidates, depth, key)
    _same(hits, plain_search(matrix, candidates, query, depth, key))


@pytest.fixture(scope="module")
def big() -> VectorIndex:
    rng = np.random.default_rng(3)
    return VectorIndex(_random(rng, 20_000), np.ones(20_000, np.bool_), "v")


def test_bits_do_not_depend_on_filter_depth_or_threads(big: VectorIndex) -> None:
    rng = np.random.default_rng(4)
    query = _random(rng, 1)[0]
    everything = np.ones(big.rows, np.bool_)
    reference = big.search(query, everything, 300, int)
    exact = dict(zip(reference.rows.tolist(), reference.scores.tolist(), strict=True))

    def under(share: float) -> None:
        candidates = np.random.default_rng(int(share * 1e6)).random(big.rows) < share
        candidates[reference.rows] = True
        for depth in (1, 10, 300):
            hits = big.search(query, candidates, depth, int)
            assert hits.rows.tolist() == reference.rows[:depth].tolist()
            assert [exact[row] for row in hits.rows.tolist()] == hits.scores.tolist()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(under, [0.0, 0.001, 0.01, 0.1, 0.3, 0.5, 0.9, 1.0]))
    assert big.score(query, reference.rows[::-1]).tolist() == reference.scores[::-1].tolist()


def test_a_row_without_a_vector_is_no_hit_whatever_lies_there() -> None:
    matrix = _random(np.random.default_rng(0), 50)
    present = np.arange(50) % 2 == 0
    matrix[~present] = np.nan
    index = _index(matrix, present)
    hits = index.search(matrix[0], np.ones(50, np.bool_), 50, int)
    assert sorted(hits.rows.tolist()) == list(range(0, 50, 2))
    hits = index.search(matrix[0], np.ones(50, np.bool_), 3, int)
    assert hits.rows[0] == 0
    assert np.isnan(index.score(matrix[0], np.array([1, 0]))).tolist() == [True, False]
    assert index.vector(1) is None


def test_a_zero_query_ranks_all_candidates_by_key() -> None:
    index = _index(_random(np.random.default_rng(0), 500), np.ones(500, np.bool_))
    hits = index.search(np.zeros(DIM, np.float32), np.ones(500, np.bool_), 10, lambda row: -row)
    assert hits.rows.tolist() == list(range(499, 489, -1))
    assert hits.scores.tolist() == [0.0] * 10


def test_the_key_is_asked_for_ties_only(big: VectorIndex) -> None:
    def never(row: int) -> int:
        raise AssertionError(row)

    query = _random(np.random.default_rng(9), 1)[0]
    assert len(big.search(query, np.ones(big.rows, np.bool_), 200, never).rows) == 200


def test_empty() -> None:
    index = VectorIndex(np.empty((0, DIM), np.float32), np.empty(0, np.bool_), "v")
    hits = index.search(np.ones(DIM, np.float32), np.empty(0, np.bool_), 10, int)
    assert (hits.rows.tolist(), hits.scores.tolist()) == ([], [])
    assert index.score(np.ones(DIM, np.float32), np.empty(0, np.int64)).tolist() == []


def test_an_index_is_immutable(big: VectorIndex) -> None:
    vector = big.vector(0)
    assert vector is not None
    for array in (vector, big.present):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize(
    "query",
    [np.zeros(DIM - 1, np.float32), np.zeros(DIM), np.full(DIM, np.nan, np.float32), np.full(DIM, np.inf, "f4")],
)
def test_a_query_that_is_none(big: VectorIndex, query: NDArray[Any]) -> None:
    with pytest.raises(ValueError, match="finite float32"):
        big.search(query, np.ones(big.rows, np.bool_), 1, int)


def test_wrong_candidates_and_depth(big: VectorIndex) -> None:
    query = np.zeros(DIM, np.float32)
    with pytest.raises(ValueError, match="candidates"):
        big.search(query, np.ones(3, np.bool_), 1, int)
    with pytest.raises(ValueError, match="depth"):
        big.search(query, np.ones(big.rows, np.bool_), -1, int)
    for wrong in (np.nan, np.inf, -np.inf):
        matrix = np.array([[wrong, 0], [1, 0]], np.float32)
        with pytest.raises(ValueError, match="finite"):
            VectorIndex(matrix, np.ones(2, np.bool_), "v")
        assert VectorIndex(matrix, np.array([False, True]), "v").rows == 2
    with pytest.raises(ValueError, match="float32"):
        VectorIndex(np.zeros((2, 2)), np.ones(2, np.bool_), "v")  # type: ignore[arg-type]
