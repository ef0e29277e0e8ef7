"""Figures of tables: CSV, workbooks and Parquet, long and wide, with what stands above and beside them."""

from __future__ import annotations

import datetime
import io
import json
import zipfile
from decimal import Decimal
from pathlib import Path

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from groundwire_server.errors import DocumentRefused, ErrorReason, InvalidRequest, RowRefused
from groundwire_server.evidence import Attribute, Dimension, ReviewStatus
from groundwire_server.ingest.facts import FactRules
from groundwire_server.store.rows import make_fact_id
from tests.ingest.tables import Book, as_text, good, read, refused

WIDE = """
[columns]
metric = "#A"
[constants]
entity = "ACME"
[wide]
heading = "period"
"""


def _csv(text: str, mapping: str = WIDE, **more: object) -> list:  # type: ignore[type-arg]
    return read("book.csv", text.encode(), mapping, **more)  # type: ignore[arg-type]


# Wide tables.


def test_a_wide_table_of_periods() -> None:
    records = good(_csv('Item,FY2023,FY2024\nRevenue,"1,200",1300\nOperating margin,12.5%,13%\n'))
    assert as_text(records) == [
        "REVENUE ACME FY2023 1200",
        "REVENUE ACME FY2024 1300",
        "MARGIN ACME FY2023 12.5 percent",
        "MARGIN ACME FY2024 13 percent",
    ]
    assert [each.locator for each in records] == ["cell=B2", "cell=C2", "cell=B3", "cell=C3"]
    assert [each.as_written for each in records] == ["1,200", "", "12.5%", "13%"]


@pytest.mark.parametrize(
    "title",
    [
        "(USD in millions)",
        "In USD millions,,",
        '"USD in millions, except per share data"',
        "Acme Corp\nUSD millions",
        "Unit: USD million",
    ],
)
def test_a_title_gives_unit_and_scale(title: str) -> None:
    rows = _csv(
        f"{title}\nItem,FY2023\nRevenue,12.5\nOperating margin,12.5\nNumber of employees,161\nEarnings per share,6.13\n"
    )
    assert as_text(good(rows)) == [
        "REVENUE ACME FY2023 12500000 USD", "MARGIN ACME FY2023 12.5 percent", "STAFF ACME FY2023 161 persons",
        "EPS ACME FY2023 6.13 USD/shares",
    ]  # fmt: skip
    assert good(rows)[0].decimals == -5


@pytest.mark.parametrize(
    ("table", "value", "unit"),
    [
        ("（単位：百万円）\n項目,2024年3月期\n売上高,1,", "1000000", "JPY"),
        ("項目（百万円）,2024年3月期\n売上高,1", "1000000", "JPY"),
        ("項目,2024年3月期（億円）\n売上高,1", "100000000", "JPY"),
        ("項目,2024年3月期\n（単位：千円）,\n売上高,1", "1000", "JPY"),
        ("項目,2024年3月期\n売上高（百万円）,1", "1000000", "JPY"),
        ("（単位：百万円）\n項目,2024年3月期\n売上高（千円）,1", "1000", "JPY"),
        ("（単位：百万円）\n項目,2024年3月期\n売上高,1億円", "100000000", "JPY"),
        ("項目,2024年3月期\n,百万円\n売上高,1", "1000000", "JPY"),
        ("单位：万元\n项目,2024年\n营业收入,1.5", "15000", "CNY"),
        ("单位：人民币亿元\n项目,2024年\n营业收入,1.5", "150000000", "CNY"),
        ("(¥ million)\n項目,2024年\n売上高,1", "1000000", "JPY"),
        ("(¥ million)\n项目,2024年\n营业收入,1", "1000000", "CNY"),
        ("($ in thousands)\nItem,2024\nRevenue,1", "1000", "USD"),
    ],
)
def test_where_a_scale_may_stand(table: str, value: str, unit: str) -> None:
    (record,) = good(_csv(table))
    assert (record.metric, record.value, record.unit) == ("REVENUE", value, unit)


def test_a_section_changes_the_scale_of_what_stands_below_it() -> None:
    rows = _csv("(USD in millions)\nItem,2024\nRevenue,1\n(in thousands),\nNet debt,2\n")
    assert as_text(good(rows)) == ["REVENUE ACME 2024 1000000 USD", "Net debt ACME 2024 2000 USD"]


def test_a_number_without_a_heading_is_told() -> None:
    rows = _csv("Item,2024,\nRevenue,1,2\n")
    assert [(number, column, value, reason) for number, column, value, reason, _ in refused(rows)] == [
        (2, "#C", "2", "FACT_FIELD_MISSING")
    ]
    assert len(rows) == 2


def test_rows_below_a_label_that_a_scale_leaves_alone_are_told() -> None:
    table = "(USD in millions)\nItem,2024\nRevenue,5\nEarnings per share:,\nBasic,$2.41\nDiluted EPS,$2.40\n"
    table += "Assets:,\nCash,7\n"
    rows = _csv(table)
    assert [(number, reason) for number, _, _, reason, _ in refused(rows)] == [(5, "FACT_UNIT_MISMATCH")]
    assert as_text([record for _, record in rows if hasattr(record, "metric")]) == [
        "REVENUE ACME 2024 5000000 USD",
        "Diluted EPS ACME 2024 2.40 USD/shares",
        "Cash ACME 2024 7000000 USD",
    ]


@pytest.mark.parametrize(
    "title", ["Rounded to the nearest thousand", "Some millions of things", "（百万円を超えるもの）"]
)
def test_a_title_that_speaks_of_a_scale_and_is_not_understood_refuses_the_file(title: str) -> None:
    with pytest.raises(DocumentRefused, match="speaks of a scale and is not understood"):
        _csv(f"{title}\nItem,2024\nRevenue,1\n")
    assert [each.value for each in good(_csv(f"{title}\nItem,2024\nRevenue,1\n", 'scale = "none"\n' + WIDE))] == ["1"]


