from __future__ import annotations

import datetime
import io
from zipfile import ZipFile

import pytest

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Span
from groundwire_server.readers import Document, ReadOptions, Source, WarningKind
from groundwire_server.readers.epub import EpubReader
from tests.support.packed_files import changed_part, minimal_epub, packed
from tests.support.refusals import reason_of

CHAPTERS = {
    "cover.xhtml": '<div><img src="cover.png" alt=""/></div>',
    "one.xhtml": "<h1>第一章　海</h1><p>The sea was calm.</p><h2>Ships</h2><p>Two ships lay there.</p>",
    "two b.xhtml": "<p>海は静かだった。</p>"
    "<table><tr><th>Ship</th><th>Year</th></tr><tr><td>Maru</td><td>1905</td></tr></table>",
}
PACKAGE = (
    '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
    "<dc:title>本 &amp; Book</dc:title></metadata><manifest>"
    '<item id="n" href="toc.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
    '<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
    '<item id="p" href="p.png" media-type="image/png"/>'
    '<item id="x" href="gone.xhtml" media-type="application/xhtml+xml"/></manifest>'
    '<spine><itemref idref="a"/><itemref idref="a"/><itemref idref="x"/><itemref idref="p"/>'
    '<itemref idref="y"/></spine>'
    "</package>"
)


def read(raw: bytes, options: ReadOptions | None = None) -> Document:
    (document,) = EpubReader().read(Source("book.epub", raw, options=options or ReadOptions()))
    assert isinstance(document, Document)
    return document


def place_of(document: Document, text: str) -> dict[str, str]:
    start = document.text.index(text)
    return dict(document.places.locate(Span(start, start + len(text))))


def test_chapters_stand_in_the_order_of_reading_with_their_headings() -> None:
    document = read(minimal_epub(CHAPTERS))
    words = [
        "第一章",
        "The sea was calm.",
        "Ships",
        "Two ships lay there.",
        "海は静かだった。",
        "Ship: Maru; Year: 1905",
    ]
    places = [document.text.index(word) for word in words]
    assert places == sorted(places)
    assert document.title == "A book"
    assert {each.name: each.value for each in document.attributes} == {
        "file_author": "R. Ito",
        "file_created": datetime.date(2024, 3, 31),
    }
    place = place_of(document, "Two ships")
    assert (place["part"], place["para"], place["heading"]) == ("2", "4", "Ships")
    assert document.places.heading(Span(document.text.index("Two"), len(document.text))).endswith(" > Ships")
    assert place_of(document, "Maru")["part"] == "3"
    assert [(each.locator, each.kind) for each in document.warnings] == [
        ("book.epub#part=1", WarningKind.PAGE_WITHOUT_TEXT)
    ]


def test_the_contents_name_a_chapter_and_what_cannot_be_read_is_told() -> None:
    raw = minimal_epub({"a.xhtml": "<p>Text of a.</p>"}, package=PACKAGE)
    raw = changed_part(raw, "OEBPS/content.opf", lambda _: PACKAGE.encode())
    contents = (
        b'<html xmlns="http://www.w3.org/1999/xhtml"><body><nav><a href="a.xhtml#x">Chapter A</a></nav></body></html>'
    )
    with ZipFile(io.BytesIO(raw)) as archive:
        raw = packed(
            {
                **{name: archive.read(name) for name in archive.namelist()},
                "OEBPS/toc.xhtml": contents,
                "OEBPS/p.png": b"PNG",
            }
        )
    document = read(raw)
    assert document.title == "本 & Book"
    assert place_of(document, "Text of a.") == {"part": "1", "para": "1", "heading": "Chapter A"}
    assert [(each.locator, each.message) for each in document.warnings] == [
        ("book.epub#part=2", "not read: it stood there before"),
        ("book.epub#part=3", "not read: it is missing"),
        ("book.epub#part=4", "not read: it is image/png"),
        ("book.epub#part=5", "not read: 'y' is named and not there"),
    ]


def encryption(algorithm: str) -> bytes:
    with ZipFile(io.BytesIO(minimal_epub({"a.xhtml": "<p>Text.</p>"}))) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["META-INF/encryption.xml"] = (
        '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><EncryptedData>'
        f'<EncryptionMethod Algorithm="{algorithm}"/></EncryptedData></encryption>'
    ).encode()
    return packed(parts)


def test_an_encrypted_book_is_refused_and_one_with_hidden_fonts_is_read() -> None:
    assert read(encryption("http://www.idpf.org/2008/embedding")).text == "Text."
    with pytest.raises(DocumentRefused) as refused:
        read(encryption("http://www.w3.org/2001/04/xmlenc#aes128-cbc"))
    assert refused.value.reason is ErrorReason.DOCUMENT_ENCRYPTED


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", ErrorReason.DOCUMENT_BROKEN),
        (packed({"mimetype": "application/epub+zip"}), ErrorReason.DOCUMENT_BROKEN),
        (packed({"META-INF/container.xml": "<container/>"}), ErrorReason.DOCUMENT_BROKEN),
        (minimal_epub({}), ErrorReason.DOCUMENT_NO_TEXT),
        (minimal_epub({"a.xhtml": " "}), ErrorReason.DOCUMENT_NO_TEXT),
        (minimal_epub({"a.xhtml": "x"}, spine="<itemref idref='gone'/>"), ErrorReason.DOCUMENT_NO_TEXT),
        (minimal_epub({"a.xhtml": "<div>" * 5000 + "x"}), ErrorReason.DOCUMENT_TOO_LARGE),
        (minimal_epub({"a.xhtml": "x"}, spine="<itemref idref='c0'/>" * 50), ErrorReason.DOCUMENT_TOO_LARGE),
        (minimal_epub({"a.xhtml": "x"})[:-300], ErrorReason.DOCUMENT_BROKEN),
    ],
)
def test_what_is_no_book_is_refused(raw: bytes, reason: ErrorReason) -> None:
    assert reason_of(lambda: read(raw, ReadOptions(max_pages=40))) is reason
