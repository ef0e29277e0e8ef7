"""Searches at the same moment, with other queries, candidates and depths: none notices the others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire_server.dense import DenseHits, VectorIndex, encode, row_scan
from tests.dense.legs import LEGS, use
from tests.dense.plain import plain_search

DIM, ROWS = 48, 6000


class Gone(Exception):
    """The caller went away."""


@dataclass(frozen=True)
class Asked:
    """One caller's search."""

    query: NDArray[np.float32]
    candidates: NDArray[np.bool_]
    depth: int


@pytest.fixture(params=LEGS)
def index(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> VectorIndex:
    use(request.param, monkeypatch)
    monkeypatch.setattr(row_scan, "PART_ROWS", 500)
    rng = np.random.default_rng(1)
    matrix = rng.standard_normal((ROWS, DIM)) + 1.5
    matrix = (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype(np.float32)
    matrix[rng.integers(0, ROWS, 900)] = matrix[7]  # many of the best are equal
    matrix[rng.integers(0, ROWS, 50)] = 0
    present = rng.random(ROWS) < 0.97
    matrix[~present] = np.nan
    return VectorIndex(matrix, present, "v", 1.001, encode(matrix, present))


def asked(number: int) -> Asked:
    rng = np.random.default_rng([2, number])
    query = (rng.standard_normal(DIM) + rng.integers(0, 3)).astype(np.float32)
    if number % 5 == 0:
        query[:] = 0
    share = (1.0, 0.9, 0.5, 0.2, 0.05, 0.0)[number % 6]
    return Asked(query, rng.random(ROWS) < share, (1, 10, 50, 200)[number % 4])


def tie_key(row: int) -> int:
    return -row


def same(first: DenseHits, second: DenseHits) -> bool:
    return first.rows.tolist() == second.rows.tolist() and first.scores.tobytes() == second.scores.tobytes()


def alone(index: VectorIndex, one: Asked) -> DenseHits:
    return index.search(one.query, one.candidates, one.depth, tie_key)


def together(index: VectorIndex, all_of: list[Asked], check: Callable[[int], None]) -> list[DenseHits | None]:
    """All at once; None for those that were called off."""
    start = threading.Barrier(len(all_of))

    def search(number: int) -> DenseHits | None:
        one = all_of[number]
        start.wait(60)
        try:
            return index.search(one.query, one.candidates, one.depth, tie_key, check=lambda: check(number))
        except Gone:
            return None

    with ThreadPoolExecutor(len(all_of)) as pool:
        return list(pool.map(search, range(len(all_of))))


def test_nobody_notices_the_others(index: VectorIndex) -> None:
    all_of = [asked(number) for number in range(24)]
    expected = [alone(index, one) for one in all_of]
    for one, hits in zip(all_of[:6], expected, strict=False):
        plain = plain_search(index._matrix, one.candidates & index.present, one.query, one.depth, tie_key)
        assert hits.rows.tolist() == [row for row, _ in plain]
    for _ in range(3):
        found = together(index, all_of, lambda _: None)
        assert all(hits is not None and same(hits, own) for hits, own in zip(found, expected, strict=True))


def test_nobody_notices_who_goes_away(index: VectorIndex) -> None:
    all_of = [asked(number) for number in range(24)]
    polls = [iter(range(1000)) for _ in all_of]

    def check(number: int) -> None:
        if number % 2 and next(polls[number]) == 2 + number % 7:
            raise Gone

    found = together(index, all_of, check)
    for number, (one, hits) in enumerate(zip(all_of, found, strict=True)):
        if number % 2 == 0:
            assert hits is not None
        if hits is not None:
            assert same(hits, alone(index, one))


def test_what_others_may_read_changes_nothing(index: VectorIndex) -> None:
    """Callers of different clearance: the candidates of one are hidden from the other."""
    low = np.arange(ROWS) % 2 == 0
    query = asked(1).query
    expected = index.search(query, low, 50, tie_key)
    crowd = [Asked(query, low if number % 2 else np.ones(ROWS, np.bool_), 50) for number in range(16)]
    for number, hits in enumerate(together(index, crowd, lambda _: None)):
        assert hits is not None
        if number % 2:
            assert same(hits, expected)


def test_a_long_search_asks_whether_it_is_wanted(index: VectorIndex) -> None:
    one = asked(1)
    for last in range(1, 6):
        polls: list[None] = []

        def check(last: int = last, polls: list[None] = polls) -> None:
            polls.append(None)
            if len(polls) == last:
                raise Gone

        with pytest.raises(Gone):
            index.search(one.query, one.candidates, one.depth, tie_key, check=check)
        assert len(polls) == last
    assert same(alone(index, one), alone(index, one))


def test_parts_do_not_show(index: VectorIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for rows in (1, 499, 3000, 10_000):
        monkeypatch.setattr(row_scan, "PART_ROWS", rows)
        again = VectorIndex(index._matrix, index.present, "v", 1.001, index.codes)
        found.append([alone(again, asked(number)) for number in ((1, 3) if rows == 1 else range(8))])
    for other in found[1:]:
        assert all(same(hits, own) for hits, own in zip(other[1:4:2], found[0], strict=True))
        assert all(same(hits, own) for hits, own in zip(other, found[1], strict=True))
