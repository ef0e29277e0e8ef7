"""PDF: paragraphs, reading order, headings, figures that stand high, pages without text."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.lib.utils import ImageReader  # type: ignore[import-untyped]
from reportlab.pdfbase import pdfmetrics  # type: ignore[import-untyped]
from reportlab.pdfbase.cidfonts import UnicodeCIDFont  # type: ignore[import-untyped]
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Span
from groundwire_server.readers import Document, PdfReader, ReadOptions, Source, WarningKind
from groundwire_server.readers.pdf_blocks import Block, page_blocks
from groundwire_server.readers.pdf_lines import Line
from groundwire_server.text import tokenize

Draw = Callable[[Canvas], None]
LEADING = 14.0


def pdf(*pages: Draw, **properties: str) -> bytes:
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(595, 842), invariant=1)
    for name, value in properties.items():
        getattr(canvas, f"set{name.capitalize()}")(value)
    for draw in pages:
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return stream.getvalue()


def lines(texts: Sequence[str], left: float = 72, top: float = 700, size: float = 11, font: str = "Helvetica") -> Draw:
    def draw(canvas: Canvas) -> None:
        canvas.setFont(font, size)
        for number, text in enumerate(texts):
            if text:
                canvas.drawString(left, top - LEADING * number, text)

    return draw


def together(*draws: Draw) -> Draw:
    def draw(canvas: Canvas) -> None:
        for each in draws:
            each(canvas)

    return draw


def picture(canvas: Canvas) -> None:
    from PIL import Image

    stream = io.BytesIO()
    Image.new("1", (40, 40), 1).save(stream, "PNG")
    stream.seek(0)
    canvas.drawImage(ImageReader(stream), 0, 0, width=595, height=842)


def read(raw: bytes, options: ReadOptions | None = None) -> Document:
    (document,) = PdfReader().read(Source("a.pdf", raw, options=options or ReadOptions()))
    assert isinstance(document, Document)
    return document


def blocks(raw: bytes) -> list[str]:
    return read(raw).text.split("\n\n")


LONG = "A line of a paragraph that goes on until the right margin is there"
END = "and ends here."


def test_lines_become_paragraphs_by_their_distance() -> None:
    assert blocks(pdf(lines([LONG, LONG, END, "", LONG, END]))) == [f"{LONG} {LONG} {END}", f"{LONG} {END}"]


def test_an_indent_or_a_short_line_begins_a_paragraph() -> None:
    indented = together(lines([LONG, LONG, END]), lines(["", "", "", LONG], left=90), lines(["", "", "", "", END]))
    assert blocks(pdf(indented)) == [f"{LONG} {LONG} {END}", f"{LONG} {END}"]


def test_items_of_a_list_and_rows_stay_apart() -> None:
    assert blocks(pdf(lines(["Intro of a list:", "1. one", "2. two", "(a) three", "- four"]))) == [
        "Intro of a list:", "1. one", "2. two", "(a) three", "- four",
    ]  # fmt: skip
    rows = [[("Region", 72), ("Q1", 200)], [("EMEA", 72), ("12", 200)], [("APAC", 72), ("3", 200)]]
    cells = [lines([""] * number + [text], left=left) for number, row in enumerate(rows) for text, left in row]
    assert read(pdf(together(*cells))).text == "Region Q1\nEMEA 12\nAPAC 3"


def test_a_broken_word_stays_as_printed_and_is_found_whole() -> None:
    text = read(pdf(lines(["The management hopes for a fast devel-", "opment of the port."]))).text
    assert text == "The management hopes for a fast devel-\nopment of the port."
    assert {"devel", "opment", "development"} <= set(tokenize(text))


def test_figures_that_stand_high_stay_apart() -> None:
    def draw(canvas: Canvas) -> None:
        text = canvas.beginText(72, 700)
        for shown, size, rise in (
            ("1,204,000", 12, 0),
            ("12", 7, 5),
            (" and 10", 12, 0),
            ("6", 7, 5),
            (" more", 12, 0),
        ):
            text.setFont("Helvetica", size)
            text.setRise(rise)
            text.textOut(shown)
        canvas.drawText(text)

    assert read(pdf(draw)).text == "1,204,000^12 and 10^6 more"


def test_columns_are_read_one_after_the_other_whatever_the_order_of_the_file() -> None:
    left, right = (
        [f"left {number} of the first column" for number in range(6)],
        [f"right {number} of it" for number in range(6)],
    )
    head = lines(["A title over both columns of the page"], top=760, size=11)
    expected = ["A title over both columns of the page", " ".join(left), " ".join(right)]
    for order in ((head, lines(left), lines(right, left=330)), (lines(right, left=330), lines(left), head)):
        assert blocks(pdf(together(*order))) == expected


def test_headings_by_outline_with_their_levels() -> None:
    def draw(canvas: Canvas) -> None:
        for number, (title, level) in enumerate((("Results", 0), ("By region", 1), ("Outlook", 0))):
            canvas.bookmarkPage(title)
            canvas.addOutlineEntry(title, title, level)
            lines([f"{number + 1} {title}", "", f"Body of {title}."], top=700 - 100 * number)(canvas)

    document = read(pdf(draw))
    found = {word: document.places.heading(Span(at, at + 4)) for word in ("Results.", "region.", "Outlook.")
             if (at := document.text.index(f"of {word}" if word != "region." else "of By region."))}  # fmt: skip
    assert found == {"Results.": "1 Results", "region.": "1 Results > 2 By region", "Outlook.": "3 Outlook"}


def test_headings_by_size_and_weight() -> None:
    page = together(
        lines(["Annual report"], top=780, size=20),
        lines(["Costs"], top=740, size=14),
        lines([LONG, END], top=715),
        lines(["Staff"], top=660, font="Helvetica-Bold"),
        lines([LONG, END], top=640),
    )
    document = read(pdf(page))
    assert document.title == "Annual report"
    last = Span(len(document.text) - 2, len(document.text))
    assert document.places.heading(last) == "Annual report > Costs > Staff"


def test_places_are_pages_and_paragraphs_on_them() -> None:
    document = read(pdf(lines([LONG, END, "", "Two."]), lines(["Three."]), lines([""]), lines(["Five."])))
    placed = {
        word: document.places.locate(Span(at, at + len(word)))
        for word in ("Two.", "Three.", "Five.")
        if (at := document.text.index(word)) >= 0
    }
    assert placed == {
        "Two.": (("page", "1"), ("para", "2")),
        "Three.": (("page", "2"), ("para", "1")),
        "Five.": (("page", "4"), ("para", "1")),
    }
    assert document.places.locate(Span(0, len(document.text))) == (("page", "1-4"),)


def test_pages_without_text_are_told_in_runs() -> None:
    document = read(pdf(lines(["Text."]), picture, picture, lines([""]), picture, together(picture, lines(["p. 6"]))))
    told = [(warning.locator, warning.kind) for warning in document.warnings]
    assert told == [
        ("a.pdf#page=2-3", WarningKind.PAGE_WITHOUT_TEXT),
        ("a.pdf#page=5-6", WarningKind.PAGE_WITHOUT_TEXT),
    ]


def test_a_scan_alone_is_refused_with_its_pages() -> None:
    with pytest.raises(DocumentRefused) as refused:
        read(pdf(picture, picture, lines([""])))
    assert refused.value.reason is ErrorReason.DOCUMENT_NO_TEXT
    assert refused.value.details == {"pages": "3", "scanned": "2"}
    assert "OCR" in refused.value.hint


@pytest.mark.parametrize("raw", [b"", b"%PDF-1.7", b"%PDF-1.4\nnothing\n%%EOF", bytes(2000)])
def test_what_is_no_pdf_is_broken(raw: bytes) -> None:
    with pytest.raises(DocumentRefused) as refused:
        read(raw)
    assert refused.value.reason is ErrorReason.DOCUMENT_BROKEN


def test_a_password_and_too_many_pages() -> None:
    from reportlab.lib.pdfencrypt import StandardEncryption  # type: ignore[import-untyped]

    stream = io.BytesIO()
    canvas = Canvas(stream, encrypt=StandardEncryption("secret"))
    canvas.drawString(72, 700, "x")
    canvas.save()
    with pytest.raises(DocumentRefused) as refused:
        read(stream.getvalue())
    assert refused.value.reason is ErrorReason.DOCUMENT_ENCRYPTED
    with pytest.raises(DocumentRefused) as refused:
        read(pdf(*[lines(["x"])] * 4), ReadOptions(max_pages=3))
    assert (refused.value.reason, refused.value.details) == (ErrorReason.DOCUMENT_TOO_LARGE, {"max_pages": "3"})


def test_title_author_and_day_of_the_properties() -> None:
    document = read(pdf(lines(["x"]), title="Annual report", author="R. Ito"))
    assert document.title == "Annual report"
    assert [attribute.name for attribute in document.attributes] == ["file_author", "file_created"]
    assert [each.name for each in read(pdf(lines(["x"]), author="(anonymous)")).attributes] == ["file_created"]
    assert read(pdf(lines(["x"]), title=" untitled ")).title == "a"


def test_the_same_bytes_give_the_same_text() -> None:
    raw = pdf(together(lines([LONG, END]), lines(["side"] * 9, left=400)), lines(["two"]))
    first, second = read(raw), read(raw)
    assert (first.text, first.attributes, first.warnings) == (second.text, second.attributes, second.warnings)


numbers = st.floats(0, 800, allow_nan=False)
any_line = st.builds(
    Line, st.sampled_from(["a", "word.", "漢字", "1. x", "العربية"]), numbers, numbers, numbers, st.floats(1, 60),
    st.booleans(), st.booleans(), st.booleans(),
)  # fmt: skip


@settings(max_examples=150)
@given(st.lists(any_line, max_size=25))
def test_no_line_is_lost_or_doubled_by_the_order(found: list[Line]) -> None:
    ordered = page_blocks(found, 842)
    assert all(isinstance(block, Block) and block.text for block in ordered)
    shown = "".join(line.text for block in ordered for line in block.lines)
    assert Counter(shown.replace(" ", "")) == Counter("".join(line.text for line in found).replace(" ", ""))


def test_text_in_a_font_that_is_nowhere_is_read_or_told_of() -> None:
    """Which letters there are depends on the fonts of the machine; none goes in silence."""
    columns = ("吾輩は猫である", "名前はまだ無い")

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 11)
        canvas.drawString(72, 760, "Above the columns.")
        canvas.drawString(200, 760, " ")
        canvas.setFont("HeiseiMin-W3", 14)
        for number, column in enumerate(columns):
            for place, char in enumerate(column):
                canvas.drawString(500 - 24 * number, 700 - 15 * place, char)

    pdfmetrics.registerFont(UnicodeCIDFont("HeiseiMin-W3"))
    document = read(pdf(draw))
    whole = all(column in document.text.replace("\n", "") for column in columns)
    assert whole or [warning.kind for warning in document.warnings] == [WarningKind.TEXT_UNCERTAIN]
    assert not read(pdf(lines(["A line.", " ", "another line."]))).warnings
