"""Periods in sentences: all of them, whole, and nothing that only looks like one."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.evidence import slice_text
from groundwire_server.glossary import find_period_mentions, find_periods
from tests.glossary.period_oracle import WRITERS, Case, Writer
from tests.glossary.test_periods import REFERENCE, cases

FRAMES = (
    "What was the revenue of Acme ({})?",
    "Acme: revenue {}?",
    "アクメの売上高（{}）を教えてください。",
    "请问阿克梅公司（{}）的营业收入是多少？",
    "売上高😀は？ {}",
)


@given(cases(), st.sampled_from(WRITERS), st.sampled_from(FRAMES))
def test_a_period_is_found_where_it_stands(case: Case, writer: Writer, frame: str) -> None:
    write, days = writer
    text = frame.format(write(case))
    found = find_periods(text, reference=REFERENCE, fiscal_year_start=f"{case.start:02d}-01")
    first, last = days(case)
    assert [(period.first, period.last) for _, period in found] == [(date(*first), date(*last))]
    assert slice_text(text, found[0][0]) in write(case)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Revenue in 2023 and 2024", ["2023", "2024"]),
        ("Compare Q1 2023 with Q1 2024.", ["2023Q1", "2024Q1"]),
        ("Q4 2019 to Q4 2018", ["2019Q4", "2018Q4"]),
        ("from 2020 to 2022", ["2020-01-01/2022-12-31"]),
        ("アマゾンの2021-01-01から2021-12-31までの年度の売上高", ["2021-01-01/2021-12-31"]),
        ("请给出2021-01-01至2021-12-31的年度亚马逊的收入", ["2021-01-01/2021-12-31"]),
        ("2018-09-30時点の総資産と2019年度の売上高", ["2018-09-30", "FY2019"]),
        ("截至2018年9月30日的应收账款", ["2018-09-30"]),
        ("for the quarter from 2024-07-01 to 2024-09-30", ["2024-07-01/2024-09-30"]),
        ("Why did profit fall last year?", ["2024"]),
        ("昨年度と今年度の利益", ["FY2024", "FY2025"]),
        ("in fiscal year 2024, in 2024 and at the end of 2024", ["FY2024", "2024", "2024-12-31"]),
        ("the year ended March 31, 2024 (audited)", ["2023-04-01/2024-03-31"]),
        ("2021：GDP", ["2021"]),
        ("Apple's FY2024's revenue", ["FY2024"]),
    ],
)
def test_periods_of_a_sentence(text: str, expected: list[str]) -> None:
    assert [period.canonical for _, period in find_periods(text, reference=REFERENCE)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "How many of the 5000 stores are open?",
        "2000 employees in 2000 stores",
        "It cost $2024 and 2,024.50 EUR",
        "covid19, version 2.0.2024, ABC2024x, no-2024-5",
        "1,990 of 2020.5",
        "2024人が参加し、2000社が出展、1999円",
        "1990年代と20世紀、1990s",
        "We may march on second thoughts",
        "日本の人口、毎年の平均、10年間",
        "heroes 24 times 7",
        "四季報",
        "",
    ],
)
def test_nothing_that_only_looks_like_a_period(text: str) -> None:
    assert find_periods(text, reference=REFERENCE) == []


@pytest.mark.parametrize(
    ("text", "raw", "fault"),
    [
        ("revenue in Q3?", "Q3", "no_year"),
        ("上半期の売上高は？", "上半期", "no_year"),
        ("revenue on 03/04/2024", "03/04/2024", "ambiguous"),
        ("revenue since 2020", "since 2020", "open"),
        ("2020年以降の売上高", "2020年以降", "open"),
        ("YTD revenue", "YTD", "rolling"),
        ("直近12か月の売上高", "直近12か月", "rolling"),
        ("令和元年4月の売上高", "令和元年4月", "impossible"),
    ],
)
def test_what_is_refused_is_mentioned_with_its_fault(text: str, raw: str, fault: str) -> None:
    (mention,) = find_period_mentions(text, reference=REFERENCE)
    assert mention.period is None
    assert mention.error is not None
    assert (mention.text, mention.error.fault.value) == (raw, fault)


def test_the_year_before_is_another_one_in_chinese() -> None:
    readings = {
        language: [period.canonical for _, period in find_periods("前年", reference=REFERENCE, language=language)]
        for language in ("ja", "zh", "")
    }
    assert readings == {"ja": ["2024"], "zh": ["2023"], "": []}


@given(
    st.text(st.sampled_from("2024年度Q第3四半期 -/.,上去至から\u2028\r\né\u0301\u200d😀ｶﾞ３月日HfFyY'ßＱ"), max_size=40)
    | st.text(max_size=40)
)
def test_mentions_are_stretches_of_the_text_in_order(text: str) -> None:
    mentions = find_period_mentions(text, reference=REFERENCE)
    end = 0
    for mention in mentions:
        assert end <= mention.span.start < mention.span.end <= len(text)
        assert slice_text(text, mention.span) == mention.text
        assert (mention.period is None) is not (mention.error is None)
        end = mention.span.end


def test_a_huge_line_is_read_in_reasonable_time() -> None:
    text = "売上高は2024年度に1,234億円 and 2023 revenue; " * 400
    assert len(find_periods(text, reference=REFERENCE)) == 800
