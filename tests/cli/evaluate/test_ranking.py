"""The order that we answered is the order that an evaluator sees."""

from __future__ import annotations

from itertools import pairwise

import ir_measures
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from groundwire import Lineage, Scores, Snippet, TextPassage, Trust
from groundwire_server.cli.evaluate.ranking import DEPTH, rank_documents


def _snippets(found: list[tuple[str, float]]) -> list[Snippet]:
    return [
        Snippet(f"{rank:032x}", rank, Lineage("eval", doc_id), Trust.CITABLE, TextPassage("x"), Scores(fused=score))
        for rank, (doc_id, score) in enumerate(found, start=1)
    ]


_ids = st.lists(st.text("abcdefgh", min_size=1, max_size=3), max_size=2 * DEPTH)
_scores = st.one_of(
    st.floats(-1e6, 1e6),
    st.sampled_from([0.0, -0.0, 1e-300, 5e-324, 1 / 61, 1 / 62, 430.25, 430.25 + 1e-9]),
)


@given(_ids, st.data())
def test_scores_fall_strictly_also_as_32_bit_floats(ids: list[str], data: st.DataObject) -> None:
    found = [(doc_id, data.draw(_scores)) for doc_id in ids]
    ranked = rank_documents(_snippets(found))
    assert list(ranked) == list(dict.fromkeys(ids))[:DEPTH]
    values = list(ranked.values())
    assert all(first > second for first, second in pairwise(values))
    narrow = [np.float32(value) for value in values]
    assert all(first > second for first, second in pairwise(narrow))
    assert [float(repr(value)) for value in values] == values


@given(st.permutations(["a", "b", "c", "d"]), st.sampled_from([0.0, 0.5, 1e-12, 12345.678, -3.0]))
def test_a_tie_is_no_matter_for_the_evaluator(order: list[str], score: float) -> None:
    """All four score alike; the one that we put first must count as first, whatever its id."""
    ranked = rank_documents(_snippets([(doc_id, score) for doc_id in order]))
    for place, doc_id in enumerate(order, start=1):
        measured = ir_measures.calc_aggregate([ir_measures.RR @ 10], {"q": {doc_id: 1}}, {"q": ranked})
        assert measured[ir_measures.RR @ 10] == 1 / place


def test_a_document_scores_by_its_best_passage() -> None:
    ranked = rank_documents(_snippets([("a", 3.0), ("b", 2.0), ("a", 1.0), ("c", 0.5)]))
    assert ranked == {"a": 3.0, "b": 2.0, "c": 0.5}


def test_what_was_ranked_last_counts_first() -> None:
    scores = Scores(fused=0.1, bm25=7.0, vector=0.8, rerank=0.9)
    one = Snippet("0" * 32, 1, Lineage("eval", "a"), Trust.CITABLE, TextPassage("x"), scores)
    assert rank_documents([one]) == {"a": 0.9}
    bare = Snippet("0" * 32, 4, Lineage("eval", "a"), Trust.CITABLE, TextPassage("x"))
    assert rank_documents([bare]) == {"a": -4.0}
