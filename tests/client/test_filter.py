"""Filters written as Python comparisons."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from groundwire import AllOf, AnyOf, Negate, Predicate, field

YEAR = field("year")


def test_comparisons_are_predicates() -> None:
    assert [YEAR == 1, YEAR != 1, YEAR > 1, YEAR >= 1, YEAR < 1, YEAR <= 1] == [
        Predicate("year", operator, (1,))  # type: ignore[arg-type]
        for operator in ("eq", "ne", "gt", "gte", "lt", "lte")
    ]
    assert YEAR.one_of([1, 2]) == Predicate("year", "in", (1, 2))
    assert YEAR.none_of([1]) == Predicate("year", "nin", (1,))
    assert YEAR.between(1, 2) == Predicate("year", "between", (1, 2))
    assert YEAR.present() == Predicate("year", "present", (True,))
    assert YEAR.present(False) == Predicate("year", "present", (False,))


def test_joined_tests_are_one_list() -> None:
    a, b, c = YEAR == 1, YEAR == 2, YEAR == 3
    assert a & b & c == AllOf((a, b, c))
    assert a | b | c == AnyOf((a, b, c))
    assert a & (b | ~c) == AllOf((a, AnyOf((b, Negate(c)))))


@pytest.mark.parametrize(
    "mistake",
    [lambda: (YEAR > 1) and (YEAR < 3), lambda: 1 < YEAR < 3, lambda: not YEAR.present()],  # type: ignore[operator]
)
def test_the_words_and_or_not_are_refused(mistake: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match="write & for and"):
        mistake()


def test_a_text_is_no_list_of_values() -> None:
    with pytest.raises(TypeError, match="list of values"):
        YEAR.one_of("2024")