@pytest.mark.parametrize("note", ["(in millions)", "Note: all amounts in thousands of dollars", "（単位：百万円）"])
@pytest.mark.parametrize("table", ["Item,2024\nRevenue,5\n", "metric,entity,period,value\nRevenue,ACME,2024,5\n"])
def test_a_scale_below_the_figures_refuses_the_file(table: str, note: str) -> None:
    mapping = WIDE if table.startswith("Item") else ""
    with pytest.raises(DocumentRefused, match="row 3 speaks of a scale"):
        _csv(f"{table}{note}\n", mapping)
    rows = _csv(f"{table}{note}\n", "scale = 1000\n" + mapping)
    assert [record.value for _, record in rows if hasattr(record, "metric")] == ["5000"]
    assert len(_csv(f"(in millions)\n{table}{note.replace('thousands', 'millions')}\n", mapping)) >= 1


def test_a_yen_sign_without_a_language_is_refused_with_the_way_out() -> None:
    ((number, column, value, reason, message),) = refused(_csv("(¥ million)\nItem,2024\nRevenue,1\n"))
    assert (number, column, value, reason) == (3, "2024", "1", "FACT_UNIT_MISMATCH")
    assert "[currencies]" in message
    (record,) = good(_csv("(¥ million)\nItem,2024\nRevenue,1\n", WIDE + '[currencies]\n"¥" = "JPY"\n'))
    assert record.unit == "JPY"
    (record,) = good(_csv("(¥ million)\nItem,2024\nRevenue,1\n", 'language = "zh"\n' + WIDE))
    assert record.unit == "CNY"


def test_a_mapping_beats_headings_and_a_cell_beats_the_mapping() -> None:
    table = "(USD in millions)\nItem,2024,2023\nRevenue,1,2 million\nOperating margin,3,4\n"
    assert [each.value for each in good(_csv(table, 'scale = "thousand"\n' + WIDE))] == ["1000", "2000000", "3", "4"]
    assert [each.value for each in good(_csv(table, 'scale = "none"\n' + WIDE))] == ["1", "2000000", "3", "4"]


def test_two_titles_that_contradict_each_other_are_refused() -> None:
    table = "(USD in millions)\n(in thousands)\nItem,2024\nRevenue,1\n"
    with pytest.raises(DocumentRefused, match="two scales"):
        _csv(table)
    assert [each.value for each in good(_csv(table, "scale = 1000\n" + WIDE))] == ["1000"]


def test_blank_cells_state_nothing_and_words_for_missing_are_told() -> None:
    rows = _csv("Item,2022,2023,2024\nRevenue,,n.a.,1\nSection,,,\n")
    assert [(number, column, value, reason) for number, column, value, reason, _ in refused(rows)] == [
        (2, "2023", "n.a.", "FACT_VALUE_MISSING")
    ]
    assert len(good(_csv("Item,2022,2023\nRevenue,—,1\n", 'missing = "skip"\n' + WIDE))) == 1


def test_headings_in_two_rows_and_of_two_kinds() -> None:
    records = good(_csv(",2023,,2024,\nItem,Q1,Q2,Q1,Q2\nRevenue,1,2,3,4\n"))
    assert [each.period for each in records] == ["2023Q1", "2023Q2", "2024Q1", "2024Q2"]
    two = WIDE.replace('heading = "period"', 'heading = ["period", "channel"]')
    records = good(_csv(",FY2023,,FY2024,\nItem,Online,Stores,Online,Stores\nRevenue,1,2,3,4\n", two))
    assert [(each.period, each.channel, each.value) for each in records] == [
        ("FY2023", "Online", "1"), ("FY2023", "Stores", "2"), ("FY2024", "Online", "3"), ("FY2024", "Stores", "4"),
    ]  # fmt: skip


def test_metrics_entities_and_axes_in_the_heading() -> None:
    mapping = (
        '[columns]\nperiod = "Year"\n[constants]\nentity = "ACME"\n[wide]\nheading = "metric"\ncolumns = ["#B:#C"]\n'
    )
    records = good(_csv("Year,Net sales (USD m),Operating margin (%),Remark\n2024,1,2,audited\n", mapping))
    assert as_text(records) == ["REVENUE ACME 2024 1000000 USD", "MARGIN ACME 2024 2 percent"]
    assert records[0].attributes == (Attribute("remark", "audited"),)
    mapping = '[columns]\nperiod = "Year"\n[constants]\nmetric = "Revenue"\n[wide]\nheading = "entity"\n'
    assert as_text(good(_csv("Year,Acme,Globex\n2024,1,2\n", mapping))) == [
        "REVENUE ACME 2024 1",
        "REVENUE GLOBEX 2024 2",
    ]
    mapping = WIDE.replace('"period"', '"dimensions.segment"').replace("[constants]", '[constants]\nperiod = "2024"')
    records = good(_csv("Item,Cloud,Devices\nRevenue,1,2\n", mapping))
    assert [each.dimensions for each in records] == [
        (Dimension("segment", "Cloud"),),
        (Dimension("segment", "Devices"),),
    ]


def test_columns_that_are_no_periods_stay_attributes_or_are_refused_when_asked_for() -> None:
    (record,) = good(_csv("Item,2024,Note\nRevenue,1,restated\n"))
    assert record.attributes == (Attribute("note", "restated"),)
    asked = WIDE + 'columns = ["2024", "Note"]\n'
    assert [(column, reason) for _, column, _, reason, _ in refused(_csv("Item,2024,Note\nRevenue,1,x\n", asked))] == [
        ("Note", "FACT_VALUE_MALFORMED")
    ]
    assert [(column, reason) for _, column, _, reason, _ in refused(_csv("Item,2024,Note\nRevenue,1,2\n", asked))] == [
        ("period", "FACT_PERIOD_MALFORMED")
    ]


def test_a_column_that_seems_to_be_a_period_and_is_none_is_told() -> None:
    rows = _csv("Item,2023,2024E,Change 2023/24\nRevenue,1,2,3\n")
    assert [(number, column, reason) for number, column, _, reason, _ in refused(rows)] == [
        (1, "2024E", "FACT_PERIOD_MALFORMED"),
        (1, "Change 2023/24", "FACT_PERIOD_MALFORMED"),
    ]
    assert len(good(_csv("Item,2023,2024E\nRevenue,1,2\n", WIDE + 'columns = ["2023"]\n'))) == 1


