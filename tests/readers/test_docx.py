"""Word files: headings, numbers that Word counts, tables, notes, tracked changes, what is told of."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, qn
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Span
from groundwire_server.readers import Document, DocxReader, Source, WarningKind
from groundwire_server.readers.docx_numbers import Numbering, chinese, han, letters, roman
from tests.support.packed_files import changed_part, packed

MAIN = "word/document.xml"
SPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def made(fill: Callable[[Any], None]) -> bytes:
    document, stream = docx.Document(), io.BytesIO()
    fill(document)
    document.save(stream)
    return stream.getvalue()


def with_body(body: str) -> bytes:
    """A document whose body is this XML."""
    spaces = (
        f'{SPACE} xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
        ' xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'
        ' xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    )
    content = f"<w:document {spaces}><w:body>{body}</w:body></w:document>".encode()
    return changed_part(made(lambda document: None), MAIN, lambda raw: content)


def read(raw: bytes) -> Document:
    (document,) = DocxReader().read(Source("a.docx", raw))
    assert isinstance(document, Document)
    return document


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


SHOWN, HIGH = '<w:vanish w:val="0"/>', '<w:vertAlign w:val="superscript"/>'


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (f"<w:p>{run('a ')}{run('b')}</w:p><w:p/><w:p>{run('c')}</w:p>", "a b\n\nc"),
        (
            "<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t></w:r></w:p>",
            "a\tb\nc\u2011d",
        ),
        (f"<w:p><w:del><w:r><w:delText>no</w:delText></w:r></w:del><w:ins>{run('yes')}</w:ins></w:p>", "yes"),
        (f"<w:p><w:moveFrom>{run('no')}</w:moveFrom><w:moveTo>{run('yes')}</w:moveTo></w:p>", "yes"),
        (f"<w:p>{run('no', '<w:vanish/>')}{run('yes', SHOWN)}</w:p>", "yes"),
        (f"<w:p>{run('10')}{run('6', HIGH)}</w:p>", "10^6"),
        (f"<w:sdt><w:sdtContent><w:p>{run('in a control')}</w:p></w:sdtContent></w:sdt>", "in a control"),
        (f"<w:p><w:hyperlink>{run('link')}</w:hyperlink><w:smartTag>{run(' tag')}</w:smartTag></w:p>", "link tag"),
        (
            "<w:p><w:r><w:instrText>PAGE</w:instrText></w:r><w:fldSimple><w:r><w:t>7</w:t></w:r></w:fldSimple></w:p>",
            "7",
        ),
        ("<w:p><m:oMath><m:r><m:t>x=1</m:t></m:r></m:oMath></w:p>", "x=1"),
        (
            f"<w:p>{run('up to ')}<m:oMathPara><m:oMath><m:sSup><m:e><m:r><m:t>10</m:t></m:r></m:e><m:sup><m:r><m:t>6"
            "</m:t></m:r></m:sup></m:sSup></m:oMath></m:oMathPara></w:p>",
            "up to 10^6",
        ),
        (
            f"<w:p>{run('before')}<w:r><mc:AlternateContent><mc:Choice><w:txbxContent><w:p>{run('box')}</w:p></w:txbxContent>"
            f"</mc:Choice><mc:Fallback><w:txbxContent><w:p>{run('box')}</w:p></w:txbxContent></mc:Fallback>"
            f"</mc:AlternateContent></w:r></w:p><w:p>{run('after')}</w:p>",
            "before\n\nbox\n\nafter",
        ),
    ],
)
def test_what_a_paragraph_shows(body: str, text: str) -> None:
    assert read(with_body(body)).text == text


def test_headings_by_style_and_by_outline_level() -> None:
    def fill(document: Any) -> None:
        document.add_heading("The title", 0)
        document.add_heading("One", 1)
        document.add_heading("Two", 2)
        document.add_paragraph("text")
        styled = document.styles.add_style("Ours", 1)
        styled.base_style = document.styles["Heading 2"]
        document.add_paragraph("Three", style="Ours")
        direct = document.add_paragraph("Four")
        direct._p.get_or_add_pPr().append(parse_xml(f'<w:outlineLvl {SPACE} w:val="0"/>'))

    document = read(made(fill))
    assert document.title == "The title"
    found = {word: document.places.heading(Span(at, at + 4)) for word in ("text", "Three", "Four")
             if (at := document.text.index(word)) >= 0}  # fmt: skip
    assert found == {"text": "One > Two", "Three": "One > Three", "Four": "Four"}


def test_rows_have_heads_and_cells_that_are_merged_count_in_each_place() -> None:
    def fill(document: Any) -> None:
        table = document.add_table(rows=4, cols=3)
        for row, cells in enumerate((("", "2024", ""), ("Region", "Q1", "Q2"), ("EMEA", "1", "2"), ("", "3", "4"))):
            for column, cell in enumerate(cells):
                table.cell(row, column).text = cell
        table.cell(0, 1).merge(table.cell(0, 2))
        table.cell(2, 0).merge(table.cell(3, 0))
        for row in list(table.rows)[:2]:
            row._tr.get_or_add_trPr().append(parse_xml(f"<w:tblHeader {SPACE}/>"))

    document = read(made(fill))
    assert document.text.split("\n")[2:] == [
        "Region: EMEA; 2024 Q1: 1; 2024 Q2: 2",
        "Region: EMEA; 2024 Q1: 3; 2024 Q2: 4",
    ]
    at = document.text.rindex("Region")
    assert document.places.locate(Span(at, at + 6)) == (("para", "4"), ("table", "1"), ("row", "4"))


def test_a_table_within_a_table_is_read_where_it_stands() -> None:
    def fill(document: Any) -> None:
        outer = document.add_table(rows=1, cols=2)
        outer.cell(0, 0).text = "left"
        inner = outer.cell(0, 1).add_table(rows=2, cols=2)
        for place, text in enumerate(("Name", "Age", "Ann", "31")):
            inner.cell(place // 2, place % 2).text = text

    assert read(made(fill)).text == "left\n\nName; Age\nName: Ann; Age: 31"


def test_numbers_that_word_counts_stand_before_the_text() -> None:
    def fill(document: Any) -> None:
        for text, style in (("a", "List Number"), ("b", "List Number"), ("c", "List Bullet")):
            document.add_paragraph(text, style=style)

    assert read(made(fill)).text == "1. a\n2. b\nc"


def level(depth: int, form: str, text: str, start: int = 1) -> str:
    parts = {"start": start, "numFmt": form, "lvlText": text}
    inside = "".join(f'<w:{name} w:val="{value}"/>' for name, value in parts.items())
    return f'<w:lvl w:ilvl="{depth}">{inside}</w:lvl>'


def test_levels_count_within_each_other_and_lists_can_begin_anew() -> None:
    numbering = Numbering(
        parse_xml(
            f'<w:numbering {nsdecls("w")}><w:abstractNum w:abstractNumId="1">{level(0, "upperRoman", "%1.")}'
            f"{level(1, 'decimal', '%1.%2')}{level(2, 'chineseCounting', '第%3条')}</w:abstractNum>"
            '<w:num w:numId="5"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="6"><w:abstractNumId w:val="1"/>'
            '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="9"/></w:lvlOverride></w:num></w:numbering>'
        )
    )
    shown = [numbering.next("5", depth) for depth in (0, 1, 1, 2, 0, 1)]
    assert shown == ["I.", "I.1", "I.2", "第一条", "II.", "II.1"]
    assert [numbering.next("6", 0), numbering.next("6", 0)] == ["IX.", "X."]
    assert [numbering.next("7", 0), numbering.next("5", 8), Numbering(None).next("1", 0)] == ["", "", ""]


def test_numerals() -> None:
    assert [roman(n) for n in (4, 9, 49, 3999, 4000)] == ["IV", "IX", "XLIX", "MMMCMXCIX", "4000"]
    assert [letters(n) for n in (1, 26, 27)] == ["A", "Z", "AA"]
    assert [han(n) for n in (0, 10, 21, 100, 1999)] == ["〇", "十", "二十一", "百", "千九百九十九"]
    assert [chinese(n) for n in (0, 10, 21, 100, 110, 1001)] == ["〇", "十", "二十一", "一百", "一百一十", "一千〇一"]


def test_what_is_not_read_is_told() -> None:
    document = read(with_body(f"<w:p>{run('x')}<w:r><w:drawing><c:chart/></w:drawing></w:r></w:p><w:altChunk/>"))
    (warning,) = document.warnings
    assert (warning.kind, warning.message) == (WarningKind.PART_SKIPPED, "not read: 1 chart, 1 embedded document")


def test_properties_that_the_library_makes_up_are_none() -> None:
    assert read(made(lambda document: document.add_paragraph("x"))).title == "a"

    def fill(document: Any) -> None:
        document.core_properties.title, document.core_properties.author = "Rules", "R. Ito"
        document.add_paragraph("x")

    document = read(made(fill))
    assert (document.title, document.attributes[0].value) == ("Rules", "R. Ito")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"no zip", ErrorReason.DOCUMENT_BROKEN),
        (packed({"a": "b"}), ErrorReason.DOCUMENT_BROKEN),
        (made(lambda document: None), ErrorReason.DOCUMENT_NO_TEXT),
        (changed_part(made(lambda document: None), MAIN, lambda raw: raw[:-40]), ErrorReason.DOCUMENT_BROKEN),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), ErrorReason.DOCUMENT_UNSUPPORTED),
    ],
)
def test_what_is_no_document(raw: bytes, reason: ErrorReason) -> None:
    with pytest.raises(DocumentRefused) as refused:
        DocxReader().read(Source("a.docx", raw))
    assert refused.value.reason is reason


WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).filter(str.strip)


@given(st.lists(st.tuples(WORDS, st.integers(0, 3)), min_size=1, max_size=8))
def test_paragraphs_come_back_in_order_and_places_count_them(blocks: list[tuple[str, int]]) -> None:
    def fill(document: Any) -> None:
        for text, heading in blocks:
            document.add_heading(text, heading) if heading else document.add_paragraph(text)

    document = read(made(fill))
    assert document.text == "\n\n".join(text.strip() for text, _ in blocks)
    last = dict(document.places.locate(Span(len(document.text) - 1, len(document.text))))
    assert last["para"] == str(len(blocks))


def test_the_space_of_names_is_as_the_library_has_it() -> None:
    assert qn("w:p").startswith("{http://schemas.openxmlformats.org/wordprocessingml/2006/main}")


def test_a_passage_that_ends_in_a_note_still_names_its_paragraphs() -> None:
    raw = (Path(__file__).parent / "files" / "ferry-rules.pandoc.docx").read_bytes()
    document = read(raw)
    note = document.text.index("[1] ")
    whole = dict(document.places.locate(Span(0, document.text.index("\n", note))))
    assert whole["para"] == "1-4"
    assert "note" not in whole
