"""How fast each kind of file is read: bytes of the file and characters of its text a second of processor time.

    python benchmarks/readers.py --data ../shared/data

A file of each kind is made from real texts (qmsum, English; jsquad, Japanese), and read by its reader in this process
and, in turn with it, by what one would call without any reader: the library alone, for its text, without places, heads,
warnings and bounds. `isolated` is the same file through the process that reads for the server, by the clock.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import statistics
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from email import message_from_bytes
from email.message import EmailMessage
from pathlib import Path

import docx
import openpyxl
import pptx
import pypdfium2  # type: ignore[import-untyped]
from lxml import etree
from report import commit, machine
from reportlab.pdfgen import canvas  # type: ignore[import-untyped]

from groundwire_server.readers import READERS, Document, Reader, Source, read_document

COLUMNS = 8


def main() -> int:
    """Print the table, then one JSON line a kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--chars", type=int, default=1_000_000, help="of the text in each file")
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    paragraphs = list(texts(args.data, args.chars))
    rows = [measure(name, make(paragraphs), peer, args.runs) for name, make, peer in KINDS]
    print(f"{'file':<12}{'MB':>7}{'MB/s':>9}{'Mchar/s':>9}  {'peer':<22}{'MB/s':>9}{'ratio':>7}{'isolated s':>12}")
    for row in rows:
        print(
            f"{row['file']:<12}{row['mb']:>7.2f}{row['mb_per_cpu_second']:>9.2f}{row['mchars_per_cpu_second']:>9.2f}  "
            f"{row['peer']:<22}{row['peer_mb_per_cpu_second']:>9.2f}{row['ratio']:>7.2f}{row['isolated_seconds']:>12.2f}"
        )
    for row in rows:
        print(json.dumps(row))
    return 0


def texts(data: Path, chars: int) -> Iterator[str]:
    """Paragraphs of two languages in turn, so many characters together."""
    pools = [list(lines(data / name / "corpus.jsonl")) for name in ("qmsum", "jsquad")]
    left = chars
    for pair in zip(*pools, strict=False):
        for text in pair:
            paragraph = " ".join(text.split())[:1500]
            left -= len(paragraph)
            if left < 0:
                return
            yield paragraph


def lines(path: Path) -> Iterator[str]:
    """The texts of a corpus."""
    with path.open(encoding="utf-8", newline="\n") as stream:
        for line in stream:
            yield json.loads(line)["text"]


def table_rows(paragraphs: list[str]) -> Iterator[list[str | int]]:
    """Heads, then rows of words and numbers."""
    yield ["Code", "Name", *(f"Value {number}" for number in range(COLUMNS - 2))]
    for number, paragraph in enumerate(paragraphs):
        for start in range(0, len(paragraph), 60):
            yield [f"c{number}", paragraph[start : start + 60], *(number * 7 + each for each in range(COLUMNS - 2))]


def as_text(paragraphs: list[str]) -> bytes:
    """One paragraph a line."""
    return "\n".join(paragraphs).encode()


def as_shift_jis(paragraphs: list[str]) -> bytes:
    """In a charset that has to be told."""
    return "\n".join(paragraphs).encode("cp932", "ignore")


def as_json_lines(paragraphs: list[str]) -> bytes:
    """One document a paragraph."""
    rows = [{"doc_id": f"d{n}", "title": "t", "text": text} for n, text in enumerate(paragraphs)]
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()


def as_csv(paragraphs: list[str]) -> bytes:
    """A table."""
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows(table_rows(paragraphs))
    return stream.getvalue().encode()


def as_xlsx(paragraphs: list[str]) -> bytes:
    """The same table."""
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Sheet")
    for row in table_rows(paragraphs):
        sheet.append(row)
    return saved(book)


def as_html(paragraphs: list[str]) -> bytes:
    """Headings and paragraphs."""
    return f"<!doctype html><meta charset=utf-8><title>t</title><main>{blocks(paragraphs)}</main>".encode()


def as_epub(paragraphs: list[str]) -> bytes:
    """Chapters of twenty paragraphs."""
    chapters = [blocks(paragraphs[start : start + 20]) for start in range(0, len(paragraphs), 20)]
    items = "".join(
        f'<item id="c{n}" href="c{n}.xhtml" media-type="application/xhtml+xml"/>' for n in range(len(chapters))
    )
    order = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr(
            "META-INF/container.xml", '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>'
        )
        archive.writestr("b.opf", f"<package><manifest>{items}</manifest><spine>{order}</spine></package>")
        for number, chapter in enumerate(chapters):
            archive.writestr(f"c{number}.xhtml", f"<html><body>{chapter}</body></html>")
    return stream.getvalue()


def blocks(paragraphs: list[str]) -> str:
    """HTML with a heading every ten paragraphs."""
    escaped = [text.replace("&", "&amp;").replace("<", "&lt;") for text in paragraphs]
    return "".join(
        f"<h2>Part {n}</h2><p>{each}</p>" if n % 10 == 0 else f"<p>{each}</p>" for n, each in enumerate(escaped)
    )


def as_message(paragraphs: list[str]) -> bytes:
    """A body and two attachments of text."""
    message = EmailMessage()
    message["Subject"], message["From"] = "A long message", "a@example.com"
    third = len(paragraphs) // 3
    message.set_content("\n\n".join(paragraphs[:third]), cte="base64")
    for start in (third, 2 * third):
        message.add_attachment("\n\n".join(paragraphs[start : start + third]), filename=f"{start}.txt", cte="base64")
    return message.as_bytes()


def as_docx(paragraphs: list[str]) -> bytes:
    """Headings and paragraphs."""
    document = docx.Document()
    for number, text in enumerate(paragraphs):
        if number % 10 == 0:
            document.add_heading(f"Part {number}", 2)
        document.add_paragraph(text)
    return saved(document)


