"""Masks of filters that come again, kept for each clearance by itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_server.evidence import (
    Attribute,
    Call,
    CallOptions,
    Filter,
    Label,
    Operator,
    Predicate,
    Principal,
    Value,
)
from groundwire_server.library.filter_masks import FilterMasks
from tests.support.libraries import Doc, make_library, new_document

LEVELS = (Label.PUBLIC, Label.INTERNAL, Label.CONFIDENTIAL)


def asks(tree: Filter, clearance: Label = Label.INTERNAL) -> Call:
    return Call(Principal("somebody", clearance), CallOptions(filter=tree))


def test_the_same_filter_gives_the_same_array_and_another_one_its_own(tmp_path: Path) -> None:
    values: tuple[Value, ...] = (1, True, 2, "1")
    docs = [
        Doc(f"{number}.md", "text", label=label, attributes=(Attribute(f"is_{type(value).__name__}", value),))
        for number, (label, value) in enumerate((label, value) for label in LEVELS for value in values)
    ]
    library = make_library(tmp_path, docs)
    snapshot = library.snapshot()
    for name, wanted in (("is_int", 1), ("is_bool", True), ("is_str", "1")):
        for level, label in enumerate(LEVELS, start=1):
            call = asks(Predicate(name, Operator.EQ, (wanted,)), label)
            mask = snapshot.candidates(call)
            assert snapshot.candidates(call) is mask
            assert not mask.flags.writeable
            assert np.count_nonzero(mask) == level
    with library.writing() as writer:
        writer.replace_document(new_document(Doc("new.md", "text", attributes=(Attribute("is_int", 1),))))
    call = asks(Predicate("is_int", Operator.EQ, (1,)))
    assert np.count_nonzero(library.snapshot().candidates(call)) == 3
    assert np.count_nonzero(snapshot.candidates(call)) == 2


def test_equal_values_of_two_types_are_two_filters(tmp_path: Path) -> None:
    """1 equals True where Python compares them; a filter on numbers finds numbers alone."""
    docs = [Doc("one.md", "text", attributes=(Attribute("n", 1),))]
    snapshot = make_library(tmp_path, docs).snapshot()
    found = [
        np.count_nonzero(snapshot.candidates(asks(Predicate("n", Operator.EQ, (value,))))) for value in (1, True, 1)
    ]
    assert found == [1, 0, 1]


def mask(number: int) -> NDArray[np.bool_]:
    return np.array([number % 2 == 0, True])


def test_what_one_clearance_asks_for_pushes_out_nothing_of_another() -> None:
    masks = FilterMasks()
    kept = [masks.get(Label.PUBLIC, number, lambda number=number: mask(number)) for number in range(8)]  # type: ignore[misc]
    for number in range(100):
        masks.get(Label.INTERNAL, number, lambda number=number: mask(number))  # type: ignore[misc]
    again = [masks.get(Label.PUBLIC, number, lambda: mask(99)) for number in range(8)]
    assert all(one is other for one, other in zip(again, kept, strict=True))
    masks.get(Label.PUBLIC, 8, lambda: mask(8))
    assert masks.get(Label.PUBLIC, 0, lambda: mask(0)) is not kept[0]
