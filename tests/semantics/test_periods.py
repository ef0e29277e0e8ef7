"""Semantics 10: periods."""

import unicodedata
from datetime import date, timedelta
from itertools import pairwise
from typing import Final, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.evidence import Period, PeriodKind
from groundwire_server.glossary import (
    FiscalCalendar,
    PeriodError,
    PeriodFault,
    find_period_mentions,
    find_periods,
    interval,
    parse_period,
    same_days,
)
from tests.semantics.hostile import TEXTS, any_text, quick

NamedBy = Literal["", "start", "end"]
TODAY: Final = date(2025, 6, 30)


def parse(raw: str, start: str = "01-01", named_by: NamedBy = "", language: str = "", today: date = TODAY) -> Period:
    return parse_period(raw, reference=today, fiscal_year_start=start, fiscal_year_named_by=named_by, language=language)


def fault(raw: str, language: str = "", start: str = "01-01") -> PeriodFault:
    with pytest.raises(PeriodError) as caught:
        parse(raw, start, language=language)
    assert caught.value.raw == raw
    return caught.value.fault


def days(period: Period) -> tuple[str, str]:
    return period.first.isoformat(), period.last.isoformat()


def month_end(year: int, month: int) -> date:
    return date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)


# Calendar periods


@pytest.mark.parametrize(
    ("raw", "canonical", "first", "last"),
    [
        ("2024", "2024", "2024-01-01", "2024-12-31"),
        ("2024年", "2024", "2024-01-01", "2024-12-31"),
        ("２０２４年", "2024", "2024-01-01", "2024-12-31"),
        ("２０２４", "2024", "2024-01-01", "2024-12-31"),
        (" 2024 ", "2024", "2024-01-01", "2024-12-31"),
        ("2024H1", "2024H1", "2024-01-01", "2024-06-30"),
        ("2024H2", "2024H2", "2024-07-01", "2024-12-31"),
        ("H1 2024", "2024H1", "2024-01-01", "2024-06-30"),
        ("2024年上半期", "2024H1", "2024-01-01", "2024-06-30"),
        ("2024年下半期", "2024H2", "2024-07-01", "2024-12-31"),
        ("2024年上半年", "2024H1", "2024-01-01", "2024-06-30"),
        ("2024年下半年", "2024H2", "2024-07-01", "2024-12-31"),
        ("first half of 2024", "2024H1", "2024-01-01", "2024-06-30"),
        ("2024Q1", "2024Q1", "2024-01-01", "2024-03-31"),
        ("2024Q3", "2024Q3", "2024-07-01", "2024-09-30"),
        ("2024q4", "2024Q4", "2024-10-01", "2024-12-31"),
        ("2024 Q3", "2024Q3", "2024-07-01", "2024-09-30"),
        ("2024-Q3", "2024Q3", "2024-07-01", "2024-09-30"),
        ("Q3 2024", "2024Q3", "2024-07-01", "2024-09-30"),
        ("q3 2024", "2024Q3", "2024-07-01", "2024-09-30"),
        ("Ｑ３　２０２４", "2024Q3", "2024-07-01", "2024-09-30"),
        ("2024年第3四半期", "2024Q3", "2024-07-01", "2024-09-30"),
        ("2024年第３四半期", "2024Q3", "2024-07-01", "2024-09-30"),
        ("2024年第三季度", "2024Q3", "2024-07-01", "2024-09-30"),
        ("2024年第3季度", "2024Q3", "2024-07-01", "2024-09-30"),
        ("third quarter of 2024", "2024Q3", "2024-07-01", "2024-09-30"),
        ("2024-03", "2024-03", "2024-03-01", "2024-03-31"),
        ("2024年3月", "2024-03", "2024-03-01", "2024-03-31"),
        ("2024年03月", "2024-03", "2024-03-01", "2024-03-31"),
        ("March 2024", "2024-03", "2024-03-01", "2024-03-31"),
        ("Mar 2024", "2024-03", "2024-03-01", "2024-03-31"),
        ("2024-02", "2024-02", "2024-02-01", "2024-02-29"),
        ("2023-02", "2023-02", "2023-02-01", "2023-02-28"),
        ("2024-12", "2024-12", "2024-12-01", "2024-12-31"),
    ],
)
def test_calendar_periods(raw: str, canonical: str, first: str, last: str) -> None:
    period = parse(raw)
    assert (period.canonical, *days(period)) == (canonical, first, last)
    assert period.kind is PeriodKind.CALENDAR


