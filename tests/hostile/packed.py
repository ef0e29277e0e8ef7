"""Hostile packed files: Office files and books whose members, sizes or XML are not what they say."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable, Iterable

import docx
import pptx

from tests.hostile.case import BROKEN, ENCRYPTED, LARGE, NO_TEXT, STORED, UNSUPPORTED, Hostile
from tests.support.packed_files import changed_part, minimal_epub, minimal_xlsx, packed

__all__ = ["PACKED", "good_docx", "good_epub", "good_pptx", "good_xlsx"]

_ROWS = "<sheetData><row><c><v>1</v></c><c><v>2</v></c></row></sheetData>"
SHEET = "xl/worksheets/sheet1.xml"
DOCUMENT = "word/document.xml"


def good_xlsx() -> bytes:
    """A workbook that is all right."""
    return minimal_xlsx(_ROWS)


def good_docx() -> bytes:
    """A document of Word that is all right."""
    document = docx.Document()
    document.add_heading("A heading", 1)
    document.add_paragraph("A paragraph of Word.")
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def good_pptx() -> bytes:
    """A deck that is all right."""
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[0])
    slide.shapes.title.text = "A title on a slide"
    stream = io.BytesIO()
    deck.save(stream)
    return stream.getvalue()


def good_epub() -> bytes:
    """A book that is all right."""
    return minimal_epub({"a.xhtml": "<h1>One</h1><p>Text of a book.</p>"})


def _bomb(name: str, make: Callable[[], bytes]) -> Callable[[], bytes]:
    """The file with 40 MB of blanks in one of its parts, which pack to 40 kB."""
    return lambda: changed_part(make(), name, lambda content: content + b" " * 40_000_000)


def _many_members() -> bytes:
    return packed({f"m{number}": b"" for number in range(20_000)})


def _lying(size: int) -> bytes:
    """The sheet's size in the table of contents and before the member is another one."""
    raw = bytearray(good_xlsx())
    for mark, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        at = raw.index(mark)
        while SHEET.encode() not in raw[at : at + 46 + len(SHEET)]:
            at = raw.index(mark, at + 4)
        struct.pack_into("<I", raw, at + offset, size)
    return bytes(raw)


def _with_members(raw: bytes, members: Iterable[tuple[str, bytes]]) -> bytes:
    stream = io.BytesIO(raw)
    with zipfile.ZipFile(stream, "a") as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name, (2024, 3, 31, 9, 0, 0)), content)
    return stream.getvalue()


def _twice() -> bytes:
    raw = _with_members(good_xlsx(), [("xl/a", b"1"), ("xl/b", b"2")])
    return raw.replace(b"xl/b", b"xl/a")


def _flagged() -> bytes:
    """Every member says that it is encrypted."""
    raw = bytearray(good_docx())
    for mark, offset in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        at = raw.find(mark)
        while at >= 0:
            raw[at + offset] |= 1
            at = raw.find(mark, at + 4)
    return bytes(raw)


def _old_office(stream: bytes = b"") -> bytes:
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + stream + bytes(512)


_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")


def _packed_otherwise(method: int) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(good_docx())) as old, zipfile.ZipFile(stream, "w", method) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    return stream.getvalue()


def _nested() -> bytes:
    inner = good_docx()
    for _ in range(20):
        inner = packed({DOCUMENT: inner})
    return inner


def _laughs(element: str, body: str) -> bytes:
    entities = '<!ENTITY a0 "ha">' + "".join(
        f'<!ENTITY a{number} "{f"&a{number - 1};" * 10}">' for number in range(1, 12)
    )
    return f'<?xml version="1.0"?><!DOCTYPE {element} [{entities}]>{body.replace("HERE", "&a11;")}'.encode()


def _quadratic(element: str, body: str) -> bytes:
    return (
        f'<?xml version="1.0"?><!DOCTYPE {element} [<!ENTITY a "{"x" * 100_000}">]>'
        + body.replace("HERE", "&a;" * 20_000)
    ).encode()


def _outside(element: str, body: str) -> bytes:
    declared = '<!ENTITY a SYSTEM "file:///etc/passwd">'
    return f'<?xml version="1.0"?><!DOCTYPE {element} [{declared}]>{body.replace("HERE", "&a;")}'.encode()


_WORD = (
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r>'
    "<w:t>HERE</w:t></w:r></w:p></w:body></w:document>"
)
_CELLS = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row>'
    '<c t="inlineStr"><is><t>HERE</t></is></c></row></sheetData></worksheet>'
)
_PAGE = '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>before HERE behind</p></body></html>'


def _word(content: bytes) -> Callable[[], bytes]:
    return lambda: changed_part(good_docx(), DOCUMENT, lambda _: content)


def _sheet(content: bytes) -> Callable[[], bytes]:
    return lambda: changed_part(good_xlsx(), SHEET, lambda _: content)


def _chapter(content: bytes) -> Callable[[], bytes]:
    return lambda: changed_part(good_epub(), "OEBPS/a.xhtml", lambda _: content)


