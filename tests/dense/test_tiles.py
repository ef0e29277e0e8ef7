"""Products of tiles are those of whole numbers, however a processor makes them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

from numba import config, int8, int16, int32, int64, njit, types

from groundwire_server.dense.tiles import TILE, Step, fetch_ahead, steps_here, tile

MATRIX = types.Array(int8, 2, "C", readonly=True)


@pytest.mark.parametrize("step", steps_here(), ids=lambda step: step.instruction or "any")
@pytest.mark.parametrize("rows", [1, 2, 4, 8])
def test_products_of_a_tile(step: Step, rows: int) -> None:
    queries = TILE // rows
    products: Any = tile(rows, step)
    ahead: Any = fetch_ahead

    @njit(types.void(MATRIX, int64[::1], int16[:, ::1], int32[:, ::1]))  # type: ignore[untyped-decorator, unused-ignore]
    def run(codes, numbers, asked, totals):  # type: ignore[no-untyped-def]
        ahead(codes, numbers[0])
        for first in range(0, len(asked), queries):
            for at in range(0, len(numbers), rows):
                products(codes, numbers, at, asked, first, totals)

    rng = np.random.default_rng(rows)
    for dim in (1, 2, 15, 16, 31, 32, 33, 48, 65, 384, 1024):
        most = min(2**15 - 1, (2**31 - 1) // (127 * dim))
        codes = rng.integers(-127, 128, (40, dim), np.int8)
        asked = rng.integers(-most, most + 1, (2 * queries, dim), np.int16)
        codes[0], codes[1], asked[0], asked[-1] = 127, -127, most, -most
        numbers = np.concatenate([[0, 1, 1, 39], rng.integers(0, 40, 12)])
        totals = np.zeros((2 * queries, 16), np.int32)
        codes.flags.writeable = False
        run(codes, numbers, asked, totals)
        assert totals.tolist() == (asked.astype(np.int64) @ codes[numbers].astype(np.int64).T).tolist()


def test_the_last_step_is_known_by_all(monkeypatch: pytest.MonkeyPatch) -> None:
    assert steps_here()[-1].instruction == ""
    assert all(first.width >= second.width for first, second in pairwise(steps_here()))
    monkeypatch.setattr(config, "CPU_NAME", "generic", raising=False)
    assert [step.instruction for step in steps_here()] == [""]
