"""The fixed order of adding, against plain Python floats."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire_server.dense.kernel import coarse_error, fixed_dots, unit_vector
from tests.dense.plain import plain_dot

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False, min_value=-(2.0**60), max_value=2.0**60)


def _bits(values: NDArray[np.float64]) -> list[int]:
    bits: list[int] = values.view(np.uint64).tolist()
    return bits


@given(st.data())
def test_bits_are_those_of_the_plain_order(data: st.DataObject) -> None:
    dim = data.draw(st.sampled_from([1, 2, 3, 7, 12, 96, 384]))
    values = data.draw(st.lists(FLOATS, min_size=2, max_size=8))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    query = rng.choice(np.array(values, np.float32), dim)
    rows = rng.choice(np.array(values, np.float32), (5, dim))
    expected = np.array([plain_dot(row, query) for row in rows])
    assert _bits(fixed_dots(rows, query)) == _bits(expected)


@pytest.mark.parametrize("dim", [1, 5, 64, 384])
def test_bits_do_not_depend_on_batch_alignment_or_threads(dim: int) -> None:
    rng = np.random.default_rng(dim)
    rows = rng.standard_normal((1500, dim)).astype(np.float32)
    query = rng.standard_normal(dim).astype(np.float32)
    whole = _bits(fixed_dots(rows, query))
    assert [_bits(fixed_dots(rows[i : i + 1], query))[0] for i in range(0, 1500, 7)] == whole[::7]
    raw = np.empty(rows.nbytes + 4, np.uint8)[4:]
    unaligned = raw.view(np.float32).reshape(rows.shape)
    unaligned[:] = rows
    assert _bits(fixed_dots(unaligned, query)) == whole
    assert _bits(fixed_dots(rows[::-1], query)) == whole[::-1]
    assert _bits(fixed_dots(np.asfortranarray(rows), query)) == whole
    with ThreadPoolExecutor(4) as pool:
        assert all(_bits(got) == whole for got in pool.map(lambda _: fixed_dots(rows, query), range(8)))


def test_denormals_and_signed_zeros() -> None:
    smallest = np.float32(1e-45)
    rows = np.array([[smallest, smallest, 0, -0.0], [-0.0, -0.0, -0.0, -0.0]], np.float32)
    query = np.array([smallest, 1, -1, 1], np.float32)
    scores = fixed_dots(rows, query)
    assert scores[0] == float(smallest) ** 2 + float(smallest)
    assert _bits(scores)[1] == 0


@given(st.integers(0, 2**32), st.sampled_from([1e-30, 1e-3, 1.0, 1e3]), st.sampled_from([3, 64, 384]))
def test_coarse_scores_stay_within_the_bound(seed: int, scale: float, dim: int) -> None:
    rng = np.random.default_rng(seed)
    rows = (scale * rng.standard_normal((64, dim))).astype(np.float32)
    query = rng.standard_normal(dim).astype(np.float32)
    row_norm, query_norm = (float(np.linalg.norm(a.astype(np.float64), axis=-1).max()) for a in (rows, query))
    bound = coarse_error(dim, row_norm, query_norm)
    exact = fixed_dots(rows, query)
    backwards = np.zeros(64, np.float32)
    for column in reversed(range(dim)):
        backwards += rows[:, column] * query[column]
    for coarse in (rows @ query, (rows @ np.stack([query] * 5).T)[:, 2], backwards):
        assert np.abs(coarse.astype(np.float64) - exact).max() <= bound


def test_unit_vectors() -> None:
    unit = unit_vector(np.array([3.0, 4.0]))
    assert unit.tolist() == np.array([0.6, 0.8], np.float32).tolist()
    assert not unit.flags.writeable
    assert unit_vector(np.zeros(4)).tolist() == [0, 0, 0, 0]
