"""The index against the plain formula, in every bit, whatever the candidates and the division into segments."""

from __future__ import annotations

import hashlib
import math
import random
import threading
from collections.abc import Sequence
from dataclasses import fields
from itertools import pairwise
from typing import Any

import bm25s  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire_server.errors import InvalidRequest
from groundwire_server.lexical import Bm25, LexicalIndex, LexicalScores, terms, top
from groundwire_server.lexical.merge import merge_segments
from groundwire_server.text import tokenize
from tests.lexical.oracle import bm25, queries, row_texts
from tests.support.segments import build_segment


def index_of(texts: Sequence[str], cuts: Sequence[int] = ()) -> LexicalIndex:
    """An index whose segments begin at the cuts."""
    borders = sorted({0, len(texts), *(cut for cut in cuts if cut < len(texts))})
    return LexicalIndex([build_segment(texts[start:stop]) for start, stop in pairwise(borders)])


def pairs(scores: LexicalScores) -> list[tuple[int, float]]:
    return list(zip(scores.rows.tolist(), scores.scores.tolist(), strict=True))


def mask_of(rows: int, chosen: Sequence[int]) -> NDArray[np.bool_]:
    mask = np.zeros(rows, dtype=np.bool_)
    mask[list(chosen)] = True
    return mask


@given(row_texts(), queries(), st.data())
def test_scores_are_those_of_the_formula(texts: list[str], query: str, data: st.DataObject) -> None:
    rows = range(len(texts))
    chosen = data.draw(
        st.just(list(rows)) | st.lists(st.sampled_from(rows), unique=True).map(sorted) if texts else st.just([])
    )
    cuts = data.draw(st.lists(st.integers(0, 40), max_size=4))
    tokens = tokenize(query)
    expected = bm25(tokens, [tokenize(text) for text in texts], chosen)
    assert pairs(index_of(texts, cuts).search(tokens, mask_of(len(texts), chosen))) == expected


@given(row_texts(), queries(), st.floats(0, 5), st.floats(0, 1))
def test_any_parameters(texts: list[str], query: str, k1: float, b: float) -> None:
    tokens = tokenize(query)
    expected = bm25(tokens, [tokenize(text) for text in texts], range(len(texts)), k1, b)
    found = index_of(texts).search(tokens, np.ones(len(texts), dtype=np.bool_), parameters=Bm25(k1, b))
    assert pairs(found) == expected


@given(row_texts(), queries(), st.data())
def test_rows_that_are_no_candidates_leave_no_trace(texts: list[str], query: str, data: st.DataObject) -> None:
    """Scores with hidden rows equal those of an index without them."""
    hidden = data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts)))
    seen = [row for row in range(len(texts)) if not hidden[row]]
    tokens = tokenize(query)
    among = index_of(texts, [7]).search(tokens, mask_of(len(texts), seen))
    alone = index_of([texts[row] for row in seen]).search(tokens, np.ones(len(seen), dtype=np.bool_))
    assert pairs(among) == [(seen[row], score) for row, score in pairs(alone)]


@given(row_texts(), st.lists(st.integers(0, 40), max_size=5))
def test_merged_segments_are_the_segment_of_all_texts(texts: list[str], cuts: list[int]) -> None:
    segments = index_of(texts, cuts).segments
    if not segments:
        return
    merged, whole = merge_segments(segments), build_segment(texts)
    for name in (field.name for field in fields(whole)):
        left, right = getattr(merged, name), getattr(whole, name)
        assert left.dtype == right.dtype, name
        assert left.tolist() == right.tolist(), name


@given(row_texts(), queries(), st.integers(1, 12), st.data())
def test_depth_leaves_out_only_what_cannot_be_on_top(
    texts: list[str], query: str, depth: int, data: st.DataObject
) -> None:
    index = index_of(texts, [5, 9, 20])
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts))), dtype=np.bool_)
    every = index.search(tokenize(query), mask)
    some = index.search(tokenize(query), mask, depth=depth)
    by_name = {row: hashlib.sha256(str(row).encode()).hexdigest() for row in range(len(texts))}
    expected = [row for row, _ in sorted(pairs(every), key=lambda pair: (-pair[1], by_name[pair[0]]))[:depth]]
    assert top(every, depth, by_name.__getitem__) == expected
    assert top(some, depth, by_name.__getitem__) == expected
    assert set(pairs(some)) <= set(pairs(every))


@given(st.lists(st.sampled_from([0.5, 0.1, 0.1, 2.0]) | st.floats(0.001, 9), max_size=400), st.integers(0, 30))
def test_top_is_a_total_order(values: list[float], depth: int) -> None:
    scores = LexicalScores(np.arange(len(values), dtype=np.int64) * 3, np.array(values, dtype=np.float64))
    expected = sorted(range(len(values)), key=lambda at: (-values[at], -at))
    assert top(scores, depth, lambda row: -row) == [3 * at for at in expected[:depth]]


def test_a_large_corpus_in_full() -> None:
    """Long postings, long texts, counts beyond a byte, deep lists: the paths that small examples do not reach."""
    random.seed(7)
    common = [chr(0x4E00 + n) for n in range(30)] + [f"w{n}" for n in range(200)]
    texts = [" ".join(random.choices(common, k=random.randint(1, 60))) for _ in range(3000)]
    texts[17] = "w3 " * 700 + "丁" * 300
    texts[1717] = "w3 " * 255 + "w4 " * 254
    rows = [tokenize(text) for text in texts]
    index = index_of(texts, [1000, 1001, 1100])
    whole = index_of(texts)
    for number, part in enumerate((1.0, 0.98, 0.4, 0.01)):
        chosen = [row for row in range(3000) if random.random() < part]
        tokens = tokenize(f"w3 w3 w4 w{number} 丁七 丁 absent w150 " + " ".join(common[:20]))
        expected = bm25(tokens, rows, chosen)
        assert pairs(index.search(tokens, mask_of(3000, chosen))) == expected
        assert pairs(whole.search(tokens, mask_of(3000, chosen))) == expected
        order = [row for row, _ in sorted(expected, key=lambda pair: (-pair[1], pair[0]))]
        found = index.search(tokens, mask_of(3000, chosen), depth=25)
        assert top(found, 25, int) == order[:25]
        assert len(found) < 3000 * part or part < 0.1