def _deep_word() -> bytes:
    depth = 20_000
    body = "<w:tbl><w:tr><w:tc>" * depth + "<w:p/>" + "</w:tc></w:tr></w:tbl>" * depth
    return changed_part(
        good_docx(), DOCUMENT, lambda _: _WORD.replace("<w:p><w:r><w:t>HERE</w:t></w:r></w:p>", body).encode()
    )


def _cut(make: Callable[[], bytes], share: float) -> Callable[[], bytes]:
    def cut() -> bytes:
        raw = make()
        return raw[: int(len(raw) * share)]

    return cut


def _prefixed() -> bytes:
    return b"#!/bin/sh\nrm -rf /\n" + good_xlsx()


_WORKBOOK_LINKS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
    'Type="http://x/worksheet" Target="TARGET"/></Relationships>'
)


def _links_to(target: str) -> Callable[[], bytes]:
    return lambda: changed_part(
        good_xlsx(), "xl/_rels/workbook.xml.rels", lambda _: _WORKBOOK_LINKS.replace("TARGET", target).encode()
    )


def _many_sheets() -> bytes:
    raw = good_xlsx()
    sheets = "".join(f'<sheet name="s{number}" sheetId="{number}" r:id="r1"/>' for number in range(1, 20_001))
    return changed_part(
        raw, "xl/workbook.xml", lambda content: content.replace(b"<sheets>", b"<sheets>" + sheets.encode())
    )


def _cuts() -> tuple[Hostile, ...]:
    kinds = (("docx", good_docx), ("pptx", good_pptx), ("xlsx", good_xlsx), ("epub", good_epub))
    return tuple(
        Hostile(f"cut-at-{int(share * 100):02}.{suffix}", _cut(make, share), (BROKEN,))
        for suffix, make in kinds
        for share in (0.01, 0.5, 0.95)
    )


