"""Books, by pandoc and by hand, and messages, by the standard library."""

from __future__ import annotations

import zipfile
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path

import pypandoc

from scripts.samples_word import repack

__all__ = ["MAKERS"]

_BOOK = """---
title: The harbour book
author: Harbour Line
date: 2024-03-31
lang: en
identifier: harbour-book
---

# The bay

The bay is four miles wide and shallow at its northern end.

## Tides

At spring tide the water rises by five metres, and the small boat stays in port.

# The crews

Every crew has a captain, a mate and two deckhands.

| Boat  | Captain |
|-------|---------|
| Heron | A. Lind |
| Tern  | M. Sato |
"""

_PAGE = (
    '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>{title}</title>'
    "</head><body>{body}</body></html>"
)
_CHAPTERS = (
    ("序章", "<p>湾は浅く、冬には北西の風が吹く。</p>"),
    ("第一章　船", "<h1>第一章　船</h1><p>会社は三隻の船を持つ。</p><p>あおさぎ丸は四百人を乗せる。</p>"),
    ("第二章　人", "<h1>第二章　人</h1><p>船長は二十年この湾を渡っている。</p>"),
)


def pandoc_book(path: Path) -> None:
    """EPUB 3 with a title page, a table of contents and a table."""
    pypandoc.convert_text(_BOOK, "epub3", format="markdown", outputfile=str(path), extra_args=["--split-level=1"])
    repack(path)


def japanese_book(path: Path) -> None:
    """EPUB 2: the name of a chapter without heading stands in the table of contents (NCX) alone."""
    numbers = range(len(_CHAPTERS))
    items = "".join(f'<item id="c{n}" href="text/c{n}.xhtml" media-type="application/xhtml+xml"/>' for n in numbers)
    order = "".join(f'<itemref idref="c{n}"/>' for n in numbers)
    points = "".join(
        f'<navPoint id="p{n}"><navLabel><text>{_CHAPTERS[n][0]}</text></navLabel>'
        f'<content src="text/c{n}.xhtml"/></navPoint>'
        for n in numbers
    )
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
        '<rootfiles><rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles>'
        "</container>",
        "OPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf" version="2.0"><metadata '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>湾の本</dc:title><dc:creator>伊藤</dc:creator>'
        "</metadata>"
        f'<manifest>{items}<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest>'
        f'<spine toc="ncx">{order}</spine></package>',
        "OPS/toc.ncx": f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>{points}</navMap></ncx>',
        **{f"OPS/text/c{n}.xhtml": _PAGE.format(title=_CHAPTERS[n][0], body=_CHAPTERS[n][1]) for n in numbers},
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    repack(path)


def english_message(path: Path) -> None:
    """Plain text beside HTML, an attached table, a forwarded message, a picture that is not read."""
    forwarded = EmailMessage()
    _head(forwarded, "Complaint", "guest@example.org", "Mon, 1 Apr 2024 08:00:00 +0000")
    forwarded.set_content("The boat at eight was late again.\n\nPlease send the money back.\n")
    message = EmailMessage()
    _head(message, "Ferry figures of March", "office@example.org", "Tue, 2 Apr 2024 09:30:00 +0100")
    message.set_content("Dear all,\n\nthe figures of March are attached.\n\nThe evening boats were full.\n")
    message.add_alternative("<p>the figures of March are attached.</p>", subtype="html")
    message.add_attachment("Week,People\n9,21000\n10,23500\n", subtype="csv", filename="march.csv")
    message.add_attachment(forwarded)
    message.add_attachment(b"\x89PNG\r\n\x1a\n", maintype="image", subtype="png", filename="pier.png")
    _save(message, path)


def japanese_message(path: Path) -> None:
    """ISO-2022-JP, as mail in Japan was written for decades; HTML alone."""
    message = EmailMessage()
    _head(message, "増便のお知らせ", "office@example.jp", "Wed, 3 Apr 2024 10:00:00 +0900")
    message.set_content(
        "<h1>増便のお知らせ</h1><p>四月から夕方の便を二便増やします。</p><p>冬の朝六時の便も続けます。</p>",
        subtype="html",
        charset="iso-2022-jp",
    )
    _save(message, path)


def _head(message: EmailMessage, subject: str, sender: str, day: str) -> None:
    message["Subject"], message["From"], message["To"], message["Date"] = subject, sender, "all@example.org", day


def _save(message: EmailMessage, path: Path) -> None:
    """With boundaries that are the same every time."""
    for number, part in enumerate(each for each in message.walk() if each.is_multipart()):
        if part.get_content_maintype() == "multipart":
            part.set_boundary(f"=====part{number}=====")
    path.write_bytes(message.as_bytes(policy=SMTP))


MAKERS = {
    "harbour.pandoc.epub": pandoc_book,
    "harbour-ja.by-hand.epub": japanese_book,
    "figures.python.eml": english_message,
    "notice-ja.python.eml": japanese_message,
}