@pytest.mark.parametrize("raw", ["2024", "2024年", "2024Q3", "2024年第3四半期", "2024H1", "2024-03", "2024年上半期"])
@pytest.mark.parametrize("named_by", ["", "start", "end"])
def test_bare_years_and_quarters_are_calendar_whatever_the_fiscal_year(raw: str, named_by: NamedBy) -> None:
    assert parse(raw, "04-01", named_by) == parse(raw)


# Instants and intervals


@pytest.mark.parametrize(
    ("raw", "day"),
    [
        ("2018-09-30", "2018-09-30"),
        ("30 June 2025", "2025-06-30"),
        ("June 30, 2025", "2025-06-30"),
        ("2025年6月30日", "2025-06-30"),
        ("２０２５年６月３０日", "2025-06-30"),
        ("2024年末", "2024-12-31"),
        ("20240331", "2024-03-31"),
        ("13/04/2024", "2024-04-13"),
        ("2024-02-29", "2024-02-29"),
        ("令和6年3月31日", "2024-03-31"),
    ],
)
def test_a_single_day_is_an_instant(raw: str, day: str) -> None:
    period = parse(raw)
    assert period.kind is PeriodKind.INSTANT
    assert (period.canonical, *days(period)) == (day, day, day)


def test_an_iso_interval_has_both_days() -> None:
    period = parse("2020-01-15/2020-12-31")
    assert period.kind is PeriodKind.INTERVAL
    assert (period.canonical, *days(period)) == ("2020-01-15/2020-12-31", "2020-01-15", "2020-12-31")
    assert interval(date(2020, 1, 15), date(2020, 12, 31)) == period
    with pytest.raises(ValueError, match=r".*"):
        interval(date(2020, 1, 2), date(2020, 1, 1))


def test_the_same_days_answer_each_other_and_a_span_is_no_instant() -> None:
    assert same_days(parse("2020"), parse("2020-01-01/2020-12-31"))
    assert same_days(parse("2020"), parse("FY2020"))
    assert not same_days(parse("2020"), parse("FY2020", "04-01"))
    assert not same_days(parse("2020-01-01/2020-01-01"), parse("2020-01-01"))
    assert same_days(parse("2020Q1"), parse("2020-01-01/2020-03-31"))


# Fiscal periods


