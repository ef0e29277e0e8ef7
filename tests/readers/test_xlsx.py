from __future__ import annotations

import datetime
import io
from collections.abc import Callable

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.comments import Comment
from openpyxl.worksheet.worksheet import Worksheet

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Span
from groundwire_server.readers import Document, ReadOptions, Source, WarningKind
from groundwire_server.readers.xlsx import XlsxReader
from tests.support.packed_files import minimal_xlsx
from tests.support.refusals import reason_of


def workbook(*fills: Callable[[Worksheet], None]) -> bytes:
    """A workbook with one sheet a function."""
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for number, fill in enumerate(fills, 1):
        fill(book.create_sheet(f"Sheet{number}"))
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def read(raw: bytes, options: ReadOptions | None = None) -> Document:
    (document,) = XlsxReader().read(Source("book.xlsx", raw, options=options or ReadOptions()))
    assert isinstance(document, Document)
    return document


def place_of(document: Document, text: str) -> dict[str, str]:
    start = document.text.index(text)
    return dict(document.places.locate(Span(start, start + len(text))))


def sales(sheet: Worksheet) -> None:
    """A title, heads in two rows with merged cells, formats, a hidden row, a formula without value, a second table."""
    sheet.title = "売上"
    sheet["A1"] = "Quarterly sales"
    sheet.merge_cells("A1:E1")
    sheet["A2"], sheet["B2"], sheet["D2"] = "Region", 2024, 2023
    for area in ("A2:A3", "B2:C2", "D2:E2"):
        sheet.merge_cells(area)
    for column, head in zip("BCDE", ("Q1", "Q2", "Q1", "Q2"), strict=True):
        sheet[f"{column}3"] = head
    sheet.append(["EMEA", 1234.5, 0.125, datetime.date(2024, 6, 30), True])
    sheet["B4"].number_format, sheet["C4"].number_format = "#,##0.00", "0.0%"
    sheet["D4"].number_format = 'yyyy"年"m"月"d"日"'
    sheet.append(["APAC", 5, "=B4*2", "#N/A", "one\ntwo"])
    sheet.append(["secret", 9])
    sheet.row_dimensions[6].hidden = True
    sheet.append(["Total", 7])
    sheet["A9"], sheet["B9"], sheet["A10"], sheet["B10"] = "Name", "City", "伊藤", "大阪"


def test_a_sheet_reads_as_people_see_it() -> None:
    document = read(workbook(sales))
    assert document.text == (
        "Quarterly sales\n"
        "Region; 2024; 2023\n"
        "Region; Q1; Q2\n"
        "Region: EMEA; 2024 Q1: 1,234.50; 2024 Q2: 12.5%; 2023 Q1: 2024年6月30日; 2023 Q2: TRUE\n"
        "Region: APAC; 2024 Q1: 5; 2023 Q1: #N/A; 2023 Q2: one two\n"
        "Region: Total; 2024 Q1: 7\n"
        "\n"
        "Name; City\n"
        "Name: 伊藤; City: 大阪"
    )
    assert place_of(document, "Region: EMEA") == {"sheet": "売上", "row": "4"}
    assert place_of(document, "伊藤") == {"sheet": "売上", "row": "10"}
    assert document.places.heading(Span(20, 21)) == "売上"
    assert [(each.locator, each.kind) for each in document.warnings] == [
        ("book.xlsx#sheet=売上", WarningKind.PART_SKIPPED),
        ("book.xlsx#sheet=売上", WarningKind.VALUE_MISSING),
    ]
    assert "1 hidden rows" in document.warnings[0].message
    assert "C5" in document.warnings[1].message


