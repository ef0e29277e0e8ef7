"""Ways through a search that few queries take: ties without end, long queries, little room, interruptions, filters.

Each is held to the plain formula, with both engines.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from groundwire_server.lexical import Bm25, LexicalIndex, top
from groundwire_server.lexical import compiled as compiled_module
from groundwire_server.lexical.segment import BLOCK_ROWS, CODE_COUNTS, LENGTH_LEVELS
from groundwire_server.text import tokenize
from tests.lexical.test_engines import LEGS, Corpus, first, hostile_texts, masks_of, pairs, tie_key, use
from tests.support.segments import build_segment

ROWS = 2 * BLOCK_ROWS + 300
QUERIES = [
    "net income w3",
    "売上高 の naïve w200 w200 w399 香港",
    "w17",
    "の高 カー " + " ".join(f"w{n}" for n in range(70)),
    " ".join(f"w{n}" for n in range(200)) + "".join(chr(0x4E00 + n) for n in range(90)),
]
MASKS = {share: mask for share, mask in masks_of(ROWS).items() if share in ("1.0", "0.4", "0.01")}
for _mask in MASKS.values():
    _mask.setflags(write=False)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return hostile_texts(ROWS, seed=77)


@pytest.fixture(scope="module")
def expected(texts: list[str]) -> Expected:
    return Expected(texts)


class Expected:
    """What the formula says, made once for each query and mask."""

    def __init__(self, texts: list[str]) -> None:
        self._corpus = Corpus(texts)
        self._made: dict[tuple[str, str], list[tuple[int, float]]] = {}

    def __call__(self, query: str, share: str) -> list[tuple[int, float]]:
        if (query, share) not in self._made:
            self._made[query, share] = self._corpus.scores(tokenize(query), MASKS[share], 1.5, 0.75)
        return self._made[query, share]


@pytest.fixture(params=LEGS)
def index(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, texts: list[str]) -> LexicalIndex:
    """Three segments, the first of which has a block and a bit."""
    use(request.param, monkeypatch)
    cuts = [0, BLOCK_ROWS + 100, BLOCK_ROWS + 163, ROWS]
    return LexicalIndex([build_segment(texts[start:stop]) for start, stop in pairwise(cuts)])


@pytest.mark.parametrize("depth", [1, 50, 3000])
def test_any_depth_gives_the_rows_of_the_formula(index: LexicalIndex, expected: Expected, depth: int) -> None:
    for share, mask in MASKS.items():
        for query in QUERIES:
            found = index.search(tokenize(query), mask, depth=depth)
            assert top(found, depth, tie_key) == first(expected(query, share), depth)
            assert set(pairs(found)) <= set(expected(query, share))


def test_single_rows_are_worth_what_the_search_says(index: LexicalIndex, expected: Expected) -> None:
    some = np.random.default_rng(9)
    for share, mask in MASKS.items():
        for query in QUERIES:
            tokens = tokenize(query)
            found = dict(expected(query, share))
            rows = np.sort(some.choice(ROWS, 300, replace=False))
            for _ in range(2):  # before and behind a search, which leaves its counts
                scores = index.score(tokens, mask, rows)
                assert scores.tolist() == [found.get(row, 0.0) for row in rows.tolist()]
                index.search(tokens, mask, depth=10)
    assert index.score(["net"], np.ones(ROWS, dtype=np.bool_), np.zeros(0, dtype=np.int64)).tolist() == []


def test_a_search_that_is_interrupted_all_the_time(
    index: LexicalIndex, expected: Expected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled_module, "_BUDGET", 1)
    checks = 0

    def check() -> None:
        nonlocal checks
        checks += 1

    mask = MASKS["0.4"]
    rows = np.arange(0, ROWS, 7)
    for query in QUERIES:
        tokens = tokenize(query)
        found = expected(query, "0.4")
        checks = 0
        assert top(index.search(tokens, mask, depth=20, check=check), 20, tie_key) == first(found, 20)
        assert checks >= len(index.segments)
        assert pairs(index.search(tokens, mask, check=check)) == found
        scores = index.score(tokens, mask, rows, check=check)
        assert scores.tolist() == [dict(found).get(row, 0.0) for row in rows.tolist()]


def test_a_search_ends_where_it_is_told_to(
    index: LexicalIndex, expected: Expected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled_module, "_BUDGET", 1)

    class Stopped(Exception):
        pass

    def stop_at(left: int) -> Callable[[], None]:
        def check() -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise Stopped

        return check

    tokens = tokenize(QUERIES[1])
    mask = MASKS["0.4"]
    for asked in range(4):
        for depth in (5, None):
            with pytest.raises(Stopped):
                index.search(tokens, mask, depth=depth, check=stop_at(asked))
    with pytest.raises(Stopped):
        index.score(tokens, mask, np.arange(ROWS), check=stop_at(0))
    assert top(index.search(tokens, mask, depth=5), 5, tie_key) == first(expected(QUERIES[1], "0.4"), 5)


@pytest.mark.parametrize("leg", LEGS)
def test_more_ties_than_there_is_room_for(leg: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of these rows are as good as the best; a few are better, and come last."""
    use(leg, monkeypatch)
    rows = 5 * BLOCK_ROWS
    texts = ["net income 売上"] * (rows - 3) + ["income net net"] * 3
    index = LexicalIndex([build_segment(texts)])
    mask = np.ones(rows, dtype=np.bool_)
    found = index.search(tokenize("income 売上 net"), mask, depth=4)
    assert len(found) == rows - 3
    assert len(set(found.scores.tolist())) == 1
    assert top(found, 4, tie_key) == sorted(range(rows - 3), key=tie_key)[:4]
    found = index.search(tokenize("net"), mask, depth=4)
    assert sorted(top(found, 3, tie_key)) == [rows - 3, rows - 2, rows - 1]
    assert len(found) == rows
    # Another search of this thread has memory of its usual size again.
    assert top(index.search(tokenize("net"), mask, depth=2), 2, lambda row: row) == [rows - 3, rows - 2]