FISCAL = [
    ("FY2024", ("2023-04-01", "2024-03-31"), ("2024-04-01", "2025-03-31"), ("2023-04-01", "2024-03-31")),
    ("FY24", ("2023-04-01", "2024-03-31"), ("2024-04-01", "2025-03-31"), ("2023-04-01", "2024-03-31")),
    ("fy 2024", ("2023-04-01", "2024-03-31"), ("2024-04-01", "2025-03-31"), ("2023-04-01", "2024-03-31")),
    ("ＦＹ２０２４", ("2023-04-01", "2024-03-31"), ("2024-04-01", "2025-03-31"), ("2023-04-01", "2024-03-31")),
    ("fiscal 2024", ("2023-04-01", "2024-03-31"), ("2024-04-01", "2025-03-31"), ("2023-04-01", "2024-03-31")),
    ("fiscal year 2024", ("2023-04-01", "2024-03-31"), ("2024-04-01", "2025-03-31"), ("2023-04-01", "2024-03-31")),
    ("2024财年", ("2023-04-01", "2024-03-31"), ("2024-04-01", "2025-03-31"), ("2023-04-01", "2024-03-31")),
    ("2024財年", ("2023-04-01", "2024-03-31"), ("2024-04-01", "2025-03-31"), ("2023-04-01", "2024-03-31")),
    ("2024年度", ("2024-04-01", "2025-03-31"), ("2024-04-01", "2025-03-31"), ("2023-04-01", "2024-03-31")),
    ("令和6年度", ("2024-04-01", "2025-03-31"), ("2024-04-01", "2025-03-31"), ("2023-04-01", "2024-03-31")),
    ("FY2024Q1", ("2023-04-01", "2023-06-30"), ("2024-04-01", "2024-06-30"), ("2023-04-01", "2023-06-30")),
    ("FY2024 Q3", ("2023-10-01", "2023-12-31"), ("2024-10-01", "2024-12-31"), ("2023-10-01", "2023-12-31")),
    ("Q3 FY2024", ("2023-10-01", "2023-12-31"), ("2024-10-01", "2024-12-31"), ("2023-10-01", "2023-12-31")),
    ("FY2024H1", ("2023-04-01", "2023-09-30"), ("2024-04-01", "2024-09-30"), ("2023-04-01", "2023-09-30")),
    ("2024年度上半期", ("2024-04-01", "2024-09-30"), ("2024-04-01", "2024-09-30"), ("2023-04-01", "2023-09-30")),
    ("2024年度第3四半期", ("2024-10-01", "2024-12-31"), ("2024-10-01", "2024-12-31"), ("2023-10-01", "2023-12-31")),
]


@pytest.mark.parametrize(("raw", "unsaid", "by_start", "by_end"), FISCAL)
def test_fiscal_periods_from_april(
    raw: str, unsaid: tuple[str, str], by_start: tuple[str, str], by_end: tuple[str, str]
) -> None:
    for named_by, expected in (("", unsaid), ("start", by_start), ("end", by_end)):
        period = parse(raw, "04-01", named_by)  # type: ignore[arg-type]
        assert days(period) == expected
        assert period.kind is PeriodKind.FISCAL


@pytest.mark.parametrize("raw", ["FY2024", "FY24", "2024年度", "2024财年", "2024財年", "令和6年度"])
@pytest.mark.parametrize("named_by", ["", "start", "end"])
def test_a_fiscal_year_from_january_is_the_calendar_year_by_any_name(raw: str, named_by: NamedBy) -> None:
    period = parse(raw, "01-01", named_by)
    assert days(period) == ("2024-01-01", "2024-12-31")
    assert period.canonical == "FY2024"
    assert period.kind is PeriodKind.FISCAL


def test_one_fiscal_year_has_one_canonical_form() -> None:
    assert parse("2024年度", "04-01").canonical == parse("FY2025", "04-01").canonical == "FY2025"
    assert parse("2024年度", "04-01", "start").canonical == parse("FY2024", "04-01", "start").canonical
    assert parse("2024年度", "04-01", "end").canonical == parse("FY2024", "04-01", "end").canonical == "FY2024"
    assert parse("2024年度第3四半期", "04-01").canonical == "FY2025Q3"


@pytest.mark.parametrize(("short", "year"), [("00", 2000), ("24", 2024), ("79", 2079), ("80", 1980), ("99", 1999)])
def test_two_digit_years(short: str, year: int) -> None:
    assert parse(f"FY{short}") == parse(f"FY{year}")
    assert parse(f"FY{short}").first.year == year


starts: Final = st.builds(lambda month, day: f"{month:02}-{day:02}", st.integers(1, 12), st.integers(1, 28))
names: Final = st.sampled_from(["", "start", "end"])


@quick
@given(st.integers(1900, 2090), starts, names)
def test_fiscal_years_follow_one_another_and_are_named_by_end_or_start(
    year: int, start: str, named_by: NamedBy
) -> None:
    this, following = parse(f"FY{year}", start, named_by), parse(f"FY{year + 1}", start, named_by)
    assert this.last + timedelta(days=1) == following.first
    assert f"{this.first.month:02}-{this.first.day:02}" == start
    assert (this.first if named_by == "start" else this.last).year == year
    nendo = parse(f"{year}年度", start, named_by)
    by_end = named_by == "end" or (not named_by and start.startswith("01-"))
    assert (nendo.last if by_end else nendo.first).year == year
    assert nendo == parse(nendo.canonical, start, named_by)
    calendar = FiscalCalendar(start, named_by)
    assert calendar.year(this.first) == this
    assert calendar.containing(this.last) == calendar.containing(this.first) == this.first