def test_what_is_not_seen_is_not_read_and_told() -> None:
    def hidden_column(sheet: Worksheet) -> None:
        sheet.append(["Code", "Cost", "Price"])
        sheet.append(["a", 1, 2])
        sheet.column_dimensions["B"].hidden = True

    def hidden_sheet(sheet: Worksheet) -> None:
        sheet.title, sheet["A1"], sheet.sheet_state = "a, b = c", "secret", "veryHidden"

    def with_comment(sheet: Worksheet) -> None:
        sheet["A1"] = "seen"
        sheet["A1"].comment = Comment("said beside it", "somebody")

    document = read(workbook(hidden_column, hidden_sheet, with_comment))
    assert document.text == "Code; Price\nCode: a; Price: 2\n\nseen"
    assert [(each.locator, each.message) for each in document.warnings] == [
        ("book.xlsx#sheet=Sheet1", "1 hidden columns are not read"),
        ("book.xlsx#sheet=a%2C b %3D c", "a hidden sheet is not read"),
        ("book.xlsx#sheet=Sheet3", "comments are not read"),
    ]
    assert {each.kind for each in document.warnings} == {WarningKind.PART_SKIPPED}


def test_a_text_in_merged_cells_holds_for_each_row_and_a_number_stands_once() -> None:
    def fill(sheet: Worksheet) -> None:
        for row in (
            ["Region", "City", "Sales"],
            ["EMEA", "Paris", 1],
            ["", "Rome", 2],
            ["APAC", "", 3],
            ["", "", 4],
        ):
            sheet.append([cell or None for cell in row])
        sheet.merge_cells("A2:A3")
        sheet.merge_cells("A4:B5")
        sheet["A6"], sheet["B6"] = "all", 5
        sheet.merge_cells("B6:C6")

    assert read(workbook(fill)).text.split("\n")[1:] == [
        "Region: EMEA; City: Paris; Sales: 1",
        "Region: EMEA; City: Rome; Sales: 2",
        "Region: APAC; City: APAC; Sales: 3",
        "Region: APAC; City: APAC; Sales: 4",
        "Region: all; City: 5",
    ]


def test_title_author_and_day_of_the_properties() -> None:
    book = openpyxl.Workbook()
    book.worksheets[0]["A1"] = "text"
    book.properties.title, book.properties.creator = "年次報告", "R. Ito"
    book.properties.created = datetime.datetime(2024, 3, 31, 9)
    stream = io.BytesIO()
    book.save(stream)
    document = read(stream.getvalue())
    assert document.title == "年次報告"
    assert {each.name: each.value for each in document.attributes} == {
        "file_author": "R. Ito",
        "file_created": datetime.date(2024, 3, 31),
    }


def test_shared_texts_runs_and_pronunciation() -> None:
    """How a text is pronounced is no part of it, its runs are one; what XML cannot hold is written out by Excel."""
    shared = (
        '<si><r><t>東</t></r><r><t xml:space="preserve">京 </t></r><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></si>'
        "<si><t>one_x000D_two_x005F_x</t></si>"
    )
    cells = '<sheetData><row><c t="s"><v>1</v></c><c t="s"><v>0</v></c><c t="str"><v>said</v></c></row></sheetData>'
    assert read(minimal_xlsx(cells, shared)).text == "one two_x; 東京; said"


def test_the_mark_of_a_note_makes_no_figure_longer() -> None:
    shared = '<si><r><t>1,204</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>1</t></r></si>'
    assert read(minimal_xlsx('<sheetData><row><c t="s"><v>0</v></c></row></sheetData>', shared)).text == "1,204^1"


SHEET = "xl/worksheets/sheet1.xml"


@pytest.mark.parametrize(
    ("sheet", "reason"),
    [
        ('<sheetData><row r="1"><c r="A1"><v>1</v></c></sheetData>', ErrorReason.DOCUMENT_BROKEN),
        ('<sheetData><row r="1"><c r="AAAA1"><v>1</v></c></row></sheetData>', ErrorReason.DOCUMENT_BROKEN),
        ('<sheetData><row r="1"><c r="ZZZ1"><v>1</v></c></row></sheetData>', ErrorReason.DOCUMENT_BROKEN),
        ('<sheetData><row r="2000000"><c><v>1</v></c></row></sheetData>', ErrorReason.DOCUMENT_BROKEN),
        ('<sheetData><row r="2"/><row r="2"/></sheetData>', ErrorReason.DOCUMENT_BROKEN),
        ('<sheetData><row><c t="s"><v>7</v></c></row></sheetData>', ErrorReason.DOCUMENT_BROKEN),
        ('<sheetData><row><c t="s"><v>-1</v></c></row></sheetData>', ErrorReason.DOCUMENT_BROKEN),
        ("<sheetData><row><c><v></v></c></row></sheetData>", ErrorReason.DOCUMENT_NO_TEXT),
        ('<mergeCells><mergeCell ref="everything"/></mergeCells>', ErrorReason.DOCUMENT_BROKEN),
        ("", ErrorReason.DOCUMENT_NO_TEXT),
    ],
)
def test_a_damaged_sheet_is_refused(sheet: str, reason: ErrorReason) -> None:
    assert reason_of(lambda: read(minimal_xlsx(sheet))) is reason


