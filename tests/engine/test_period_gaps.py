"""Periods that are missing between others."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.engine.period_gaps import period_gaps
from groundwire_server.glossary import parse_period


def dated(*texts: str, start: str = "01-01") -> list[tuple[date, date, str]]:
    periods = [parse_period(text, reference=date(2025, 1, 1), fiscal_year_start=start) for text in texts]
    return [(period.first, period.last, period.canonical) for period in periods]


@pytest.mark.parametrize(
    ("held", "missing"),
    [
        (["2019", "2022"], ["2020", "2021"]),
        (["2019", "2022", "2020Q4", "2021Q2", "2018-09-30"], ["2021Q1", "2020", "2021"]),
        (["FY2019", "2021"], []),
        (["2024-11", "2025-02"], ["2024-12", "2025-01"]),
        (["2023H2", "2024H2"], ["2024H1"]),
        (["2018-09-30", "2020-09-30"], []),
        # Intervals: whole ones by themselves; those of 52 and 53 weeks in one.
        (["2019-07-01/2020-06-30", "2022-07-01/2023-06-30"], ["2020-07-01/2021-06-30", "2021-07-01/2022-06-30"]),
        (["2018-09-30/2019-09-28", "2020-09-27/2021-09-25"], ["2019-09-29/2020-09-26"]),
        (["2019-09-29/2020-09-26", "2020-09-27/2021-09-25"], []),
        (["2024-01-01/2024-03-31", "2024-10-01/2024-12-31"], ["2024-04-01/2024-06-30", "2024-07-01/2024-09-30"]),
        (["2024-01-01/2024-12-31", "2024-01-01/2024-03-31", "2026-01-01/2026-12-31"], ["2025-01-01/2025-12-31"]),
        (["2024-01-01/2024-12-31", "2024-07-01/2025-06-30", "2025-08-01/2026-07-31"], []),
        (["2024-01-01/2024-01-07", "2024-03-01/2024-03-07"], []),
        ([], []),
    ],
)
def test_what_is_missing(held: list[str], missing: list[str]) -> None:
    assert period_gaps(dated(*held), 400) == (missing, len(missing))


def test_the_count_goes_on_where_the_list_ends() -> None:
    found, count = period_gaps(dated("1000", "2999"), 10)
    assert (found[0], found[-1], count) == ("1001", "1010", 1998)


@given(st.sets(st.integers(1000, 2999), min_size=1, max_size=12))
def test_years_and_the_missing_ones_are_a_row_without_gaps(years: set[int]) -> None:
    found, count = period_gaps(dated(*(f"{year}" for year in years)), 3000)
    assert len(found) == count
    assert sorted([*years, *map(int, found)]) == list(range(min(years), max(years) + 1))


@given(st.sets(st.integers(0, 60), min_size=1, max_size=10), st.integers(1, 28))
def test_gaps_of_intervals_touch_none_of_them(months: set[int], day: int) -> None:
    def at(month: int) -> date:
        return date(2000 + month // 12, month % 12 + 1, day)

    held = [(at(m), at(m + 1) - timedelta(days=1)) for m in months]
    found, count = period_gaps([(a, b, f"{a}/{b}") for a, b in held], 400)
    assert len(found) == count
    spans = [tuple(map(date.fromisoformat, each.split("/"))) for each in found]
    for first, last in spans:
        assert all(last < a or first > b for a, b in held)
    days = {a + timedelta(days=n) for a, b in [*held, *spans] for n in range((b - a).days + 1)}
    assert len(days) == (max(b for _, b in held) - min(a for a, _ in held)).days + 1
