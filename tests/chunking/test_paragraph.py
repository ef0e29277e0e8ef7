from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.chunking import ParagraphChunker
from groundwire_server.evidence import Span
from tests.chunking.oracle import paragraph_chunks
from tests.support.hostile_text import hostile_text

VECTORS = json.loads((Path(__file__).parent.parent / "conformance" / "chunks.json").read_text("utf-8"))
BUDGETS = st.integers(1, 60).flatmap(lambda most: st.tuples(st.just(most), st.integers(0, most - 1)))


def texts(text: str, max_chars: int = 480, overlap_chars: int = 80) -> list[str]:
    return [chunk.text for chunk in ParagraphChunker(max_chars, overlap_chars).chunk(text)]


@pytest.mark.parametrize("case", VECTORS["paragraph"], ids=lambda case: case["name"])
def test_vectors(case: dict[str, object]) -> None:
    text, budget = str(case["text"]), (int(str(case["max_chars"])), int(str(case["overlap_chars"])))
    chunks = ParagraphChunker(*budget).chunk(text)
    assert [[chunk.span.start, chunk.span.end, chunk.text] for chunk in chunks] == case["chunks"]
    assert [list(stretch) for stretch in paragraph_chunks(text, *budget)] == [
        [chunk.span.start, chunk.span.end] for chunk in chunks
    ]


@given(hostile_text(), BUDGETS)
def test_agrees_with_the_plain_oracle(text: str, budget: tuple[int, int]) -> None:
    spans = [(chunk.span.start, chunk.span.end) for chunk in ParagraphChunker(*budget).chunk(text)]
    assert spans == paragraph_chunks(text, *budget)


@given(hostile_text(), BUDGETS)
def test_every_chunk_is_its_slice_of_the_source(text: str, budget: tuple[int, int]) -> None:
    chunks = ParagraphChunker(*budget).chunk(text)
    assert [chunk.seq for chunk in chunks] == list(range(len(chunks)))
    for chunk in chunks:
        assert text[chunk.span.start : chunk.span.end] == chunk.text
        assert chunk.text == chunk.text.strip() != ""
        assert len(chunk.text) <= budget[0]


@given(hostile_text(), BUDGETS)
def test_nothing_is_lost_and_overlaps_stay_in_their_budget(text: str, budget: tuple[int, int]) -> None:
    spans = [chunk.span for chunk in ParagraphChunker(*budget).chunk(text)]
    covered = {offset for span in spans for offset in range(span.start, span.end)}
    assert all(offset in covered for offset, char in enumerate(text) if not char.isspace())
    for one, following in pairwise(spans):
        assert one.start < following.start
        assert one.end < following.end
        assert one.end - following.start <= budget[1]


@given(hostile_text())
def test_a_text_that_fits_is_one_chunk(text: str) -> None:
    chunks = ParagraphChunker(max(1, len(text)), 0).chunk(text)
    assert len(chunks) == (1 if text.strip() else 0)


@given(hostile_text(20), hostile_text(20))
def test_what_follows_an_overlong_paragraph_does_not_depend_on_what_is_before_it(before: str, after: str) -> None:
    wall = "w" * 61
    together = ParagraphChunker(60, 20).chunk(f"{before}\n{wall}\n{after}")
    alone = ParagraphChunker(60, 20).chunk(after)
    shift = len(before) + len(wall) + 2
    tail = [Span(chunk.span.start - shift, chunk.span.end - shift) for chunk in together if chunk.span.start >= shift]
    assert tail == [chunk.span for chunk in alone]


def test_signs_are_not_parted_where_there_is_a_choice() -> None:
    for sign in ("e\u0301", "か\u3099", "👍🏽", "👩\u200d👩\u200d👧", "🇯🇵", "\u270c\ufe0f", "ｶﾞ", "\u1112\u1161\u11ab"):
        for piece in texts("a" * 9 + sign + "b" * 9, 10, 0):
            assert sign in piece or not set(piece) & (set(sign) - set("ab"))


def test_a_stack_of_marks_is_cut_where_it_must_be() -> None:
    pieces = texts("e" + "\u0301" * 200, 50, 0)
    assert [len(piece) for piece in pieces] == [50, 50, 50, 50, 1]


def test_one_huge_line_takes_linear_time() -> None:
    assert len(texts("a" * 300_000)) == 625
    assert len(texts("a " * 300_000)) == 1250
    assert texts(" " * 300_000 + "a") == ["a"]
    assert len(texts("あ。" * 100_000)) == 417
    assert len(texts("x\n" * 100_000)) > 400
    assert len(texts("a" + " " * 300_000 + "b")) == 2
