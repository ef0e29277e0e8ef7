"""Periods as a parameter: against a second reading, back and forth, and against hostile text."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.evidence import Period, PeriodKind
from groundwire_server.glossary import FiscalCalendar, PeriodError, parse_period, same_days
from groundwire_server.glossary.periods import (
    add_months,
    calendar_half,
    calendar_month,
    calendar_quarter,
    calendar_year,
    instant,
    interval,
)
from tests.glossary.period_oracle import WRITERS, Case, Writer, length

REFERENCE = date(2025, 6, 30)
STARTS = st.dates(date(2023, 1, 1), date(2023, 12, 31)).map(lambda day: f"{day:%m-%d}")
NamedBy = Literal["", "start", "end"]
NAMED_BYS: tuple[NamedBy, ...] = ("", "start", "end")
NAMED_BY = st.sampled_from(NAMED_BYS)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    year, month = draw(st.integers(1913, 2078)), draw(st.integers(1, 12))
    return Case(
        year,
        month,
        draw(st.integers(1, length(year, month))),
        draw(st.integers(1, 4)),
        draw(st.integers(1, 2)),
        draw(st.integers(1, 12)),
    )


@given(cases(), st.sampled_from(WRITERS))
def test_every_form_means_the_days_that_the_oracle_reckons(case: Case, writer: Writer) -> None:
    write, days = writer
    period = parse_period(write(case), reference=REFERENCE, fiscal_year_start=f"{case.start:02d}-01")
    first, last = days(case)
    assert (period.first, period.last) == (date(*first), date(*last))


@st.composite
def made_periods(draw: st.DrawFn) -> tuple[Period, FiscalCalendar]:
    fiscal = FiscalCalendar(draw(STARTS.filter(lambda start: start != "02-29")), draw(NAMED_BY))
    year = draw(st.integers(1001, 2998))
    first = date(year, *fiscal.month_day)
    day = date(year, 1, 1) + timedelta(days=draw(st.integers(0, 364)))
    choices = [
        calendar_year(year),
        calendar_half(year, draw(st.integers(1, 2))),
        calendar_quarter(year, draw(st.integers(1, 4))),
        calendar_month(year, draw(st.integers(1, 12))),
        fiscal.year(first),
        fiscal.half(first, draw(st.integers(1, 2))),
        fiscal.quarter(first, draw(st.integers(1, 4))),
        instant(day),
        interval(day, day + timedelta(days=draw(st.integers(0, 800)))),
    ]
    return draw(st.sampled_from(choices)), fiscal


@given(made_periods())
def test_a_canonical_form_reads_back_as_itself(made: tuple[Period, FiscalCalendar]) -> None:
    period, fiscal = made
    again = parse_period(
        period.canonical,
        reference=REFERENCE,
        fiscal_year_start=fiscal.start,
        fiscal_year_named_by=fiscal.named_by,
    )
    assert again == period


@given(STARTS.filter(lambda start: start != "02-29"), NAMED_BY, st.integers(1900, 2100))
def test_a_fiscal_year_is_cut_without_gap_or_overlap(start: str, named_by: NamedBy, year: int) -> None:
    fiscal = FiscalCalendar(start, named_by)
    first = date(year, *fiscal.month_day)
    whole = fiscal.year(first)
    for parts in ([fiscal.half(first, n) for n in (1, 2)], [fiscal.quarter(first, n) for n in (1, 2, 3, 4)]):
        assert (parts[0].first, parts[-1].last) == (whole.first, whole.last)
        assert all(b.first - a.last == timedelta(days=1) for a, b in pairwise(parts))
    assert fiscal.containing(whole.first) == fiscal.containing(whole.last) == first
    assert fiscal.first_day(fiscal.label(first)) == first


HOSTILE = st.text(
    st.sampled_from(
        "0123456789年度月日期第四半上下初末/-.,' QqHhFfYy\u2028\r\n\t令和元民國去昨前至から〜ｶﾞé\u0301\u200d😀٣３ß"
    ),
    max_size=24,
)


@given(HOSTILE | st.text(max_size=30), STARTS.filter(lambda start: start != "02-29"), NAMED_BY)
def test_any_text_is_a_period_or_a_typed_fault(text: str, start: str, named_by: NamedBy) -> None:
    def read(text: str) -> Period:
        return parse_period(text, reference=REFERENCE, fiscal_year_start=start, fiscal_year_named_by=named_by)

    try:
        period = read(text)
    except PeriodError:
        return
    assert period.first <= period.last
    assert (period.kind is PeriodKind.INSTANT) <= (period.first == period.last)
    assert read(period.canonical) == period


@given(st.sampled_from(["last year", "去年", "昨年度", "last quarter", "先月", "yesterday", "三年前"]), st.dates())
def test_relative_words_count_from_the_reference_day(text: str, reference: date) -> None:
    if reference.year < 1010 or reference.year > 2990:
        return
    period = parse_period(text, reference=reference)
    assert period.last < reference
    assert (reference - period.first).days <= 366 * 4


def test_same_days() -> None:
    year, span = calendar_year(2024), interval(date(2024, 1, 1), date(2024, 12, 31))
    fiscal = FiscalCalendar().year(date(2024, 1, 1))
    assert same_days(year, span)
    assert same_days(year, fiscal)
    assert not same_days(year, FiscalCalendar("04-01").year(date(2024, 4, 1)))
    one_day = date(2024, 3, 5)
    assert not same_days(instant(one_day), interval(one_day, one_day))
    assert same_days(instant(one_day), instant(one_day))


@pytest.mark.parametrize(
    ("day", "months", "expected"),
    [
        (date(2024, 1, 31), 1, date(2024, 2, 29)),
        (date(2023, 1, 31), 1, date(2023, 2, 28)),
        (date(2024, 12, 15), 1, date(2025, 1, 15)),
        (date(2024, 3, 31), -1, date(2024, 2, 29)),
        (date(2024, 1, 1), -12, date(2023, 1, 1)),
    ],
)
def test_add_months(day: date, months: int, expected: date) -> None:
    assert add_months(day, months) == expected


@pytest.mark.parametrize("start", ["4-1", "13-01", "02-30", "02-29", "", "04/01", "April"])
def test_a_fiscal_year_starts_on_a_day_of_every_year(start: str) -> None:
    with pytest.raises(ValueError, match=r"fiscal_year_start|day|month"):
        FiscalCalendar(start)


def test_an_interval_has_an_order() -> None:
    with pytest.raises(ValueError, match="before the first"):
        interval(date(2024, 2, 1), date(2024, 1, 1))


def test_a_long_text_is_no_period() -> None:
    with pytest.raises(PeriodError) as raised:
        parse_period("2024 " * 100_000, reference=REFERENCE)
    assert len(str(raised.value)) < 300
