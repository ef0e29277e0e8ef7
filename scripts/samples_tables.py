"""Tables: workbooks by openpyxl and XlsxWriter, text by the csv module, in the charsets that people save them in."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from datetime import date, datetime
from pathlib import Path

import openpyxl
import xlsxwriter

from scripts.samples_word import repack

__all__ = ["MAKERS"]

_MADE = datetime(2024, 3, 31, 9)


def by_openpyxl(path: Path) -> None:
    """Japanese: a title over merged cells, heads in two rows, number formats, a hidden sheet, a second table."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "利用者数"
    sheet.append(["フェリー運航報告"])
    sheet.append(["航路", "2024年", None, "2023年"])
    sheet.append([None, "人数", "前年比", "人数"])
    sheet.append(["北桟橋", 640000, 0.25, 512000])
    sheet.append(["南桟橋", 564000, 0.156, 488000])
    sheet.append([])
    sheet.append(["船名", "就航日"])
    sheet.append(["あおさぎ丸", date(1998, 4, 1)])
    sheet.append(["あじさし丸", date(2011, 7, 15)])
    for area in ("A1:D1", "A2:A3", "B2:C2"):
        sheet.merge_cells(area)
    for row in (4, 5):
        sheet.cell(row, 2).number_format = sheet.cell(row, 4).number_format = "#,##0"
        sheet.cell(row, 3).number_format = "0.0%"
    for row in (8, 9):
        sheet.cell(row, 2).number_format = 'yyyy"年"m"月"d"日"'
    book.properties.created = book.properties.modified = _MADE
    hidden = book.create_sheet("下書き")
    hidden["A1"], hidden.sheet_state = "まだ決まっていない数字", "hidden"
    book.save(path)
    _forget_day(path)
    repack(path)


def _forget_day(path: Path) -> None:
    """openpyxl writes when it saved."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["docProps/core.xml"] = re.sub(rb"<dcterms:modified.*?</dcterms:modified>", b"", parts["docProps/core.xml"])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def by_xlsxwriter(path: Path) -> None:
    """English: two sheets, formulas with and without stored values, days, a hidden row, money."""
    with xlsxwriter.Workbook(str(path)) as book:
        book.set_properties({"created": _MADE, "title": "Fees and boats"})
        money, day = book.add_format({"num_format": "$#,##0.00"}), book.add_format({"num_format": "d mmm yyyy"})
        fees = book.add_worksheet("Fees")
        fees.write_row("A1", ["Kind", "Fee", "Valid from"])
        for row, (kind, fee) in enumerate((("Suitcase", 0), ("Bicycle", 2), ("Motorcycle", 6.5)), 1):
            fees.write(row, 0, kind)
            fees.write(row, 1, fee, money)
            fees.write(row, 2, date(2024, 4, 1), day)
        fees.write("A5", "Total")
        fees.write_formula("B5", "=SUM(B2:B4)", money, 8.5)
        fees.set_row(1, None, None, {"hidden": True})
        boats = book.add_worksheet("Boats")
        boats.write_row("A1", ["Boat", "People", "Cars"])
        boats.write_row("A2", ["Heron", 400, 30])
        boats.write_row("A3", ["Tern", 250])
        boats.write_row("A4", ["Plover", 180, 12])
    repack(path)


_ENGLISH = [
    ["Route", "2023", "2024", "Remark"],
    ["North pier", "512000", "640000", "two more boats\nin the evening"],
    ["South pier", "488000", "564000", 'with the "late boat", as people call it'],
    ["Island", "", "1200", ""],
]
_JAPANESE = [["航路", "2023年", "2024年"], ["北桟橋", "512,000", "640,000"], ["南桟橋", "488,000", "564,000"]]
_CHINESE = [["航线", "2023年", "2024年"], ["北码头", "51.2万", "64万"], ["南码头", "48.8万", "56.4万"]]


def english_csv(path: Path) -> None:
    """Commas, quotes, a line break within a cell."""
    path.write_bytes(_csv(_ENGLISH, ",").encode())


def japanese_csv(path: Path) -> None:
    """In Shift_JIS, CR LF at line ends, as spreadsheets in Japan save it."""
    path.write_bytes(_csv(_JAPANESE, ",").encode("cp932"))


def chinese_tsv(path: Path) -> None:
    """Tabs in UTF-16 without a mark."""
    path.write_bytes(_csv(_CHINESE, "\t").encode("utf-16-le"))


def _csv(rows: list[list[str]], delimiter: str) -> str:
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter).writerows(rows)
    return stream.getvalue()


MAKERS = {
    "ferry-ja.openpyxl.xlsx": by_openpyxl,
    "ferry-fees.xlsxwriter.xlsx": by_xlsxwriter,
    "ferry.csv-module.csv": english_csv,
    "ferry-ja.shift-jis.csv": japanese_csv,
    "ferry-zh.utf-16.tsv": chinese_tsv,
}
