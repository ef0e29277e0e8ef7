"""How people write periods, one by one: what each is read as, and why some are not (semantics 10).

The calendar is that of the reference day 2025-06-30, a Monday. Two columns: for an entity whose year begins in January,
and for one whose fiscal year begins in April; one column where both are the same.
"""

from __future__ import annotations

from datetime import date

import pytest

from groundwire_server.glossary import PeriodError, find_period_mentions, parse_period

TABLE = """
# fiscal years
FY2024 FY24 fy2024 FY'24 fiscal␣2024 fiscal␣year␣2024 financial␣year␣2024 2024␣fiscal␣year ＦＹ２０２４ = FY2024
2024财年 2024財年 2024年财年 FY2023/24 FY2023-24 FY23/24 2023/24年度 23-24财年 2023-2024财年 = FY2024
2024年度 二〇二四年度 2024会計年度 24年度 令和6年度 令和六年度 R6年度 民國113年度 = FY2024 | FY2025
令和元年度 平成31年度 = FY2019 | FY2020
99年度 = FY1999 | FY2000
79年度 = FY2079 | FY2080
2024年3月期 24年3月期 令和6年3月期 2024/3期 = 2023-04-01/2024-03-31 | FY2024
2024年3月期第2四半期 = 2023-07-01/2023-09-30 | FY2024Q2
fiscal␣year␣ended␣March␣31,␣2024 = 2023-04-01/2024-03-31 | FY2024
截至2024年12月31日止年度 = FY2024 | 2024-01-01/2024-12-31
# calendar years
2024 2024年 ２０２４年 二〇二四年 二零二四年 CY2024 calendar␣2024 '24 24年 西暦2024年 公元2024年 = 2024
2024年通期 2024全年 full␣year␣2024 the␣year␣2024 in␣2024 2024␣(restated) 2024年（修正後） = 2024
令和6年 R6年 民國113年 民国113年 中華民國113年 民國一百一十三年 民國百十三年 = 2024
令和元年 平成31年 = 2019
昭和64年 平成元年 = 1989
大正15年 昭和元年 = 1926
民國元年 = 1912
# halves
2024H1 H1␣2024 1H24 1H2024 2024␣H1 first␣half␣of␣2024 2024年上半期 2024年上半年 2024上半年 = 2024H1
2024年前半 2024年中間期 = 2024H1
2024年下期 2024年下半年 2024年後半 second␣half␣of␣2024 = 2024H2
FY2024H1 H1␣FY2024 1HFY24 FY24␣1H 2024财年上半年 = FY2024H1
2024年度上半期 2024年度上期 令和6年度上半期 = FY2024H1 | FY2025H1
# quarters
2024Q3 Q3␣2024 3Q24 3Q␣2024 Q3'24 2024-Q3 Q3-2024 2024年第3四半期 2024年第三季度 2024年三季度 2024年Q3 = 2024Q3
third␣quarter␣of␣2024 3rd␣quarter␣2024 = 2024Q3
2024年首季 2024年第一季 2024年第1季 = 2024Q1
FY2024Q3 Q3␣FY2024 FY24Q3 3QFY24 third␣quarter␣of␣fiscal␣2024 fiscal␣2024␣third␣quarter 2024财年第三季度 = FY2024Q3
2024年度第3四半期 = FY2024Q3 | FY2025Q3
quarter␣ended␣June␣30,␣2024 three␣months␣ended␣June␣30,␣2024 = 2024-04-01/2024-06-30
# months
2024-03 2024/03 2024/3 03/2024 2024年3月 2024年三月 March␣2024 Mar␣2024 Mar-24 Mar.␣2024 令和6年3月 = 2024-03
# days
2018-09-30 2018/9/30 20180930 30␣September␣2018 September␣30,␣2018 30th␣of␣September␣2018 2018年9月30日 = 2018-09-30
平成30年9月30日 as␣of␣30␣September␣2018 2018年9月30日時点 截至2018年9月30日 H30.9.30 民國107年9月30日 = 2018-09-30
2024年末 end␣of␣2024 year-end␣2024 31␣December␣2024 2024年第四季度末 = 2024-12-31
2024年度末 = 2024-12-31 | 2025-03-31
FY2024␣year-end = 2024-12-31 | 2024-03-31
2024年3月末 end␣of␣March␣2024 = 2024-03-31
13/04/2024 = 2024-04-13
# intervals
2020-01-01/2020-12-31 2020-01-01␣/␣2020-12-31 2020-01-01--2020-12-31 = 2020-01-01/2020-12-31
2020-01-01/P1Y P1Y/2020-12-31 = 2020-01-01/2020-12-31
2020-01-01T00:00:00/2020-12-31T23:59:59 2020-01-01T00:00Z/2021-01-01T00:00Z = 2020-01-01/2020-12-31
2020年1月1日から12月31日まで = 2020-01-01/2020-12-31
从2020年1月1日到2020年12月31日 from␣1␣January␣2020␣to␣31␣December␣2020 = 2020-01-01/2020-12-31
2020-2022 2020〜2022年 2020年から2022年まで 2020年至2022年 from␣2020␣to␣2022 2020/2022 = 2020-01-01/2022-12-31
Jan-Mar␣2024 January␣to␣March␣2024 2024年1-3月 2024年1月〜3月 2024年1月至3月 = 2024-01-01/2024-03-31
FY2023-FY2024 = 2023-01-01/2024-12-31 | 2022-04-01/2024-03-31
52␣weeks␣ended␣28␣September␣2024 = 2023-10-01/2024-09-28
2024-W12 2024W12 = 2024-03-18/2024-03-24
# relative words
last␣year 去年 昨年 上年 上一年 a␣year␣ago 1年前 一年前 = 2024
this␣year 今年 本年 = 2025
next␣year 来年 明年 = 2026
one␣year␣before␣last = !UNKNOWN
the␣year␣before␣last 一昨年 two␣years␣ago 两年前 2年前 = 2023
last␣fiscal␣year 昨年度 上年度 上财年 = FY2024 | FY2025
this␣fiscal␣year 今年度 本财年 = FY2025 | FY2026
last␣quarter 上季度 前四半期 a␣quarter␣ago = 2025Q1
two␣quarters␣ago 两个季度前 2四半期前 = 2024Q4
this␣quarter 本季度 今四半期 = 2025Q2
last␣month 先月 上个月 = 2025-05
3␣months␣ago 三个月前 3か月前 = 2025-03
yesterday 昨日 昨天 = 2025-06-29
Q3␣last␣year 去年第三季度 昨年第3四半期 last␣year's␣Q3 = 2024Q3
昨年度第2四半期 = FY2024Q2 | FY2025Q2
今年上半年 今年上半期 = 2025H1
# refused, each with its reason
前年 = !AMBIGUOUS 2024 2023
前年度 = !AMBIGUOUS FY2024 FY2023 | !AMBIGUOUS FY2025 FY2024
03/04/2024 = !AMBIGUOUS 2024-03-04 2024-04-03
2023/24 2023-24 2023-2024 = !AMBIGUOUS FY2024 2023-01-01/2024-12-31
Q3 上半期 上半年 下半年 第3四半期 首季 first␣half March 3月 12月31日 年末 31␣December = !NO_YEAR
since␣2020 2020年以降 2020年以来 until␣2020 2020-01-01/ /2020-12-31 ../2020-12-31 2020-01-01/.. 自2020年以来 = !OPEN
YTD year␣to␣date 年初来 年初至今 last␣twelve␣months LTM TTM 直近12か月 过去12个月 2024年累計 = !ROLLING
2023-02-30 2024-13 2024Q5 2024H3 昭和65年 平成31年5月1日 = !IMPOSSIBLE
大正15年12月25日 令和0年 2020-12-31/2020-01-01 2024-W54 = !IMPOSSIBLE
113年 113年度 2020s 2020年代 3000 999 99 soon 春 2024␣2025 康熙3年 2024E 民國一百五年 2020-1² = !UNKNOWN
"""


