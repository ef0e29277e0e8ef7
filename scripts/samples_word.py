"""Word files, by pandoc and python-docx. Those of Word itself among the samples come from elsewhere (SOURCES.md)."""

from __future__ import annotations

import re
import zipfile
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import docx
import pypandoc
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn

__all__ = ["MAKERS", "repack"]

_ENGLISH = """---
title: Ferry rules
author: Harbour Line
---

# Tickets

A ticket is good for one crossing on the day that it was bought for.[^1]

Tickets are sold at both piers and on the boats.

## Refunds

1. Who gives a ticket back a day before gets all of the money.
2. Who gives it back on the day gets half.
3. Afterwards nothing is paid back.

# Luggage

| Kind       | Fee  | Limit |
|------------|------|-------|
| Suitcase   | free | two   |
| Bicycle    | 2.00 | one   |
| Motorcycle | 6.50 | one   |

[^1]: The last boat of a day counts for that day, even if it lands after midnight.
"""

_MOMENT = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*")
_LEVELS = (("第%1章", "chineseCounting"), ("第%2条", "chineseCounting"))


def by_pandoc(path: Path) -> None:
    """Headings, a note, a list and a table."""
    pypandoc.convert_text(_ENGLISH, "docx", format="markdown", outputfile=str(path))
    repack(path)


def japanese(path: Path) -> None:
    """Tables within tables, merged cells, a text box, a tracked change."""
    document = _document("乗船のご案内")
    document.add_heading("手荷物", 1)
    document.add_paragraph("お一人様につき、スーツケース二個まで無料でお持ち込みいただけます。")
    table = document.add_table(rows=3, cols=3)
    for row, cells in enumerate(
        (("種類", "料金", ""), ("自転車", "200円", "一台まで"), ("オートバイ", "650円", "一台まで"))
    ):
        for column, cell in enumerate(cells):
            table.cell(row, column).text = cell
    table.cell(0, 1).merge(table.cell(0, 2))
    document.add_heading("運休", 1)
    paragraph = document.add_paragraph("強風のときは")
    _track(paragraph, "最終便のみ", "すべての便を")
    paragraph.add_run("運休いたします。")
    outer = document.add_table(rows=1, cols=2)
    outer.cell(0, 0).text = "払い戻しは桟橋の窓口で承ります。"
    inner = outer.cell(0, 1).add_table(rows=2, cols=2)
    for place, cell in enumerate(("窓口", "時間", "北桟橋", "六時から二十二時")):
        inner.cell(place // 2, place % 2).text = cell
    _save(document, path)


def chinese(path: Path) -> None:
    """Chapters and articles whose numbers Word counts: they stand nowhere in the text."""
    document = _document("渡轮乘坐规则")
    _number_headings(document)
    for text, level in (
        ("总则", 1),
        ("乘客须持有效船票乘船。", 0),
        ("船票", 2),
        ("船票仅限购买当日使用一次。", 0),
        ("退票", 2),
        ("开船前一天退票的，退还全部票款；当天退票的，退还一半。", 0),
        ("行李", 1),
        ("每位乘客可免费携带两件行李箱。", 0),
    ):
        document.add_heading(text, level) if level else document.add_paragraph(text)
    _save(document, path)


def _document(title: str) -> Any:
    document = docx.Document()
    properties = document.core_properties
    properties.title, properties.author = title, "Harbour Line"
    properties.created = properties.modified = datetime(2024, 1, 1, tzinfo=UTC).replace(tzinfo=None)
    return document


def _track(paragraph: Any, deleted: str, inserted: str) -> None:
    """A change that was not accepted yet."""
    for name, text_name, text in (("w:del", "w:delText", deleted), ("w:ins", "w:t", inserted)):
        change, run, said = OxmlElement(name), OxmlElement("w:r"), OxmlElement(text_name)
        change.set(qn("w:id"), "1")
        change.set(qn("w:author"), "Harbour Line")
        said.text = text
        run.append(said)
        change.append(run)
        paragraph._p.append(change)


def _number_headings(document: Any) -> None:
    levels = "".join(
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/></w:lvl>'
        for depth, (text, form) in enumerate(_LEVELS)
    )
    numbering = document.part.numbering_part.element
    numbering.insert(0, parse_xml(f'<w:abstractNum {nsdecls("w")} w:abstractNumId="90">{levels}</w:abstractNum>'))
    numbering.append(parse_xml(f'<w:num {nsdecls("w")} w:numId="90"><w:abstractNumId w:val="90"/></w:num>'))
    for depth in range(len(_LEVELS)):
        properties = document.styles[f"Heading {depth + 1}"].element.get_or_add_pPr()
        properties.append(
            parse_xml(f'<w:numPr {nsdecls("w")}><w:ilvl w:val="{depth}"/><w:numId w:val="90"/></w:numPr>')
        )


def _save(document: Any, path: Path) -> None:
    document.save(str(path))
    repack(path)


def repack(path: Path) -> None:
    """The members of a packed file with a fixed date, so that the same content gives the same bytes."""
    path.write_bytes(_settled(path.read_bytes()))


def _settled(raw: bytes) -> bytes:
    with zipfile.ZipFile(BytesIO(raw)) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            if "/embeddings/" in name:
                content = _settled(content)
            elif name == "docProps/core.xml":
                content = _MOMENT.sub(rb"\g<1>2024-01-01T00:00:00Z", content)
            archive.writestr(info, content)
    return stream.getvalue()


MAKERS = {
    "ferry-rules.pandoc.docx": by_pandoc,
    "ferry-rules-ja.python-docx.docx": japanese,
    "ferry-rules-zh.python-docx.docx": chinese,
}
