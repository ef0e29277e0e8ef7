from __future__ import annotations

import pytest
from hypothesis import given

from groundwire_server.chunking import (
    CHUNKERS,
    BudgetError,
    WholeChunker,
    cut_spec,
    make_chunker,
    needs_model,
)
from groundwire_server.dense import HashEmbedder
from groundwire_server.errors import ErrorReason, FailedPrecondition, InvalidRequest
from tests.support.hostile_text import hostile_text


@pytest.mark.parametrize(
    ("budget", "fields"),
    [
        ((0, 0), ["chunk_chars"]),
        ((-1, -1), ["chunk_chars", "overlap_chars"]),
        ((10, -1), ["overlap_chars"]),
        ((10, 10), ["overlap_chars"]),
        ((10, 11), ["overlap_chars"]),
    ],
)
def test_a_budget_that_does_not_hold_names_every_fault(budget: tuple[int, int], fields: list[str]) -> None:
    for name in CHUNKERS:
        with pytest.raises(BudgetError) as refused:
            make_chunker(name, *budget)
        assert [violation.field for violation in refused.value.violations] == fields
        assert {violation.reason for violation in refused.value.violations} == {ErrorReason.VALUE_OUT_OF_RANGE}
        assert isinstance(refused.value, ValueError)
        assert isinstance(refused.value, InvalidRequest)


@pytest.mark.parametrize("name", ["scissors", "", "Paragraph"])
def test_an_unknown_name_lists_the_known_ones(name: str) -> None:
    with pytest.raises(
        InvalidRequest,
        match="is none of book, laws, layout, paragraph, parent_child, qa, semantic, sentence_window, whole",
    ) as refused:
        make_chunker(name)
    assert refused.value.violations[0].reason is ErrorReason.UNKNOWN_NAME


def test_equal_specs_cut_equally() -> None:
    assert make_chunker("paragraph").spec == "paragraph(480,80)"
    assert make_chunker("paragraph", 100, 0).spec == "paragraph(100,0)"
    assert make_chunker("whole", 100, 0).spec == "whole"
    assert make_chunker("laws", 100, 0, "tokens", HashEmbedder()).spec == "laws(100,0,tokens)"
    assert make_chunker("small_to_big").spec == "parent_child(480,80)"
    assert make_chunker("sentence_window").spec == make_chunker("sentence_window", 480, 0).spec
    for name in CHUNKERS:
        made = make_chunker(name, 99, 9, model=HashEmbedder())
        assert (made.name, made.spec) == (name, cut_spec(name, 99, 9))


@pytest.mark.parametrize("unit", ["characters", "tokens"])
@pytest.mark.parametrize("name", CHUNKERS)
def test_what_needs_a_model_says_so_where_there_is_none(name: str, unit: str) -> None:
    if needs_model(name, unit):
        with pytest.raises(FailedPrecondition) as refused:
            make_chunker(name, unit=unit)
        assert refused.value.reason is ErrorReason.NO_EMBEDDER
    else:
        assert make_chunker(name, unit=unit).name == name
    assert needs_model(name, unit) == (name == "semantic" or (unit == "tokens" and name != "whole"))


def test_an_unknown_unit_lists_the_known_ones() -> None:
    with pytest.raises(BudgetError, match="'words' is none of characters, tokens"):
        make_chunker("paragraph", unit="words")


@given(hostile_text())
def test_whole_leaves_the_text_as_it_is(text: str) -> None:
    assert [chunk.text for chunk in WholeChunker().chunk(text)] == ([text] if text.strip() else [])