def test_footnotes_behind_names_and_periods() -> None:
    (record,) = good(_csv("Item,2024 (1)\nNet sales※2,1\n"))
    assert (record.metric, record.period) == ("REVENUE", "2024")
    (record,) = good(_csv("Item,2024\nNovel measure (1),1\n"))
    assert record.metric == "Novel measure (1)"


def test_a_heading_that_comes_again_is_no_row_and_another_one_ends_the_reading() -> None:
    assert len(good(_csv("Item,2023,2024\nRevenue,1,2\nItem,2023,2024\nOperating margin,3,4\nMore,2023,2024\n"))) == 4
    for heading in ("Segment,2021,2022", "Segment,FY2021,FY2022", "Segment,,FY2022"):
        with pytest.raises(DocumentRefused, match="row 3 reads like the heading of another table"):
            _csv(f"Item,2023,2024\nRevenue,1,2\n{heading}\nCloud,3,4\n")
    limited = "last_row = 2\n" + WIDE
    assert len(good(_csv("Item,2023,2024\nRevenue,1,2\nSegment,2021,2022\nCloud,3,4\n", limited))) == 2
    below = "header_rows = 3\n" + WIDE
    assert [
        each.period for each in good(_csv("Item,2023,2024\nRevenue,1,2\nSegment,2021,2022\nCloud,3,4\n", below))
    ] == ["2021", "2022"]


def test_numbers_above_the_heading_are_told() -> None:
    rows = _csv("Revenue,5.5,6.5\nItem,2023,2024\nRevenue,1,2\n")
    assert [(number, reason) for number, _, _, reason, _ in refused(rows)] == [(1, "VALUE_MALFORMED")]


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ("Item,Note\nRevenue,1\n", "no column has a heading that is a period"),
        ("Item,2024,2024\nRevenue,1,2\n", "stands twice"),
        ("", "nothing"),
    ],
)
def test_a_wide_table_without_headings_is_refused_whole(table: str, why: str) -> None:
    with pytest.raises(DocumentRefused, match=why):
        _csv(table)


# Decimal marks and delimiters.

LONG = "metric;entity;period;value\n"


def test_semicolons_leave_the_decimal_mark_open() -> None:
    rows = _csv(LONG + "Revenue;ACME;2023;1.234\nRevenue;ACME;2024;1,5\nRevenue;ACME;2025;7\n", "")
    assert [(number, column, value) for number, column, value, _, _ in refused(rows)] == [(2, "value", "1.234")]
    values = [
        each.value for each in good(_csv(LONG + "Revenue;ACME;2023;1.234\nRevenue;ACME;2024;1,5\n", 'decimal = ","\n'))
    ]
    assert values == ["1234", "1.5"]


def test_one_decimal_comma_makes_every_doubtful_value_of_the_file_doubtful() -> None:
    table = 'metric,entity,period,value\nRevenue,ACME,2022,"1,234"\nRevenue,ACME,2023,"1.234,5"\nRevenue,ACME,2024,7\n'
    assert [(number, value) for number, _, value, _, _ in refused(_csv(table, ""))] == [(2, "1,234"), (3, "1.234,5")]
    assert [each.value for each in good(_csv(table, 'decimal = ","\n'))] == ["1.234", "1234.5", "7"]


def test_tabs_bars_and_a_said_delimiter() -> None:
    for delimiter in ("\t", "|", ";"):
        assert (
            len(good(_csv(LONG.replace(";", delimiter) + delimiter.join(["Revenue", "ACME", "2023", "7"]) + "\n", "")))
            == 1
        )
    table = "metric|entity|period|value\nRevenue|Acme, Inc.|2024|7\n"
    assert good(_csv(table, 'delimiter = "|"\n'))[0].entity == "Acme, Inc."


@pytest.mark.parametrize("charset", ["cp932", "euc-jp", "utf-16", "gb18030", "big5", "utf-8-sig"])
def test_any_charset(charset: str) -> None:
    text = "metric,entity,period,value,備考\n" + "".join(
        f"売上高,会社{n},2024年,{n},連結決算の数値です\n" for n in range(1, 20)
    )
    if charset in ("gb18030", "big5"):
        text = "metric,entity,period,value,备注\n" + "".join(
            f"营业收入,公司{n},2024年,{n},合并报表数据\n" for n in range(1, 20)
        )
    if charset == "big5":
        text = text.replace("营业收入", "營業收入").replace("备注", "備註").replace("合并报表数据", "合併報表數據")
    raw = text.encode(charset)
    said = {"gb18030": "gb18030", "big5": "big5"}.get(charset, "")
    mapping = f'charset = "{said}"\n' if said else ""
    assert len(good(read("f.csv", raw, mapping))) == 19


def test_an_unknown_charset_names_those_that_are_known() -> None:
    with pytest.raises(DocumentRefused, match="none of ascii"):
        _csv(LONG, 'charset = "klingon"\n')


# Long tables with units.


def test_units_of_a_column_and_of_a_heading() -> None:
    heading = "metric,entity,period,value (USD thousand),unit\n"
    mapping = '[columns]\nvalue = "value (USD thousand)"\n'
    table = heading + "Revenue,ACME,2021,1,\nRevenue,ACME,2022,1,USD\nRevenue,ACME,2023,1,百万ドル\n"
    table += "Operating margin,ACME,2024,1,%\nRevenue,ACME,2025,1,EUR\n"
    rows = _csv(table, mapping)
    assert as_text([record for _, record in rows[:4]]) == [
        "REVENUE ACME 2021 1000 USD",
        "REVENUE ACME 2022 1000 USD",
        "REVENUE ACME 2023 1000000 USD",
        "MARGIN ACME 2024 1 percent",
    ]
    assert [(number, reason) for number, _, _, reason, _ in refused(rows)] == [(6, "FACT_UNIT_MISMATCH")]


