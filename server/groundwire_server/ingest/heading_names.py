"""Names of columns: the texts of one or more rows of headings, from above to below."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.ingest.fact_layout import Columns, Layout
from groundwire_server.ingest.fact_mapping import FACT_FIELDS
from groundwire_server.ingest.field_columns import is_field
from groundwire_server.ingest.sheet_cells import cell_at, shown_heading
from groundwire_server.readers.cells import SheetRow

__all__ = ["carried_texts", "check_names", "read_names"]


def read_names(chosen: Sequence[SheetRow], layout: Layout) -> list[str]:
    """One name a column: its texts from above to below, each once; fields and axes are known in any case."""
    width = max(len(row.cells) for row in chosen)
    levels = [carried_texts(row, width, last=row is chosen[-1]) for row in chosen]
    names = []
    for column in range(width):
        parts = [level[column] for level in levels if level[column]]
        shown = " ".join(dict.fromkeys(parts))
        folded = shown.casefold()
        if folded.startswith(("dimension.", "dimensions.")):
            shown = f"dimensions.{shown.partition('.')[2].strip()}"
        elif "_".join(folded.split()) in (*FACT_FIELDS, "filed_at"):
            shown = "_".join(folded.split())
        names.append(shown.removeprefix("\ufeff"))
    return names


def carried_texts(row: SheetRow, width: int, *, last: bool) -> list[str]:
    """Texts of a row of headings. Above the last row, a text stands over the blank cells that follow it."""
    texts = [shown_heading(cell_at(row, column)) for column in range(width)]
    if last:
        return texts
    carried, before = [], ""
    for column, text in enumerate(texts):
        before = text or (before if column else "")
        carried.append(before)
    return carried


def check_names(names: Sequence[str], columns: Columns, layout: Layout) -> None:
    """No two columns of figures, and none that are fields, may have one name: which is meant could not be told."""
    used = {value.column for value in columns.values}
    used |= {column for column, name in columns.fields.items() if is_field(name)}
    times = Counter(names)
    doubled = [names[column] for column in sorted(used) if 0 <= column < len(names) and times[names[column]] > 1]
    doubled = [name for name in doubled if name]
    if doubled:
        raise DocumentRefused(
            ErrorReason.CONTRADICTION,
            f"{layout.name}: column {doubled[0][:80]!r} stands twice in the heading.",
            details={"field": doubled[0][:80]},
        )
