"""Hostile PDF files: tables that lie, trees that loop, streams that swell."""

from __future__ import annotations

import io
import zlib
from collections.abc import Mapping

from reportlab.lib import pdfencrypt  # type: ignore[import-untyped]
from reportlab.pdfgen import canvas  # type: ignore[import-untyped]

from tests.hostile.case import BROKEN, ENCRYPTED, LARGE, NO_TEXT, STORED, Hostile

__all__ = ["PDFS", "good_pdf"]


def good_pdf(password: str = "") -> bytes:
    """Two pages of text; with a password nobody opens it without."""
    stream = io.BytesIO()
    secret = pdfencrypt.StandardEncryption(password, canPrint=0) if password else None
    page = canvas.Canvas(stream, encrypt=secret, invariant=True)
    for text in ("The first page of a good file.", "The second page of a good file."):
        page.drawString(72, 720, text)
        page.showPage()
    page.save()
    return stream.getvalue()


def made(objects: Mapping[int, bytes], trailer: bytes = b"/Root 1 0 R") -> bytes:
    """A file of these objects, with a table that is right."""
    out, places = bytearray(b"%PDF-1.7\n"), {}
    for number, body in objects.items():
        places[number] = len(out)
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = len(out)
    size = max(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        out += b"%010d 00000 n \n" % places.get(number, 0)
    return bytes(out) + b"trailer\n<</Size %d %b>>\nstartxref\n%d\n%%%%EOF" % (size, trailer, table)


def page(content: bytes, **more: bytes) -> dict[int, bytes]:
    """One page with a content stream; `more` replaces objects by name."""
    text = more.get("stream") or b"<</Length %d>>\nstream\n%b\nendstream" % (len(content), content)
    return {
        1: more.get("root") or b"<</Type/Catalog/Pages 2 0 R>>",
        2: more.get("pages") or b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        3: more.get("page")
        or b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
        4: text,
        5: more.get("font") or b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    }


HELLO = b"BT /F 24 Tf 72 700 Td (Hello there) Tj ET"


def _flate(content: bytes, times: int = 1) -> bytes:
    packed = content
    for _ in range(times):
        packed = zlib.compress(packed, 9)
    filters = b"[" + b"/FlateDecode " * times + b"]"
    return b"<</Length %d/Filter %b>>\nstream\n%b\nendstream" % (len(packed), filters, packed)


def _swollen() -> bytes:
    return made(page(b"", stream=_flate(b" " * 100_000_000, 2)))


def _many_pages(count: int) -> bytes:
    kids = b"3 0 R " * count
    return made(page(HELLO, pages=b"<</Type/Pages/Kids[%b]/Count %d>>" % (kids, count)))


_LOOP = b"<</Type/Pages/Kids[2 0 R]/Count 1/Parent 2 0 R>>"
_FORM = (
    b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 4 0 R>>>>/Length 5>>\nstream\n/X Do\nendstream"
)
_SCRIPT = b"<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.alert\\(1\\))>>>>"
_LAUNCH = b"<</Type/Catalog/Pages 2 0 R/OpenAction<</S/Launch/F(/bin/sh)>>>>"
_NO_MAP = b"<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/DescendantFonts[6 0 R]>>"
_WIDE = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 1e30 1e30]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>"

