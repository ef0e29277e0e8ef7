"""One row of a sheet to its figures: the fields that they share, and their places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

from groundwire_server.errors import ErrorReason, RowRefused
from groundwire_server.evidence import Locator
from groundwire_server.ingest.cell_value import is_missing
from groundwire_server.ingest.fact_layout import Heading, Layout, TableFigure, ValueColumn
from groundwire_server.ingest.fact_mapping import FACT_FIELDS
from groundwire_server.ingest.fact_values import refuse
from groundwire_server.ingest.measures import NO_MEASURE, Measure
from groundwire_server.ingest.sheet_cells import cell_at, column_letter, day_as_shown
from groundwire_server.readers.cells import Cell, CellKind, SheetRow
from groundwire_server.readers.table_heads import is_amount

__all__ = ["read_row_figures", "told_where"]

_TIMES = ("filed", "valid_as_of")


def read_row_figures(
    row: SheetRow, heading: Heading, section: Measure, label: str, layout: Layout
) -> Iterator[tuple[int, TableFigure | RowRefused]]:
    """(row, figure or why there is none) of each figure of one row."""
    table = layout.mapping.table
    if table.wide is None:
        extra = [cell for cell in row.cells[len(heading.names) :] if cell]
        if extra:
            why = f"The row has {len(row.cells)} cells, the heading {len(heading.names)}."
            yield (
                row.number,
                RowRefused(
                    ErrorReason.VALUE_MALFORMED, told_where(layout, row, None, why), column="", value=extra[0].text
                ),
            )
            return
    if table.wide is not None and not table.wide.columns:
        yield from _without_heading(row, heading, layout)
    shared = _shared_fields(row, heading, layout)
    for value in heading.columns.values:
        cell = cell_at(row, value.column)
        if value.column in row.hidden_columns and table.hidden != "read" and cell:
            if table.hidden == "refuse":
                why = 'The column is hidden; say hidden = "read" or hidden = "skip" in the mapping.'
                refused = refuse(
                    ErrorReason.CONTRADICTION,
                    _heading_of(heading, value),
                    cell.text,
                    told_where(layout, row, value, why),
                )
                yield row.number, refused
            continue
        if table.wide is not None and (
            not cell or (table.missing == "skip" and is_missing(cell.text) and cell.kind is CellKind.TEXT)
        ):
            continue
        measure = value.measure.over(section.over(heading.measure))
        if table.power is not None:
            measure = replace(measure, power=table.power)
        yield (
            row.number,
            TableFigure(
                row.number,
                {**layout.mapping.constants, **shared, **value.fields},
                cell,
                measure,
                _heading_of(heading, value),
                _place(row, value, layout),
                _where(row, value, layout),
                layout.signs,
                label,
            ),
        )


def _without_heading(row: SheetRow, heading: Heading, layout: Layout) -> Iterator[tuple[int, RowRefused]]:
    """Numbers of a row that no heading tells of."""
    for column, cell in enumerate(row.cells):
        named = column < len(heading.names) and heading.names[column]
        if cell and not named and column not in heading.columns.fields and is_amount(cell.text):
            value = ValueColumn(column, {}, NO_MEASURE)
            why = told_where(layout, row, value, "The column has no heading.")
            yield row.number, refuse(ErrorReason.FACT_FIELD_MISSING, f"#{column_letter(column)}", cell.text, why)


def _shared_fields(row: SheetRow, heading: Heading, layout: Layout) -> dict[str, object]:
    constants = layout.mapping.constants
    found: dict[str, object] = {}
    if layout.mapping.table.sheet_is:
        found[layout.mapping.table.sheet_is] = row.sheet
    for column, name in heading.columns.fields.items():
        cell = cell_at(row, column)
        if not cell and name in constants:
            continue
        found[name] = _field(name, cell)
    return found


def _field(name: str, cell: Cell) -> object:
    """A cell that is no figure: days in ISO form, numbers without separators; what no field has keeps its type."""
    if not cell:
        return None
    if cell.kind is CellKind.DAY:
        return cell.stored if name in _TIMES or name not in FACT_FIELDS else day_as_shown(cell)
    if cell.kind is CellKind.TRUTH and name not in FACT_FIELDS:
        return cell.text == "TRUE"
    if cell.kind is CellKind.NUMBER:
        if name == "decimals" or "," in cell.text:
            return cell.stored
        if name not in FACT_FIELDS and not name.startswith("dimensions."):
            number = Decimal(cell.stored)
            return int(number) if number == number.to_integral_value() else number
    return cell.text


def _heading_of(heading: Heading, value: ValueColumn) -> str:
    name = heading.names[value.column] if 0 <= value.column < len(heading.names) else ""
    return name or (f"#{column_letter(value.column)}" if value.column >= 0 else "value")


def _place(row: SheetRow, value: ValueColumn, layout: Layout) -> str:
    if not layout.by_cell and layout.mapping.table.wide is None:
        return f"row={row.number}"
    cell = f"{column_letter(max(value.column, 0))}{row.number}"
    parts = (("sheet", row.sheet), ("cell", cell)) if row.sheet else (("cell", cell),)
    return str(Locator("x", parts)).partition("#")[2]


def _where(row: SheetRow, value: ValueColumn, layout: Layout) -> str:
    if not layout.by_cell and layout.mapping.table.wide is None:
        return ""
    cell = f"{column_letter(max(value.column, 0))}{row.number}"
    return f"{row.sheet}!{cell}" if row.sheet else cell


def told_where(layout: Layout, row: SheetRow, value: ValueColumn | None, why: str) -> str:
    """A reason with the cell or row that it is about, for people."""
    where = _where(row, value, layout) if value is not None else f"{row.sheet}!{row.number}" if row.sheet else ""
    return f"{where}: {why}" if where else why
