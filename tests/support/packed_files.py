"""Packed files made by hand, for what no library writes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping

__all__ = ["changed_part", "minimal_epub", "minimal_xlsx", "packed"]

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def packed(parts: Mapping[str, str | bytes]) -> bytes:
    """A ZIP file of these members."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name, (2024, 3, 31, 9, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def changed_part(raw: bytes, part: str, change: Callable[[bytes], bytes]) -> bytes:
    """The file with one of its parts changed."""
    with zipfile.ZipFile(io.BytesIO(raw)) as old:
        return packed({name: change(old.read(name)) if name == part else old.read(name) for name in old.namelist()})


def minimal_xlsx(sheet_data: str, shared: str = "", styles: str = "") -> bytes:
    """A workbook of one sheet. `sheet_data` stands in <worksheet>, `shared` in <sst>, `styles` in <styleSheet>."""
    links = "".join(
        f'<Relationship Id="r{number}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(
            (("worksheet", "worksheets/sheet1.xml"), ("sharedStrings", "sharedStrings.xml"), ("styles", "styles.xml")),
            1,
        )
    )
    return packed(
        {
            "_rels/.rels": f'<Relationships xmlns="{_RELATIONS}"><Relationship Id="r1" '
            f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
            "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
            '<sheet name="Sheet1" sheetId="1" r:id="r1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_RELATIONS}">{links}</Relationships>',
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_MAIN}">{sheet_data}</worksheet>',
            "xl/sharedStrings.xml": f'<sst xmlns="{_MAIN}">{shared}</sst>',
            "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}">{styles}</styleSheet>',
        }
    )


def minimal_epub(chapters: Mapping[str, str], *, spine: str = "", package: str = "") -> bytes:
    """A book whose chapters (name, XHTML body) stand in the order given. `spine`, `package`: instead."""
    items = "".join(
        f'<item id="c{number}" href="{name}" media-type="application/xhtml+xml"/>'
        for number, name in enumerate(chapters)
    )
    order = spine or "".join(f'<itemref idref="c{number}"/>' for number in range(len(chapters)))
    return packed(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles>'
            "</container>",
            "OEBPS/content.opf": package
            or '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata '
            'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A book</dc:title><dc:creator>R. Ito</dc:creator>'
            f"<dc:date>2024-03-31</dc:date></metadata><manifest>{items}</manifest><spine>{order}</spine></package>",
            **{
                f"OEBPS/{name}": f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head><body>{body}'
                "</body></html>"
                for name, body in chapters.items()
            },
        }
    )