def test_all_that_is_wrong_with_a_row_is_told() -> None:
    rows = _csv("metric,entity,period,value,decimals\n,ACME,soon,1,\n", "")
    assert [(column, reason) for _, column, _, reason, _ in refused(rows)] == [
        ("metric", "FACT_FIELD_MISSING"), ("period", "FACT_PERIOD_MALFORMED"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("heading", "cell", "value", "unit"),
    [
        ("単位", "百万円", "1000000", "JPY"),
        ("单位", "万元", "10000", "CNY"),
        ("Currency", "EUR", "1", "EUR"),
        ("Scale", "millions", "1000000", ""),
        ("UNIT_MULT", "6", "1000000", ""),
        ("Multiplier", "1000", "1000", ""),
        ("scale", "units", "1", ""),
    ],
)
def test_columns_of_units_and_scales_count_whatever_they_are_called(
    heading: str, cell: str, value: str, unit: str
) -> None:
    (record,) = good(_csv(f"metric,entity,period,value,{heading}\nRevenue,ACME,2024,1,{cell}\n", ""))
    assert (record.value, record.unit, record.attributes) == (value, unit, ())
    (record,) = good(_csv(f"Item,{heading},2024\nRevenue,{cell},1\n"))
    assert (record.value, record.unit) == (value, unit)


def test_a_scale_that_nobody_knows_is_refused() -> None:
    rows = _csv("metric,entity,period,value,scale\nRevenue,ACME,2024,1,lots\n", "")
    assert [(column, value, reason) for _, column, value, reason, _ in refused(rows)] == [
        ("scale", "lots", "VALUE_MALFORMED")
    ]


def test_columns_that_are_no_figures_may_share_a_name() -> None:
    (first, _) = good(_csv("Item,2023,Change,2024,Change\nRevenue,1,up,2,down\n"))
    assert first.attributes == (Attribute("change_c", "up"), Attribute("change_e", "down"))


def test_a_bracket_behind_the_name_of_an_entity_may_be_part_of_it() -> None:
    rows = good(_csv("metric,entity,period,value\nRevenue,Acme (2),2024,1\nRevenue,Acme*,2023,1\n", ""))
    assert [each.entity for each in rows] == ["Acme (2)", "ACME"]


# Workbooks.


def test_a_workbook_gives_cells_numbers_and_formats() -> None:
    book = Book()
    book.sheet(
        "PL, 2024",
        [
            ["Acme"],
            ["（単位：百万円）"],
            ["項目", "FY2023", "FY2024"],
            ["売上高", 1234.5, "△1,000"],
            ["営業利益率", 0.125, 0.1],
            ["従業員数", 161000, None],
        ],
        {"B4": '#,##0;"△"#,##0', "B5": "0.0%", "C5": "0%"},
    )
    records = good(read("b.xlsx", book.raw(), WIDE))
    assert as_text(records) == [
        "REVENUE ACME FY2023 1234500000 JPY",
        "REVENUE ACME FY2024 -1000000000 JPY",
        "MARGIN ACME FY2023 12.5 percent",
        "MARGIN ACME FY2024 10 percent",
        "STAFF ACME FY2023 161000 persons",
    ]
    assert records[0].locator == "sheet=PL%2C 2024,cell=B4"
    assert [each.as_written for each in records[:3]] == ["1,235", "△1,000", "12.5%"]


def test_a_format_that_divides_shows_what_the_heading_speaks_of() -> None:
    book = Book()
    book.sheet("S", [["(USD in thousands)"], ["Item", "2023", "2024"], ["Revenue", 1234567, 1234567]], {"B3": "#,##0,"})
    assert [each.value for each in good(read("b.xlsx", book.raw(), WIDE))] == ["1234567", "1234567000"]


@pytest.mark.parametrize(
    ("stored", "code", "value", "unit"),
    [
        (1.1 * 3, "General", "3.3", ""),
        (0.1 + 0.2, "0.0", "0.3", ""),
        (1e15 + 1, "0", "1000000000000001", ""),
        (12, "$#,##0.00", "12", "USD"),
        (12, "[$€-407] #,##0", "12", "EUR"),
        (12, "[$¥-411]#,##0", "12", "JPY"),
        (12, "[$¥-804]#,##0", "12", "CNY"),
        (12.5, '0.0"百万円"', "12500000", "JPY"),
        (1234567, '0.0,,"M"', "1234567", ""),
        (12, '0"%"', "12", "PERCENT"),
        (0.1256, "0.0%", "12.56", "PERCENT"),
        (-5, "#,##0;[Red]#,##0", "-5", ""),
        (-5, "#,##0;(#,##0)", "-5", ""),
        (0, '#,##0;(#,##0);"-"', "0", ""),
        (3.25, '0.0"x"', "3.25", "times"),
    ],
)
def test_number_formats(stored: float, code: str, value: str, unit: str) -> None:
    book = Book()
    book.sheet("S", [["metric", "entity", "period", "value"], ["novel", "ACME", "2024", stored]], {"D2": code})
    (record,) = good(read("b.xlsx", book.raw()))
    assert (record.value, record.unit) == (value, unit)


@pytest.mark.parametrize(
    ("stored", "code", "reason"),
    [
        (12, '0" units"', "FACT_VALUE_MALFORMED"),
        (12, '"¥"#,##0', "FACT_UNIT_MISMATCH"),
        (45000, "yyyy-mm-dd", "FACT_VALUE_MALFORMED"),
        (True, "General", "FACT_VALUE_MALFORMED"),
        (12, "(#,##0)", "FACT_VALUE_MALFORMED"),
        (12, "0%%", "FACT_VALUE_MALFORMED"),
    ],
)
def test_formats_that_nobody_can_read_are_refused(stored: object, code: str, reason: str) -> None:
    book = Book()
    book.sheet("S", [["metric", "entity", "period", "value"], ["novel", "ACME", "2024", stored]], {"D2": code})
    assert [(number, column, why) for number, column, _, why, _ in refused(read("b.xlsx", book.raw()))] == [
        (2, "value", reason)
    ]


def test_errors_and_formulas_without_a_value() -> None:
    book = Book()
    sheet = book.sheet(
        "S", [["metric", "entity", "period", "value"], *(["novel", "ACME", str(year)] for year in range(2020, 2024))]
    )
    sheet.write_formula("D2", "=1/0", None, "#DIV/0!")
    sheet.write_formula("D3", "=NA()", None, "#N/A")
    sheet.write_formula("D4", "=A1", None, "")
    sheet.write_formula("D5", "=2*3", None, 6)
    rows = read("b.xlsx", book.raw())
    assert [(number, reason) for number, _, _, reason, _ in refused(rows)] == [
        (2, "FACT_VALUE_MALFORMED"), (3, "FACT_VALUE_MISSING"), (4, "FACT_VALUE_MISSING"),
    ]  # fmt: skip
    assert all(message.startswith("S!D") for *_, message in refused(rows))
    assert [record.value for _, record in rows if hasattr(record, "metric")] == ["6"]


def test_days_as_periods_and_filings() -> None:
    book = Book()
    sheet = book.sheet(
        "S", [["metric", "entity", "period", "value", "filed"], ["novel", "ACME", None, 1], ["novel", "ACME", None, 2]]
    )
    day, month = book.book.add_format({"num_format": "m/d/yy"}), book.book.add_format({"num_format": "mmm-yy"})
    sheet.write_datetime("C2", datetime.date(2024, 4, 3), day)
    sheet.write_datetime("C3", datetime.date(2024, 4, 30), month)
    sheet.write_datetime("E2", datetime.date(2024, 5, 1), day)
    first, second = good(read("b.xlsx", book.raw()))
    assert (first.period, second.period) == ("2024-04-03", "2024-04")
    assert first.filed_at == datetime.datetime(2024, 5, 1, tzinfo=datetime.UTC)


def test_merged_headings_and_labels() -> None:
    book = Book()
    sheet = book.sheet(
        "S", [[], ["", "", "Q1", "Q2", "Q1", "Q2"], ["Acme", "Revenue", 1, 2, 3, 4], ["", "Net debt", 5, 6, 7, 8]]
    )
    sheet.merge_range("C1:D1", "2023")
    sheet.merge_range("E1:F1", 2024)
    sheet.merge_range("A3:A4", "Acme")
    mapping = '[columns]\nentity = "#A"\nmetric = "#B"\n[wide]\nheading = "period"\n'
    records = good(read("b.xlsx", book.raw(), mapping))
    assert [each.period for each in records[:4]] == ["2023Q1", "2023Q2", "2024Q1", "2024Q2"]
    assert {each.entity for each in records} == {"ACME"}
    assert len(records) == 8


def test_hidden_rows_and_columns_are_told_read_or_skipped() -> None:
    def raw() -> bytes:
        book = Book()
        sheet = book.sheet("S", [["Item", "2023", "2024"], ["Revenue", 1, 2], ["Net debt", 3, 4]])
        sheet.set_row(2, None, None, {"hidden": True})
        sheet.set_column("B:B", None, None, {"hidden": True})
        return book.raw()

    rows = read("b.xlsx", raw(), WIDE)
    assert [(number, column) for number, column, *_ in refused(rows)] == [(2, "2023"), (3, "")]
    assert len(good(read("b.xlsx", raw(), 'hidden = "read"\n' + WIDE))) == 4
    assert [each.value for each in good(read("b.xlsx", raw(), 'hidden = "skip"\n' + WIDE))] == ["2"]


def test_sheets_are_chosen_and_those_without_a_heading_told() -> None:
    def raw() -> bytes:
        book = Book()
        for name, value in (("Acme", 1), ("Globex", 2)):
            book.sheet(name, [["Item", "2024"], ["Revenue", value]])
        book.sheet("Notes", [["nothing here"]])
        book.sheet("Old", [["Item", "2024"], ["Revenue", 9]]).hide()
        return book.raw()

    by_sheet = '[columns]\nmetric = "#A"\n[wide]\nheading = "period"\n'
    rows = read("b.xlsx", raw(), 'sheet_is = "entity"\n' + by_sheet)
    assert as_text([record for number, record in rows if number]) == ["REVENUE ACME 2024 1", "REVENUE GLOBEX 2024 2"]  # type: ignore[misc]
    assert [(number, column, value) for number, column, value, *_ in refused(rows)] == [(0, "sheet", "Notes")]
    assert len(good(read("b.xlsx", raw(), 'sheet = "Globex"\n' + WIDE))) == 1
    assert len(good(read("b.xlsx", raw(), 'sheet_is = "entity"\nsheet = ["Acme", "Globex", "Old"]\n' + by_sheet))) == 3
    with pytest.raises(DocumentRefused, match="there is no sheet 'Gone'; it has Acme, Globex, Notes, Old"):
        read("b.xlsx", raw(), 'sheet = "Gone"\n' + WIDE)


@pytest.mark.parametrize("raw", [b"", b"PK\x03\x04", b"no workbook", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600])
@pytest.mark.parametrize("form", ["xlsx", "parquet"])
def test_what_is_no_file_of_its_form_is_refused_whole(raw: bytes, form: str) -> None:
    with pytest.raises(DocumentRefused) as raised:
        read(f"f.{form}", raw)
    assert raised.value.reason in (ErrorReason.DOCUMENT_BROKEN, ErrorReason.DOCUMENT_UNSUPPORTED)


# Parquet.


def _parquet(**columns: object) -> bytes:
    out = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), out)
    return out.getvalue()


