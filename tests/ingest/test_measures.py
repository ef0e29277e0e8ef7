"""Units and scales in headings: what is understood whole counts, everything else says nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import ErrorReason, RowRefused
from groundwire_server.ingest.cell_value import CellRules, read_cell
from groundwire_server.ingest.measure_reading import read_measure, read_title, split_measure
from groundwire_server.ingest.measures import NO_MEASURE, Measure
from groundwire_server.ingest.money_signs import MoneySigns
from groundwire_server.ingest.scale_mentions import speaks_of_scale
from groundwire_server.ingest.settling import Settled, kind_of_name, settle
from groundwire_server.ingest.sheet_language import find_language
from groundwire_server.ingest.unit_words import is_left_alone, same_unit
from tests.support.hostile_text import hostile_text

JA, ZH = MoneySigns(language="ja"), MoneySigns(language="zh")

MEASURES = [
    ("Revenue (USD millions)", 6, "USD"), ("in millions", 6, ""), ("(In thousands)", 3, ""),
    ("USD in thousands", 3, "USD"), ("$ in millions", 6, "USD"), ("(Dollars in millions)", 6, "USD"),
    ("US$ million", 6, "USD"), ("(US$'000)", 3, "USD"), ("RMB'000", 3, "CNY"), ("HK$’000", 3, "HKD"),
    ("$000", 3, "USD"), ("£m", 6, "GBP"), ("€ bn", 9, "EUR"), ("EUR m", 6, "EUR"), ("TEUR", 3, "EUR"),
    ("Umsatz in Mio. EUR", 6, "EUR"), ("Turnover (USD)", None, "USD"), ("Value, USD", None, "USD"),
    ("Net sales in thousands of U.S. dollars", 3, "USD"), ("(in millions of yen)", 6, "JPY"),
    ("Millions of yen", 6, "JPY"), ("(Thousands of US$)", 3, "USD"), ("$M", 6, "USD"), ("($MM)", 6, "USD"),
    ("Amounts in USD '000", 3, "USD"), ("Unit: USD million", 6, "USD"), ("Unit: persons", None, "persons"),
    ("Turnover (m USD)", 6, "USD"), ("(k EUR)", 3, "EUR"), ("In thousands of shares", 3, "shares"),
    ("Value in EUR m", 6, "EUR"), ("All figures are in £ millions", 6, "GBP"), ("(USD 1,000)", 3, "USD"),
    ("INR crore", 7, "INR"), ("（単位：百万円）", 6, "JPY"), ("単位:千円", 3, "JPY"), ("(百万円)", 6, "JPY"),
    ("億円", 8, "JPY"), ("売上高（十億円）", 9, "JPY"), ("(10億円)", 9, "JPY"), ("(1,000円)", 3, "JPY"),
    ("百万米ドル", 6, "USD"), ("千ドル", 3, "USD"), ("(円)", None, "JPY"), ("従業員数（人）", None, "persons"),
    ("(千人)", 3, "persons"), ("単位：千株", 3, "shares"), ("通貨単位：百万円", 6, "JPY"),
    ("1株当たり利益（円/株）", None, "JPY/shares"), ("百萬港元", 6, "HKD"), ("億日圓", 8, "JPY"),
    ("单位：万元", 4, "CNY"), ("单位：人民币万元", 4, "CNY"), ("金额单位：人民币百万元", 6, "CNY"),
    ("（亿元）", 8, "CNY"), ("單位：新台幣千元", 3, "TWD"), ("单位：亿美元", 8, "USD"), ("单位:万股", 4, "shares"),
    ("除每股数据外，人民币千元", 3, "CNY"), ("单位：元", None, "CNY"), ("Margin (%)", None, "PERCENT"),
    ("％", None, "PERCENT"), ("Leverage (x)", None, "times"), ("(倍)", None, "times"),
    ("EPS (USD/share)", None, "USD/shares"), ("USD per share", None, "USD/shares"), ("Spread (bps)", None, "BPS"),
    ("kEUR", 3, "EUR"), ("in MSEK", 6, "SEK"), ("RMB‘000", 3, "CNY"), ("USD 1,000s", 3, "USD"),
    ("in 1,000,000s", 6, ""), ("单位：亿元 币种：人民币", 8, "CNY"), ("以百万元为单位，人民币", 6, "CNY"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "power", "unit"), MEASURES)
def test_measures(text: str, power: int | None, unit: str) -> None:
    assert read_measure(text) == Measure(power, unit)


NOTHING = [
    "", "Notes", "2023", "Q1 2024", "FY2024", "Total", "Revenue", "Revenue from USD loans", "Product (K)", "2024 (B)",
    "M", "K", "Plan B", "USD_M", "(m)", "(k persons)", "(kt CO2e)", "(A)", "USD/EUR", "EUR/USD exchange rate",
    "百万円未満", "Cash in bank", "Investments in associates", "Share", "10", "100", "1,000", "Net sales (pro forma)",
    "USD EUR", "(in USD and EUR)", "million thousand", "ドル箱", "売上高(連結)",
    # A thousand in one language and more in another.
    "T€", "T EUR", "€T", "R$ mil", "US$ mil",
    # Two scales or two units, one for one thing and one for another.
    "($ in millions, shares in thousands)", "Sales in thousands, profit in millions", "万元，%", "(USD, %)",
    "単位：円、％", "In millions (unless stated in thousands)", "売上高は百万円、株数は千株",
]  # fmt: skip


SCALES_OF_OTHERS = [
    "T€", "T EUR", "R$ mil", "(000 omitted)", "Rs. in Lacs", "₹ Cr", "EUR x 1000", "×10⁶", "(10^6 USD)", "10³ EUR",
    "EUR 1.000", "Units: 1000 EUR", "in Millionen Euro", "en milliers d'euros", "millones de euros", "R$ milhões",
    "тыс. руб.", "단위: 백만원", "（千トン）", "单位：万辆", "単位：百 万 円", "thous. $", "mlrd EUR",
    "inmillions", "USD_M", "($ in millions, shares in thousands)", "万元，%",
]  # fmt: skip


@pytest.mark.parametrize("text", SCALES_OF_OTHERS)
def test_a_scale_that_is_not_read_is_seen(text: str) -> None:
    assert read_measure(text).power is None
    assert speaks_of_scale(text)


@pytest.mark.parametrize(
    "text", ["Vermillion Inc", "Acme 2024", "More than 1,000 stores", "売上高", "千葉県", "Table 10"]
)
def test_a_name_is_no_scale(text: str) -> None:
    assert not speaks_of_scale(text)


@pytest.mark.parametrize("text", NOTHING)
def test_what_is_not_understood_says_nothing(text: str) -> None:
    assert read_measure(text) == NO_MEASURE


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("In millions, except per share data", "same"),
        ("(in thousands, except share and per share data)", "own"),
        ("(In millions, except number of shares, which are reflected in thousands, and per-share amounts)", "unclear"),
        ("（单位：百万元，除股数外）", "own"),
    ],
)
def test_what_is_excepted(text: str, shares: str) -> None:
    measure = read_measure(text)
    assert measure.power in (3, 6)
    assert measure.shares == shares


def test_signs_of_money_go_by_language() -> None:
    assert read_measure("(¥ million)", JA) == Measure(6, "JPY")
    assert read_measure("(¥ million)", ZH) == Measure(6, "CNY")
    assert read_measure("(¥ million)") == Measure(6, "", vague="¥")
    assert read_measure("$m", MoneySigns({"$": "CAD"})) == Measure(6, "CAD")
    assert read_measure("萬元", MoneySigns(language="zh", traditional=True)) == Measure(4, "", vague="元")
    assert read_measure("仟元") == Measure(3, "", vague="元")


@pytest.mark.parametrize(
    ("texts", "language"),
    [
        (["売上高"], ("ja", False)),
        (["営業利益", "資産"], ("ja", False)),
        (["のれん"], ("ja", False)),
        (["营业收入", "资产总计"], ("zh", False)),
        (["營業額"], ("zh", True)),
        (["資本", "利益"], ("", False)),
        (["売上高", "营业收入"], ("", False)),
        (["Revenue"], ("", False)),
        ([], ("", False)),
    ],
)
def test_the_language_is_told_by_what_one_language_alone_writes(texts: list[str], language: tuple[str, bool]) -> None:
    assert find_language(texts) == language


def test_names_and_their_brackets() -> None:
    assert split_measure("売上高（百万円）") == ("売上高", Measure(6, "JPY"))
    assert split_measure("Revenue [USD m]") == ("Revenue", Measure(6, "USD"))
    assert split_measure("Net sales (pro forma)") == ("Net sales (pro forma)", NO_MEASURE)
    assert split_measure("(百万円)") == ("(百万円)", NO_MEASURE)
    assert read_title("(百万円)") == Measure(6, "JPY")
    assert read_title("売上高（百万円）") == NO_MEASURE


def test_spellings_of_one_unit() -> None:
    for one, other in (
        ("PERCENT", "%"),
        ("usd", "US$"),
        ("円", "JPY"),
        ("USD/shares", "USD per share"),
        ("人", "persons"),
    ):
        assert same_unit(one, other)
    for one, other in (("USD", "EUR"), ("USD", "USD/shares"), ("PERCENT", "pure"), ("t", "kt")):
        assert not same_unit(one, other)
    assert is_left_alone("%")
    assert is_left_alone("USD/shares")
    assert is_left_alone("人")
    assert not is_left_alone("USD")
    assert not is_left_alone("t")


KINDS = [
    ("Earnings per share", "per share"), ("Basic EPS", "per share"), ("1株当たり当期純利益", "per share"),
    ("每股收益", "per share"), ("Dividends per common share", "per share"), ("Revenue per employee", "per unit"),
    ("客単価", "per unit"), ("ARPU", "per unit"), ("Operating margin %", "percent"),
    ("Effective tax rate", "percent"), ("営業利益率", "percent"), ("毛利率", "percent"), ("Debt ratio", "percent"),
    ("前年比", "percent"), ("Number of employees", "heads"), ("Headcount", "heads"), ("従業員数", "heads"),
    ("员工人数", "heads"), ("Employees", "heads"), ("Weighted average shares", "shares"), ("発行済株式数", "shares"),
    ("Revenue", ""), ("Gross margin", ""), ("Interest rate swaps", ""), ("Payables to employees", ""),
    ("Ratio analysis", ""), ("50% owned subsidiaries", ""), ("人件費", ""), ("株式報酬", ""), ("比較", ""),
    ("Treasury shares", ""),
]  # fmt: skip


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_names_of_what_a_heading_leaves_alone(name: str, kind: str) -> None:
    assert kind_of_name(name) == kind


MILLIONS, USD_MILLIONS = Measure(6), Measure(6, "USD")
SETTLED = [
    # cell, row, above, unit of the term, name, value, unit, decimals
    ("169148", NO_MEASURE, USD_MILLIONS, "", "Gross margin", "169148000000", "USD", -6),
    ("5%", NO_MEASURE, USD_MILLIONS, "", "Gross margin", "5", "PERCENT", None),
    ("5", Measure(None, "stores"), USD_MILLIONS, "", "Number of stores", "5", "stores", None),
    *[
        ("15", NO_MEASURE, USD_MILLIONS, "", name, "15000000", "USD", -6)
        for name in (
            "Accounts receivable from customers", "Deposits from customers", "Purchase price", "Cash in bank",
            "现金及现金等价物",
            "期末数", "合计数", "営業利益", "人件費", "Other, net", "Cost of sales (restated)", "Stores and supplies",
            "Profit/(loss)", "Changes in working capital", "Investments in associates", "股本",
        )
    ],
    ("12.5", NO_MEASURE, NO_MEASURE, "", "Revenue", "12.5", "", None),
    ("12.5", NO_MEASURE, USD_MILLIONS, "", "Revenue", "12500000", "USD", -5),
    ("12.50", NO_MEASURE, MILLIONS, "USD", "Revenue", "12500000", "USD", -4),
    ("0.0012345678", NO_MEASURE, MILLIONS, "", "Revenue", "1234.5678", "", 4),
    ("12 thousand", NO_MEASURE, USD_MILLIONS, "", "Revenue", "12000", "USD", -3),
    ("12", Measure(3, "USD"), USD_MILLIONS, "", "Revenue", "12000", "USD", -3),
    ("12", Measure(None, "USD"), USD_MILLIONS, "", "Revenue", "12000000", "USD", -6),
    ("12%", NO_MEASURE, USD_MILLIONS, "", "Growth", "12", "PERCENT", None),
    ("12", Measure(None, "%"), USD_MILLIONS, "", "Growth", "12", "%", None),
    ("12", NO_MEASURE, USD_MILLIONS, "percent", "Growth", "12", "percent", None),
    ("6.13", NO_MEASURE, USD_MILLIONS, "", "Earnings per share", "6.13", "USD/shares", None),
    ("6.13", NO_MEASURE, USD_MILLIONS, "USD/shares", "EPS", "6.13", "USD/shares", None),
    ("$6.13", Measure(None, "USD"), Measure(None, "USD"), "", "Dividend", "6.13", "USD", None),
    ("$0.25", NO_MEASURE, USD_MILLIONS, "", "Dividends declared per share", "0.25", "USD/shares", None),
    ("123.45円", NO_MEASURE, Measure(6, "JPY"), "", "1株当たり当期純利益", "123.45", "JPY/shares", None),
    ("161000", NO_MEASURE, USD_MILLIONS, "persons", "Staff", "161000", "persons", None),
    ("161000", NO_MEASURE, USD_MILLIONS, "", "Number of employees", "161000", "", None),
    ("161人", NO_MEASURE, Measure(6, "JPY"), "", "従業員数", "161", "persons", None),
    ("161", NO_MEASURE, Measure(3, "persons"), "persons", "従業員数", "161000", "persons", -3),
    ("15", NO_MEASURE, MILLIONS, "shares", "Shares outstanding", "15000000", "shares", -6),
    ("15", NO_MEASURE, Measure(6, "USD", "own"), "shares", "Shares outstanding", "15", "shares", None),
    ("15", Measure(3, "shares"), USD_MILLIONS, "", "Shares outstanding", "15000", "shares", -3),
    ("15", Measure(None, "t"), USD_MILLIONS, "", "Emissions", "15", "t", None),
    ("15", NO_MEASURE, Measure(3), "t", "Emissions", "15000", "t", -3),
    ("12", NO_MEASURE, Measure(6, "", vague="¥"), "JPY", "売上高", "12000000", "JPY", -6),
    ("990.25", Measure(None, "USD_M"), NO_MEASURE, "", "Revenue", "990.25", "USD_M", None),
    ("990.25", Measure(None, "USD_M"), USD_MILLIONS, "", "Revenue", "990.25", "USD_M", None),
    ("990.25", Measure(None, "USD_M"), Measure(None, "USD"), "", "Revenue", "990.25", "USD_M", None),
    ("$990.25M", NO_MEASURE, NO_MEASURE, "USD_M", "Revenue", "990.25", "USD_M", None),
    ("990.25", NO_MEASURE, USD_MILLIONS, "USD_M", "Revenue", "990.25", "USD_M", None),
    ("990.25", NO_MEASURE, NO_MEASURE, "百万円", "Revenue", "990.25", "百万円", None),
    ("15.3", NO_MEASURE, USD_MILLIONS, "", "Effective tax rate", "15.3", "", None),
    # The term's currency is only that of what names none.
    ("12", NO_MEASURE, Measure(4, "CNY"), "JPY", "营业收入", "120000", "CNY", -4),
    ("€15M", NO_MEASURE, NO_MEASURE, "USD_M", "Revenue", "15000000", "EUR", -6),
    ("15", NO_MEASURE, Measure(6, "JPY"), "USD_M", "売上高", "15000000", "JPY", -6),
    ("0.31", NO_MEASURE, Measure(4, "CNY"), "USD/shares", "每股收益", "0.31", "CNY/shares", None),
    ("$6.13", NO_MEASURE, USD_MILLIONS, "USD/shares", "EPS", "6.13", "USD/shares", None),
    ("€6.13", NO_MEASURE, NO_MEASURE, "USD/shares", "EPS", "6.13", "EUR/shares", None),
]  # fmt: skip


@pytest.mark.parametrize(("cell", "row", "above", "term", "name", "value", "unit", "decimals"), SETTLED)
def test_what_beats_what(
    cell: str, row: Measure, above: Measure, term: str, name: str, value: str, unit: str, decimals: int | None
) -> None:
    figure = read_cell(cell, CellRules())
    assert settle(figure, row, above, term_unit=term, name=name, shown=cell) == Settled(value, unit, decimals)


@pytest.mark.parametrize(
    ("cell", "row", "above", "term", "name"),
    [
        *[
            ("15", NO_MEASURE, Measure(6, unit), "", name)
            for unit in ("JPY", "")
            for name in (
                "Number of stores",
                "Stores",
                "Active users",
                "Exchange rate USD/JPY",
                "Share price",
                "Return on equity",
                "Gross margin",
                "Interest coverage",
                "Debt/EBITDA",
                "Days sales outstanding",
                "YoY",
                "Revenue growth",
                "店舗数",
                "顧客数",
                "販売台数",
                "株価",
                "1株配当",
                "配当性向",
                "為替レート",
                "PER",
                "従業員",
                "员工总数",
                "周转天数",
                "研发人员数量",
                "同比增长",
                "总股本",
                "销量",
                "Steel (kt)",
                "Stores (units)",
                "Energy (GWh)",
                "产量（吨）",
                "销量（万辆）",
                "床数（床）",
                "Subscribers in thousands",
                "Subscribers, thousands",
                "Users: millions",
            )
        ],
        ("$12", Measure(None, "EUR"), NO_MEASURE, "", "Revenue"),
        ("12", Measure(None, "EUR"), USD_MILLIONS, "", "Revenue"),
        ("€12", NO_MEASURE, USD_MILLIONS, "", "Revenue"),
        ("12", NO_MEASURE, Measure(6, "", vague="¥"), "", "Revenue"),
        ("12", Measure(None, "", vague="¥"), NO_MEASURE, "", "Revenue"),
        ("15", NO_MEASURE, Measure(6, "USD", "unclear"), "shares", "Shares"),
        ("15", NO_MEASURE, USD_MILLIONS, "shares", "Shares"),
        ("15", NO_MEASURE, USD_MILLIONS, "", "Shares outstanding"),
        ("15", NO_MEASURE, USD_MILLIONS, "t", "Emissions"),
        ("15", NO_MEASURE, NO_MEASURE, "", "Revenue (millions of widgets)"),
        ("15", NO_MEASURE, USD_MILLIONS, "", "Shares used in computing earnings per share"),
        ("$15", NO_MEASURE, NO_MEASURE, "USD_M", "Revenue"),
        ("15 million", NO_MEASURE, NO_MEASURE, "USD_K", "Revenue"),
        ("15", Measure(None, "USD_M"), Measure(3, "USD"), "", "Revenue"),
        ("15", NO_MEASURE, Measure(None, "USD"), "USD_M", "Revenue"),
    ],
)
def test_what_does_not_go_together_is_refused(cell: str, row: Measure, above: Measure, term: str, name: str) -> None:
    figure = read_cell(cell, CellRules())
    with pytest.raises(RowRefused) as raised:
        settle(figure, row, above, term_unit=term, name=name, shown=cell)
    assert raised.value.reason is ErrorReason.FACT_UNIT_MISMATCH
    assert raised.value.value == cell


@given(hostile_text(40) | st.text("USDEUR円元百万千億亿人%$¥()（）単位单:： inmillionsof'0/", max_size=30))
def test_any_heading_is_read(text: str) -> None:
    for measure in (read_measure(text), read_title(text), split_measure(text)[1]):
        assert measure.power is None or 0 < measure.power <= 16
