"""The heading of a sheet, found among its first rows. One is found for each sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.ingest.cell_value import is_missing
from groundwire_server.ingest.fact_layout import Columns, Heading, Layout
from groundwire_server.ingest.fact_periods import says_nothing_more
from groundwire_server.ingest.field_columns import REQUIRED, is_field, lacking_fields, told_apart
from groundwire_server.ingest.figure_columns import find_columns
from groundwire_server.ingest.heading_names import check_names, read_names
from groundwire_server.ingest.layout_refusals import DECIDED, HEADER_ROWS_SETTING, lacks_field
from groundwire_server.ingest.measure_reading import read_measure, read_title
from groundwire_server.ingest.money_signs import MoneySigns
from groundwire_server.ingest.sheet_cells import cell_at, is_figure
from groundwire_server.ingest.sheet_language import find_language
from groundwire_server.ingest.sheet_titles import read_titles
from groundwire_server.readers.cells import Cell, CellKind, SheetRow

__all__ = ["LOOKAHEAD", "find_heading"]

LOOKAHEAD = 60
_MOST_LEVELS = 4


def _with_language(layout: Layout, rows: Sequence[SheetRow]) -> Layout:
    table = layout.mapping.table
    language, traditional = find_language([cell.text for row in rows for cell in row.cells])
    if table.language:
        traditional = traditional and table.language == "zh"
        language = "" if table.language == "en" else table.language
    return replace(layout, signs=MoneySigns(table.currencies, language, traditional))


def find_heading(rows: Sequence[SheetRow], layout: Layout) -> Heading:
    """The heading among the first rows of a sheet: the first rows whose names give every field that a figure needs.

    Args:
        rows: at most `LOOKAHEAD`.

    Raises:
        DocumentRefused: FACT_FIELD_MISSING or CONTRADICTION.
    """
    table = layout.mapping.table
    layout = _with_language(layout, rows)
    if table.header_rows:
        chosen = [row for row in rows if row.number in table.header_rows]
        if chosen:
            return _heading(rows, chosen, layout)
        raise lacks_field(
            layout, "value", f"there is nothing in row {table.header_rows[0]}, where header_rows has the heading"
        )
    refusal: DocumentRefused | None = None
    nearest = -1
    for place, row in enumerate(rows):
        for levels in _levels(layout):
            chosen = list(rows[place : place + levels])
            if len(chosen) < levels:
                continue
            try:
                heading = _heading(rows, chosen, layout)
                _refuse_above(rows[place - 1] if place else None, heading, layout)
                return _extended(rows, place, heading, layout)
            except DocumentRefused as error:
                if error.details.get("field") in DECIDED:
                    raise
                fits = len(REQUIRED) - len(lacking_fields(read_names(chosen, layout), layout))
                if fits > nearest or refusal is None:
                    refusal, nearest = error, fits
        if row.number > rows[0].number + LOOKAHEAD:
            break
    raise refusal or lacks_field(layout, "metric", "the heading has no metric, entity, period, value; it has nothing")


def _levels(layout: Layout) -> range:
    wide = layout.mapping.table.wide
    if wide is not None and len(wide.heading) > 1:
        return range(len(wide.heading), len(wide.heading) + 1)
    return range(1, 4 if wide is not None else 2)


def _extended(rows: Sequence[SheetRow], place: int, heading: Heading, layout: Layout) -> Heading:
    """Take in rows below that go on with the headings: "Q1" below "2023", or the unit of each column."""
    wide = layout.mapping.table.wide
    if wide is None or len(wide.heading) > 1:
        return heading
    at = next(index for index, row in enumerate(rows) if row.number == heading.last)
    while at + 1 < len(rows) and heading.last - heading.first + 1 < _MOST_LEVELS:
        below = rows[at + 1]
        under = [cell_at(below, value.column) for value in heading.columns.values]
        if not all(cell.kind is CellKind.TEXT and cell for cell in under):
            break
        units = all(read_measure(cell.text, layout.signs) for cell in under)
        try:
            longer = _heading(rows, [*rows[place : at + 1], below], layout)
        except DocumentRefused as error:
            if error.details.get("field") in DECIDED:
                raise
            _refuse_further_heading(below, under, heading, layout)
            break
        if len(longer.columns.values) < len(heading.columns.values) or not (units or wide.heading == ("period",)):
            _refuse_further_heading(below, under, heading, layout)
            break
        heading, at = longer, at + 1
    return heading


def _refuse_further_heading(row: SheetRow, under: Sequence[Cell], heading: Heading, layout: Layout) -> None:
    """Raises where a row says more of the columns than is understood, "Budget" and "Actual" below "2023"."""
    labels = [cell_at(row, column).text for column, name in heading.columns.fields.items() if is_field(name)]
    if any(label.strip() and not read_title(label, layout.signs) for label in labels):
        return
    if any(is_figure(cell) or is_missing(cell.text) or says_nothing_more(cell.text) for cell in under):
        return
    raise DocumentRefused(
        ErrorReason.CONTRADICTION,
        f"{layout.name}: row {row.number} stands below the headings and says more of their columns: "
        f"{', '.join(cell.text[:40] for cell in under[:4])}.",
        hint="Say in the mapping which rows are the heading (header_rows), and what each of them is (wide.heading).",
        details={"field": HEADER_ROWS_SETTING},
    )


def _refuse_above(row: SheetRow | None, heading: Heading, layout: Layout) -> None:
    """Raises where the row above says what the headings of a wide table do not: "Budget" and "Actual" above years."""
    if row is None or layout.mapping.table.wide is None:
        return
    cells = [cell_at(row, value.column) for value in heading.columns.values]
    texts = {cell.text for cell in cells if cell and not is_figure(cell)}
    more = [text for text in texts if not (read_measure(text, layout.signs) or says_nothing_more(text))]
    if more and len(texts) > 1:
        raise DocumentRefused(
            ErrorReason.CONTRADICTION,
            f"{layout.name}: row {row.number} stands above the headings and says more of their columns: "
            f"{', '.join(text[:40] for text in sorted(texts)[:4])}.",
            hint="Say in the mapping which rows are the heading (header_rows), and what each is (wide.heading).",
            details={"field": HEADER_ROWS_SETTING},
        )


def _heading(rows: Sequence[SheetRow], chosen: Sequence[SheetRow], layout: Layout) -> Heading:
    names = read_names(chosen, layout)
    columns = find_columns(chosen, names, layout)
    check_names(names, columns, layout)
    columns = replace(columns, fields=told_apart(columns.fields))
    for row in chosen[:-1]:
        # A title that is alone in its row is no heading of the columns below it.
        if not any(cell_at(row, value.column) for value in columns.values):
            raise lacks_field(layout, "value", f"row {row.number} names none of the columns")
    if not layout.mapping.table.header_rows:
        _refuse_figures(chosen, columns, layout)
    measure = read_titles(rows, chosen, names, columns, layout)
    return Heading(chosen[0].number, chosen[-1].number, tuple(names), columns, measure, layout.signs)


def _refuse_figures(chosen: Sequence[SheetRow], columns: Columns, layout: Layout) -> None:
    """Raises where a row below the first of a heading is one of figures with a label: "Sales, 12" below "Item, Q1"."""
    labels = [column for column, name in columns.fields.items() if is_field(name)]
    for number, row in enumerate(chosen[1:], start=1):
        labelled = [column for column in labels if cell_at(row, column) and not read_title(cell_at(row, column).text)]
        above = any(cell_at(other, column) for other in chosen[:number] for column in labelled)
        if above and all(is_figure(cell_at(row, value.column)) for value in columns.values):
            raise lacks_field(
                layout,
                layout.mapping.table.wide.heading[0] if layout.mapping.table.wide else "value",
                f"row {row.number} holds figures, and the headings above it do not say of what",
            )