@quick
@given(st.integers(1900, 2090), starts, names)
def test_halves_and_quarters_divide_the_year(year: int, start: str, named_by: NamedBy) -> None:
    whole = parse(f"FY{year}", start, named_by)
    for parts in ([f"FY{year}H{n}" for n in (1, 2)], [f"FY{year}Q{n}" for n in (1, 2, 3, 4)]):
        found = [parse(part, start, named_by) for part in parts]
        assert [part.canonical for part in found] == parts
        assert found[0].first == whole.first
        assert found[-1].last == whole.last
        for one, other in pairwise(found):
            assert one.last + timedelta(days=1) == other.first


@quick
@given(
    st.one_of(
        st.builds(lambda y: f"{y:04}", st.integers(1800, 2099)),
        st.builds(lambda y, q: f"{y:04}Q{q}", st.integers(1800, 2099), st.integers(1, 4)),
        st.builds(lambda y, h: f"{y:04}H{h}", st.integers(1800, 2099), st.integers(1, 2)),
        st.builds(lambda y, m: f"{y:04}-{m:02}", st.integers(1800, 2099), st.integers(1, 12)),
        st.builds(lambda y: f"FY{y:04}", st.integers(1800, 2099)),
        st.builds(lambda y, q: f"FY{y:04}Q{q}", st.integers(1800, 2099), st.integers(1, 4)),
        st.builds(lambda y, h: f"FY{y:04}H{h}", st.integers(1800, 2099), st.integers(1, 2)),
        st.dates(date(1800, 1, 1), date(2099, 12, 31)).map(date.isoformat),
        st.lists(st.dates(date(1800, 1, 1), date(2099, 12, 31)), min_size=2, max_size=2).map(
            lambda pair: "/".join(day.isoformat() for day in sorted(pair))
        ),
    ),
    starts,
    names,
)
def test_a_canonical_form_stands_for_itself(canonical: str, start: str, named_by: NamedBy) -> None:
    period = parse(canonical, start, named_by)
    assert period.canonical == canonical
    assert period.first <= period.last
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in canonical)
    for dressed in (f" {canonical}\n", canonical.lower(), wide, f"\u200b{canonical}\ufeff", f"{canonical} (restated)"):
        assert parse(dressed, start, named_by) == period
    assert parse(unicodedata.normalize("NFD", f"{canonical}（修正後）"), start, named_by) == period


# Relative words


RELATIVE = [
    ("this year", "2025"),
    ("last year", "2024"),
    ("next year", "2026"),
    ("previous year", "2024"),
    ("this quarter", "2025Q2"),
    ("last quarter", "2025Q1"),
    ("this month", "2025-06"),
    ("last month", "2025-05"),
    ("今年", "2025"),
    ("去年", "2024"),
    ("昨年", "2024"),
    ("来年", "2026"),
    ("明年", "2026"),
    ("一昨年", "2023"),
    ("本季度", "2025Q2"),
    ("上季度", "2025Q1"),
    ("上个季度", "2025Q1"),
    ("本月", "2025-06"),
    ("上个月", "2025-05"),
    ("上個月", "2025-05"),
    ("今月", "2025-06"),
    ("先月", "2025-05"),
    ("前四半期", "2025Q1"),
    ("今四半期", "2025Q2"),
    ("today", "2025-06-30"),
    ("昨日", "2025-06-29"),
]


@pytest.mark.parametrize(("raw", "canonical"), RELATIVE)
def test_relative_words_are_counted_from_the_clock(raw: str, canonical: str) -> None:
    assert parse(raw).canonical == canonical