PACKED = (
    Hostile("bomb.xlsx", _bomb(SHEET, good_xlsx), (LARGE,)),
    Hostile("bomb.docx", _bomb(DOCUMENT, good_docx), (LARGE,)),
    Hostile("bomb.pptx", _bomb("ppt/slides/slide1.xml", good_pptx), (LARGE,)),
    Hostile("bomb.epub", _bomb("OEBPS/a.xhtml", good_epub), (LARGE,)),
    Hostile("bomb-in-pieces.xlsx", lambda: packed({f"xl/p{n}": b" " * 8_000_000 for n in range(34)}), (LARGE,)),
    Hostile("members.docx", _many_members, (LARGE,)),
    Hostile("says-1-gb.xlsx", lambda: _lying(1 << 30), (LARGE,)),
    Hostile("says-4-gb.xlsx", lambda: _lying(0xFFFFFFFE), (LARGE,)),
    Hostile("says-10-bytes.xlsx", lambda: _lying(10), (BROKEN,)),
    Hostile("nested.docx", _nested, (BROKEN,)),
    Hostile("climbs.epub", lambda: _with_members(good_epub(), [("../../../etc/passwd", b"x")]), (BROKEN,)),
    Hostile("climbs-windows.docx", lambda: _with_members(good_docx(), [("..\\..\\x.dll", b"x")]), (BROKEN,)),
    Hostile("absolute.xlsx", lambda: _with_members(good_xlsx(), [("/etc/passwd", b"x")]), (BROKEN,)),
    Hostile("drive.pptx", lambda: _with_members(good_pptx(), [("C:/x", b"x")]), (BROKEN,)),
    Hostile("twice.xlsx", _twice, (BROKEN,)),
    Hostile("flagged.docx", _flagged, (ENCRYPTED,)),
    Hostile("encrypted.xlsx", lambda: _old_office(_ENCRYPTED_PACKAGE), (ENCRYPTED,)),
    Hostile("encrypted.docx", lambda: _old_office(_ENCRYPTED_PACKAGE), (ENCRYPTED,)),
    Hostile("encrypted.pptx", lambda: _old_office(_ENCRYPTED_PACKAGE), (ENCRYPTED,)),
    Hostile("old.docx", _old_office, (UNSUPPORTED,)),
    Hostile("bzip2.docx", lambda: _packed_otherwise(zipfile.ZIP_BZIP2), (UNSUPPORTED,)),
    Hostile("lzma.docx", lambda: _packed_otherwise(zipfile.ZIP_LZMA), (UNSUPPORTED,)),
    Hostile("prefixed.xlsx", _prefixed, (STORED, BROKEN)),
    Hostile("no-parts.docx", lambda: packed({"x": b"y"}), (BROKEN,)),
    Hostile("no-parts.xlsx", lambda: packed({"x": b"y"}), (BROKEN,)),
    Hostile("no-parts.pptx", lambda: packed({"x": b"y"}), (BROKEN,)),
    Hostile("nothing.epub", lambda: packed({}), (BROKEN,)),
    Hostile("laughs.docx", _word(_laughs("w", _WORD)), (BROKEN,)),
    Hostile("laughs.xlsx", _sheet(_laughs("w", _CELLS)), (BROKEN,)),
    Hostile("laughs.epub", _chapter(_laughs("html", _PAGE)), (STORED, BROKEN)),
    Hostile(
        "laughs-in-package.epub",
        lambda: changed_part(good_epub(), "OEBPS/content.opf", lambda _: _laughs("package", "<package>HERE</package>")),
        (BROKEN,),
    ),
    Hostile("quadratic.docx", _word(_quadratic("w", _WORD)), (BROKEN,)),
    Hostile("quadratic.xlsx", _sheet(_quadratic("w", _CELLS)), (BROKEN,)),
    Hostile("outside.docx", _word(_outside("w", _WORD)), (BROKEN,)),
    Hostile("outside.xlsx", _sheet(_outside("w", _CELLS)), (BROKEN,)),
    Hostile("outside.epub", _chapter(_outside("html", _PAGE)), (STORED, BROKEN)),
    Hostile("outside-utf16.xlsx", _sheet(_outside("w", _CELLS).decode().encode("utf-16")), (BROKEN,)),
    Hostile("no-xml.docx", _word(b"\x00\x01 no XML at all"), (BROKEN,)),
    Hostile("no-xml.xlsx", _sheet(b"<a><b></a>"), (BROKEN,)),
    Hostile("deep.docx", _deep_word, (LARGE, BROKEN)),
    Hostile("deep.xlsx", _sheet(b"<worksheet>" + b"<a>" * 100_000), (LARGE, BROKEN)),
    Hostile("deep.epub", _chapter(b"<html><body>" + b"<div>" * 100_000 + b"x"), (LARGE,)),
    Hostile("long-text.xlsx", _sheet(_CELLS.replace("HERE", "x" * 12_000_000).encode()), (BROKEN, LARGE)),
    Hostile(
        "last-row.xlsx",
        lambda: minimal_xlsx('<sheetData><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'),
        (STORED,),
    ),
    Hostile(
        "row-beyond.xlsx",
        lambda: minimal_xlsx('<sheetData><row r="99999999"><c><v>1</v></c></row></sheetData>'),
        (BROKEN,),
    ),
    Hostile(
        "merged.xlsx",
        lambda: minimal_xlsx(_ROWS + "<mergeCells>" + '<mergeCell ref="A1:XFD1048576"/>' * 5000 + "</mergeCells>"),
        (STORED,),
    ),
    Hostile(
        "format.xlsx",
        lambda: minimal_xlsx(
            '<sheetData><row><c s="0"><v>1e308</v></c></row></sheetData>',
            "",
            f'<numFmts><numFmt numFmtId="200" formatCode="{"#,##0.00;" * 3000}"/></numFmts>'
            '<cellXfs><xf numFmtId="200"/></cellXfs>',
        ),
        (STORED,),
    ),
    Hostile(
        "formulas.xlsx",
        lambda: minimal_xlsx(
            "<sheetData><row><c><f>WEBSERVICE(A1)</f></c><c t='str'><f>1</f><v>=cmd|x</v></c></row></sheetData>"
        ),
        (STORED,),
    ),
    Hostile("sheets.xlsx", _many_sheets, (LARGE,)),
    Hostile("link-outside.xlsx", _links_to("../../../etc/passwd"), (BROKEN,)),
    Hostile("link-to-itself.xlsx", _links_to("workbook.xml"), (NO_TEXT, BROKEN)),
    Hostile(
        "spine-in-circles.epub",
        lambda: minimal_epub({"a.xhtml": "<p>x</p>"}, spine='<itemref idref="c0"/>' * 4000),
        (STORED,),
    ),
    Hostile(
        "spine-without-end.epub",
        lambda: minimal_epub({"a.xhtml": "<p>x</p>"}, spine='<itemref idref="c0"/>' * 6000),
        (LARGE,),
    ),
    Hostile("package-is-chapter.epub", lambda: minimal_epub({"content.opf": "x"}), (STORED, BROKEN, NO_TEXT)),
    Hostile(
        "package-outside.epub",
        lambda: changed_part(
            good_epub(),
            "META-INF/container.xml",
            lambda content: content.replace(b"OEBPS/content.opf", b"../../etc/passwd"),
        ),
        (BROKEN,),
    ),
    Hostile("word-inside.epub", good_docx, (STORED,)),
    Hostile("deck-inside.docx", good_pptx, (STORED,)),
    Hostile("workbook-inside.txt", good_xlsx, (STORED,)),
    Hostile("workbook-inside.csv", good_xlsx, (STORED,)),
    Hostile("zip-inside.md", lambda: packed({"x": b"y"}), (UNSUPPORTED,)),
    Hostile("text-inside.docx", lambda: b"This is only a text with another name.", (BROKEN,)),
    Hostile("picture-inside.pptx", lambda: b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", (BROKEN,)),
    *_cuts(),
)
