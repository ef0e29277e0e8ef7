"""Semantics 2: BM25, exact in every bit, over the candidates and nothing else."""

from collections.abc import Sequence
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import InvalidRequest
from groundwire_server.lexical import Bm25, LexicalDirectory, LexicalIndex, LexicalScores, top
from groundwire_server.text import tokenize
from tests.semantics.hostile import CHINESE, ENGLISH, JAPANESE, TEXTS, few
from tests.semantics.oracles import bm25, tokens_of

WORDS = "revenue cost net income 売上 利益 营业 收入 ガス 한국 naïve выручка"
documents_lists = st.lists(st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join), max_size=12)
queries = st.lists(st.sampled_from([*WORDS.split(), "absent"]), max_size=6).map(" ".join)
batch_sizes = st.lists(st.integers(1, 5), max_size=5)


def build(folder: Path, texts: Sequence[str], sizes: Sequence[int] = ()) -> LexicalIndex:
    """An index over `texts`, the first ones in batches of these sizes."""
    directory = LexicalDirectory(folder)
    directory.load(0, lambda start, stop: texts[start:stop])
    start = 0
    for size in [*sizes, len(texts)]:
        directory.append(texts[start : start + size])
        start += size
    directory.settle()
    directory.close()
    return directory.index


def mask_of(keep: Sequence[bool]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array(keep, dtype=np.bool_)


def as_dict(scores: LexicalScores) -> dict[int, float]:
    return dict(zip(scores.rows.tolist(), scores.scores.tolist(), strict=True))


def expected_over(query: str, texts: Sequence[str], keep: Sequence[bool], **parameters: float) -> dict[int, float]:
    rows = [row for row in range(len(texts)) if keep[row]]
    found = bm25(tokens_of(query), [tokens_of(texts[row]) for row in rows], **parameters)
    return {rows[place]: score for place, score in found.items()}


def search_all(index: LexicalIndex, query: str) -> dict[int, float]:
    return as_dict(index.search(tokenize(query), mask_of([True] * index.rows)))


@few
@given(documents_lists, queries, batch_sizes, st.data())
def test_scores_equal_the_formula_in_every_bit(
    texts: list[str], query: str, sizes: list[int], data: st.DataObject
) -> None:
    keep = data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts)))
    with TemporaryDirectory() as folder:
        index = build(Path(folder), texts, sizes)
        scores = index.search(tokenize(query), mask_of(keep))
        assert as_dict(scores) == expected_over(query, texts, keep)
        assert scores.rows.tolist() == sorted(scores.rows.tolist())
        assert all(score > 0 for score in scores.scores.tolist())


def test_scores_of_real_and_hostile_texts_in_three_languages(tmp_path: Path) -> None:
    texts = [text for text in TEXTS if "-" not in text] + [ENGLISH * 3, JAPANESE * 2, CHINESE + JAPANESE]
    index = build(tmp_path, texts, [1, 4, 7])
    queries = ("net revenue", "売上高の理由", "营业收入增长", "한국", "naïve fine", "family", ENGLISH, JAPANESE)
    for query in (*queries, CHINESE):
        expected = expected_over(query, texts, [True] * len(texts))
        assert expected
        assert search_all(index, query) == expected


def test_one_score_by_hand(tmp_path: Path) -> None:
    index = build(tmp_path, ["revenue rose", "cost", "revenue revenue fell hard"])
    average = 7 / 3
    idf = log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    assert search_all(index, "revenue") == {
        0: ((1 * idf) * 1 * 2.5) / (1 + 1.5 * (0.25 + 0.75 * 2 / average)),
        2: ((1 * idf) * 2 * 2.5) / (2 + 1.5 * (0.25 + 0.75 * 4 / average)),
    }


def test_idf_is_log_of_one_plus_and_stays_above_zero() -> None:
    for rows, df in ((1, 1), (10, 1), (10, 10), (1_000_000, 999_999), (7, 0)):
        assert Bm25.idf(rows, df) == log(1 + (rows - df + 0.5) / (df + 0.5))
        assert Bm25.idf(rows, df) > 0


def test_defaults_are_k1_1_5_and_b_0_75() -> None:
    assert Bm25() == Bm25(1.5, 0.75)


@few
@given(documents_lists, queries, st.sampled_from([0.0, 0.5, 1.2, 1.5, 3.0]), st.sampled_from([0.0, 0.3, 0.75, 1.0]))
def test_k1_and_b_are_settings(texts: list[str], query: str, k1: float, b: float) -> None:
    with TemporaryDirectory() as folder:
        index = build(Path(folder), texts)
        everything = [True] * len(texts)
        scores = as_dict(index.search(tokenize(query), mask_of(everything), parameters=Bm25(k1, b)))
        assert scores == pytest.approx(expected_over(query, texts, everything, k1=k1, b=b), rel=1e-12)


