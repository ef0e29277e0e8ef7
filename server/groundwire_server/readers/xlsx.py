"""Workbooks of Excel: one document, places are sheet and row, each value with its head beside it.

Read here and not by openpyxl: its fast mode knows neither merged cells nor hidden rows, its other one holds every cell
as an object. What is read are the values that were stored; nothing is computed.
"""

from __future__ import annotations

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Locator
from groundwire_server.readers.container import open_container
from groundwire_server.readers.document import ReaderOutput, ReadWarning, Source, WarningKind
from groundwire_server.readers.plain_text import file_title
from groundwire_server.readers.table_text import add_table
from groundwire_server.readers.text_builder import TextBuilder
from groundwire_server.readers.xlsx_parts import Sheet, open_workbook, read_properties
from groundwire_server.readers.xlsx_sheet import SheetCells, read_sheet

__all__ = ["XlsxReader"]


class XlsxReader:
    """Reads the sheets of a workbook in order, as people see them.

    What is hidden (sheets, rows, columns) is not read, and a warning says so, as it does for formulas without a stored
    value, pictures, charts and comments.
    """

    media_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    suffixes = (".xlsx", ".xlsm")
    aliases = ("application/vnd.ms-excel.sheet.macroenabled.12",)
    isolated = True

    def read(self, source: Source) -> list[ReaderOutput]:
        """One document. Raises DocumentRefused when it is no workbook, encrypted, damaged, blank or over a bound."""
        container = open_container(source)
        workbook = open_workbook(container, max_depth=source.options.max_depth)
        most = source.options.max_pages
        if len(workbook.sheets) > most:
            raise DocumentRefused(
                ErrorReason.DOCUMENT_TOO_LARGE,
                f"{source.doc_id}: {len(workbook.sheets)} sheets are over the limit of {most}.",
                hint="Split the workbook, or raise limits.max_document_pages.",
                details={"max_pages": str(most)},
            )
        builder = TextBuilder(source, (("sheet", "row"),))
        for sheet in workbook.sheets:
            if sheet.hidden or not sheet.has_cells:
                _warn(builder, source, sheet, "a hidden sheet is" if sheet.hidden else "a sheet without cells is")
                continue
            cells = read_sheet(
                source.doc_id,
                sheet.name,
                container.read(sheet.part),
                workbook,
                max_chars=source.options.max_text_chars,
                max_depth=source.options.max_depth,
            )
            builder.put_under(sheet.name, 1)
            add_table(builder, source.doc_id, cells.table(), {"sheet": sheet.name})
            _warn_of(builder, source, sheet, cells)
        title, attributes = read_properties(container, max_depth=source.options.max_depth)
        return [builder.document(self.media_type, title=title or file_title(source.doc_id), attributes=attributes)]


def _warn_of(builder: TextBuilder, source: Source, sheet: Sheet, cells: SheetCells) -> None:
    """What a person should know that was left out of a sheet."""
    left_out = [
        *([f"{cells.hidden_rows} hidden rows"] if cells.hidden_rows else []),
        *([f"{len(cells.hidden_columns)} hidden columns"] if cells.hidden_columns else []),
        *sheet.beside,
    ]
    if left_out:
        _warn(builder, source, sheet, f"{', '.join(left_out)} are")
    if cells.unfilled:
        _warn(builder, source, sheet, f"the cells behind the first of {cells.unfilled} very large merged areas are")
    if cells.uncomputed:
        where = f", the first in {cells.first_uncomputed}" if cells.first_uncomputed else ""
        message = f"{cells.uncomputed} formulas have no stored value{where}; open and save the file in a spreadsheet"
        builder.warnings.append(ReadWarning(_locator(source, sheet), message, WarningKind.VALUE_MISSING))


def _warn(builder: TextBuilder, source: Source, sheet: Sheet, what: str) -> None:
    builder.warnings.append(ReadWarning(_locator(source, sheet), f"{what} not read", WarningKind.PART_SKIPPED))


def _locator(source: Source, sheet: Sheet) -> str:
    return str(Locator(source.doc_id, (("sheet", sheet.name),)))
