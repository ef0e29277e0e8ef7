"""When two values can not both be true."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.metric.conflict import disagree


@pytest.mark.parametrize(
    ("one", "one_decimals", "other", "other_decimals", "expected"),
    [
        ("100", None, "100", None, False),
        ("100", None, "100.00", None, False),
        ("100", None, "101", None, True),
        ("12.4", None, "12.41", None, False),
        ("12.4", None, "12.45", None, False),
        ("12.4", None, "12.46", None, True),
        ("12.4", None, "12.5", None, True),
        ("12408000", -6, "12000000", -6, False),
        ("12408000", -3, "12000000", -6, False),
        ("12508000", -3, "12000000", -6, True),
        ("13000000", -6, "12000000", -6, True),
        ("1", 2, "1.004", None, False),
        ("-5", None, "5", None, True),
        ("0", None, "0.0", None, False),
        ("0", None, "0.4", None, False),
        ("0", 1, "0.4", None, True),
    ],
)
def test_disagreement(
    one: str, one_decimals: int | None, other: str, other_decimals: int | None, expected: bool
) -> None:
    assert disagree(one, one_decimals, other, other_decimals) is expected
    assert disagree(other, other_decimals, one, one_decimals) is expected


VALUES = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12).map(
    lambda d: format(d, "f")
)
PLACES = st.none() | st.integers(-9, 9)


@given(VALUES, PLACES, VALUES, PLACES)
def test_disagreement_against_ranges_of_fractions(one: str, first: int | None, other: str, second: int | None) -> None:
    def width(value: str, places: int | None) -> Fraction:
        written = len(value.partition(".")[2])
        return Fraction(1, 2) / Fraction(10) ** (written if places is None else places)

    apart = abs(Fraction(one) - Fraction(other))
    expected = apart != 0 and apart >= width(one, first) + width(other, second)
    assert disagree(one, first, other, second) is expected


@given(VALUES, st.integers(0, 12))
def test_rounding_a_value_is_no_disagreement(value: str, places: int) -> None:
    rounded = format(Decimal(value).quantize(Decimal(1).scaleb(-places)), "f")
    if len(value.partition(".")[2]) > places:
        assert not disagree(value, None, rounded, None)