def test_parquet_keeps_the_digits_of_its_columns() -> None:
    base = {"metric": ["novel"] * 4, "entity": ["ACME"] * 4, "period": ["2021", "2022", "2023", "2024"]}
    decimals = pyarrow.array(
        [Decimal("1.50"), Decimal("-0.10"), None, Decimal("12345678901234567890.12")], pyarrow.decimal128(38, 2)
    )
    rows = read("f.parquet", _parquet(**base, value=decimals))
    assert [record.value for _, record in rows if hasattr(record, "metric")] == [
        "1.50",
        "-0.10",
        "12345678901234567890.12",
    ]
    assert [(number, reason) for number, _, _, reason, _ in refused(rows)] == [(4, "FACT_VALUE_MISSING")]
    for column, values in (
        (pyarrow.array([1, -2, 3, 2**62], pyarrow.int64()), ["1", "-2", "3", str(2**62)]),
        (pyarrow.array([0.1, 1e22, 0.5, 2.5], pyarrow.float64()), ["0.1", "10000000000000000000000", "0.5", "2.5"]),
        (pyarrow.array([0.1, 0.5, 2.5, 3], pyarrow.float32()), ["0.1", "0.5", "2.5", "3.0"]),
        (pyarrow.array(["(1)", "$2", "3%", "4百万円"]), ["-1", "2", "3", "4000000"]),
    ):
        assert [each.value for each in good(read("f.parquet", _parquet(**base, value=column)))] == values


