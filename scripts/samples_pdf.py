"""PDF, by reportlab and fpdf2. Those of LibreOffice and pdfTeX among the samples come from elsewhere (SOURCES.md)."""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from fpdf import FPDF
from PIL import Image, ImageDraw
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Table

__all__ = ["MAKERS"]

_LEFT = (
    "Passengers",
    "More people took the ferry in 2024 than in",
    "any year before. The company puts it down to",
    "the evening boats and to the new ticket ma-",
    "chines at both piers.",
)
_RIGHT = (
    "Fuel",
    "Each crossing took 41.5 litres of diesel on",
    "average, three litres less than a year ago,",
    "because the hulls were cleaned in spring.",
)


def columns_and_a_scan(path: Path) -> None:
    """Two columns whose right one stands first in the file, a table, and a third page that is a picture of text."""
    canvas = Canvas(str(path), pagesize=A4, invariant=1)
    canvas.setTitle("Ferry report 2024")
    canvas.setAuthor("Harbour Line")
    for left, lines in ((310, _RIGHT), (60, _LEFT)):
        for number, line in enumerate(lines):
            canvas.setFont("Helvetica-Bold" if number == 0 else "Helvetica", 14 if number == 0 else 11)
            canvas.drawString(left, 700 - (24 if number else 0) - 13.5 * max(0, number - 1), line)
    canvas.setFont("Helvetica-Bold", 20)
    canvas.drawString(60, 760, "Ferry report 2024")
    canvas.showPage()
    canvas.setFont("Helvetica-Bold", 14)
    canvas.drawString(60, 760, "By route")
    canvas.setFont("Helvetica", 11)
    for row, cells in enumerate(
        (("Route", "2023", "2024"), ("North", "512,000", "640,000"), ("South", "488,000", "564,000"))
    ):
        for column, cell in enumerate(cells):
            canvas.drawString(60 + 120 * column, 730 - 18 * row, cell)
    canvas.showPage()
    canvas.drawImage(_picture("The captain's log, as scanned"), 60, 300, width=475, height=420)
    canvas.showPage()
    canvas.save()


def _picture(text: str) -> ImageReader:
    image = Image.new("1", (320, 280), 1)
    ImageDraw.Draw(image).text((20, 20), text, fill=0)
    kept = BytesIO()
    image.save(kept, "PNG")
    kept.seek(0)
    return ImageReader(kept)


def _styles(font: str) -> tuple[ParagraphStyle, ParagraphStyle]:
    """Of headings and of paragraphs, in a font that every PDF viewer has and no file holds."""
    pdfmetrics.registerFont(UnicodeCIDFont(font))
    head = ParagraphStyle("head", fontName=font, fontSize=18, leading=22, spaceAfter=6, spaceBefore=12)
    return head, ParagraphStyle("body", fontName=font, fontSize=10, leading=14, spaceBefore=8, wordWrap="CJK")


def _flow(path: Path, title: str, blocks: list[object]) -> None:
    SimpleDocTemplate(str(path), pagesize=A4, title=title, invariant=1).build(blocks)


def japanese(path: Path) -> None:
    """Paragraphs that break within words, as Japanese ones do, over two pages."""
    head, body = _styles("HeiseiMin-W3")
    blocks = [
        Paragraph("運航の概要", head),
        Paragraph(
            "二〇二四年の利用者数は百二十万四千人で、過去最高となりました。夏の夕方に増便したことと、両桟橋に新しい券売機を"
            "置いたことが利用者の増加につながったと会社は見ています。",
            body,
        ),
        Paragraph("燃料の消費は一回の航海あたり平均四十一・五リットルで、前の年より三リットル減りました。", body),
        PageBreak(),
        Paragraph("来年の計画", head),
        Paragraph("来年は四隻目の船を借り、冬の朝にも運航する予定です。", body),
    ]
    _flow(path, "フェリー運航報告", blocks)


def chinese(path: Path) -> None:
    """Chinese paragraphs and a table."""
    head, body = _styles("STSong-Light")
    table = Table([["码头", "2023年", "2024年"], ["北码头", "51.2万", "64万"], ["南码头", "48.8万", "56.4万"]])
    table.setStyle([("FONT", (0, 0), (-1, -1), "STSong-Light", 10)])
    blocks = [
        Paragraph("运营概况", head),
        Paragraph(
            "二〇二四年共有一百二十万四千人次乘坐渡轮，创下历史新高。公司认为，这归功于夏季傍晚增开的班次。", body
        ),
        table,
        Paragraph("燃料", head),
        Paragraph("每次航行平均消耗柴油四十一点五升，比上一年少三升。", body),
    ]
    _flow(path, "渡轮运营报告", blocks)


def english_by_fpdf2(path: Path) -> None:
    """Justified paragraphs, headings in the outline, a list."""
    pdf = FPDF(format=(150, 210))
    pdf.set_title("Ferry plan 2025")
    pdf.set_creation_date(datetime(2024, 1, 1, tzinfo=UTC))
    pdf.add_page()
    _section(
        pdf,
        "New boat",
        "In 2025 the company will charter a fourth boat, the Avocet, which carries 320 people and "
        "runs on batteries alone. It will cross the bay every forty minutes.",
    )
    _section(
        pdf,
        "Timetable",
        "From December on there will be a boat at six in the morning, so that the night shift of "
        "the hospital can get home.",
    )
    for item in ("1. Winter: first boat at 06:00.", "2. Summer: last boat at 23:30."):
        pdf.cell(text=item, new_x="LMARGIN", new_y="NEXT")
    pdf.add_page()
    _section(pdf, "Fares", "A single ticket costs 4.20 and a book of ten 35.00; children under six travel free.")
    pdf.output(str(path))


def _section(pdf: FPDF, title: str, text: str) -> None:
    pdf.start_section(title)
    pdf.set_font("Times", "B", 15)
    pdf.cell(text=title, new_x="LMARGIN", new_y="NEXT")
    pdf.set_font("Times", size=11)
    pdf.multi_cell(0, 5.5, text, align="J", new_x="LMARGIN", new_y="NEXT")
    pdf.ln(4)


MAKERS = {
    "ferry.reportlab.pdf": columns_and_a_scan,
    "ferry-ja.reportlab.pdf": japanese,
    "ferry-zh.reportlab.pdf": chinese,
    "ferry-plan.fpdf2.pdf": english_by_fpdf2,
}