def test_words_that_share_a_code_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    class Weak:
        def __init__(self, word: bytes, digest_size: int) -> None:
            self.word = word

        def digest(self) -> bytes:
            return bytes([len(self.word) % 2] * 8)

    terms._code.cache_clear()
    monkeypatch.setattr(terms, "blake2b", Weak)
    texts = ["ab cd ef", "ef gh", "cd cd", "abc é", "zz yy xx 漢字"] * 3
    rows = [tokenize(text) for text in texts]
    index = index_of(texts, [1, 4, 9])
    merged = LexicalIndex([merge_segments(index.segments)])
    for query in ("ab", "cd zz", "gh yy xx ab", "é", "nn", "漢字 ef"):
        tokens = tokenize(query)
        expected = bm25(tokens, rows, range(len(rows)))
        for one in (index, merged):
            assert pairs(one.search(tokens, np.ones(len(rows), dtype=np.bool_))) == expected


@pytest.mark.parametrize("query", ["w0", "w3 w7", "w1 w2 w3 w4 w5 w6"])
def test_bm25s_agrees(query: str) -> None:
    """Its "lucene" variant is this formula without the constant factor k1 + 1, in single precision."""
    random.seed(3)
    rows = [random.choices([f"w{n}" for n in range(12)], k=random.randint(1, 30)) for _ in range(300)]
    peer: Any = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    peer.index(rows, show_progress=False)
    found = index_of([" ".join(row) for row in rows]).search(query.split(), np.ones(300, dtype=np.bool_))
    ours = np.zeros(300)
    ours[found.rows] = found.scores / 2.5
    np.testing.assert_allclose(ours, peer.get_scores(query.split()), rtol=2e-6, atol=1e-7)


def test_rank_bm25_agrees_but_for_its_idf() -> None:
    rank_bm25: Any = pytest.importorskip("rank_bm25")
    random.seed(5)
    rows = [random.choices([f"w{n}" for n in range(12)], k=random.randint(1, 30)) for _ in range(200)]
    peer = rank_bm25.BM25Okapi(rows, k1=1.5, b=0.75)
    index = LexicalIndex([build_segment([" ".join(row) for row in rows])])
    for term in ("w0", "w5", "w11"):
        theirs = peer.get_scores([term]) / peer.idf[term]
        found = index.search([term], np.ones(200, dtype=np.bool_))
        ours = np.zeros(200)
        ours[found.rows] = found.scores / Bm25.idf(200, sum(term in row for row in rows))
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_empty_things_give_empty_lists() -> None:
    index = index_of(["revenue", ""])
    everything = np.ones(2, dtype=np.bool_)
    assert len(index.search([], everything)) == 0
    assert len(index.search(["revenue"], ~everything)) == 0
    assert len(index.search(["revenue"], np.array([False, True]))) == 0
    assert len(index.search(["", "漢字仮"], everything)) == 0
    assert len(LexicalIndex([]).search(["revenue"], np.ones(0, dtype=np.bool_))) == 0
    assert top(index.search(["revenue"], everything), 0, int) == []


def test_results_cannot_be_written_to() -> None:
    found = index_of(["revenue"]).search(["revenue"], np.ones(1, dtype=np.bool_))
    with pytest.raises(ValueError, match="read-only"):
        found.scores[0] = 1


def test_wrong_arguments_are_refused() -> None:
    index = index_of(["a", "b"])
    with pytest.raises(ValueError, match="candidates"):
        index.search(["a"], np.ones(3, dtype=np.bool_))
    with pytest.raises(ValueError, match="candidates"):
        index.search(["a"], np.ones(2, dtype=np.int64))
    with pytest.raises(ValueError, match="depth"):
        index.search(["a"], np.ones(2, dtype=np.bool_), depth=0)
    with pytest.raises(ValueError, match="depth"):
        top(index.search(["a"], np.ones(2, dtype=np.bool_)), -1, int)
    for k1, b, field in ((-1.0, 0.5, "k1"), (math.nan, 0.5, "k1"), (1.0, 1.5, "b"), (1.0, math.nan, "b")):
        with pytest.raises(InvalidRequest) as refused:
            Bm25(k1, b)
        assert [violation.field for violation in refused.value.violations] == [field]


def test_many_readers_at_once_get_the_same() -> None:
    random.seed(11)
    texts = [" ".join(random.choices([f"w{n}" for n in range(50)] + ["売上高"], k=20)) for _ in range(2000)]
    index = index_of(texts, [700])
    masks = [np.ones(2000, dtype=np.bool_), np.arange(2000) % 3 == 0, np.arange(2000) < 1900]
    asked = [(tokenize(query), mask) for query in ("w1 w2 w3", "売上 w9 w9", "w40") for mask in masks]
    expected = [pairs(index.search(tokens, mask)) for tokens, mask in asked]
    wrong: list[int] = []

    def read(seed: int) -> None:
        order = random.Random(seed).choices(range(len(asked)), k=60)
        wrong.extend(at for at in order if pairs(index.search(*asked[at])) != expected[at])

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
