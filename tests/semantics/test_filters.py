"""Semantics 3: filters."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import ErrorReason
from groundwire_server.evidence import (
    MAX_FILTER_DEPTH,
    MAX_FILTER_NODES,
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
from tests.semantics.hostile import TEXTS, quick

SCHEMA: Final = {
    "number": Family.NUMBER,
    "text": Family.TEXT,
    "truth": Family.TRUTH,
    "day": Family.DAY,
    "instant": Family.INSTANT,
    "period": Family.PERIOD,
    "texts": Family.TEXTS,
}


def year(number: int) -> Period:
    return Period(str(number), PeriodKind.CALENDAR, date(number, 1, 1), date(number, 12, 31))


def quarter(number: int, place: int) -> Period:
    first = date(number, 3 * place - 2, 1)
    last = (date(number, 3 * place + 1, 1) if place < 4 else date(number + 1, 1, 1)) - timedelta(days=1)
    return Period(f"{number}Q{place}", PeriodKind.CALENDAR, first, last)


NUMBERS: Final[tuple[Value, ...]] = (9, 10, -1, 0, 0.1, Decimal("0.1"), Decimal("0.10"), 2**53, 2**53 + 1, 9.5, 1e300)
STRINGS: Final = ("", "9", "10", "a", "Z", "é", "e\u0301", "売上", "营收", "😀", "\uffff", "a\r\n", "A")
DAYS: Final = (date(2023, 12, 31), date(2024, 1, 1), date(2024, 9, 1), date(2024, 10, 1), date(999, 1, 1))
INSTANTS: Final = (
    datetime(2024, 1, 1, tzinfo=UTC),
    datetime(2024, 1, 1, 9, tzinfo=timezone(timedelta(hours=9))),
    datetime(2024, 1, 1, 0, 0, 0, 1, tzinfo=UTC),
    datetime(2023, 12, 31, 23, 59, tzinfo=timezone(timedelta(hours=-5))),
)
PERIODS: Final = (year(2023), year(2024), quarter(2024, 1), quarter(2024, 4), quarter(2023, 4))
POOLS: Final[Mapping[str, tuple[Value, ...]]] = {
    "number": NUMBERS,
    "text": STRINGS,
    "truth": (True, False),
    "day": DAYS,
    "instant": INSTANTS,
    "period": PERIODS,
    "texts": STRINGS,
}
ORDERED: Final = (Operator.GT, Operator.GTE, Operator.LT, Operator.LTE)


def key(value: Any) -> Any:
    """Something that compares as the specification says."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float | Decimal):
        return Fraction(value)
    if isinstance(value, str):
        return [ord(c) for c in value]
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    if isinstance(value, Period):
        return (value.first, value.last)
    return value


def one_holds(operator: Operator, attribute: Any, values: tuple[Any, ...]) -> bool:
    a = key(attribute)
    v = [key(value) for value in values]
    match operator:
        case Operator.EQ:
            return bool(a == v[0])
        case Operator.NE:
            return bool(a != v[0])
        case Operator.IN:
            return any(a == each for each in v)
        case Operator.NIN:
            return all(a != each for each in v)
        case Operator.GT:
            return bool(a > v[0])
        case Operator.GTE:
            return bool(a >= v[0])
        case Operator.LT:
            return bool(a < v[0])
        case Operator.LTE:
            return bool(a <= v[0])
        case _:
            return bool(v[0] <= a <= v[1])


def holds(tree: Filter, row: Mapping[str, Any]) -> bool:
    match tree:
        case AllOf(filters=inner):
            return all(holds(each, row) for each in inner)
        case AnyOf(filters=inner):
            return any(holds(each, row) for each in inner)
        case Negate(filter=only):
            return not holds(only, row)
        case Predicate(field=field, operator=Operator.PRESENT, values=values):
            return (field in row) is values[0]
        case Predicate(field=field, operator=operator, values=values):
            if field not in row:
                return False
            if isinstance(row[field], tuple):
                members = [one_holds(operator, member, values) for member in row[field]]
                return all(members) if operator in (Operator.NE, Operator.NIN) else any(members)
            return one_holds(operator, row[field], values)
    raise AssertionError(tree)


@st.composite
def predicates(draw: st.DrawFn) -> Filter:
    field = draw(st.sampled_from(sorted(POOLS)))
    pool = st.sampled_from(POOLS[field])
    operators = [o for o in Operator if field != "truth" or o not in (*ORDERED, Operator.BETWEEN)]
    operator = draw(st.sampled_from(operators))
    match operator:
        case Operator.PRESENT:
            return Predicate(field, operator, (draw(st.booleans()),))
        case Operator.IN | Operator.NIN:
            return Predicate(field, operator, tuple(draw(st.lists(pool, min_size=1, max_size=3))))
        case Operator.BETWEEN:
            low, high = sorted([draw(pool), draw(pool)], key=key)
            return Predicate(field, operator, (low, high))
        case _:
            return Predicate(field, operator, (draw(pool),))