@pytest.mark.parametrize(
    ("raw", "today", "canonical"),
    [
        ("last quarter", date(2025, 1, 1), "2024Q4"),
        ("last month", date(2025, 1, 31), "2024-12"),
        ("先月", date(2024, 3, 31), "2024-02"),
        ("上季度", date(2025, 3, 31), "2024Q4"),
        ("去年", date(2025, 1, 1), "2024"),
        ("昨年", date(2025, 12, 31), "2024"),
        ("昨日", date(2024, 3, 1), "2024-02-29"),
    ],
)
def test_relative_words_over_the_border_of_a_year(raw: str, today: date, canonical: str) -> None:
    assert parse(raw, today=today).canonical == canonical


def test_relative_fiscal_years() -> None:
    for raw in ("last fiscal year", "昨年度", "上财年", "上一财年"):
        assert days(parse(raw, "04-01")) == ("2024-04-01", "2025-03-31")
    for raw in ("this fiscal year", "今年度", "本年度", "本财年"):
        assert days(parse(raw, "04-01")) == ("2025-04-01", "2026-03-31")
    assert days(parse("last fiscal year", "04-01", today=date(2025, 3, 31))) == ("2023-04-01", "2024-03-31")


@pytest.mark.parametrize(
    ("raw", "language", "expected"),
    [
        ("前年度", "ja", ("2024-04-01", "2025-03-31")),
        ("前年度", "zh", ("2023-04-01", "2024-03-31")),
        ("昨年度第3四半期", "ja", ("2024-10-01", "2024-12-31")),
        ("昨年度上半期", "ja", ("2024-04-01", "2024-09-30")),
        ("前年第3四半期", "ja", ("2024-07-01", "2024-09-30")),
        ("去年第三季度", "zh", ("2024-07-01", "2024-09-30")),
        ("今年上半年", "zh", ("2025-01-01", "2025-06-30")),
        ("Q3 last year", "en", ("2024-07-01", "2024-09-30")),
    ],
)
def test_parts_of_relative_years(raw: str, language: str, expected: tuple[str, str]) -> None:
    assert days(parse(raw, "04-01", language=language)) == expected


def test_the_year_before_is_another_one_in_japanese_and_in_chinese() -> None:
    assert parse("前年", language="ja").canonical == "2024"
    assert parse("前年", language="zh").canonical == "2023"


# Eras


@pytest.mark.parametrize(
    ("raw", "canonical"),
    [
        ("令和元年", "2019"),
        ("令和1年", "2019"),
        ("令和6年", "2024"),
        ("令和６年", "2024"),
        ("平成元年", "1989"),
        ("平成31年", "2019"),
        ("昭和64年", "1989"),
        ("昭和元年", "1926"),
        ("大正15年", "1926"),
        ("明治45年", "1912"),
        ("令和6年3月", "2024-03"),
        ("令和6年第3四半期", "2024Q3"),
        ("民國113年", "2024"),
        ("民国113年", "2024"),
        ("民國元年", "1912"),
        ("平成31年4月30日", "2019-04-30"),
        ("令和元年5月1日", "2019-05-01"),
        ("昭和64年1月7日", "1989-01-07"),
        ("平成元年1月8日", "1989-01-08"),
        ("昭和元年12月25日", "1926-12-25"),
        ("大正元年7月30日", "1912-07-30"),
    ],
)
def test_eras_name_the_calendar_year(raw: str, canonical: str) -> None:
    assert parse(raw).canonical == canonical


@pytest.mark.parametrize(
    "raw",
    [
        "平成32年",
        "昭和65年",
        "大正16年",
        "明治46年",
        "令和0年",
        "平成0年",
        "令和元年4月30日",
        "平成31年5月1日",
        "昭和64年1月8日",
        "平成元年1月7日",
        "昭和元年12月24日",
        "平成32年度",
    ],
)
def test_a_day_or_year_outside_its_era_is_refused(raw: str) -> None:
    assert fault(raw) is PeriodFault.IMPOSSIBLE


def test_minguo_must_be_said() -> None:
    for raw in ("113年", "113年度"):
        with pytest.raises(PeriodError):
            parse(raw, language="zh")