def as_pptx(paragraphs: list[str]) -> bytes:
    """Three paragraphs a slide, of a tenth of the text."""
    deck = pptx.Presentation()
    for start in range(0, len(paragraphs) // 10, 3):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = f"Slide {start}"
        slide.placeholders[1].text = "\n".join(paragraphs[start : start + 3])
    return saved(deck)


def as_pdf(paragraphs: list[str]) -> bytes:
    """Lines of the English paragraphs, fifty a page."""
    stream = io.BytesIO()
    page = canvas.Canvas(stream)
    written = [text[at : at + 90] for text in paragraphs if text.isascii() for at in range(0, len(text), 90)]
    for start in range(0, len(written), 50):
        for number, line in enumerate(written[start : start + 50]):
            page.drawString(50, 780 - 14 * number, line)
        page.showPage()
    page.save()
    return stream.getvalue()


def saved(made: object) -> bytes:
    """What a library writes."""
    stream = io.BytesIO()
    made.save(stream)  # type: ignore[attr-defined]
    return stream.getvalue()


def decode_alone(raw: bytes) -> None:
    """decode and split."""
    raw.decode().split("\n")


def decode_shift_jis(raw: bytes) -> None:
    """decode, charset known."""
    raw.decode("cp932").split("\n")


def json_alone(raw: bytes) -> None:
    """json.loads a line."""
    [json.loads(line) for line in raw.split(b"\n")]


def csv_alone(raw: bytes) -> None:
    """csv.reader."""
    list(csv.reader(io.StringIO(raw.decode(), newline="")))


def openpyxl_alone(raw: bytes) -> None:
    """openpyxl, read-only."""
    book = openpyxl.load_workbook(io.BytesIO(raw), read_only=True, data_only=True)
    [list(sheet.iter_rows(values_only=True)) for sheet in book.worksheets]


def lxml_alone(raw: bytes) -> None:
    """lxml, text of the tree."""
    "".join(map(str, etree.fromstring(raw.decode(), etree.HTMLParser()).itertext()))


def zip_and_lxml(raw: bytes) -> None:
    """zipfile and lxml."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        for name in archive.namelist():
            if name.endswith(".xhtml"):
                "".join(map(str, etree.fromstring(archive.read(name), etree.HTMLParser()).itertext()))


def email_alone(raw: bytes) -> None:
    """email, parts decoded."""
    for part in message_from_bytes(raw).walk():
        if not part.is_multipart():
            part.get_payload(decode=True)


def docx_alone(raw: bytes) -> None:
    """python-docx, paragraphs."""
    [paragraph.text for paragraph in docx.Document(io.BytesIO(raw)).paragraphs]


def pptx_alone(raw: bytes) -> None:
    """python-pptx, shapes."""
    deck = pptx.Presentation(io.BytesIO(raw))
    [shape.text_frame.text for slide in deck.slides for shape in slide.shapes if shape.has_text_frame]


def pdfium_alone(raw: bytes) -> None:
    """pdfium, text of pages."""
    document = pypdfium2.PdfDocument(raw)
    [page.get_textpage().get_text_bounded() for page in document]


KINDS: tuple[tuple[str, Callable[[list[str]], bytes], Callable[[bytes], None]], ...] = (
    ("text.txt", as_text, decode_alone),
    ("sjis.txt", as_shift_jis, decode_shift_jis),
    ("text.md", as_text, decode_alone),
    ("rows.jsonl", as_json_lines, json_alone),
    ("table.csv", as_csv, csv_alone),
    ("table.xlsx", as_xlsx, openpyxl_alone),
    ("page.html", as_html, lxml_alone),
    ("book.epub", as_epub, zip_and_lxml),
    ("mail.eml", as_message, email_alone),
    ("word.docx", as_docx, docx_alone),
    ("deck.pptx", as_pptx, pptx_alone),
    ("pages.pdf", as_pdf, pdfium_alone),
)


def measure(name: str, raw: bytes, peer: Callable[[bytes], None], runs: int) -> dict[str, object]:
    """Medians of processor time, reader and peer in turn, and one reading through the process of the server."""
    reader = max((each for each in READERS if name.endswith(each.suffixes)), key=lambda each: len(each.suffixes[0]))
    own, others = [], []
    for _ in range(runs):
        own.append(cpu(lambda: reader.read(Source(name, raw))))
        others.append(cpu(lambda: peer(raw)))
    mine, theirs = statistics.median(own), statistics.median(others)
    chars = sum(len(each.text) for each in reader.read(Source(name, raw)) if isinstance(each, Document))
    mb = len(raw) / 1e6
    return {
        "name": "reader",
        "file": name,
        "mb": round(mb, 3),
        "mb_per_cpu_second": round(mb / mine, 2),
        "mchars_per_cpu_second": round(chars / 1e6 / mine, 2),
        "peer": (peer.__doc__ or "").rstrip("."),
        "peer_mb_per_cpu_second": round(mb / theirs, 2),
        "ratio": round(theirs / mine, 3),
        "isolated_seconds": round(isolated(reader, name, raw), 2),
        "runs": runs,
        "commit": commit(),
        "machine": machine(),
    }


def cpu(call: Callable[[], object]) -> float:
    """Seconds of processor time of this process."""
    start = time.process_time()
    call()
    return max(time.process_time() - start, 1e-6)


def isolated(reader: Reader, name: str, raw: bytes) -> float:
    """Seconds by the clock, the process being there already; in this one where the reader is not isolated."""
    read_document(name, raw)
    start = time.perf_counter()
    read_document(name, raw)
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
