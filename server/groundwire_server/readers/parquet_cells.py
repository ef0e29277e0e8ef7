"""The rows of a Parquet file as cells: numbers exact, as their column stores them. Needs the extra `parquet`."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.readers.cells import BLANK, Cell, CellKind, SheetRow
from groundwire_server.readers.document import Source
from groundwire_server.readers.table_text import MAX_COLUMNS

__all__ = ["read_parquet_rows"]

_BATCH = 4096


def read_parquet_rows(source: Source) -> Iterator[SheetRow]:
    """The heading as row 1, then the rows.

    Floating point numbers become the shortest decimals that stand for them; decimal columns keep all their places.

    Raises:
        DocumentRefused: DOCUMENT_UNSUPPORTED without pyarrow, DOCUMENT_BROKEN for what is no Parquet.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise DocumentRefused(
            ErrorReason.DOCUMENT_UNSUPPORTED,
            f"{source.doc_id}: Parquet is read with pyarrow, which is not installed on the server.",
            hint="Install groundwire-server[parquet] there, or send CSV.",
            details={"extra": "parquet"},
        ) from None
    pyarrow.set_cpu_count(1)
    try:
        file = parquet.ParquetFile(io.BytesIO(source.raw))
        names = file.schema_arrow.names
    except (pyarrow.ArrowException, OSError, ValueError):
        raise _broken(source.doc_id) from None
    if len(names) > MAX_COLUMNS:
        raise DocumentRefused(
            ErrorReason.DOCUMENT_TOO_LARGE,
            f"{source.doc_id}: it has {len(names)} columns, at most {MAX_COLUMNS} are read.",
        )
    yield SheetRow("", 1, tuple(Cell(name.strip()) for name in names))
    number = 1
    batches = file.iter_batches(batch_size=_BATCH, use_threads=False)
    while True:
        try:
            batch = next(batches, None)
            columns = None if batch is None else [column.to_pylist() for column in batch.columns]
        except (pyarrow.ArrowException, OSError, ValueError, OverflowError):
            raise _broken(source.doc_id) from None
        if batch is None or columns is None:
            return
        singles = [str(column.type) == "float" for column in batch.columns]
        for values in zip(*columns, strict=True):
            number += 1
            cells = tuple(_cell(value, single) for value, single in zip(values, singles, strict=True))
            if any(cells):
                yield SheetRow("", number, cells)


def _cell(value: Any, single: bool) -> Cell:
    match value:
        case None:
            return BLANK
        case bool():
            return Cell("TRUE" if value else "FALSE", CellKind.TRUTH)
        case int():
            return _number(str(value))
        case float():
            return (
                _number(_shortest(value, single)) if value == value and abs(value) != float("inf") else Cell(str(value))
            )
        case Decimal():
            return _number(f"{value:f}")
        case datetime():
            return Cell(value.isoformat(), CellKind.DAY, value.isoformat())
        case date():
            return Cell(value.isoformat(), CellKind.DAY, value.isoformat())
        case str():
            return Cell(value.strip()) if value.strip() else BLANK
        case _:
            return Cell(str(value))


def _shortest(value: float, single: bool) -> str:
    """The shortest decimal that stands for a number in its own precision."""
    if single:
        import numpy

        return f"{Decimal(str(numpy.float32(value))):f}"
    return f"{Decimal(repr(value)):f}"


def _number(text: str) -> Cell:
    return Cell(text, CellKind.NUMBER, text)


def _broken(doc_id: str) -> DocumentRefused:
    return DocumentRefused(
        ErrorReason.DOCUMENT_BROKEN, f"{doc_id}: it is no Parquet file, or damaged.", hint="Write it again."
    )