# What is refused


@pytest.mark.parametrize(
    "raw",
    [
        "Q3",
        "第3四半期",
        "第３四半期",
        "上半期",
        "下半期",
        "上半年",
        "下半年",
        "第三季度",
        "H1",
        "third quarter",
        "first half",
        "March",
        "3月",
        "6月30日",
        "30 June",
    ],
)
@pytest.mark.parametrize("language", ["", "en", "zh", "ja"])
def test_no_year_at_all_is_never_the_current_year(raw: str, language: str) -> None:
    assert fault(raw, language) is PeriodFault.NO_YEAR
    assert fault(raw, language, "04-01") is PeriodFault.NO_YEAR


@pytest.mark.parametrize("raw", ["03/04/2024", "３/４/２０２４", "1/2/2024"])
def test_a_day_that_could_be_two_is_refused_with_both(raw: str) -> None:
    with pytest.raises(PeriodError) as caught:
        parse(raw)
    assert caught.value.fault is PeriodFault.AMBIGUOUS
    month, day, year = (int(part) for part in unicodedata.normalize("NFKC", raw).split("/"))
    assert set(caught.value.candidates) == {date(year, month, day).isoformat(), date(year, day, month).isoformat()}


@pytest.mark.parametrize(
    "raw",
    [
        "since 2020",
        "from 2020",
        "2020年以来",
        "2020年以降",
        "until 2020",
        "2020-01-01/",
        "2020-01-01/..",
        "../2020-12-31",
        "自2020年以来",
    ],
)
def test_open_intervals_are_refused(raw: str) -> None:
    assert fault(raw) is PeriodFault.OPEN


@pytest.mark.parametrize(
    "raw",
    [
        "YTD",
        "year to date",
        "year-to-date",
        "ytd 2024",
        "last twelve months",
        "last 12 months",
        "LTM",
        "TTM",
        "trailing twelve months",
        "今年以来",
        "年初来",
        "过去十二个月",
        "直近12か月",
        "过去12个月",
    ],
)
def test_year_to_date_and_last_twelve_months_are_refused(raw: str) -> None:
    assert fault(raw) is PeriodFault.ROLLING


@pytest.mark.parametrize(
    "raw",
    [
        "2024-13",
        "2024-00",
        "2024-02-30",
        "2023-02-29",
        "2024年13月",
        "2024年2月30日",
        "20240230",
        "20241301",
        "2020-12-31/2020-01-01",
        "2024Q5",
        "2024Q0",
        "2024H3",
        "31 June 2024",
        "FY2024Q5",
    ],
)
def test_what_cannot_be_is_refused(raw: str) -> None:
    with pytest.raises(PeriodError):
        parse(raw)


@pytest.mark.parametrize(
    "raw", ["", " ", "revenue", "売上", "?", "2024 revenue", "99999", "2024/", "FY", "年度", "5000 stores", *TEXTS[:3]]
)
def test_what_names_no_period_is_refused(raw: str) -> None:
    with pytest.raises(PeriodError):
        parse(raw)


@quick
@given(any_text | st.text(alphabet="0123456789年度月日期半QHFY-/ 令和第四上下去前", max_size=14))
def test_any_text_is_a_period_or_a_period_error(raw: str) -> None:
    try:
        period = parse(raw, "04-01")
    except PeriodError:
        return
    assert period.first <= period.last
    assert (period.first == period.last) or period.kind is not PeriodKind.INSTANT
    assert parse(period.canonical, "04-01") == period


@pytest.mark.parametrize(
    "raw", ["FY9999", "FY0001", "0000年", "令和99999999999999999年", "9" * 3000, "第" * 3000, "last " * 1000]
)
@pytest.mark.parametrize("named_by", ["", "start"])
def test_huge_numbers_and_huge_lines_are_refused_like_any_other(raw: str, named_by: NamedBy) -> None:
    with pytest.raises(PeriodError):
        parse(raw, "04-01", named_by)


