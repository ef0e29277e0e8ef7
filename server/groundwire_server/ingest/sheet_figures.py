"""Rows of a sheet below its heading to figures.

What titles, headings, and rows of their own say of unit and scale goes along with each figure below them; whether it
counts for a figure is for `settling` to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from groundwire_server.errors import DocumentRefused, ErrorReason, RowRefused
from groundwire_server.ingest.fact_layout import Heading, Layout, TableFigure
from groundwire_server.ingest.fact_values import refuse
from groundwire_server.ingest.field_columns import is_field
from groundwire_server.ingest.layout_refusals import SCALE_SETTING
from groundwire_server.ingest.measure_reading import read_measure, read_title
from groundwire_server.ingest.measures import NO_MEASURE, Measure
from groundwire_server.ingest.row_figures import read_row_figures, told_where
from groundwire_server.ingest.scale_mentions import speaks_of_scale
from groundwire_server.ingest.sheet_cells import cell_at, column_letter, is_figure, shown_heading
from groundwire_server.ingest.sheet_titles import scale_only
from groundwire_server.readers.cells import CellKind, SheetRow
from groundwire_server.readers.table_heads import is_amount

__all__ = ["read_sheet_figures"]


def read_sheet_figures(
    heading: Heading, rows: Iterable[SheetRow], layout: Layout
) -> Iterator[tuple[int, TableFigure | RowRefused]]:
    """(row, figure or why there is none) of each figure of one sheet.

    Args:
        heading: that of the sheet. rows: all of it.

    Raises:
        DocumentRefused: CONTRADICTION, the heading of another table stands among the rows.
    """
    table = layout.mapping.table
    layout = replace(layout, signs=heading.signs)
    section, label, stated, doubtful = NO_MEASURE, "", False, 0
    yield from _passed_over(heading, layout)
    for row in rows:
        if row.number <= heading.last or (table.first_row and row.number < table.first_row):
            if row.number < heading.first and not table.header_rows and _holds_numbers(row):
                why = f"The row stands above the heading, in row {heading.first}, and is not read."
                yield (
                    row.number,
                    RowRefused(ErrorReason.VALUE_MALFORMED, told_where(layout, row, None, why), column="", value=""),
                )
            continue
        if table.last_row and row.number > table.last_row:
            break
        if row.hidden and table.hidden == "skip":
            continue
        if row.hidden and table.hidden == "refuse":
            why = 'The row is hidden; say hidden = "read" or hidden = "skip" in the mapping.'
            told = told_where(layout, row, None, why)
            yield row.number, RowRefused(ErrorReason.CONTRADICTION, told, column="", value="")
            continue
        if _repeats(row, heading):
            continue
        if _begins_another(row, heading, layout):
            raise DocumentRefused(
                ErrorReason.CONTRADICTION,
                f"{layout.name}: row {row.number} reads like the heading of another table.",
                hint="Load each table by a mapping of its own, with header_rows and last_row.",
                details={"field": "mapping_toml.last_row"},
            )
        said = _section(row, heading, layout)
        power = section.over(heading.measure).power
        notes = table.power is None and not said and _notes_a_scale(row, power, layout)
        if table.power is None and power is None and ((said and stated) or notes):
            raise _unclear_scale(row.number, layout)
        if said:
            section, doubtful = said, 0
            continue
        if doubtful and any(is_figure(cell_at(row, value.column)) for value in heading.columns.values):
            raise _unclear_scale(doubtful, layout)
        # A remark below the last figures may speak of millions; one above figures says what they are counted in.
        doubtful = row.number if notes else doubtful
        stated = True
        label = _label_alone(row, heading, layout) or label
        yield from read_row_figures(row, heading, section, label, layout)


def _notes_a_scale(row: SheetRow, power: int | None, layout: Layout) -> bool:
    """Whether a row is a remark that names a scale other than the one that holds: "Note: amounts in millions"."""
    texts = list(dict.fromkeys(cell.text for cell in row.cells if cell))
    if not any(map(speaks_of_scale, texts)) or any(is_figure(cell) for cell in row.cells if cell):
        return False
    return power is None or any(
        speaks_of_scale(text) and read_measure(text, layout.signs).power != power for text in texts
    )


def _unclear_scale(number: int, layout: Layout) -> DocumentRefused:
    return DocumentRefused(
        ErrorReason.CONTRADICTION,
        f"{layout.name}: row {number} speaks of a scale, and it is not clear for which figures.",
        hint="Say scale in the mapping.",
        details={"field": SCALE_SETTING},
    )


def _label_alone(row: SheetRow, heading: Heading, layout: Layout) -> str:
    """The label of a row of a wide table that has no figures: it stands over those that follow."""
    if layout.mapping.table.wide is None or any(cell_at(row, value.column) for value in heading.columns.values):
        return ""
    columns = [column for column, name in heading.columns.fields.items() if name == "metric"]
    return cell_at(row, columns[0]).text if columns else ""


def _passed_over(heading: Heading, layout: Layout) -> Iterator[tuple[int, RowRefused]]:
    """Columns of a wide table that seem to be meant as periods, and cannot be read as such: 2024E."""
    wide = layout.mapping.table.wide
    if wide is None or wide.columns or "period" not in wide.heading:
        return
    for column, name in heading.columns.fields.items():
        if not is_field(name) and _NAMES_A_YEAR.search(name):
            why = "The column has a heading that is no period, and is not read; name it, or others, in wide.columns."
            where = f"{column_letter(column)}{heading.last}: " if layout.by_cell else ""
            yield heading.last, refuse(ErrorReason.FACT_PERIOD_MALFORMED, name, name, f"{where}{why}")


def _repeats(row: SheetRow, heading: Heading) -> bool:
    """Whether a row is the heading again, as on the next page of a print."""
    # Most rows differ from the heading in their first value.
    column = heading.columns.values[0].column
    if (
        not 0 <= column < len(heading.names)
        or shown_heading(cell_at(row, column)).casefold() != heading.names[column].casefold()
    ):
        return False
    texts = [shown_heading(cell_at(row, column)) for column in range(len(heading.names))]
    if [text.casefold() for text in texts] == [name.casefold() for name in heading.names]:
        return True
    values = [value.column for value in heading.columns.values]
    return len(values) > 1 and all(texts[column] and texts[column] == heading.names[column] for column in values)


_YEAR = re.compile(r"(?:19|20|21)\d\d")
_NAMES_A_YEAR = re.compile(
    r"(?<!\d)(?:19|20|21)\d\d(?!\d)|\bFY ?'?\d\d\b|\d\s*年|第\s*\d+\s*(?:期|四半期|季)|四半期|季度"
    r"|[上下]半[期年]|[当前上本]期|^[RHS]\d{1,2}$|\b(?:Q[1-4]|[1-4]Q|H[12]|[12]H)\b|^(?:FY|LTM|TTM|YTD)$"
    r"|\b(?:current|prior|previous) (?:year|period)\b",
    re.IGNORECASE,
)


def _begins_another(row: SheetRow, heading: Heading, layout: Layout) -> bool:
    """Whether names of periods stand where figures should: the heading of a table below this one."""
    wide = layout.mapping.table.wide
    if wide is None or "period" not in wide.heading:
        return False
    texts = [shown_heading(cell_at(row, value.column)) for value in heading.columns.values]
    told = [text for text in texts if text]
    if not told or not all(layout.reads_period(text) for text in told):
        return False
    return any(not text.isdigit() for text in told) or (len(told) > 1 and all(_YEAR.fullmatch(text) for text in told))


def _holds_numbers(row: SheetRow) -> bool:
    """Whether it may be a row of figures: two numbers that are no years."""
    numbers = [cell.text for cell in row.cells if cell and is_amount(cell.text)]
    return len(numbers) > 1


def _section(row: SheetRow, heading: Heading, layout: Layout) -> Measure:
    """What a row of its own says of the rows below it: "（単位：百万円）"."""
    texts = [cell.text for cell in row.cells if cell]
    if len(set(texts)) != 1 or any(
        cell_at(row, value.column).kind is not CellKind.TEXT for value in heading.columns.values
    ):
        return NO_MEASURE
    return scale_only(read_title(texts[0], layout.signs))
