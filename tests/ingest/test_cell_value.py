"""Cells as people write them: every form of semantics 10, and what is refused because nobody can tell."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import ErrorReason, RowRefused
from groundwire_server.ingest.cell_value import (
    DECIMAL_COMMA,
    CellNumber,
    CellRules,
    is_missing,
    plain_decimal,
    read_cell,
    scaled,
    without_notes,
)
from groundwire_server.ingest.money_signs import MoneySigns
from tests.support.hostile_text import hostile_text

PLAIN = CellRules()


def _value(text: str, rules: CellRules = PLAIN) -> str:
    return plain_decimal(scaled(read_cell(text, rules), None))


def _refusal(text: str, rules: CellRules = PLAIN) -> RowRefused:
    with pytest.raises(RowRefused) as raised:
        read_cell(text, rules)
    assert raised.value.value == text[:200]
    return raised.value


NUMBERS = [
    ("12", "12"), ("0", "0"), ("-0", "0"), ("0.00", "0.00"), ("-0.00", "0.00"), ("007.0", "7.0"), ("12.50", "12.50"),
    (".5", "0.5"), ("１２．５", "12.5"), ("+12", "12"), ("＋１２", "12"),
    ("1234567890123456789.123", "1234567890123456789.123"), ("1.5e3", "1500"), ("1E-3", "0.001"), ("1e5", "100000"),
    ("1.20E+2", "120"),
    # Separators.
    ("1,234", "1234"), ("1,234,567.80", "1234567.80"), ("１，２３４", "1234"), ("12,34,567", "1234567"),
    ("1 234 567", "1234567"), ("1\u00a0234.5", "1234.5"), ("1\u202f234", "1234"), ("1'234'567.8", "1234567.8"),
    # Signs.
    ("(12)", "-12"), ("（12）", "-12"), ("(1,234.5)", "-1234.5"), ("12-", "-12"), ("△12", "-12"), ("▲12", "-12"),
    ("▲ 1,234", "-1234"), ("−12", "-12"), ("－12", "-12"), ("‑12", "-12"), ("–12", "-12"), ("- 12", "-12"),
    ("12−", "-12"), ("( 12 )", "-12"), ("(0)", "0"),
    # Footnotes behind a figure.
    ("1,234 (1)", "1234"), ("1,234(12)", "1234"), ("12[2]", "12"), ("12 [a]", "12"), ("12*", "12"), ("12 **", "12"),
    ("12e", "12"), ("12 e", "12"), ("12r", "12"), ("12 r", "12"), ("(12)(1)", "-12"), ("(12) *", "-12"),
    ("1234¹", "1234"), ("1234 ¹²", "1234"), ("12†", "12"), ("12 ※1", "12"), ("12※", "12"), ("12（注1）", "12"),
    ("12 (a)", "12"), ("12*(1)", "12"), ("△12 (3)", "-12"), ("12%(1)", "12"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), NUMBERS)
def test_numbers(text: str, value: str) -> None:
    assert _value(text) == value
    assert read_cell(text, PLAIN).power is None
    assert _value(f"\u3000{text} ") == value


WITH_UNITS = [
    ("12%", "12", "PERCENT"), ("12.50 ％", "12.50", "PERCENT"), ("(12)%", "-12", "PERCENT"),
    ("(12%)", "-12", "PERCENT"), ("△1.2%", "-1.2", "PERCENT"), ("12 percent", "12", "PERCENT"),
    ("12 per cent", "12", "PERCENT"), ("-12%", "-12", "PERCENT"), ("$12", "12", "USD"), ("＄12", "12", "USD"),
    ("-$12", "-12", "USD"), ("$-12", "-12", "USD"), ("($12)", "-12", "USD"), ("$(12)", "-12", "USD"),
    ("$ 1,234.50", "1234.50", "USD"), ("US$12", "12", "USD"), ("USD 12", "12", "USD"), ("12 usd", "12", "USD"),
    ("USD (12)", "-12", "USD"), ("12 US dollars", "12", "USD"), ("€12", "12", "EUR"), ("12 €", "12", "EUR"),
    ("£12", "12", "GBP"), ("HK$12", "12", "HKD"), ("NT$ 12", "12", "TWD"), ("A$12", "12", "AUD"),
    ("12円", "12", "JPY"), ("△12円", "-12", "JPY"), ("12元", "12", "CNY"), ("12人民币", "12", "CNY"),
    ("RMB 12", "12", "CNY"), ("12人", "12", "persons"), ("12名", "12", "persons"), ("12株", "12", "shares"),
    ("12股", "12", "shares"), ("3.2x", "3.2", "times"), ("3.2倍", "3.2", "times"), ("12bps", "12", "BPS"),
    ("1.5 percentage points", "1.5", "PERCENTAGE_POINTS"), ("₹12,34,567", "1234567", "INR"), ("₩12", "12", "KRW"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value", "unit"), WITH_UNITS)
def test_units(text: str, value: str, unit: str) -> None:
    assert (_value(text), read_cell(text, PLAIN).unit) == (value, unit)


WITH_SCALES = [
    ("12.5 million", "12500000", 6, ""), ("12M", "12000000", 6, ""), ("12MM", "12000000", 6, ""),
    ("12 mn", "12000000", 6, ""), ("12K", "12000", 3, ""), ("12k", "12000", 3, ""), ("12 thousand", "12000", 3, ""),
    ("1.20bn", "1200000000", 9, ""), ("$1.2bn", "1200000000", 9, "USD"), ("$12.5M", "12500000", 6, "USD"),
    ("£12m", "12000000", 6, "GBP"), ("€3b", "3000000000", 9, "EUR"), ("US$12 million", "12000000", 6, "USD"),
    ("(12) million", "-12000000", 6, ""), ("(USD 12 million)", "-12000000", 6, "USD"), ("3 crore", "30000000", 7, ""),
    ("₹3 lakh", "300000", 5, "INR"), ("12 Mio. €", "12000000", 6, "EUR"), ("3億", "300000000", 8, ""),
    ("3.5億円", "350000000", 8, "JPY"), ("1,234百万円", "1234000000", 6, "JPY"), ("12千円", "12000", 3, "JPY"),
    ("1億2,345万円", "123450000", 4, "JPY"), ("▲1億2千万円", "-120000000", 7, "JPY"), ("2万3千", "23000", 3, ""),
    ("1兆2億円", "1000200000000", 8, "JPY"), ("12万元", "120000", 4, "CNY"), ("1.5亿", "150000000", 8, ""),
    ("3亿元", "300000000", 8, "CNY"), ("12百万米ドル", "12000000", 6, "USD"), ("12萬港元", "120000", 4, "HKD"),
    ("0 million", "0", 6, ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value", "power", "unit"), WITH_SCALES)
def test_scales(text: str, value: str, power: int, unit: str) -> None:
    read = read_cell(text, PLAIN)
    assert (plain_decimal(scaled(read, 3)), read.power, read.unit) == (value, power, unit)  # the cell's own scale wins


MISSING = [
    "", " ", "-", "--", "–", "—", "―", "－", "−", "nil", "NIL", "n.a.", "N/A", "n/a", "NA", "n. a.", "#N/A", "none",
    "null", "なし", "無し", "无", "無", "…", "...", "not available", "n.m.", "ー", "—(1)", "n.a.*", "- [2]", "未開示",
    "不适用",
]  # fmt: skip


@pytest.mark.parametrize("text", MISSING)
def test_missing_is_never_zero(text: str) -> None:
    assert is_missing(text)
    assert _refusal(text).reason is ErrorReason.FACT_VALUE_MISSING


MALFORMED = [
    "#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "3/4", "1 3/4", "二百五", "十二", "twelve", "TRUE", "NaN", "Infinity",
    "inf", "½", "1½", "①", "⑫", "10²", "10⁶", "Ⅻ", "12.", "..5", "1..2", "1.2.3", "1,23", "1,23,4", "12,3456",
    "1,234,56", "0,123", "01,234", ",123", "12,", "1 23", "12 13", "1 2345", "1'23", "12  000", "1,234 567", "1_000",
    "--12", "(-12)", "-(12)", "(12", "12)", "()", "((12))", "(12)-", "-12-", "+-12", "△-12", "±12", "12±1", "1-2",
    "12–13", "10~20", "1 to 2", "约12", "約12", "~12", "c.12", "about 12", "12 approx", "<5", ">5", "12E", "12 kg",
    "12m", "12 t", "12%%", "5% million", "% 12 %", "$12€", "$$12", "USD 12 EUR", "1億2億", "2万3億",
    "12 million thousand", "million", "$", "%", "万", "2024年", "2024-03-31", "31/12/2024", "10:30", "12 円/株",
    "5 (123)", "1,234 (567)", "3.2 (0.5)", "0x1F", "1e9999", "12 34", "٫5", "1٬234", "十", "12 and 13", "12;13",
    "12a", "a12", "1.5.e3", "12'", "\u200b12x\u200b", "12 thousand %",
]  # fmt: skip


@pytest.mark.parametrize("text", MALFORMED)
def test_what_is_no_one_number_is_refused(text: str) -> None:
    refused = _refusal(text)
    assert refused.reason is ErrorReason.FACT_VALUE_MALFORMED
    assert refused.message.endswith(".")


@pytest.mark.parametrize("text", ["1.234,56", "12,5", "0,5", "1234,56", "1.234.567", "1.234.567,8"])
def test_a_decimal_comma_is_told_and_not_guessed(text: str) -> None:
    assert _refusal(text).message == DECIMAL_COMMA
    assert Decimal(_value(text, CellRules(","))) == Decimal(text.replace(".", "").replace(",", "."))


@pytest.mark.parametrize(
    ("text", "value"), [("1,5", "1.5"), ("1.234", "1234"), ("1 234,5", "1234.5"), ("(1.234,50) €", "-1234.50")]
)
def test_with_a_decimal_comma(text: str, value: str) -> None:
    assert _value(text, CellRules(",")) == value


@pytest.mark.parametrize("text", ["1.5", "1,234.5", "1,234,567"])
def test_a_point_under_a_decimal_comma_is_refused(text: str) -> None:
    assert _refusal(text, CellRules(",")).reason is ErrorReason.FACT_VALUE_MALFORMED


@pytest.mark.parametrize("text", ["1.234", "1,234", "12,345", "123.456", "-1.234", "1.234 €"])
def test_where_the_mark_is_not_known_what_reads_two_ways_is_refused(text: str) -> None:
    assert "two ways" in _refusal(text, CellRules("")).message
    assert read_cell(text.replace("€", "").strip(), PLAIN).either_way


@pytest.mark.parametrize(
    ("text", "value"),
    [("1,5", "1.5"), ("1.5", "1.5"), ("0.123", "0.123"), ("1.234,5", "1234.5"), ("1,234.5", "1234.5")],
)
def test_where_the_mark_is_not_known_what_reads_one_way_is_read(text: str, value: str) -> None:
    assert _value(text, CellRules("")) == value


@pytest.mark.parametrize(
    ("sign", "signs", "unit"),
    [
        ("$", MoneySigns(), "USD"),
        ("$", MoneySigns({"$": "CAD"}), "CAD"),
        ("¥", MoneySigns(language="ja"), "JPY"),
        ("￥", MoneySigns(language="zh"), "CNY"),
        ("¥", MoneySigns({"¥": "CNY"}, language="ja"), "CNY"),
        ("元", MoneySigns(language="zh"), "CNY"),
        ("元", MoneySigns({"元": "TWD"}, language="zh", traditional=True), "TWD"),
    ],
)
def test_signs_of_several_countries(sign: str, signs: MoneySigns, unit: str) -> None:
    text = f"12{sign}" if sign == "元" else f"{sign}12"
    assert read_cell(text, CellRules(signs=signs)) == CellNumber(Decimal(12), None, unit)


@pytest.mark.parametrize(
    ("text", "signs"), [("¥12", MoneySigns()), ("12元", MoneySigns(language="zh", traditional=True))]
)
def test_a_sign_without_a_country_is_refused(text: str, signs: MoneySigns) -> None:
    refused = _refusal(text, CellRules(signs=signs))
    assert refused.reason is ErrorReason.FACT_UNIT_MISMATCH
    assert "[currencies]" in refused.message


def test_units_of_the_glossary_count() -> None:
    assert read_cell("12 kWh", PLAIN, ("kWh",)).unit == "kWh"
    assert read_cell("12 m²", PLAIN, ("m²",)).unit == "m²"
    assert read_cell("1,200km2", PLAIN, ("km2",)).unit == "km2"
    assert _value("USD2,345") == "2345"


def test_names_without_their_footnotes() -> None:
    assert without_notes("Net sales (1)") == "Net sales"
    assert without_notes("売上高 ※1") == without_notes("売上高*") == without_notes("売上高²") == "売上高"
    assert without_notes("(1)") == "(1)"
    assert without_notes("Net sales (pro forma)") == "Net sales (pro forma)"


DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**24), max_value=10**24, places=4)


@given(
    DECIMALS,
    st.integers(0, 4),
    st.sampled_from(["{}", "$ {}", "{} JPY", "{}%", "{} (1)", "{} 百万円", "{}億円", "{} bn"]),
)
def test_what_is_written_is_what_is_read(number: Decimal, places: int, form: str) -> None:
    number = number.quantize(Decimal(1).scaleb(-places)) if abs(number) < 10**20 else number
    shown = f"{abs(number):,f}"
    for written in (f"-{shown}", f"({shown})", f"△{shown}", f"{shown}-") if number < 0 else (shown, f"+{shown}"):
        if form.startswith("$") and written.startswith("△"):
            continue
        read = read_cell(form.format(written), PLAIN)
        assert read.number == number
        assert read.places == len(shown.partition(".")[2])


@given(
    hostile_text(30) | st.text("0123456789.,-()△▲%$¥円億万千 eE+'*[]/", max_size=24), st.sampled_from([".", ",", ""])
)
def test_any_text_is_a_number_or_refused(text: str, mark: str) -> None:
    try:
        read = read_cell(text, CellRules(mark))  # type: ignore[arg-type]
    except RowRefused as refused:
        known = {
            ErrorReason.FACT_VALUE_MISSING,
            ErrorReason.FACT_VALUE_MALFORMED,
            ErrorReason.FACT_UNIT_MISMATCH,
        }
        assert {refused.reason} <= known  # noqa: PT017 - most texts are refused
        return
    assert read.number.is_finite()
    assert any(char.isdigit() for char in text)
    plain_decimal(scaled(read, 6))


@given(st.text("0123456789.,", min_size=1, max_size=16))
def test_no_mark_of_decimals_makes_another_number_unseen(text: str) -> None:
    """Where a point and a comma read two numbers, the reading says so."""
    values = set()
    told = False
    for mark in (".", ","):
        try:
            read = read_cell(text, CellRules(mark))
        except RowRefused:
            continue
        values.add(read.number)
        told = told or read.either_way
    assert len(values) < 2 or told