@pytest.mark.parametrize(
    "raw", ["last year", "next year", "先月", "上季度", "昨日", "last fiscal year", "next fiscal year"]
)
@pytest.mark.parametrize("today", [date.min, date.max])
def test_a_clock_at_the_end_of_the_calendar_breaks_nothing(raw: str, today: date) -> None:
    try:
        period: Period | PeriodError = parse(raw, "04-01", today=today)
    except PeriodError as error:
        period = error
    if isinstance(period, Period):
        assert period.first <= period.last
    else:
        assert period.fault is PeriodFault.IMPOSSIBLE


@pytest.mark.parametrize("start", ["13-01", "02-30", "02-29", "4", "", "april", "00-00"])
def test_a_fiscal_year_start_that_is_no_day_is_refused(start: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        FiscalCalendar(start)


# In sentences


def found(text: str, start: str = "01-01", language: str = "") -> list[tuple[str, str]]:
    return [
        (text[span.start : span.end], period.canonical)
        for span, period in find_periods(text, reference=TODAY, fiscal_year_start=start, language=language)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What was revenue in FY2024?", [("FY2024", "FY2024")]),
        ("Compare Q3 2024 with Q3 2023.", [("Q3 2024", "2024Q3"), ("Q3 2023", "2023Q3")]),
        ("2024年第3四半期の売上高は？", [("2024年第3四半期", "2024Q3")]),
        ("2023年和2024年的营业收入", [("2023年", "2023"), ("2024年", "2024")]),
        ("👍 ２０２４年の売上", [("２０２４年", "2024")]),
        ("Net income for the year 2019", [("2019", "2019")]),
        ("Cash on 30 June 2025, please", [("30 June 2025", "2025-06-30")]),
        ("revenue from 2020-01-01/2020-12-31", [("2020-01-01/2020-12-31", "2020-01-01/2020-12-31")]),
    ],
)
def test_periods_in_sentences(text: str, expected: list[tuple[str, str]]) -> None:
    got = found(text)
    assert [canonical for _, canonical in got] == [canonical for _, canonical in expected]
    for (words, _), (core, _) in zip(got, expected, strict=True):
        assert core in words  # whether "from" or "the year" belongs to it is left open


@pytest.mark.parametrize(
    "text",
    [
        "It runs 5000 stores.",
        "2000 stores were opened",
        "12,024 people",
        "model 20245",
        "room 123",
        "",
        "no period",
        "2000店舗",
        "1,2024",
    ],
)
def test_numbers_that_count_are_no_years(text: str) -> None:
    assert found(text) == []


def test_what_is_refused_is_found_with_its_reason() -> None:
    def reasons(text: str) -> list[PeriodFault | None]:
        return [m.error.fault if m.error else None for m in find_period_mentions(text, reference=TODAY)]

    assert reasons("revenue in Q3") == [PeriodFault.NO_YEAR]
    assert reasons("上半期の売上") == [PeriodFault.NO_YEAR]
    assert reasons("paid on 03/04/2024") == [PeriodFault.AMBIGUOUS]
    assert reasons("growth since 2020") == [PeriodFault.OPEN]
    assert reasons("YTD revenue") == [PeriodFault.ROLLING]
    assert reasons("revenue in 2024") == [None]


@quick
@given(
    st.lists(
        st.sampled_from(
            ["revenue ", "2024年", "FY2024", " Q3 2024 ", "、", "去年", "売上", "\r\n", "😀", " 2000 ", "年", "度", "-"]
        ),
        max_size=8,
    ).map("".join)
)
def test_mentions_are_in_order_never_over_one_another_and_periods_by_themselves(text: str) -> None:
    end = 0
    for mention in find_period_mentions(text, reference=TODAY):
        assert end <= mention.span.start < mention.span.end <= len(text)
        end = mention.span.end
        assert text[mention.span.start : mention.span.end] == mention.text
        assert (mention.period is None) is (mention.error is not None)
    pairs = [(m.span, m.period) for m in find_period_mentions(text, reference=TODAY) if m.period]
    assert pairs == find_periods(text, reference=TODAY)