def test_parquet_days_and_mappings() -> None:
    raw = _parquet(
        what=["Revenue"], year=[2024], usd_m=[1.5], filed=pyarrow.array([datetime.date(2025, 2, 1)]), flag=[True]
    )
    columns = '[columns]\nmetric = "what"\nperiod = "year"\nvalue = "usd_m"\n'
    mapping = f'scale = "million"\n{columns}[constants]\nentity = "ACME"\nunit = "USD"\n'
    (record,) = good(read("f.parquet", raw, mapping))
    assert (record.value, record.unit, record.period, record.locator) == ("1500000", "USD", "2024", "row=2")
    assert record.filed_at == datetime.datetime(2025, 2, 1, tzinfo=datetime.UTC)
    assert record.attributes == (Attribute("flag", True),)


# Company facts.

FACTS = (Path(__file__).parent / "files/company_facts.json").read_bytes()


def test_company_facts_are_versions_by_filing() -> None:
    records = good(read("CIK0001234567.json", FACTS))
    assert {each.entity for each in records} == {"ACME"}
    revenue = [each for each in records if each.metric == "REVENUE" and each.period == "2022-01-01/2022-12-31"]
    assert [
        (each.value, each.source_doc, each.filed_at.date().isoformat() if each.filed_at else "") for each in revenue
    ] == [
        ("394328000000", "0001234567-23-000006", "2023-02-03"),
        ("394250000000", "0001234567-24-000007", "2024-02-02"),
    ]
    assert len({make_fact_id(each) for each in revenue}) == 1
    assert revenue[1].attributes == (Attribute("form", "10-K/A"), Attribute("fp", "FY"), Attribute("fy", 2023))
    assets = [each for each in records if each.metric == "Assets" and each.period == "2022-12-31"]
    assert [each.value for each in assets] == ["352755000000", "352755000000", "352583000000"]
    eps = [each for each in records if each.metric == "EarningsPerShareDiluted"]
    assert [(each.value, each.unit) for each in eps] == [("6.11", "USD/shares"), ("6.10", "USD/shares")]
    assert assets[0].locator == "tag=us-gaap:Assets,unit=USD,period=2022-12-31"


def test_without_a_glossary_the_company_has_its_name_and_tags_are_codes() -> None:
    records = good(read("f.json", FACTS, rules=FactRules()))
    assert {each.entity for each in records} == {"ACME HOLDINGS INC"}
    assert {each.metric for each in records} == {
        "Assets", "EarningsPerShareDiluted", "EntityCommonStockSharesOutstanding", "Revenues",
    }  # fmt: skip
    assert {each.entity for each in good(read("f.json", FACTS, '[constants]\nentity = "GLOBEX"\n'))} == {"GLOBEX"}


def test_values_that_are_none_are_refused_by_their_place() -> None:
    raw = FACTS.replace(b'"val": 158119010', b'"val": "many"').replace(
        b'"filed": "2024-02-02", "frame": "CY2023Q4"', b'"filed": "soon"'
    )
    rows = read("f.json", raw)
    assert [(number, reason) for number, _, _, reason, _ in refused(rows)][:1] == [(1, "VALUE_MALFORMED")]
    assert any(hasattr(record, "metric") for _, record in rows)


@pytest.mark.parametrize(
    "raw",
    [
        b"{}",
        b"[]",
        b"{",
        b'{"facts": []}',
        b'{"facts": {"us-gaap": 5}}',
        FACTS[:-200],
        b'{"facts": {"a": {"b": {"units": {"USD": [{"val": NaN}]}}}}}',
    ],
)
def test_what_is_no_company_facts_is_refused_whole(raw: bytes) -> None:
    with pytest.raises(DocumentRefused) as raised:
        read("f.json", raw)
    assert raised.value.reason in (ErrorReason.DOCUMENT_BROKEN, ErrorReason.FACT_FIELD_MISSING)


# Mappings.