@pytest.mark.parametrize(
    ("k1", "b"),
    [(-0.1, 0.75), (float("nan"), 0.75), (float("inf"), 0.75), (1.5, -0.1), (1.5, 1.1), (1.5, float("nan"))],
)
def test_impossible_parameters_are_refused(k1: float, b: float) -> None:
    with pytest.raises(InvalidRequest):
        Bm25(k1, b)


def test_a_term_that_is_said_twice_weighs_twice(tmp_path: Path) -> None:
    texts = ["revenue and cost", "cost", "other things"]
    index = build(tmp_path, texts)
    assert search_all(index, "cost cost revenue") == expected_over("cost cost revenue", texts, [True] * 3)
    assert search_all(index, "cost cost")[1] == pytest.approx(2 * search_all(index, "cost")[1])


def test_the_sum_follows_the_order_of_first_occurrence(tmp_path: Path) -> None:
    texts = ["a b c d e f g " + "x " * n for n in range(9)] + ["a a b", "c c c d", "e", "f g g"]
    index = build(tmp_path, texts)
    everything = [True] * len(texts)
    orders = ("a b c d e f g", "g f e d c b a", "d a g b f c e", "c c a b a d e f g g")
    for query in orders:
        assert search_all(index, query) == expected_over(query, texts, everything)


def test_len_counts_all_tokens_repeats_and_pairs_included(tmp_path: Path) -> None:
    texts = ["売上高 revenue revenue", "売上 ー", ""]
    index = build(tmp_path, texts)
    assert index.lengths.tolist() == [7.0, 4.0, 0.0]


def test_neither_tf_nor_len_has_a_cap(tmp_path: Path) -> None:
    texts = ["revenue " * 20_000, "revenue", "x " * 20_000 + "revenue", "売" * 20_000]
    index = build(tmp_path, texts)
    for query in ("revenue", "売売", "x revenue"):
        assert search_all(index, query) == expected_over(query, texts, [True] * 4)


def test_an_empty_text_counts_among_the_candidates(tmp_path: Path) -> None:
    texts = ["revenue", "", "...", "cost"]
    index = build(tmp_path, texts)
    assert search_all(index, "revenue") == expected_over("revenue", texts, [True] * 4)


def test_a_chunk_without_a_query_term_is_not_in_the_list(tmp_path: Path) -> None:
    index = build(tmp_path, ["revenue", "cost", "売上"])
    assert set(search_all(index, "revenue")) == {0}
    assert search_all(index, "absent") == {}
    assert search_all(index, "上売") == {2: search_all(index, "売 上")[2]}


@pytest.mark.parametrize("query", ["", "   ", "!?。", "😀", "\u200b", "_"])
def test_a_query_without_tokens_gives_an_empty_list(tmp_path: Path, query: str) -> None:
    index = build(tmp_path, list(TEXTS))
    assert search_all(index, query) == {}
    assert top(index.search(tokenize(query), mask_of([True] * index.rows)), 10, lambda row: row) == []


def test_no_candidates_and_no_rows(tmp_path: Path) -> None:
    index = build(tmp_path / "some", ["revenue", "cost"])
    assert as_dict(index.search(["revenue"], mask_of([False, False]))) == {}
    nothing = build(tmp_path / "none", [])
    assert as_dict(nothing.search(["revenue"], mask_of([]))) == {}


def test_a_mask_of_another_length_is_refused(tmp_path: Path) -> None:
    index = build(tmp_path, ["revenue", "cost"])
    with pytest.raises(ValueError, match=r".+"):
        index.search(["revenue"], mask_of([True]))
    with pytest.raises(ValueError, match=r".+"):
        index.search(["revenue"], mask_of([True, True]), depth=0)


# Hidden rows


@few
@given(documents_lists, documents_lists, queries, st.randoms(use_true_random=False))
def test_rows_that_may_not_be_seen_change_nothing(
    visible: list[str], hidden: list[str], query: str, random: object
) -> None:
    mixed = [(text, True) for text in visible] + [(text, False) for text in hidden]
    random.shuffle(mixed)  # type: ignore[attr-defined]
    shown = [row for row, (_, seen) in enumerate(mixed) if seen]
    with TemporaryDirectory() as folder:
        with_hidden = build(Path(folder) / "mixed", [text for text, _ in mixed])
        without = build(Path(folder) / "plain", [mixed[row][0] for row in shown])
        scores = as_dict(with_hidden.search(tokenize(query), mask_of([seen for _, seen in mixed])))
        assert {shown.index(row): score for row, score in scores.items()} == search_all(without, query)