@pytest.mark.parametrize("leg", LEGS)
@pytest.mark.parametrize("seed", range(4))
def test_corpora_of_few_words_leave_little_to_pass_over(leg: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every term is in most rows, lengths differ by a thousand: bounds are far, whole blocks are scored."""
    use(leg, monkeypatch)
    some = random.Random(seed)
    words = ["net", "売上", "の", "w", "高", "x"]
    texts = [
        " ".join(some.choices(words, k=some.choice([1, 3, 3, 9, 30, 1500 if row % 500 == 0 else 2])))
        for row in range(4500)
    ]
    corpus, index = Corpus(texts), LexicalIndex([build_segment(texts[:4200]), build_segment(texts[4200:])])
    for share in (1.0, 0.5, 0.02):
        mask = np.array([some.random() < share for _ in texts])
        for query, k1, b in [
            ("net 売上の高 x", 1.5, 0.75),
            ("w", 0.0, 1.0),
            ("高 高 net", 9.0, 1.0),
            ("の w x", 0.5, 0.0),
        ]:
            tokens = tokenize(query)
            expected = corpus.scores(tokens, mask, k1, b)
            found = index.search(tokens, mask, parameters=Bm25(k1, b), depth=30)
            assert top(found, 30, tie_key) == first(expected, 30)
            assert set(pairs(found)) <= set(expected)


def test_codes_hold_for_every_average_length(texts: list[str]) -> None:
    """What 64 rows can be worth at most by their code is never less than what one of them is worth."""
    segment = build_segment(texts)
    words = -(-segment.size // 64)
    assert len(segment.dense_codes) == len(segment.dense_terms) * words > 0
    for parameters in (Bm25(), Bm25(0.0, 1.0), Bm25(9.0, 1.0), Bm25(0.5, 0.0)):
        k1, b = parameters.k1, parameters.b
        for average in (0.5, 7.0, 4000.0):
            damping = parameters.damping(segment.lengths.astype(np.float64), average)
            for number, term in enumerate(segment.dense_terms.tolist()):
                rows = segment.term_rows(term)
                counts = segment.counts_of([int(segment.offsets[term])], [int(segment.offsets[term + 1])])
                worth = counts * (k1 + 1) / (counts + damping[rows])
                codes = segment.dense_codes[number * words + (rows >> 6)].astype(np.int64)
                held, level = codes // len(LENGTH_LEVELS) + 1, LENGTH_LEVELS[codes % len(LENGTH_LEVELS)]
                once = np.where(held < CODE_COUNTS, k1 * (1 - b) / held, 0.0)
                assert np.all(worth <= (k1 + 1) / (1 + once + k1 * b / average * level) * (1 + 1e-12))