def _grow(inner: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    several = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return st.one_of(several.map(AllOf), several.map(AnyOf), inner.map(Negate))


trees: Final[st.SearchStrategy[Filter]] = st.recursive(predicates(), _grow, max_leaves=6)
rows: Final = st.fixed_dictionaries(
    {},
    optional={
        field: st.lists(st.sampled_from(STRINGS), min_size=1, max_size=3).map(tuple)
        if field == "texts"
        else st.sampled_from(pool)
        for field, pool in POOLS.items()
    },
)


def keeps(field: str, operator: Operator, *values: Value, attribute: Value) -> bool:
    return matches(Predicate(field, operator, values), {field: attribute})


def faults(tree: Filter, path: str = "options.filter") -> list[ErrorReason]:
    return [violation.reason for violation in check_filter(tree, SCHEMA, path)]


# The evaluator


@quick
@given(trees, st.lists(rows, max_size=4))
def test_generated_filters_agree_with_plain_loops(tree: Filter, table: list[dict[str, Value]]) -> None:
    for row in table:
        assert matches(tree, row) is holds(tree, row)


@quick
@given(trees)
def test_generated_filters_are_sound(tree: Filter) -> None:
    assert faults(tree) == []


def test_there_are_the_nine_operators_and_present() -> None:
    names = {operator.value for operator in Operator}
    assert names == {"eq", "ne", "in", "nin", "gt", "gte", "lt", "lte", "between", "present"}


def test_numbers_compare_as_numbers() -> None:
    assert not keeps("n", Operator.GT, 10, attribute=9)
    assert keeps("n", Operator.LT, 10, attribute=9)
    assert keeps("n", Operator.EQ, Decimal("1.50"), attribute=Decimal("1.5"))
    assert keeps("n", Operator.EQ, 2.0, attribute=2)
    assert keeps("n", Operator.EQ, Decimal(2), attribute=2.0)
    assert keeps("n", Operator.GT, float(2**53), attribute=2**53 + 1)
    assert not keeps("n", Operator.EQ, float(2**53), attribute=2**53 + 1)
    assert keeps("n", Operator.GT, Decimal("99999999999999999999.1"), attribute=Decimal("99999999999999999999.2"))


def test_text_compares_by_code_point() -> None:
    assert keeps("t", Operator.GT, "10", attribute="9")
    assert keeps("t", Operator.LT, "a", attribute="Z")
    assert keeps("t", Operator.GT, "\uffff", attribute="\U00010000")
    assert keeps("t", Operator.GT, "あ", attribute="漢")
    assert keeps("t", Operator.LT, "营", attribute="収")
    assert not keeps("t", Operator.EQ, "é", attribute="e\u0301")
    assert not keeps("t", Operator.EQ, "a", attribute="A")
    assert not keeps("t", Operator.EQ, "ＡＢ", attribute="AB")
    assert not keeps("t", Operator.EQ, "a", attribute="a ")


@pytest.mark.parametrize("text", TEXTS[:-3], ids=range(len(TEXTS) - 3))
def test_hostile_texts_equal_themselves_alone(text: str) -> None:
    assert keeps("t", Operator.EQ, text, attribute=text)
    assert not keeps("t", Operator.NE, text, attribute=text)
    assert not keeps("t", Operator.EQ, text + "\u200b", attribute=text)
    assert keeps("t", Operator.GT, text, attribute=text + "\x00")


def test_dates_compare_as_dates() -> None:
    assert keeps("d", Operator.LT, date(2024, 10, 1), attribute=date(2024, 9, 30))
    assert keeps("d", Operator.LT, date(2024, 1, 1), attribute=date(999, 1, 1))
    tokyo = timezone(timedelta(hours=9))
    assert keeps("i", Operator.EQ, datetime(2024, 1, 1, tzinfo=UTC), attribute=datetime(2024, 1, 1, 9, tzinfo=tokyo))
    assert keeps("i", Operator.LT, datetime(2024, 1, 1, tzinfo=UTC), attribute=datetime(2024, 1, 1, 8, tzinfo=tokyo))


def test_periods_compare_as_periods() -> None:
    assert keeps("p", Operator.LT, quarter(2024, 4), attribute=year(2024))
    assert keeps("p", Operator.GT, quarter(2024, 1), attribute=year(2024))
    assert keeps("p", Operator.LT, year(2024), attribute=quarter(2023, 4))
    fiscal = Period("FY2024", PeriodKind.FISCAL, date(2023, 4, 1), date(2024, 3, 31))
    assert keeps("p", Operator.GT, year(2023), attribute=fiscal)
    assert keeps("p", Operator.LT, year(2024), attribute=fiscal)
    assert keeps("p", Operator.BETWEEN, year(2023), year(2024), attribute=fiscal)


@quick
@given(st.sampled_from(PERIODS), st.sampled_from(PERIODS))
def test_of_two_periods_one_is_less_equal_or_more(one: Period, other: Period) -> None:
    found = [keeps("p", operator, other, attribute=one) for operator in (Operator.LT, Operator.EQ, Operator.GT)]
    assert sum(found) == 1


def test_between_is_closed_at_both_ends() -> None:
    for low, high, beyond in (
        (1, 3, 4),
        ("a", "c", "d"),
        (date(2024, 1, 1), date(2024, 1, 3), date(2024, 1, 4)),
        (year(2023), year(2024), year(2025)),
    ):
        assert keeps("x", Operator.BETWEEN, low, high, attribute=low)
        assert keeps("x", Operator.BETWEEN, low, high, attribute=high)
        assert keeps("x", Operator.BETWEEN, low, low, attribute=low)
        assert not keeps("x", Operator.BETWEEN, low, high, attribute=beyond)


@pytest.mark.parametrize("field", sorted(POOLS))
@pytest.mark.parametrize("operator", [o for o in Operator if o is not Operator.PRESENT])
def test_a_missing_attribute_satisfies_no_predicate(field: str, operator: Operator) -> None:
    low, high = sorted(POOLS[field], key=key)[:2]
    values = (low, high) if operator is Operator.BETWEEN else (low,)
    predicate = Predicate(field, operator, values)
    assert not matches(predicate, {})
    assert not matches(predicate, {"other": low})
    assert matches(Negate(predicate), {})


@pytest.mark.parametrize("field", sorted(POOLS))
def test_present_asks_for_just_that(field: str) -> None:
    row: dict[str, Value] = {field: ("a",) if field == "texts" else POOLS[field][0]}
    assert matches(Predicate(field, Operator.PRESENT, (True,)), row)
    assert not matches(Predicate(field, Operator.PRESENT, (False,)), row)
    assert matches(Predicate(field, Operator.PRESENT, (False,)), {})
    assert not matches(Predicate(field, Operator.PRESENT, (True,)), {})


def test_falsy_values_are_present() -> None:
    for value in ("", 0, False, Decimal(0), 0.0):
        assert matches(Predicate("x", Operator.PRESENT, (True,)), {"x": value})
        assert keeps("x", Operator.EQ, value, attribute=value)


def test_two_entities_are_any_of_and_never_a_contradiction() -> None:
    both = AnyOf(tuple(Predicate("entity", Operator.EQ, (name,)) for name in ("ACME", "アクメ")))
    assert matches(both, {"entity": "ACME"})
    assert matches(both, {"entity": "アクメ"})
    assert not matches(both, {"entity": "Other"})


@quick
@given(trees, trees, rows)
def test_filtering_only_narrows(one: Filter, other: Filter, row: dict[str, Value]) -> None:
    if matches(AllOf((one, other)), row):
        assert matches(one, row)
        assert matches(other, row)


# What is refused


def pred(field: str = "number", operator: Operator = Operator.EQ, *values: Value) -> Predicate:
    return Predicate(field, operator, values or (1,))


def test_an_unknown_attribute_is_refused() -> None:
    assert faults(pred("nosuch")) == [ErrorReason.FILTER_UNKNOWN_FIELD]
    assert faults(pred("nosuch", Operator.PRESENT, True)) == [ErrorReason.FILTER_UNKNOWN_FIELD]
    assert faults(pred("Number")) == [ErrorReason.FILTER_UNKNOWN_FIELD]


@pytest.mark.parametrize("field", sorted(POOLS))
@pytest.mark.parametrize("other", sorted(set(POOLS) - {"texts"}))
def test_a_value_of_another_type_is_refused(field: str, other: str) -> None:
    fits = field == other or (field, other) == ("texts", "text")
    if {field, other} == {"day", "instant"}:
        return  # the text does not say whether a day may stand for an instant
    value = POOLS[other][0]
    for operator in (Operator.EQ, Operator.NE, Operator.IN, Operator.NIN):
        expected = [] if fits else [ErrorReason.FILTER_TYPE_MISMATCH]
        assert faults(Predicate(field, operator, (value,))) == expected


def test_every_value_of_a_list_is_checked() -> None:
    assert ErrorReason.FILTER_TYPE_MISMATCH in faults(pred("number", Operator.IN, 1, "2", 3))
    assert ErrorReason.FILTER_TYPE_MISMATCH in faults(pred("number", Operator.BETWEEN, 1, "2"))


@pytest.mark.parametrize("operator", [Operator.IN, Operator.NIN])
def test_an_empty_list_is_refused(operator: Operator) -> None:
    assert faults(Predicate("number", operator, ())) == [ErrorReason.FILTER_EMPTY]


def test_an_empty_group_is_refused() -> None:
    assert faults(AllOf(())) == [ErrorReason.FILTER_EMPTY]
    assert faults(AnyOf(())) == [ErrorReason.FILTER_EMPTY]
    assert faults(Negate(AnyOf(()))) == [ErrorReason.FILTER_EMPTY]


@pytest.mark.parametrize("field", sorted(set(POOLS) - {"truth"}))
def test_between_with_low_above_high_is_refused(field: str) -> None:
    ordered = sorted(POOLS[field], key=key)
    low, high = ordered[0], ordered[-1]
    assert faults(Predicate(field, Operator.BETWEEN, (high, low))) == [ErrorReason.FILTER_RANGE_REVERSED]
    assert faults(Predicate(field, Operator.BETWEEN, (low, high))) == []
    assert faults(Predicate(field, Operator.BETWEEN, (low, low))) == []


def test_between_reversed_as_text_but_not_as_numbers_is_sound() -> None:
    assert faults(pred("number", Operator.BETWEEN, 9, 10)) == []
    assert faults(pred("text", Operator.BETWEEN, "9", "10")) == [ErrorReason.FILTER_RANGE_REVERSED]


def nested(depth: int) -> Filter:
    """A tree with that many levels, the predicate being the last."""
    tree: Filter = pred()
    for level in range(depth - 1):
        tree = Negate(tree) if level % 2 else AllOf((tree,))
    return tree


def test_depth_over_eight_is_refused() -> None:
    assert MAX_FILTER_DEPTH == 8
    for depth in range(1, 9):
        assert faults(nested(depth)) == []
    for depth in (9, 10, 60, 5000):
        assert ErrorReason.FILTER_TOO_LARGE in faults(nested(depth))


def test_over_256_nodes_is_refused() -> None:
    assert MAX_FILTER_NODES == 256
    assert faults(AnyOf((pred(),) * 255)) == []
    assert faults(AnyOf((pred(),) * 256)) == [ErrorReason.FILTER_TOO_LARGE]
    wide = AllOf(tuple(AnyOf((pred(),) * 24) for _ in range(10)))
    assert faults(wide) == []
    assert ErrorReason.FILTER_TOO_LARGE in faults(AllOf((wide, AnyOf((pred(),) * 10))))


def test_a_tree_that_is_too_large_is_told_its_other_faults_too() -> None:
    wide = AnyOf((pred("nosuch"), *(pred(),) * 256))
    assert sorted(reason.name for reason in faults(wide)) == ["FILTER_TOO_LARGE", "FILTER_UNKNOWN_FIELD"]
    deep = AllOf((pred("number", Operator.EQ, "nine"), nested(8)))
    assert sorted(reason.name for reason in faults(deep)) == ["FILTER_TOO_LARGE", "FILTER_TYPE_MISMATCH"]
    both = AnyOf((nested(8), *(pred(),) * 256))
    assert faults(both) == [ErrorReason.FILTER_TOO_LARGE, ErrorReason.FILTER_TOO_LARGE]


def test_all_violations_come_at_once_each_with_its_path() -> None:
    tree = AllOf(
        (
            pred("nosuch"),
            pred(),
            AnyOf((pred("number", Operator.EQ, "nine"), Predicate("number", Operator.IN, ()))),
            Negate(pred("day", Operator.BETWEEN, date(2024, 2, 1), date(2024, 1, 1))),
            AnyOf(()),
        )
    )
    violations = check_filter(tree, SCHEMA, "here")
    assert sorted(violation.reason.name for violation in violations) == [
        "FILTER_EMPTY",
        "FILTER_EMPTY",
        "FILTER_RANGE_REVERSED",
        "FILTER_TYPE_MISMATCH",
        "FILTER_UNKNOWN_FIELD",
    ]
    paths = [violation.field for violation in violations]
    assert len(set(paths)) == len(paths)
    assert all(path.startswith("here") for path in paths)
    assert all(violation.description for violation in violations)


def test_equal_faults_at_two_places_are_two_violations() -> None:
    violations = check_filter(AnyOf((pred("nosuch"), pred("nosuch"))), SCHEMA)
    assert len({violation.field for violation in violations}) == 2
