from __future__ import annotations

import pytest
from hypothesis import given

from groundwire_server.chunking import CHUNKERS, BudgetError, WholeChunker, make_chunker
from groundwire_server.errors import ErrorReason, InvalidRequest
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


@pytest.mark.parametrize("name", ["laws", "", "Paragraph"])
def test_an_unknown_name_lists_the_known_ones(name: str) -> None:
    with pytest.raises(InvalidRequest, match="is none of paragraph, whole") as refused:
        make_chunker(name)
    assert refused.value.violations[0].reason is ErrorReason.UNKNOWN_NAME


def test_equal_specs_cut_equally() -> None:
    assert make_chunker("paragraph").spec == "paragraph(480,80)"
    assert make_chunker("paragraph", 100, 0).spec == "paragraph(100,0)"
    assert make_chunker("whole", 100, 0).spec == "whole"
    assert {make_chunker(name).name for name in CHUNKERS} == set(CHUNKERS)


@given(hostile_text())
def test_whole_leaves_the_text_as_it_is(text: str) -> None:
    assert [chunk.text for chunk in WholeChunker().chunk(text)] == ([text] if text.strip() else [])