def test_what_is_no_number_and_no_style_stands_as_it_is() -> None:
    cells = '<row><c><v>1e999</v></c><c><v>x</v></c><c s="99"><v>2.50</v></c><c s="-1"><v>3</v></c></row>'
    assert read(minimal_xlsx(f"<sheetData>{cells}</sheetData>")).text == "1e999; x; 2.5; 3"


def test_cells_over_the_limit_of_text_are_too_large() -> None:
    def fill(sheet: Worksheet) -> None:
        for _ in range(20):
            sheet.append(["x" * 100])

    with pytest.raises(DocumentRefused) as refused:
        read(workbook(fill), ReadOptions(max_text_chars=1000))
    assert refused.value.reason is ErrorReason.DOCUMENT_TOO_LARGE
    assert refused.value.hint


def test_merged_areas_beyond_all_bounds_are_told_and_not_filled() -> None:
    def sheet(rows: int, area: str) -> bytes:
        cell = '<c t="inlineStr"><is><t>{}</t></is></c>'
        wide = f"<row>{''.join(cell.format(f'h{number}') for number in range(3000))}</row>"
        rest = f"<row>{cell.format('b')}{cell.format('c')}</row>" * rows
        return minimal_xlsx(f'<sheetData>{wide}{rest}</sheetData><mergeCells><mergeCell ref="{area}"/></mergeCells>')

    assert read(sheet(1, "B2:C2")).text.endswith("\nh0: b; h1: c; h2: c")
    assert read(sheet(1, "B2:XFD1048576")).text.count(": c") == 2999
    document = read(sheet(100, "B2:XFD1048576"))
    assert document.text.count(": c") == 100
    assert [each.kind for each in document.warnings] == [WarningKind.PART_SKIPPED]
    assert "1 very large merged areas" in document.warnings[0].message


@settings(max_examples=60)
@given(
    st.lists(
        st.lists(
            st.none()
            | st.integers(-(10**9), 10**9)
            | st.booleans()
            | st.text(st.characters(min_codepoint=0x21, exclude_categories=["C", "Z"]), min_size=1, max_size=12)
            .filter(lambda text: text[0] not in "=#" and "_x" not in text),
            min_size=1,
            max_size=5,
        ),
        min_size=1,
        max_size=8,
    )
)  # fmt: skip
def test_every_value_that_openpyxl_reads_is_in_the_text_of_its_row(rows: list[list[object]]) -> None:
    def fill(sheet: Worksheet) -> None:
        for row in rows:
            sheet.append(row)

    raw = workbook(fill)
    sheet = openpyxl.load_workbook(io.BytesIO(raw), data_only=True).worksheets[0]
    expected = {
        number: [
            str(cell.value).upper() if isinstance(cell.value, bool) else str(cell.value)
            for cell in row
            if cell.value is not None
        ]
        for number, row in enumerate(sheet.iter_rows(), 1)
    }
    if not any(expected.values()):
        assert reason_of(lambda: read(raw)) is ErrorReason.DOCUMENT_NO_TEXT
        return
    document = read(raw)
    lines: dict[int, str] = {}
    at = 0
    for line in document.text.split("\n"):
        if line:
            number = int(dict(document.places.locate(Span(at, at + 1)))["row"])
            lines[number] = lines.get(number, "") + line
        at += len(line) + 1
    for number, values in expected.items():
        for value in values:
            assert value in lines[number]
