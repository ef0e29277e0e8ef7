"""PowerPoint files: reading order, tables, notes, diagrams, slides without text."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pptx
import pytest
from lxml import etree
from pptx.util import Inches

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Locator, Span
from groundwire_server.readers import Document, PptxReader, ReadOptions, Source, WarningKind
from tests.support.packed_files import packed

TITLE_ONLY, BLANK = 5, 6


def made(fill: Callable[[Any], None]) -> bytes:
    deck, stream = pptx.Presentation(), io.BytesIO()
    fill(deck)
    deck.save(stream)
    return stream.getvalue()


def read(raw: bytes, options: ReadOptions | None = None) -> Document:
    (document,) = PptxReader().read(Source("deck.pptx", raw, options=options or ReadOptions()))
    assert isinstance(document, Document)
    return document


def slide(deck: Any, title: str = "") -> Any:
    made_slide = deck.slides.add_slide(deck.slide_layouts[TITLE_ONLY if title else BLANK])
    if title:
        made_slide.shapes.title.text = title
    return made_slide


MARKUP = "http://schemas.openxmlformats.org/markup-compatibility/2006"


def several_forms(shapes: Any, shape: Any) -> None:
    """Wrap a shape as PowerPoint wraps one that holds a formula."""
    wrapped = etree.fromstring(
        f'<mc:AlternateContent xmlns:mc="{MARKUP}"><mc:Choice/><mc:Fallback/></mc:AlternateContent>'
    )
    shapes.element.append(wrapped)
    wrapped[0].append(shape.element)


def test_a_box_that_stands_in_several_forms_is_read_once() -> None:
    def fill(deck: Any) -> None:
        one = slide(deck, "Title")
        several_forms(one.shapes, box(one.shapes, 1, 2, "first form\nof two"))
        formula = box(one.shapes, 1, 4, "up to ")
        formula.text_frame.paragraphs[0]._p.append(
            etree.fromstring(
                '<a14:m xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main" '
                'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:oMath><m:sSup><m:e><m:r><m:t>10'
                "</m:t></m:r></m:e><m:sup><m:r><m:t>6</m:t></m:r></m:sup></m:sSup></m:oMath></a14:m>"
            )
        )
        several_forms(one.shapes, formula)

    assert read(made(fill)).text.split("\n\n") == ["Title", "first form\nof two", "up to 10^6"]


def test_figures_that_stand_high_in_cells_and_titles_stay_apart() -> None:
    def raise_one(frame: Any) -> None:
        run = frame.paragraphs[0].add_run()
        run.text = "1"
        run.font._element.set("baseline", "30000")

    def fill(deck: Any) -> None:
        one = slide(deck, "Cost of 500")
        raise_one(one.shapes.title.text_frame)
        table = one.shapes.add_table(2, 1, Inches(1), Inches(2), Inches(2), Inches(1)).table
        for number, text in enumerate(("Cost", "1,204")):
            table.cell(number, 0).text = text
        raise_one(table.cell(1, 0).text_frame)

    assert read(made(fill)).text.split() == ["Cost", "of", "500^1", "Cost", "Cost:", "1,204^1"]


def box(shapes: Any, left: float, top: float, text: str) -> Any:
    shape = shapes.add_textbox(Inches(left), Inches(top), Inches(2), Inches(1))
    shape.text_frame.text = text
    return shape


def test_shapes_are_read_row_by_row_below_the_title() -> None:
    def fill(deck: Any) -> None:
        one = slide(deck, "Title")
        box(one.shapes, 6, 2.05, "right")
        box(one.shapes, 1, 5, "below")
        box(one.shapes, 1, 2, "left")
        group = one.shapes.add_group_shape()
        box(group.shapes, 1, 4, "in a group")
        box(one.shapes, 1, 6.5, "last\nof all")

    document = read(made(fill))
    assert document.text.split("\n\n") == ["Title", "left", "right", "in a group", "below", "last\nof all"]
    assert document.title == "Title"


def test_places_are_slides_paragraphs_and_notes() -> None:
    def fill(deck: Any) -> None:
        slide(deck, "One")
        two = slide(deck, "Two")
        box(two.shapes, 1, 2, "body\nmore")
        two.notes_slide.notes_text_frame.text = "said\nand said"

    document = read(made(fill))
    placed = {}
    for word in ("Two", "more", "and said"):
        at = document.text.index(word)
        locator = Locator(document.doc_id, document.places.locate(Span(at, at + len(word))))
        placed[word] = str(locator)
        assert Locator.parse(str(locator)) == locator
        assert document.places.heading(Span(at, at + 1)) == "Two"
    assert placed == {
        "Two": "deck.pptx#slide=2,para=1",
        "more": "deck.pptx#slide=2,para=3",
        "and said": "deck.pptx#slide=2,notes=2",
    }


def test_a_slide_without_a_title_stands_under_none() -> None:
    def fill(deck: Any) -> None:
        slide(deck, "One")
        box(slide(deck).shapes, 1, 1, "alone")

    document = read(made(fill))
    at = document.text.index("alone")
    assert document.places.heading(Span(at, at + 1)) == ""


def test_rows_have_heads_and_merged_cells_count_in_each_place() -> None:
    def fill(deck: Any) -> None:
        table = slide(deck, "T").shapes.add_table(3, 3, Inches(1), Inches(2), Inches(6), Inches(2)).table
        for row, cells in enumerate((("Region", "Q1", "Q2"), ("EMEA", "both", ""), ("APAC", "3", "4"))):
            for column, cell in enumerate(cells):
                table.cell(row, column).text = cell
        table.cell(1, 1).merge(table.cell(1, 2))

    assert read(made(fill)).text == "T\n\nRegion; Q1; Q2\nRegion: EMEA; Q1: both; Q2: both\nRegion: APAC; Q1: 3; Q2: 4"


def test_figures_that_stand_high_and_line_breaks() -> None:
    def fill(deck: Any) -> None:
        paragraph = box(slide(deck).shapes, 1, 1, "10").text_frame.paragraphs[0]
        high = paragraph.add_run()
        high.text = "6"
        high._r.get_or_add_rPr().set("baseline", "30000")
        paragraph.add_line_break()
        paragraph.add_run().text = "next"

    assert read(made(fill)).text == "10^6\nnext"


def test_slides_that_show_something_and_hold_no_text_are_told() -> None:
    def fill(deck: Any) -> None:
        from PIL import Image

        stream = io.BytesIO()
        Image.new("1", (9, 9)).save(stream, "PNG")
        slide(deck, "Text")
        slide(deck).shapes.add_picture(stream, 0, 0)
        slide(deck)

    (warning,) = read(made(fill)).warnings
    assert warning.locator == "deck.pptx#slide=2"
    assert (warning.kind, warning.message) == (WarningKind.PAGE_WITHOUT_TEXT, "the slide holds no text but 1 picture")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"no zip", ErrorReason.DOCUMENT_BROKEN),
        (packed({"ppt/presentation.xml": "<a/>"}), ErrorReason.DOCUMENT_BROKEN),
        (made(lambda deck: None), ErrorReason.DOCUMENT_NO_TEXT),
        (made(slide), ErrorReason.DOCUMENT_NO_TEXT),
    ],
)
def test_what_is_no_deck(raw: bytes, reason: ErrorReason) -> None:
    with pytest.raises(DocumentRefused) as refused:
        read(raw)
    assert refused.value.reason is reason


def test_too_many_slides() -> None:
    def fill(deck: Any) -> None:
        for number in range(4):
            slide(deck, str(number))

    with pytest.raises(DocumentRefused) as refused:
        read(made(fill), ReadOptions(max_pages=3))
    assert refused.value.details == {"max_pages": "3"}
