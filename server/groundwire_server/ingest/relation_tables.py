"""Rows of a file of relations, by field: those of JSON lines and of a table in text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from groundwire_server.errors import DocumentRefused, ErrorReason, RowRefused
from groundwire_server.evidence import Attribute
from groundwire_server.ingest.json_rows import read_json_rows
from groundwire_server.ingest.relation_names import RELATION_FIELDS, RelationMapping
from groundwire_server.readers.csv_table import CsvRows
from groundwire_server.readers.encoding import decode_text

__all__ = ["RelationRow", "RelationRows", "read_csv_relations", "read_json_relations", "with_constants"]

_REQUIRED = ("subject", "relation", "object")
_AT = {"field": "heading"}


@dataclass(frozen=True, slots=True)
class RelationRow:
    """One row as it stands in its file.

    cells: by field. others: everything in it, by key. place: where it stands.
    attributes: that the form itself gives with their types.
    """

    cells: Mapping[str, object]
    others: Mapping[str, object]
    place: str
    attributes: tuple[Attribute, ...] = ()

    @classmethod
    def of(cls, row: Mapping[str, object], place: str, mapping: RelationMapping) -> RelationRow:
        """A row whose fields stand in keys of their own."""
        cells = {name: row.get(mapping.columns.get(name, name)) for name in RELATION_FIELDS}
        return cls(with_constants(cells, mapping), row, place)


def with_constants(cells: Mapping[str, object], mapping: RelationMapping) -> dict[str, object]:
    """Fields of a row, and where it says nothing, what is the same everywhere."""
    return {**cells, **{name: value for name, value in mapping.constants.items() if cells.get(name) in (None, "")}}


RelationRows = Iterator[tuple[int, RelationRow | RowRefused]]
"""(row from 1, what stands there or why it cannot be read)"""


def read_json_relations(name: str, raw: bytes, mapping: RelationMapping) -> RelationRows:
    """Each line with content."""
    for number, row in read_json_rows(raw):
        yield number, row if isinstance(row, RowRefused) else RelationRow.of(row, f"line={number}", mapping)


def read_csv_relations(name: str, raw: bytes, mapping: RelationMapping) -> RelationRows:
    """Each row that is not blank, below a heading. Delimiters, quotes and charsets are found as for documents.

    Raises:
        DocumentRefused: it is no text or no table, has no heading, a heading twice, or lacks a field that every
            relation needs.
    """
    table = CsvRows(name, decode_text(name, raw))
    rows = ((number, [cell.strip() for cell in cells]) for number, cells in table)
    _, heading = next(((number, cells) for number, cells in rows if any(cells)), (0, []))
    known = {folded: folded for folded in RELATION_FIELDS} | {key.casefold(): key for key in _keys(mapping)}
    columns = [known.get(cell.casefold(), cell) for cell in heading]
    _check_heading(name, columns, mapping)
    for number, cells in rows:
        if not any(cells):
            continue
        extra = [cell for cell in cells[len(columns) :] if cell]
        if extra:
            why = f"The row has {len(cells)} cells, the heading {len(columns)}."
            yield number, RowRefused(ErrorReason.VALUE_MALFORMED, why, column="", value=extra[0])
            continue
        row = {column: cell for column, cell in zip(columns, cells, strict=False) if column and cell}
        yield number, RelationRow.of(row, f"row={number}", mapping)


def _keys(mapping: RelationMapping) -> list[str]:
    return [*mapping.columns.values(), *mapping.attributes.values()]


def _check_heading(name: str, columns: list[str], mapping: RelationMapping) -> None:
    twice = sorted({column for column in columns if column and columns.count(column) > 1})
    if twice:
        raise DocumentRefused(
            ErrorReason.DOCUMENT_BROKEN, f"{name}: the heading has {twice[0][:80]!r} more than once.", details=_AT
        )
    lacking = [
        field
        for field in _REQUIRED
        if mapping.columns.get(field, field) not in columns and not mapping.constants.get(field)
    ]
    if lacking:
        there = ", ".join(column for column in columns if column)[:300] or "nothing"
        raise DocumentRefused(
            ErrorReason.FACT_FIELD_MISSING,
            f"{name}: the heading has no {', '.join(lacking)}; it has {there}.",
            hint="A mapping says which column is which field.",
            details=_AT,
        )
