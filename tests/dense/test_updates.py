"""Whatever happens to a library, in whatever order: each search answers as a plain loop over what is there."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire_server.dense import VectorDirectory, VectorIndex, code_folder
from tests.dense.legs import LEGS, use
from tests.dense.plain import plain_search

DIM = 24
ROWS = 200
CENTRE = np.full(DIM, 0.05, np.float32)


def pool_of_vectors(seed: int) -> NDArray[np.float32]:
    """Near each other, some of them equal and some zero."""
    rng = np.random.default_rng(seed)
    rows = 0.3 * rng.standard_normal((ROWS, DIM)) + rng.standard_normal(DIM)
    rows[rng.random(ROWS) < 0.3] = rows[0]
    units = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    units[rng.random(ROWS) < 0.05] = 0
    return units


def open_directory(path: Path, rows: int) -> VectorDirectory:
    directory = VectorDirectory(path, model="tiny", version="ab" * 32, dim=DIM, centre_of=lambda: CENTRE)
    directory.load(rows, lambda start, stop: ())
    return directory


@pytest.mark.parametrize("leg", LEGS)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32), steps=st.lists(st.sampled_from(["put", "extend", "restart", "search"]), max_size=8))
def test_equals_the_plain_loop_after_any_history(seed: int, steps: list[str], leg: str) -> None:
    rng = np.random.default_rng(seed)
    vectors, queries = pool_of_vectors(seed), pool_of_vectors(seed + 1)
    present, rows = np.zeros(ROWS, np.bool_), int(rng.integers(0, ROWS // 2))
    seen: list[tuple[VectorIndex, NDArray[np.bool_]]] = []
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(3) as pool:
        use(leg, patch)
        patch.setattr(code_folder, "SIGNS_FROM", 50)
        directory = open_directory(Path(folder), rows)
        for step in (*steps, "search"):
            if step == "put":
                wanted = np.flatnonzero(~present[:rows])
                batch = rng.permutation(wanted)[: rng.integers(0, 80)]
                directory.put(batch.tolist(), vectors[batch])
                present[batch] = True
            elif step == "extend":
                rows = int(rng.integers(rows, ROWS + 1))
                directory.extend(rows)
            elif step == "restart":
                directory.close()
                directory = open_directory(Path(folder), rows)
            else:
                seen.append((directory.index, present[:rows].copy()))
        for index, there in seen:  # the older ones, too, answer as they did

            def check(number: int, index: VectorIndex = index, there: NDArray[np.bool_] = there) -> None:
                here = np.random.default_rng([seed, number])
                readable = here.random(index.rows) < here.choice([0.05, 0.5, 1.0])
                depth, query = int(here.integers(0, 30)), queries[here.integers(0, ROWS)]
                hits = index.search(query, readable, depth, lambda row: -row)
                expected = plain_search(vectors[: index.rows], readable & there, query, depth, lambda row: -row)
                assert hits.rows.tolist() == [row for row, _ in expected]
                assert hits.scores.tolist() == [score for _, score in expected]

            list(pool.map(check, range(3)))
        directory.close()