@pytest.mark.parametrize(
    ("mapping", "field"),
    [
        ("header_rows = 0\n", "header_rows"),
        ("header_rows = [3, 5]\n", "header_rows"),
        ("scale = 12\n", "scale"),
        ('scale = "some"\n', "scale"),
        ('decimal = ";"\n', "decimal"),
        ('language = "fr"\n', "language"),
        ("sheet = 1\n", "sheet"),
        ('hidden = "maybe"\n', "hidden"),
        ('[wide]\nheading = "value"\n', "wide"),
        ("[wide]\n", "wide"),
        ('[wide]\nheading = ["period", "period"]\n', "wide"),
        ('[columns]\nvalue = "x"\n[wide]\nheading = "period"\n', "columns.value"),
        ('[currencies]\n"$" = 5\n', "currencies"),
        ('sheet_is = "value"\n', "sheet_is"),
        ("first_row = -1\n", "first_row"),
        ('delimiter = "x"\n', "delimiter"),
        ('colums = "x"\n', "colums"),
    ],
)
def test_a_mapping_names_its_faults(mapping: str, field: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        _csv(LONG, mapping)
    assert [each.field for each in raised.value.violations] == [f"mapping_toml.{field}"]


def test_what_has_no_table_takes_no_rules_of_one() -> None:
    for name, raw in (("f.jsonl", b"{}"), ("f.json", FACTS)):
        with pytest.raises(InvalidRequest, match="speaks of a table"):
            read(name, raw, "scale = 1000\n")


def _spoilt(was: bytes, becomes: bytes) -> bytes:
    """A workbook with one figure, 777, whose sheet is changed byte for byte."""
    book = Book()
    book.sheet("S", [["metric", "entity", "period", "value"], ["m", "e", "2024", 777]])
    packed, out = zipfile.ZipFile(io.BytesIO(book.raw())), io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in packed.namelist():
            content = packed.read(name)
            if name.endswith("sheet1.xml"):
                assert was in content
                content = content.replace(was, becomes, 1)
            archive.writestr(name, content)
    return out.getvalue()


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        (b"<v>777</v>", b"<v>NaN</v>"),
        (b"<v>777</v>", b"<v>1_000</v>"),
        (b"<v>777</v>", b"<v>0x10</v>"),
        (b"<v>777</v>", b"<v>" + b"9" * 5000 + b"</v>"),
        (b"<v>777</v>", b"<v></v>"),
        (b'r="D2"', b'r="XFD2"'),
    ],
)
def test_a_cell_that_no_spreadsheet_writes_is_refused(was: bytes, becomes: bytes) -> None:
    rows = read("b.xlsx", _spoilt(was, becomes))
    assert [number for number, *_ in refused(rows)] == [2]
    assert len(rows) == 1


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        (b"<worksheet", b'<!DOCTYPE x [<!ENTITY a "aaaa">]><worksheet'),
        (b'r="D2"', b'r="ZZZZ2"'),
        (b'<row r="2"', b'<row r="1"'),
        (b"</sheetData>", b"</sheetData"),
    ],
)
def test_a_sheet_that_is_none_is_refused_whole(was: bytes, becomes: bytes) -> None:
    with pytest.raises(DocumentRefused) as raised:
        read("b.xlsx", _spoilt(was, becomes))
    assert raised.value.reason is ErrorReason.DOCUMENT_BROKEN


def test_merged_areas_beyond_all_bounds_change_nothing() -> None:
    area = b'</sheetData><mergeCells><mergeCell ref="A2:XFD1048576"/></mergeCells>'
    assert [each.value for each in good(read("b.xlsx", _spoilt(b"</sheetData>", area)))] == ["777"]


def test_names_of_any_length_are_read_in_time() -> None:
    long = "a" + " " * 100_000 + "b"
    rows = _csv(f"Item,2024\n{long},1\n{'(' * 50_000},2\n{'rate ' * 20_000},3\n")
    assert {reason for *_, reason, _ in refused(rows)} == {"VALUE_OUT_OF_RANGE"}


# Properties.


@settings(max_examples=200)
@given(
    st.lists(
        st.lists(st.decimals(-(10**9), 10**9, places=2) | st.none(), min_size=2, max_size=2), min_size=1, max_size=8
    ),
    st.sampled_from([("", 0), ("(USD in millions)\n", 6), ("（単位：千円）\n", 3), ("单位：亿元\n", 8)]),
)
def test_a_wide_table_states_each_cell_once(cells: list[list[Decimal | None]], title: tuple[str, int]) -> None:
    above, power = title
    lines = [
        ",".join([f"metric {n}", *("" if each is None else f'"{each:,}"' for each in row)])
        for n, row in enumerate(cells)
    ]
    records = good(_csv(f"{above}Item,FY2023,FY2024\n" + "\n".join(lines) + "\n"))
    expected = [
        (f"metric {n}", period, each.scaleb(power))
        for n, row in enumerate(cells)
        for period, each in zip(("FY2023", "FY2024"), row, strict=True)
        if each is not None
    ]
    assert [(each.metric, each.period, Decimal(each.value)) for each in records] == expected


@settings(max_examples=100)
@given(st.binary(max_size=300) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_rows_or_a_refusal(raw: bytes) -> None:
    for mapping in ("", WIDE):
        try:
            rows = read("f.csv", raw, mapping)
        except DocumentRefused:
            continue
        assert all(number >= 0 for number, _ in rows)


# What a table does not say for certain.


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ("Item,,2023,,2024\n,Q1,Q2,Q1,Q2\nRevenue,1,2,3,4\n", "it is not clear over which columns '2023' stands"),
        ("Item,2023,,2024,\n,Budget,Actual,Budget,Actual\nRevenue,9,1,9,2\n", "Budget, Budget"),
        ("項目,2023年,2024年\n,予算,予算\n売上高,9,1\n", "says more of their columns"),
        ("Item,Q1,Q2\nRevenue,12,13\nProfit,3,4\n", "has a heading that is a period"),
        ("Item,Q1,Q2\nRevenue,2012,2013\nProfit,3,4\n", "row 1 stands above the headings"),
        ("Item,Budget,Actual\n,2024,2023\nRevenue,9,1\n", "Actual, Budget"),
        ("項目,上半期,下半期\n売上高,12,13\n利益,3,4\n", "has a heading that is a period"),
        ("Item,2023\nRevenue,12\nNote:,in millions of dollars\n", "row 3 speaks of a scale"),
        (
            "(USD in millions)\nItem,2023\nRevenue,12\nOperating data (in thousands):,\nUsers,5\n",
            "row 4 speaks of a scale",
        ),
        ("USD in millions\nItem,2023\nRevenue,12\nIn thousands of tonnes,\nSteel,5\n", "row 4 speaks of a scale"),
    ],
)
def test_what_headings_and_remarks_leave_open_refuses_the_file(table: str, why: str) -> None:
    with pytest.raises(DocumentRefused) as raised:
        _csv(table)
    assert why in str(raised.value)


