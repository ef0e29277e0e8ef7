"""The one evaluator against an oracle that is written another way, and every fault of a filter at once."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import ErrorReason
from groundwire_server.evidence import (
    AllOf,
    AnyOf,
    Family,
    Filter,
    Negate,
    Operator,
    Period,
    PeriodKind,
    Predicate,
    Value,
    check_filter,
    matches,
)

SCHEMA = {"year": Family.NUMBER, "title": Family.TEXT, "day": Family.DAY, "open": Family.TRUTH, "tags": Family.TEXTS}

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "year": st.one_of(st.integers(-3, 3), st.sampled_from([Decimal("2.5"), Decimal(2), 2.5, 0.1, Decimal("0.1")])),
    "title": st.sampled_from(["", "a", "b", "Ａ", "日本", "日", "é", "é", "😀"]),
    "day": st.dates(date(2020, 1, 1), date(2020, 1, 5)),
    "open": st.booleans(),
    "tags": st.sampled_from(["a", "b", "c"]),
}


@st.composite
def predicates(draw: st.DrawFn) -> Predicate:
    name = draw(st.sampled_from(sorted(SCHEMA)))
    operator = draw(st.sampled_from(list(Operator)))
    if operator is Operator.PRESENT:
        return Predicate(name, operator, (draw(st.booleans()),))
    if SCHEMA[name] is Family.TRUTH:
        operator = draw(st.sampled_from([Operator.EQ, Operator.NE, Operator.IN, Operator.NIN]))
    size = {Operator.BETWEEN: 2, Operator.IN: 3, Operator.NIN: 3}.get(operator, 1)
    values = tuple(draw(VALUES[name]) for _ in range(size))
    if operator is Operator.BETWEEN:
        values = tuple(sorted(values))
    return Predicate(name, operator, values)


trees: st.SearchStrategy[Filter] = st.recursive(
    predicates(),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda members: AllOf(tuple(members))),
        st.lists(inner, min_size=1, max_size=3).map(lambda members: AnyOf(tuple(members))),
        inner.map(Negate),
    ),
    max_leaves=6,
)
rows = st.fixed_dictionaries(
    {},
    optional={
        name: (st.lists(values, unique=True).map(tuple) if name == "tags" else values)
        for name, values in VALUES.items()
    },
)


def oracle(tree: Filter, row: dict[str, Value]) -> bool:
    if isinstance(tree, AllOf):
        return not [1 for member in tree.filters if not oracle(member, row)]
    if isinstance(tree, AnyOf):
        return len([1 for member in tree.filters if oracle(member, row)]) > 0
    if isinstance(tree, Negate):
        return oracle(tree.filter, row) is False
    have: Any = row.get(tree.field)
    name, want = tree.operator.value, [exact(value) for value in tree.values]
    if name == "present":
        return (tree.field in row) == tree.values[0]
    if tree.field not in row:
        return False
    members = [exact(member) for member in (have if isinstance(have, tuple) else (have,))]
    if name in ("ne", "nin"):
        return not any(member in want for member in members)
    for member in members:
        holds = {
            "eq": lambda m=member: m == want[0],
            "in": lambda m=member: any(m == w for w in want),
            "gt": lambda m=member: m > want[0],
            "gte": lambda m=member: not m < want[0],
            "lt": lambda m=member: m < want[0],
            "lte": lambda m=member: not m > want[0],
            "between": lambda m=member: not (m < want[0] or m > want[1]),
        }[name]()
        if holds:
            return True
    return False


def exact(value: Any) -> Any:
    return Decimal(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


@given(trees, rows)
def test_the_evaluator_agrees_with_the_oracle(tree: Filter, row: dict[str, Value]) -> None:
    assert matches(tree, row) is oracle(tree, row)


@given(predicates())
def test_a_missing_attribute_satisfies_no_predicate_but_absence(predicate: Predicate) -> None:
    absent = predicate.operator is Operator.PRESENT and predicate.values == (False,)
    assert matches(predicate, {}) is absent


@given(trees)
def test_a_generated_filter_has_no_fault(tree: Filter) -> None:
    assert check_filter(tree, SCHEMA) == []


def test_numbers_compare_as_numbers() -> None:
    assert matches(Predicate("year", Operator.GT, (9,)), {"year": Decimal("10.0")})
    assert not matches(Predicate("year", Operator.EQ, (Decimal("0.1"),)), {"year": 0.1}), "a double is its exact value"


def test_periods_compare_by_first_day_then_last() -> None:
    year = Period("2024", PeriodKind.CALENDAR, date(2024, 1, 1), date(2024, 12, 31))
    quarter = Period("2024Q1", PeriodKind.CALENDAR, date(2024, 1, 1), date(2024, 3, 31))
    assert matches(Predicate("p", Operator.LT, (year,)), {"p": quarter})


def test_every_fault_is_named_at_once_with_its_path() -> None:
    tree = AllOf(
        (
            Predicate("colour", Operator.EQ, ("red",)),
            AnyOf(()),
            Negate(Predicate("year", Operator.GT, ("2020",))),
            Predicate("year", Operator.BETWEEN, (2024, 2020)),
            Predicate("open", Operator.GT, (True,)),
            Predicate("title", Operator.IN, ()),
        )
    )
    found = {(v.field, v.reason) for v in check_filter(tree, SCHEMA)}
    assert found == {
        ("options.filter.all_of[0].predicate.field", ErrorReason.FILTER_UNKNOWN_FIELD),
        ("options.filter.all_of[1].any_of", ErrorReason.FILTER_EMPTY),
        ("options.filter.all_of[2].negate.predicate.gt", ErrorReason.FILTER_TYPE_MISMATCH),
        ("options.filter.all_of[3].predicate.between", ErrorReason.FILTER_RANGE_REVERSED),
        ("options.filter.all_of[4].predicate.gt", ErrorReason.FILTER_TYPE_MISMATCH),
        ("options.filter.all_of[5].predicate.one_of", ErrorReason.FILTER_EMPTY),
    }


@pytest.mark.parametrize(
    "tree",
    [
        AllOf(tuple(Predicate("year", Operator.EQ, (1,)) for _ in range(256))),
        Predicate("year", Operator.IN, tuple(range(1001))),
    ],
)
def test_a_filter_over_the_bounds_is_refused(tree: Filter) -> None:
    assert [v.reason for v in check_filter(tree, SCHEMA)] == [ErrorReason.FILTER_TOO_LARGE]


def test_depth_is_bounded() -> None:
    tree: Filter = Predicate("year", Operator.EQ, (1,))
    for _ in range(7):
        tree = Negate(tree)
    assert check_filter(tree, SCHEMA) == []
    assert [v.reason for v in check_filter(Negate(tree), SCHEMA)] == [ErrorReason.FILTER_TOO_LARGE]