def test_a_hidden_crowd_does_not_change_idf_or_avglen(tmp_path: Path) -> None:
    texts = ["revenue rose", "cost fell", *["revenue " * 50] * 200]
    index = build(tmp_path, texts)
    keep = [True, True] + [False] * 200
    assert as_dict(index.search(["revenue"], mask_of(keep))) == expected_over("revenue", texts, keep)
    assert list(as_dict(index.search(["revenue"], mask_of(keep)))) == [0]


def test_a_large_index_with_a_narrow_filter_is_exact(tmp_path: Path) -> None:
    texts = [f"revenue {'cost ' * (n % 7)} 売上{n % 13} word{n}" for n in range(3000)]
    index = build(tmp_path, texts, [1000, 500])
    for keep in (
        [n % 100 == 0 for n in range(3000)],
        [n % 3 != 0 for n in range(3000)],
        [n > 2990 for n in range(3000)],
    ):
        for query in ("revenue cost", "売上", "word2999 revenue 12"):
            assert as_dict(index.search(tokenize(query), mask_of(keep))) == expected_over(query, texts, keep)


# Order


@few
@given(documents_lists, queries, batch_sizes, st.randoms(use_true_random=False))
def test_neither_insertion_order_nor_batches_change_a_score(
    texts: list[str], query: str, sizes: list[int], random: object
) -> None:
    order = list(range(len(texts)))
    random.shuffle(order)  # type: ignore[attr-defined]
    with TemporaryDirectory() as folder:
        one = search_all(build(Path(folder) / "one", texts), query)
        other = search_all(build(Path(folder) / "other", [texts[row] for row in order], sizes), query)
        assert one == {order[place]: score for place, score in other.items()}


@few
@given(documents_lists, queries, st.integers(1, 15), st.randoms(use_true_random=False))
def test_the_best_are_ordered_by_score_then_key_at_any_depth(
    texts: list[str], query: str, depth: int, random: object
) -> None:
    keys = list(range(len(texts)))
    random.shuffle(keys)  # type: ignore[attr-defined]
    with TemporaryDirectory() as folder:
        index = build(Path(folder), texts, [3, 3])
        everything = mask_of([True] * len(texts))
        full = index.search(tokenize(query), everything)
        scores = as_dict(full)
        expected = sorted(scores, key=lambda row: (-scores[row], keys[row]))[:depth]
        assert top(full, depth, lambda row: keys[row]) == expected
        assert top(index.search(tokenize(query), everything, depth=depth), depth, lambda row: keys[row]) == expected


def test_equal_scores_at_the_last_place_are_decided_by_the_key(tmp_path: Path) -> None:
    index = build(tmp_path, ["revenue"] * 30)
    scores = index.search(["revenue"], mask_of([True] * 30), depth=5)
    assert top(scores, 5, lambda row: -row) == [29, 28, 27, 26, 25]
    assert top(scores, 0, lambda row: row) == []
    with pytest.raises(ValueError, match=r".+"):
        top(scores, -1, lambda row: row)


# On disk


def test_a_reopened_index_gives_the_same_bits(tmp_path: Path) -> None:
    texts = list(TEXTS)
    before = build(tmp_path, texts, [5, 5])
    directory = LexicalDirectory(tmp_path)
    after = directory.load(len(texts), lambda start, stop: texts[start:stop])
    for query in ("net revenue", "売上高", "营业收入"):
        assert search_all(before, query) == search_all(after, query)
    assert directory.report is not None
    assert directory.report.kept == len(texts)
    directory.close()


def test_damage_is_noticed_and_mended_never_guessed_at(tmp_path: Path) -> None:
    texts = [f"revenue number {n}" for n in range(50)]
    expected = search_all(build(tmp_path / "sound", texts), "revenue 7")
    files = sorted(path.name for path in (tmp_path / "sound").rglob("*") if path.is_file())
    assert files
    for name in files:
        folder = tmp_path / f"damaged-{name}"
        build(folder, texts)
        file = next(path for path in folder.rglob(name))
        raw = file.read_bytes()
        for place in {0, len(raw) // 2, len(raw) - 1} if raw else ():
            file.write_bytes(raw[:place] + bytes([raw[place] ^ 0xFF]) + raw[place + 1 :])
            directory = LexicalDirectory(folder)
            again = directory.load(len(texts), lambda start, stop: texts[start:stop])
            assert search_all(again, "revenue 7") == expected
            directory.close()


def test_an_index_over_other_texts_is_not_used(tmp_path: Path) -> None:
    build(tmp_path, ["revenue", "cost"])
    others = ["売上", "利益"]
    directory = LexicalDirectory(tmp_path)
    index = directory.load(2, lambda start, stop: others[start:stop])
    assert search_all(index, "revenue") == {}
    assert search_all(index, "売上") == expected_over("売上", others, [True, True])
    directory.close()
