"""Fiscal periods of 52 and 53 weeks, and of entities that do not say when their years begin."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.glossary import FiscalCalendar, parse_period
from groundwire_server.metric.fiscal import fiscal_spans, is_outdated

# Years that end on the last Sunday of January, as retailers and chip makers have them.
YEARS = [
    (date(2018, 1, 29), date(2019, 1, 27)),
    (date(2019, 1, 28), date(2020, 1, 26)),
    (date(2020, 1, 27), date(2021, 1, 31)),
    (date(2021, 2, 1), date(2022, 1, 30)),
]
QUARTERS = [
    (date(2020, 1, 27), date(2020, 4, 26)),
    (date(2020, 4, 27), date(2020, 7, 26)),
    (date(2020, 7, 27), date(2020, 10, 25)),
    (date(2020, 10, 26), date(2021, 1, 31)),
]
UNTOLD = FiscalCalendar()
TOLD = FiscalCalendar("02-01")


def _spans(text: str, fiscal: FiscalCalendar, spans: list[tuple[date, date]], *, told: bool) -> list[tuple[date, date]]:
    period = parse_period(
        text, reference=date(2025, 6, 30), fiscal_year_start=fiscal.start, fiscal_year_named_by=fiscal.named_by
    )
    return fiscal_spans(period, spans, fiscal, told=told)


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize(("label", "place"), [(2019, 0), (2020, 1), (2021, 2), (2022, 3)])
def test_a_year_of_weeks_is_named_by_its_end(label: int, place: int, told: bool) -> None:
    fiscal = TOLD if told else UNTOLD
    assert _spans(f"FY{label}", fiscal, [*YEARS, *QUARTERS], told=told) == [YEARS[place]]


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("quarter", [1, 2, 3, 4])
def test_a_quarter_of_weeks(quarter: int, told: bool) -> None:
    fiscal = TOLD if told else UNTOLD
    assert _spans(f"FY2021Q{quarter}", fiscal, [*YEARS, *QUARTERS], told=told) == [QUARTERS[quarter - 1]]


def test_a_half_of_weeks() -> None:
    half = (date(2020, 1, 27), date(2020, 7, 26))
    assert _spans("FY2021H1", UNTOLD, [*YEARS, *QUARTERS, half], told=False) == [half]


def test_an_entity_may_name_years_by_their_start() -> None:
    assert _spans("FY2020", FiscalCalendar("01-01", "start"), YEARS, told=False) == [YEARS[2]]


def test_two_years_that_end_in_one_are_both_given() -> None:
    years = [(date(2020, 1, 5), date(2021, 1, 2)), (date(2021, 1, 3), date(2021, 12, 25))]
    assert _spans("FY2021", UNTOLD, years, told=False) == years
    assert _spans("FY2021Q1", UNTOLD, [*years, *QUARTERS], told=False) == years


@pytest.mark.parametrize("text", ["2021", "2021Q1", "2021-01-31", "2020-02-01/2021-01-31"])
def test_only_fiscal_periods_drift(text: str) -> None:
    assert _spans(text, TOLD, [*YEARS, *QUARTERS], told=True) == []


@given(st.integers(-30, 30), st.integers(-30, 30))
def test_a_told_year_drifts_by_at_most_a_week(early: int, late: int) -> None:
    span = (date(2023, 2, 1) + timedelta(days=early), date(2024, 1, 31) + timedelta(days=late))
    expected = [span] if abs(early) <= 7 and abs(late) <= 7 else []
    assert _spans("FY2024", TOLD, [span], told=True) == expected


@given(st.integers(300, 420))
def test_an_untold_year_is_about_a_year_long(days: int) -> None:
    span = (date(2024, 3, 31) - timedelta(days=days - 1), date(2024, 3, 31))
    assert _spans("FY2024", UNTOLD, [span], told=False) == ([span] if 350 <= days <= 380 else [])


def test_what_is_shorter_or_longer_than_a_year_is_none() -> None:
    spans = [(date(2020, 2, 1), date(2021, 6, 30)), (date(2020, 8, 1), date(2021, 1, 31))]
    assert _spans("FY2021", UNTOLD, spans, told=False) == []


@pytest.mark.parametrize(
    ("start", "named_by", "outdated"), [("01-01", "", False), ("04-01", "", True), ("01-01", "start", False)]
)
def test_a_period_is_outdated_when_its_days_are_another_year_s(
    start: str, named_by: Literal["", "start"], outdated: bool
) -> None:
    calendar, loaded = FiscalCalendar(start, named_by), FiscalCalendar()
    begin = date(2024, 1, 1)
    parts = [*(loaded.half(begin, n) for n in (1, 2)), *(loaded.quarter(begin, n) for n in (1, 4))]
    for period in (loaded.year(begin), *parts):
        days = (period.first, period.last)
        assert is_outdated(period.canonical, days, calendar, told=True) is outdated
        assert not is_outdated(period.canonical, days, calendar, told=False)
    assert not is_outdated("2024", (begin, date(2024, 12, 31)), calendar, told=True)