@pytest.mark.parametrize(
    ("code", "period"),
    [
        ('"FY"yyyy', "FY2023"),
        ('"Q1" yyyy', "2023Q1"),
        ('yyyy"年"m"月期"', "2022-04-01/2023-03-31"),
        ('"Year ended" d mmmm yyyy', "2022-04-01/2023-03-31"),
        ('yyyy"年"m"月"', "2023-03"),
        ('"as of" d mmmm yyyy', "2023-03-31"),
    ],
)
def test_words_that_a_format_writes_beside_a_day_are_read(code: str, period: str) -> None:
    book = Book()
    sheet = book.sheet("S", [["Item"], ["Revenue", 1]])
    sheet.write(0, 1, datetime.datetime(2023, 3, 31), book.book.add_format({"num_format": code}))
    (record,) = good(read("book.xlsx", book.raw(), WIDE))
    assert record.period == period


def test_a_heading_over_the_middle_of_its_columns_is_refused_where_a_mapping_says_its_rows() -> None:
    with pytest.raises(DocumentRefused, match="it is not clear over which columns"):
        _csv("Item,,2023,,2024\n,Q1,Q2,Q1,Q2\nRevenue,1,2,3,4\n", "header_rows = [1, 2]\n" + WIDE)


def test_a_remark_of_millions_below_the_last_figures_is_a_remark() -> None:
    (record,) = [
        each for _, each in _csv("(USD in millions)\nItem,2023\nRevenue,12\n(1) After a charge of 5 thousand,\n")
        if not isinstance(each, RowRefused)
    ]  # fmt: skip
    assert record.value == "12000000"


@pytest.mark.parametrize("note", ["forecast", "予想", "计划", "budget", "pro forma", "unconsolidated", "April 2020"])
def test_a_note_that_makes_another_figure_of_it_is_never_dropped(note: str) -> None:
    rows = _csv(f"Item,2023,2024 ({note})\nRevenue,1,2\n")
    assert [each.value for _, each in rows if not isinstance(each, RowRefused)] == ["1"]
    assert [reason for _, _, _, reason, _ in refused(rows)] == ["FACT_PERIOD_MALFORMED"]
    (told,) = refused(_csv(f"metric,entity,period,value\nRevenue,ACME,2024 ({note}),2\n", ""))
    assert told[1:4:2] == ("period", "FACT_PERIOD_MALFORMED")


@pytest.mark.parametrize("note", ["restated", "Unaudited", "1", "Note 4", "実績", "经审计", "CY2024", "令和6年"])
def test_a_note_that_says_nothing_more_is_dropped(note: str) -> None:
    (record,) = good(_csv(f"Item,2024 ({note})\nRevenue,1\n"))
    assert (record.period, record.value) == ("2024", "1")


@pytest.mark.parametrize("heading", ["112年", "第76期", "R6", "Q1", "本期", "前期", "第2四半期", "YTD"])
def test_a_column_that_is_meant_as_a_period_is_told(heading: str) -> None:
    rows = _csv(f"Item,2024,{heading}\nRevenue,1,2\n")
    assert [(column, reason) for _, column, _, reason, _ in refused(rows)] == [(heading, "FACT_PERIOD_MALFORMED")]


# Fields in another spelling, and what changes a figure without being read.


@pytest.mark.parametrize(
    ("heading", "cell", "field", "value"),
    [
        ("Review Status", "pending", "review_status", ReviewStatus.PENDING),
        ("REVIEW STATUS", "pending", "review_status", ReviewStatus.PENDING),
        ("As written", "about five", "as_written", "about five"),
        ("Unit scale", "million", "value", "5000000"),
    ],
)
def test_a_field_is_known_in_any_spacing(heading: str, cell: str, field: str, value: object) -> None:
    (record,) = good(_csv(f"metric,entity,period,value,{heading}\nRevenue,ACME,2024,5,{cell}\n", ""))
    assert getattr(record, field) == value
    mapping = f'[columns]\n{field} = "{heading}"\n' if field != "value" else ""
    (record,) = good(_csv(f"metric,entity,period,value,{heading}\nRevenue,ACME,2024,5,{cell}\n", mapping))
    assert getattr(record, field) == value


@pytest.mark.parametrize("heading", ["Sign", "Dr/Cr", "DR / CR", "貸借", "借贷方向", "S/H"])
def test_a_column_of_signs_refuses_the_file(heading: str) -> None:
    table = f"metric,entity,period,value,{heading}\nRevenue,ACME,2024,5,Cr\n"
    with pytest.raises(DocumentRefused, match="says the sign of the figures"):
        _csv(table, "")
    (record,) = good(_csv(table, f'[dimensions]\nside = "{heading}"\n'))
    assert record.dimensions == (Dimension("side", "Cr"),)


@pytest.mark.parametrize(
    "name", ["Value", "ReviewStatus", "review status", "Source-Doc", "withdraw", "scale", "multiplier"]
)
def test_a_member_that_reads_like_a_field_refuses_the_row(name: str) -> None:
    row = {"metric": "Revenue", "entity": "ACME", "period": "2024", "value": "5", "source_doc": "d", "locator": "p"}
    (told,) = refused(read("rows.jsonl", json.dumps({**row, name: "2"}).encode()))
    assert told[1:4:2] == (name, "CONTRADICTION")
    (record,) = good(read("rows.jsonl", json.dumps({**row, "attributes": {"scale": "2"}}).encode()))
    assert record.attributes == (Attribute("scale", "2"),)


def test_a_member_that_is_named_twice_is_no_figure() -> None:
    line = b'{"metric": "Revenue", "entity": "ACME", "period": "2024", "value": 1, "value": 2}'
    ((number, _, _, reason, message),) = refused(read("rows.jsonl", line))
    assert (number, reason, message) == (1, "VALUE_MALFORMED", "The line names 'value' twice.")
    item = b'{"end": "2022-12-31", "val": 1, "val": 2, "accn": "a", "filed": "2023-01-01"}'
    for text in (
        b'{"cik": 1, "entityName": "Acme", "facts": {"us-gaap": {"R": {"units": {"USD": [' + item + b"]}}}}}",
        b'{"cik": 1, "entityName": "Acme", "entityName": "Globex", "facts": {"dei": {}}}',
    ):
        with pytest.raises(DocumentRefused, match="twice in one object"):
            read("facts.json", text)