PDFS = (
    Hostile("header-only.pdf", lambda: b"%PDF-1.7\n", (BROKEN,)),
    Hostile("empty.pdf", lambda: b"", (BROKEN, NO_TEXT)),
    Hostile("text-inside.pdf", lambda: b"only a text with another name", (BROKEN,)),
    Hostile("page-inside.pdf", lambda: b"<html><body>a page</body></html>", (BROKEN,)),
    Hostile("nul.pdf", lambda: b"%PDF-1.7\n" + bytes(100_000), (BROKEN,)),
    Hostile("table-lies.pdf", lambda: made(page(HELLO)).replace(b"0000000", b"9999999"), (STORED, BROKEN)),
    Hostile("no-table.pdf", lambda: made(page(HELLO)).partition(b"xref")[0], (STORED, BROKEN)),
    Hostile("start-lies.pdf", lambda: made(page(HELLO)).replace(b"startxref\n", b"startxref\n99999"), (STORED, BROKEN)),
    Hostile("table-in-circles.pdf", lambda: made(page(HELLO), b"/Root 1 0 R/Prev 300"), (STORED, BROKEN)),
    Hostile("no-root.pdf", lambda: made(page(HELLO), b"/Root 99 0 R"), (BROKEN,)),
    Hostile("root-in-circles.pdf", lambda: made(page(HELLO, root=b"1 0 R")), (BROKEN, NO_TEXT)),
    Hostile("pages-in-circles.pdf", lambda: made(page(HELLO, pages=_LOOP)), (BROKEN, NO_TEXT, STORED)),
    Hostile(
        "count-lies.pdf",
        lambda: made(page(HELLO, pages=b"<</Type/Pages/Kids[3 0 R]/Count 2147483647>>")),
        (STORED, LARGE, BROKEN),
    ),
    Hostile(
        "count-below-0.pdf",
        lambda: made(page(HELLO, pages=b"<</Type/Pages/Kids[3 0 R]/Count -5>>")),
        (STORED, BROKEN, NO_TEXT),
    ),
    Hostile("pages.pdf", lambda: _many_pages(20_000), (LARGE,)),
    Hostile("no-pages.pdf", lambda: made(page(HELLO, pages=b"<</Type/Pages/Kids[]/Count 0>>")), (NO_TEXT, BROKEN)),
    Hostile("swollen.pdf", _swollen, (LARGE, NO_TEXT, BROKEN)),
    Hostile("filters.pdf", lambda: made(page(b"", stream=_flate(HELLO, 200))), (STORED, NO_TEXT, BROKEN)),
    Hostile(
        "length-lies.pdf",
        lambda: made(page(b"", stream=b"<</Length 999999999>>\nstream\n" + HELLO + b"\nendstream")),
        (STORED, NO_TEXT, BROKEN),
    ),
    Hostile(
        "form-in-circles.pdf",
        lambda: made(
            {
                **page(b"", stream=_FORM),
                3: b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</XObject<</X 4 0 R>>>>>>",
            }
        ),
        (NO_TEXT, BROKEN),
    ),
    Hostile(
        "arrays.pdf",
        lambda: made(page(HELLO, root=b"<</Type/Catalog/Pages 2 0 R/X " + b"[" * 100_000 + b">>")),
        (STORED, BROKEN),
    ),
    Hostile("states.pdf", lambda: made(page(b"q " * 300_000 + HELLO)), (STORED, NO_TEXT, BROKEN)),
    Hostile("script.pdf", lambda: made(page(HELLO, root=_SCRIPT)), (STORED,)),
    Hostile("launch.pdf", lambda: made(page(HELLO, root=_LAUNCH)), (STORED,)),
    Hostile(
        "no-map.pdf",
        lambda: made({**page(HELLO, font=_NO_MAP), 6: b"<</Type/Font/Subtype/CIDFontType2/BaseFont/X>>"}),
        (STORED, NO_TEXT),
    ),
    Hostile("wide.pdf", lambda: made(page(HELLO, page=_WIDE)), (STORED, NO_TEXT, BROKEN)),
    Hostile("encrypted.pdf", lambda: good_pdf("a password"), (ENCRYPTED,)),
    Hostile("cut-at-half.pdf", lambda: good_pdf()[: len(good_pdf()) // 2], (STORED, BROKEN)),
    Hostile("cut-at-end.pdf", lambda: good_pdf()[:-40], (STORED, BROKEN)),
    Hostile("pdf-inside.txt", good_pdf, (STORED,)),
    Hostile("pdf-inside.docx", good_pdf, (STORED,)),
    Hostile("behind-junk.pdf", lambda: b"junk\n" * 10 + made(page(HELLO)), (STORED, BROKEN)),
)
