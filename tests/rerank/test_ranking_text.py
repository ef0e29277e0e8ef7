"""Orders of judges: any text gives a whole order or none, and the oracle reads the same one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.rerank import parse_ranking
from groundwire_server.rerank.ranking_text import MAX_RANKING_CHARS
from tests.conformance.oracles.rankings import ranking

_PIECES = (
    "0",
    "1",
    "2",
    "12",
    "007",
    "３",
    "٣",
    "①",
    "²",
    "[",
    "] > ",
    ", ",
    "\n- ",
    "```json\n",
    "第",
    "位",
    "-",
    ".",
    "9" * 30,
)


def _texts() -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(_PIECES) | st.text(max_size=4), max_size=12).map("".join)


@given(text=_texts(), candidates=st.integers(0, 14))
def test_it_reads_what_the_oracle_reads(text: str, candidates: int) -> None:
    wanted = ranking(text, candidates)
    assert parse_ranking(text, candidates) == (None if wanted is None else tuple(wanted))


@given(text=_texts(), candidates=st.integers(0, 14))
def test_an_order_has_every_candidate_once(text: str, candidates: int) -> None:
    order = parse_ranking(text, candidates)
    assert order is None or sorted(order) == list(range(candidates))


def test_a_number_of_any_length_is_out_of_range() -> None:
    assert parse_ranking("9" * 60_000, 5) is None
    assert parse_ranking("0" * 60_000 + "3", 5) == (3, 0, 1, 2, 4)


def test_nothing_is_read_behind_the_bound() -> None:
    assert parse_ranking(" " * MAX_RANKING_CHARS + "1", 5) is None


def test_a_number_of_candidates_below_nought_is_a_fault_of_the_caller() -> None:
    with pytest.raises(ValueError, match="-1"):
        parse_ranking("0", -1)
