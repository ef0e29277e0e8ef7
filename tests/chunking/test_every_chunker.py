"""What holds of every chunker and every text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.chunking import CHUNKERS, ChunkDraft, make_chunker
from groundwire_server.dense import HashEmbedder
from tests.support.hostile_text import hostile_text

MODEL = HashEmbedder()
BUDGETS = st.integers(1, 60).flatmap(lambda most: st.tuples(st.just(most), st.integers(0, most - 1)))
BUDGETED = [name for name in CHUNKERS if name != "whole"]
NO_OVERLAP = {"sentence_window", "whole"}
# Lines that chunkers look for, among those that break careless code.
LINES = (
    "# 題", "## Sub", "Title", "=====", "---", "", " ", "| a | b |", "|---|---|", "| 1 | 2 |", "a\tb", "1\t2", "- item",
    "1. first", "  goes on", "lead:", "```", "~~~~", "第一章　総則", "第三条　この法律は、目的を定める。", "（目的）",
    "第3条の規定により", "第１款", "Article 5 Freedom", "Section 3 applies.", "§ 12", "Chapter IV", "Q: Why?",
    "问：何时", "A: So.", "何故ですか？", "3.5 percent", "1.2.3 Deep", "３．結論", "Dr. Sato came. He left.",
    "売上高は増えた。", "e\u0301 👩\u200d👩\u200d👧", "x" * 70, "長" * 70, "\u2028",
)  # fmt: skip


def structured_text() -> st.SearchStrategy[str]:
    newline = st.sampled_from(["\n", "\r\n", "\r"])
    lines = st.lists(st.sampled_from(LINES), max_size=24)
    return st.tuples(lines, newline).map(lambda both: both[1].join(both[0]))


TEXTS = st.one_of(hostile_text(), structured_text())
# As readers give them: ascending places with paths, wherever they may lie.
HEADINGS = st.lists(
    st.tuples(st.integers(0, 60), st.sampled_from(["A", "A > B", "題", "題 > 節 > 項", "x" * 300])), max_size=8
)


def cut(name: str, text: str, budget: tuple[int, int], unit: str = "characters") -> list[ChunkDraft]:
    return make_chunker(name, *budget, unit, MODEL).chunk(text)


@pytest.mark.parametrize("name", CHUNKERS)
@given(text=TEXTS, budget=BUDGETS, unit=st.sampled_from(["characters", "tokens"]))
def test_every_chunk_is_its_slice_of_the_source(name: str, text: str, budget: tuple[int, int], unit: str) -> None:
    chunks = cut(name, text, budget, unit)
    assert [chunk.seq for chunk in chunks] == list(range(len(chunks)))
    for chunk in chunks:
        assert text[chunk.span.start : chunk.span.end] == chunk.text
        assert chunk.text.strip()
        if chunk.parent_span is not None:
            assert chunk.parent_span.start <= chunk.span.start
            assert chunk.span.end <= chunk.parent_span.end <= len(text)
            assert chunk.parent_span != chunk.span
    for one, following in pairwise(chunks):
        assert one.span.start < following.span.start
        assert one.span.end < following.span.end
    assert cut(name, text, budget, unit) == chunks


@pytest.mark.parametrize("name", BUDGETED)
@given(text=TEXTS, budget=BUDGETS, headings=HEADINGS)
def test_headings_of_a_reader_lose_nothing(
    name: str, text: str, budget: tuple[int, int], headings: list[tuple[int, str]]
) -> None:
    known = sorted({start: path for start, path in headings if start < len(text)}.items())
    chunks = make_chunker(name, *budget, "characters", MODEL).chunk(text, known)
    covered: set[int] = set()
    for chunk in chunks:
        assert text[chunk.span.start : chunk.span.end] == chunk.text
        assert len(chunk.text) <= budget[0]
        covered.update(range(chunk.span.start, chunk.span.end))
    assert all(place in covered for place, char in enumerate(text) if not char.isspace())
    assert [chunk.span.start for chunk in chunks] == sorted({chunk.span.start for chunk in chunks})


@pytest.mark.parametrize("name", ["layout", "parent_child", "book"])
def test_sections_begin_where_the_reader_says(name: str) -> None:
    text = "Report\nSales rose.\nOutlook\nCalm. # no heading\n# nor this\n"
    known = [(0, "Report"), (text.index("Outlook"), "Report > Outlook")]
    chunks = make_chunker(name).chunk(text, known)
    assert [(chunk.heading, chunk.text) for chunk in chunks] == [
        ("Report", "Report\nSales rose."),
        ("Report > Outlook", "Outlook\nCalm. # no heading\n# nor this"),
    ]


@pytest.mark.parametrize("name", ["laws", "qa"])
def test_what_a_chunker_looks_for_goes_before_the_readers_headings(name: str) -> None:
    text = "Rules\nArticle 1 Scope\nQ: Why?\nSo.\nEnd\nDone.\n"
    known = [(0, "Rules"), (text.index("End"), "End")]
    headings = [chunk.heading for chunk in make_chunker(name).chunk(text, known)]
    assert headings == (["Rules > Article 1 Scope", "End"] if name == "laws" else ["Rules", "Rules > Why?", "End"])


@pytest.mark.parametrize("name", BUDGETED)
@given(text=TEXTS, budget=BUDGETS)
def test_budgets_hold_and_nothing_is_lost(name: str, text: str, budget: tuple[int, int]) -> None:
    chunks = cut(name, text, budget)
    covered: set[int] = set()
    for chunk in chunks:
        assert chunk.text == chunk.text.strip()
        assert len(chunk.text) <= budget[0]
        covered.update(range(chunk.span.start, chunk.span.end))
    assert all(place in covered for place, char in enumerate(text) if not char.isspace())
    for one, following in pairwise(chunks):
        assert one.span.end - following.span.start <= (0 if name in NO_OVERLAP else budget[1])


@pytest.mark.parametrize("name", BUDGETED)
@given(text=TEXTS, budget=BUDGETS)
def test_a_budget_in_tokens_holds_for_each_chunk_by_itself(name: str, text: str, budget: tuple[int, int]) -> None:
    for chunk in cut(name, text, budget, "tokens"):
        assert len(MODEL.token_starts(chunk.text)) <= budget[0] or len(chunk.text) == 1


@pytest.mark.parametrize("name", CHUNKERS)
def test_blank_texts_have_no_chunks(name: str) -> None:
    for text in ("", " ", "\r\n\t\u3000", "\n" * 50, "\u2028"):
        assert cut(name, text, (480, 80)) == []


@pytest.mark.parametrize("name", CHUNKERS)
@given(text=TEXTS)
def test_a_parent_is_one_stretch_for_all_that_name_it(name: str, text: str) -> None:
    parents: dict[str, set[tuple[int, int]]] = {}
    for chunk in cut(name, text, (30, 5)):
        if chunk.parent_id and chunk.parent_span is not None:
            parents.setdefault(chunk.parent_id, set()).add((chunk.parent_span.start, chunk.parent_span.end))
    assert all(len(stretches) == 1 for stretches in parents.values())


@pytest.mark.parametrize("name", BUDGETED)
def test_long_texts_take_linear_time(name: str) -> None:
    # Each would take hours where a step looked at all that is before or behind it.
    lines = 10_000 if name != "semantic" else 500
    for line in (
        "a",
        "a ",
        "あ。",
        "x\n",
        "# x\n",
        "| a |\n",
        "- x\n",
        "Q: x?\n",
        "第一条 x\n",
        "1. x\n\n",
        "A. ",
        "\t|\n",
    ):
        assert cut(name, line * lines, (480, 80))
    assert cut(name, " " * 100_000 + "a", (480, 80))
    assert len(cut(name, "a" + " " * 100_000 + "b", (480, 80))) == 2 or name == "semantic"
