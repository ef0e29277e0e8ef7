"""Which columns hold figures, and what their headings say of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.ingest.cell_value import without_notes
from groundwire_server.ingest.fact_layout import Columns, Layout, ValueColumn
from groundwire_server.ingest.field_columns import REQUIRED, find_column, find_fields, is_field, refuse_lacking
from groundwire_server.ingest.heading_names import carried_texts
from groundwire_server.ingest.layout_refusals import HEADER_ROWS_SETTING, lacks_field, listed_names
from groundwire_server.ingest.measure_reading import read_measure, read_title, split_measure
from groundwire_server.ingest.measures import NO_MEASURE
from groundwire_server.ingest.sheet_cells import cell_at, column_letter, column_number
from groundwire_server.readers.cells import SheetRow

__all__ = ["find_columns"]

_RANGE = re.compile(r"#([A-Z]{1,3}):#([A-Z]{1,3})", re.IGNORECASE)


def find_columns(chosen: Sequence[SheetRow], names: list[str], layout: Layout) -> Columns:
    """Which column of a heading is which field, and which hold figures.

    Raises:
        DocumentRefused: FACT_FIELD_MISSING or CONTRADICTION.
    """
    mapping, wide = layout.mapping, layout.mapping.table.wide
    fields = find_fields(names, mapping)
    if wide is None:
        refuse_lacking(names, layout)
        values = [column for column, name in fields.items() if name == "value"]
        column = values[0] if values else -1
        measure = read_measure(names[column], layout.signs) if 0 <= column < len(names) else NO_MEASURE
        return Columns({c: n for c, n in fields.items() if n != "value"}, (ValueColumn(column, {}, measure),))
    width = max(len(row.cells) for row in chosen)
    levels = [carried_texts(row, width, last=row is chosen[-1]) for row in chosen]
    mapped = {column for column, name in fields.items() if is_field(name)}
    asked = _asked(wide.columns, names, layout) if wide.columns else None
    found = []
    for column in asked if asked is not None else [column for column in range(width) if column not in mapped]:
        value = _wide_value(
            column, [level[column] if column < width else "" for level in levels], layout, forced=asked is not None
        )
        if value is not None:
            found.append(value)
    if asked is None:
        _refuse_unheaded(chosen, levels, mapped, {value.column for value in found}, layout)
    if not found:
        what = " and ".join(wide.heading)
        raise lacks_field(
            layout, wide.heading[0], f"no column has a heading that is a {what}; it has {listed_names(names)}"
        )
    refuse_lacking(names, layout)
    taken = {value.column for value in found}
    return Columns({column: name for column, name in fields.items() if column not in taken}, tuple(found))


def _refuse_unheaded(
    chosen: Sequence[SheetRow], levels: Sequence[Sequence[str]], mapped: set[int], found: set[int], layout: Layout
) -> None:
    """Raises where headings that are written in the middle of their columns seem to begin one column too late."""
    tops = [column for column in range(len(levels[0])) if cell_at(chosen[0], column)]
    for column, text in enumerate(levels[-1] if len(levels) > 1 else []):
        before = [top for top in tops if top <= column]
        after = [top for top in tops if top > column]
        own = bool(before) and (before[-1] == column or before[-1] not in mapped)
        if not text or not after or own or column in mapped or column in found:
            continue
        upper = levels[0][after[0]]
        texts = [upper, *(level[column] for level in levels[1:])]
        if _wide_value(column, texts, layout, forced=False) is not None:
            raise DocumentRefused(
                ErrorReason.CONTRADICTION,
                f"{layout.name}: nothing stands above {text[:40]!r} in column {column_letter(column)}, and it is not "
                f"clear over which columns {upper[:40]!r} stands.",
                hint="Name each column in full, or say in the mapping where the headings are.",
                details={"field": HEADER_ROWS_SETTING},
            )


def _asked(wanted: Sequence[str], names: Sequence[str], layout: Layout) -> list[int]:
    columns: list[int] = []
    for said in wanted:
        span = _RANGE.fullmatch(said.strip())
        if span:
            columns += range(column_number(span[1]), column_number(span[2]) + 1)
            continue
        column = find_column(said, names)
        if column is None:
            raise lacks_field(layout, "wide.columns", f"there is no column {said[:80]!r}; it has {listed_names(names)}")
        columns.append(column)
    return list(dict.fromkeys(columns))


def _wide_value(column: int, texts: list[str], layout: Layout, *, forced: bool) -> ValueColumn | None:
    """The fields that the headings of a column give; None where they give none."""
    wide = layout.mapping.table.wide
    assert wide is not None
    measure, left = NO_MEASURE, []
    for text in texts:
        title = read_title(text, layout.signs)
        name, said = split_measure(text, layout.signs)
        if title:
            measure = title.over(measure)
        elif text:
            measure = said.over(measure) if said else measure
            left.append(name)
        elif len(wide.heading) > 1:
            left.append("")
    if len(wide.heading) > 1:
        if len(left) != len(wide.heading) or not any(left):
            return None
        fields = {name: text for name, text in zip(wide.heading, left, strict=True) if text}
    else:
        joined = " ".join(dict.fromkeys(filter(None, left)))
        if not joined:
            return None
        fields = {wide.heading[0]: joined}
    period = fields.get("period")
    if period is not None and not forced and not any(map(layout.reads_period, (period, without_notes(period)))):
        return None
    if any(name not in fields for name in wide.heading if name in REQUIRED):
        return None
    return ValueColumn(column, fields, measure)
