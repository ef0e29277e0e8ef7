"""What stands above the heading of a sheet, or in the corner of it, of unit and scale."""

from __future__ import annotations

from collections.abc import Sequence

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.ingest.fact_layout import Columns, Layout
from groundwire_server.ingest.layout_refusals import SCALE_SETTING
from groundwire_server.ingest.measure_reading import read_measure, read_title
from groundwire_server.ingest.measures import NO_MEASURE, Measure, Shares
from groundwire_server.ingest.scale_mentions import speaks_of_scale
from groundwire_server.readers.cells import CellKind, SheetRow

__all__ = ["read_titles", "scale_only"]


def read_titles(
    rows: Sequence[SheetRow], chosen: Sequence[SheetRow], names: Sequence[str], columns: Columns, layout: Layout
) -> Measure:
    """What stands above the heading, or in the corner of it, of unit and scale.

    Raises:
        DocumentRefused: CONTRADICTION, two of them say different things.
    """
    table = layout.mapping.table
    texts = [
        cell.text for row in rows if row.number < chosen[0].number for cell in row.cells if cell.kind is CellKind.TEXT
    ]
    found = [read_measure(text, layout.signs) for text in dict.fromkeys(texts)]
    values = {value.column for value in columns.values}
    for column, name in enumerate(names):
        if column in values or not name:
            continue
        is_label = columns.fields.get(column) in ("metric", "entity")
        found.append(read_measure(name, layout.signs) if is_label else scale_only(read_title(name, layout.signs)))
    unclear = [text for text in texts if speaks_of_scale(text) and read_measure(text, layout.signs).power is None]
    if unclear and table.power is None and all(measure.power is None for measure in found):
        raise DocumentRefused(
            ErrorReason.VALUE_MALFORMED,
            f"{layout.name}: {unclear[0][:80]!r} speaks of a scale and is not understood.",
            hint="Say scale in the mapping.",
            details={"field": SCALE_SETTING},
        )
    powers = list(dict.fromkeys(measure.power for measure in found if measure.power is not None))
    units = list(dict.fromkeys(measure.unit for measure in found if measure.unit))
    if len(powers) > 1 and table.power is None:
        raise DocumentRefused(
            ErrorReason.CONTRADICTION,
            f"{layout.name}: the titles above the heading name two scales.",
            hint="Say scale in the mapping.",
            details={"field": SCALE_SETTING},
        )
    shares: Shares = next((measure.shares for measure in found if measure.power is not None), "same")
    vague = next((measure.vague for measure in found if measure.vague), "")
    unit = units[0] if len(units) == 1 else ""
    return Measure(powers[0] if powers else None, unit, shares, "" if unit else vague)


def scale_only(measure: Measure) -> Measure:
    """A measure that says a scale; one that says none says nothing."""
    return measure if measure.power is not None else NO_MEASURE
