"""Filters over columns against the one evaluator, on generated trees and rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.evidence import (
    AllOf,
    AnyOf,
    Attribute,
    Filter,
    Negate,
    Operator,
    Period,
    PeriodKind,
    Predicate,
    Value,
    matches,
)
from groundwire_server.library.attributes import AttributeColumns
from groundwire_server.store import RevisionDetail

NOW = datetime(2026, 1, 1, tzinfo=UTC)
YEAR = Period("2024", PeriodKind.CALENDAR, date(2024, 1, 1), date(2024, 12, 31))
SAME_YEAR = Period("2024-01-01/2024-12-31", PeriodKind.INTERVAL, date(2024, 1, 1), date(2024, 12, 31))
FISCAL = Period("FY2024", PeriodKind.FISCAL, date(2024, 4, 1), date(2025, 3, 31))

FAMILIES: list[list[Value]] = [
    ["a", "b", "", "é", "９"],
    [1, 1.0, Decimal("1.00"), 0.1, Decimal("0.1"), 10**30, -2],
    [True, False],
    [date(2024, 2, 29), date(2025, 1, 1)],
    [NOW, NOW + timedelta(microseconds=1)],
    [YEAR, SAME_YEAR, FISCAL],
]
NAMES = ["x", "y", "doc_id", "title", "valid_as_of"]
LISTS: list[Value] = [("a",), ("a", "b"), ()]
any_value: st.SearchStrategy[Value] = st.sampled_from([value for family in FAMILIES for value in family] + LISTS)


class _Reader:
    """As much of a reader as the columns ask for."""

    def __init__(self, details: Sequence[RevisionDetail]) -> None:
        self._details = details

    def revision_details(self, after_row: int = 0) -> Iterator[RevisionDetail]:
        return (detail for detail in self._details if detail.first_row > after_row)

    def chunk_count(self) -> int:
        return len(self._details)


def _detail(row: int, attributes: Sequence[Attribute], valid_as_of: datetime | None) -> RevisionDetail:
    return RevisionDetail(
        row, f"d{row % 3}", "b" if row % 2 else "a", "text/plain", valid_as_of, NOW, tuple(attributes)
    )


details = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from(["x", "y"]), any_value, max_size=2),
        st.sampled_from([None, NOW, NOW + timedelta(microseconds=1)]),
    ),
    max_size=12,
).map(
    lambda rows: [
        _detail(number, [Attribute(name, value) for name, value in held.items()], valid_as_of)
        for number, (held, valid_as_of) in enumerate(rows, 1)
    ]
)


@st.composite
def predicates(draw: st.DrawFn) -> Filter:
    operator = draw(st.sampled_from(Operator))
    family = draw(st.sampled_from(FAMILIES))
    values: tuple[Value, ...]
    if operator is Operator.PRESENT:
        values = (draw(st.booleans()),)
    elif operator in (Operator.IN, Operator.NIN):
        values = tuple(draw(st.lists(st.sampled_from(family), min_size=1, max_size=12)))
    elif operator is Operator.BETWEEN:
        values = (draw(st.sampled_from(family)), draw(st.sampled_from(family)))
    else:
        values = (draw(st.sampled_from(family)),)
    return Predicate(draw(st.sampled_from([*NAMES, "unknown"])), operator, values)


trees: st.SearchStrategy[Filter] = st.recursive(
    predicates(),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda members: AllOf(tuple(members))),
        st.lists(inner, max_size=3).map(lambda members: AnyOf(tuple(members))),
        inner.map(Negate),
    ),
    max_leaves=8,
)


def _named(detail: RevisionDetail) -> dict[str, Value]:
    named: dict[str, Value] = {attribute.name: attribute.value for attribute in detail.attributes}
    named |= {"doc_id": detail.doc_id, "title": detail.title, "media_type": detail.media_type}
    named["ingested_at"] = detail.ingested_at
    if detail.valid_as_of is not None:
        named["valid_as_of"] = detail.valid_as_of
    return named


@given(rows=details, wanted=st.lists(trees, min_size=1, max_size=3), seen=st.integers(0, 12))
def test_columns_say_what_the_evaluator_says(rows: list[RevisionDetail], wanted: list[Filter], seen: int) -> None:
    columns = AttributeColumns()
    for count in (min(seen, len(rows)), len(rows), min(seen, len(rows))):
        reader = _Reader(rows[:count])
        for tree in wanted:
            got = columns.evaluate(tree, reader, count).tolist()  # type: ignore[arg-type]
            assert got == [matches(tree, _named(detail)) for detail in rows[:count]]


@given(rows=details, kept=st.lists(st.booleans(), min_size=12, max_size=12), most=st.integers(1, 4))
def test_values_are_those_of_what_is_kept(rows: list[RevisionDetail], kept: list[bool], most: int) -> None:
    """As if the others were not there."""
    mask = np.array(kept[: len(rows)], np.bool_)
    there = [detail for detail, keep in zip(rows, kept, strict=False) if keep]
    told = AttributeColumns().values(_Reader(rows), mask, most)  # type: ignore[arg-type]
    alone = AttributeColumns().values(_Reader(there), np.ones(len(there), np.bool_), most)  # type: ignore[arg-type]
    assert told == alone
    assert list(told) == sorted({each.name for detail in there for each in detail.attributes})
    for name, (values, having) in told.items():
        held = [each.value for detail in there for each in detail.attributes if each.name == name]
        distinct = {repr(value) for value in held}
        assert having == len(held)
        assert [repr(value) for value in values] == (sorted(distinct) if len(distinct) <= most else [])


def test_a_long_list_is_looked_up_and_not_walked_through() -> None:
    rows = [RevisionDetail(n, f"d{n}", "", "", None, NOW, ()) for n in range(1, 20_001)]
    wanted = Predicate("doc_id", Operator.IN, tuple(f"d{n}" for n in range(0, 20_000, 20)))
    found = AttributeColumns().evaluate(wanted, _Reader(rows), len(rows))  # type: ignore[arg-type]
    assert int(found.sum()) == 999


class _FailingReader(_Reader):
    """A reader whose store fails midway."""

    def revision_details(self, after_row: int = 0) -> Iterator[RevisionDetail]:
        for detail in super().revision_details(after_row):
            if detail.first_row == 6:
                raise OSError("midway")
            yield detail


@pytest.mark.parametrize("name", ["x", "doc_id"])
def test_a_store_that_fails_midway_shifts_no_attribute(name: str) -> None:
    rows = [RevisionDetail(n, f"d{n}", "", "", None, NOW, (Attribute("x", f"d{n}"),)) for n in range(1, 10)]
    wanted = Predicate(name, Operator.EQ, ("d3",))
    columns = AttributeColumns()
    for count in (2, 9):
        with pytest.raises(OSError, match="midway"):
            columns.evaluate(wanted, _FailingReader(rows), len(rows))  # type: ignore[arg-type]
        found = columns.evaluate(wanted, _Reader(rows[:count]), count).tolist()  # type: ignore[arg-type]
        assert found == [row == 2 for row in range(count)]
