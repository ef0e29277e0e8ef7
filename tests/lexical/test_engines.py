"""Two engines, the same bits: numpy, the compiled kernels and the plain formula, on hostile texts.

Small examples come from hypothesis. Blocks, bitmaps, bounds and several segments need thousands of rows: there, seeded
corpora are large enough to reach every path, with counts beyond a byte, long rows and rows that tie.
"""

from __future__ import annotations

import importlib.util
import math
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire_server.lexical import Bm25, LexicalDirectory, LexicalIndex, LexicalScores, top
from groundwire_server.lexical.segment import BLOCK_ROWS, Segment
from groundwire_server.text import tokenize
from tests.lexical.oracle import bm25, queries, row_texts
from tests.support.segments import build_segment

LEGS = [
    "numpy",
    pytest.param(
        "numba", marks=pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed")
    ),
]
WORDS = ["net", "income", "naïve", "売上", "高", "カー", "の", "한국", "香港", "𠮷", "Привет", "2024", "x" * 30]


@pytest.fixture(params=LEGS)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The engine that answers in this test."""
    use(request.param, monkeypatch)
    name: str = request.param
    return name


def use(leg: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels: ModuleType | None = None
    if leg == "numba":
        from groundwire_server.lexical import kernels as loaded

        kernels = loaded
    wanted = "groundwire_server.lexical.kernels"
    monkeypatch.setattr("groundwire_server.kernels.compiled", lambda name: kernels if name == wanted else None)


def pairs(scores: LexicalScores) -> list[tuple[int, float]]:
    return list(zip(scores.rows.tolist(), scores.scores.tolist(), strict=True))


def tie_key(row: int) -> int:
    """Some order that is not that of the rows."""
    return row * 7919 % 1_000_003


def first(found: Sequence[tuple[int, float]], depth: int) -> list[int]:
    return [row for row, _ in sorted(found, key=lambda pair: (-pair[1], tie_key(pair[0])))[:depth]]


class Corpus:
    """Tokens of rows, counted once, so that the formula is quick over thousands of them."""

    def __init__(self, texts: Sequence[str]) -> None:
        tokens = [tokenize(text) for text in texts]
        self.lengths = [len(each) for each in tokens]
        self.counts = [Counter(each) for each in tokens]

    def scores(self, query: Sequence[str], mask: NDArray[np.bool_], k1: float, b: float) -> list[tuple[int, float]]:
        """As `oracle.bm25`."""
        rows = np.flatnonzero(mask).tolist()
        asked = Counter(query)
        df = {term: sum(term in self.counts[row] for row in rows) for term in asked}
        n = len(rows)
        average = sum(self.lengths[row] for row in rows) / n if n else 0
        found = []
        for row in rows:
            score = 0.0
            for term, qtf in asked.items():
                tf = self.counts[row].get(term, 0)
                if tf:
                    idf = math.log(1 + (n - df[term] + 0.5) / (df[term] + 0.5))
                    score += ((qtf * idf) * tf * (k1 + 1)) / (tf + k1 * ((1 - b) + b * self.lengths[row] / average))
            if score > 0:
                found.append((row, score))
        return found


def hostile_texts(rows: int, seed: int) -> list[str]:
    """Words and characters of all kinds by a power law; equal rows, empty rows, long rows, counts beyond a byte."""
    some = random.Random(seed)
    common = [*WORDS, *(f"w{n}" for n in range(400)), *(chr(0x4E00 + n) for n in range(200))]
    weights = [1 / (n + 1) for n in range(len(common))]
    texts = [" ".join(some.choices(common, weights, k=some.randint(0, 14))) for _ in range(rows)]
    for at in range(0, rows, 97):
        texts[at] = "net income 売上高 w3"
    texts[rows // 2] = "net " * 300 + "売上" * 260
    texts[rows // 3] = "income " * 2000
    texts[rows // 5] = ""
    return texts


@given(row_texts(), queries(), st.integers(1, 9), st.data())
@pytest.mark.parametrize("leg", LEGS)
def test_small_rows_score_as_the_formula_says(
    leg: str, texts: list[str], query: str, depth: int, data: st.DataObject
) -> None:
    kept = data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts)))
    cut = data.draw(st.integers(0, len(texts)))
    k1, b = data.draw(st.sampled_from([(1.5, 0.75), (0.0, 1.0), (2e7, 0.3), (0.9, 0.0)]))
    tokens = tokenize(query)
    expected = bm25(tokens, [tokenize(text) for text in texts], np.flatnonzero(kept).tolist(), k1, b)
    parts = [build_segment(part) for part in (texts[:cut], texts[cut:]) if part]
    with pytest.MonkeyPatch.context() as patch:
        use(leg, patch)
        index = LexicalIndex(parts)
        mask = np.array(kept, dtype=np.bool_)
        assert pairs(index.search(tokens, mask, parameters=Bm25(k1, b))) == expected
        found = index.search(tokens, mask, parameters=Bm25(k1, b), depth=depth)
        assert set(pairs(found)) <= set(expected)
        assert top(found, depth, tie_key) == first(expected, depth)


def masks_of(rows: int) -> dict[str, NDArray[np.bool_]]:
    some = np.random.default_rng(3)
    masks = {share: some.random(rows) < float(share) for share in ("1.0", "0.98", "0.4", "0.1", "0.01")}
    masks["one block"] = np.arange(rows) // BLOCK_ROWS == 1
    masks["none"] = np.zeros(rows, dtype=np.bool_)
    masks["0.98"].setflags(write=False)  # what is counted over it is kept
    return masks


def test_many_rows_score_as_the_formula_says(engine: str) -> None:
    rows = 2 * BLOCK_ROWS + 1000
    texts = hostile_texts(rows, seed=5)
    corpus = Corpus(texts)
    whole = LexicalIndex([build_segment(texts)])
    cut = LexicalIndex([build_segment(texts[:5000]), build_segment(texts[5000:5007]), build_segment(texts[5007:])])
    assert len(whole.segments[0].dense_terms) > 20
    asked = [
        "net income w3",
        "売上高 の naïve w200 w200 w399",
        "w17",
        "の高 " + " ".join(f"w{n}" for n in range(60)),
        "無",
    ]
    for mask in masks_of(rows).values():
        for query in asked:
            tokens = tokenize(query)
            expected = corpus.scores(tokens, mask, 1.5, 0.75)
            for index in (whole, cut, cut):
                found = index.search(tokens, mask, depth=20)
                assert top(found, 20, tie_key) == first(expected, 20)
                assert set(pairs(found)) <= set(expected)
            assert pairs(cut.search(tokens, mask)) == expected


def test_updates_in_any_order(engine: str, tmp_path: Path) -> None:
    """Rows are added in batches, hidden and shown again; a restart maps the files read-only."""
    some = random.Random(8)
    texts = hostile_texts(700, seed=12)
    folder = LexicalDirectory(tmp_path)
    folder.load(100, lambda start, stop: texts[start:stop])
    corpus = Corpus(texts)
    while folder.index.rows < len(texts):
        rows = folder.index.rows
        index = folder.append(texts[rows : rows + some.choice([1, 3, 20, 64, 130])])
        if some.random() < 0.3:
            folder = LexicalDirectory(tmp_path)
            index = folder.load(index.rows, lambda start, stop: texts[start:stop])
        mask = np.array([some.random() < 0.8 for _ in range(index.rows)])
        tokens = tokenize(" ".join(some.choices([*WORDS, "w1", "w2", "absent"], k=5)))
        expected = corpus.scores(tokens, np.append(mask, np.zeros(len(texts) - len(mask), dtype=np.bool_)), 1.5, 0.75)
        assert pairs(index.search(tokens, mask)) == expected
        assert top(index.search(tokens, mask, depth=7), 7, tie_key) == first(expected, 7)


def test_bounds_hold_for_every_average_length() -> None:
    """What a block can be worth at most is never less than what one of its rows is worth."""
    texts = hostile_texts(BLOCK_ROWS + 500, seed=21)
    segment = build_segment(texts)
    blocks = -(-segment.size // BLOCK_ROWS)
    for average in (0.5, 7.0, 4000.0):
        damping = Bm25().damping(segment.lengths.astype(np.float64), average)
        for number, term in enumerate(segment.bound_terms.tolist()):
            rows = segment.term_rows(term)
            start, stop = int(segment.offsets[term]), int(segment.offsets[term + 1])
            counts = segment.counts_of([start], [stop])
            worth = counts * 2.5 / (counts + damping[rows])
            for block in range(blocks):
                held = rows // BLOCK_ROWS == block
                assert int(segment.bound_starts[number * blocks + block]) == int((rows < block * BLOCK_ROWS).sum())
                if held.any():
                    assert bound(segment, number * blocks + block, average) >= worth[held].max()


def bound(segment: Segment, cell: int, average: float) -> float:
    most = 0.0
    for kind, length in enumerate(segment.bound_lengths[3 * cell : 3 * cell + 3].tolist()):
        if length != 0xFFFF:
            count = kind + 1 if kind < 2 else int(segment.bound_counts[cell])
            damping = float(Bm25().damping(np.array([float(length)]), average)[0])
            most = max(most, 2.5 if count == 255 else count * 2.5 / (count + damping))
    return most