def rows() -> list[tuple[str, str, str]]:
    found = []
    for line in TABLE.strip().splitlines():
        if not line.startswith("#"):
            texts, _, meaning = line.partition(" = ")
            january, _, april = meaning.partition(" | ")
            found += [(text.replace("␣", " "), january, april or january) for text in texts.split()]
    return found


def read(text: str, start: str) -> str:
    try:
        return parse_period(text, reference=date(2025, 6, 30), fiscal_year_start=start).canonical
    except PeriodError as error:
        return " ".join((f"!{error.fault.name}", *error.candidates))


@pytest.mark.parametrize(("text", "january", "april"), rows())
def test_each_is_read_as_it_is_meant(text: str, january: str, april: str) -> None:
    assert (read(text, "01-01"), read(text, "04-01")) == (january, april)


@pytest.mark.parametrize(("text", "january", "april"), [row for row in rows() if not row[1].startswith("!")])
def test_what_it_is_read_as_is_read_as_itself(text: str, january: str, april: str) -> None:
    assert (read(january, "01-01"), read(april, "04-01")) == (january, april)


def test_a_year_is_named_as_the_entity_says() -> None:
    """By its end unless the entity says otherwise; 年度 by its start where the entity says nothing (semantics 10)."""
    for named_by, fiscal, nendo in (
        ("", date(2023, 4, 1), date(2024, 4, 1)),
        ("end", date(2023, 4, 1), date(2023, 4, 1)),
        ("start", date(2024, 4, 1), date(2024, 4, 1)),
    ):
        for text, first in (("FY2024", fiscal), ("2024年度", nendo), ("2024财年", fiscal)):
            period = parse_period(
                text,
                reference=date(2025, 6, 30),
                fiscal_year_start="04-01",
                fiscal_year_named_by=named_by,  # type: ignore[arg-type]
            )
            assert period.first == first, (text, named_by)


def test_the_year_before_last_is_a_matter_of_language() -> None:
    for language, year in (("ja", "2024"), ("zh", "2023")):
        assert parse_period("前年", reference=date(2025, 6, 30), language=language).canonical == year


@pytest.mark.parametrize("text", ["三百家店", "百年の歴史", "首月的销售", "24/7 support", "5 weeks", "店が百ある"])
def test_what_counts_something_is_no_period_of_a_sentence(text: str) -> None:
    assert find_period_mentions(text, reference=date(2025, 6, 30)) == []
