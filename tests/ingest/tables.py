"""Workbooks, Parquet files and CSV texts of the tests, and what is read of them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import xlsxwriter

from groundwire_server.errors import RowRefused
from groundwire_server.glossary import EntityTerm, Glossary, Identifier, MetricTerm, Synonym
from groundwire_server.ingest.facts import FactRules, read_fact_file
from groundwire_server.store import FactRecord

__all__ = ["GLOSSARY", "RULES", "Book", "as_text", "good", "read", "refused"]

GLOSSARY = Glossary(
    [
        MetricTerm("REVENUE", "Revenue", (Synonym("売上高", "ja"), Synonym("营业收入", "zh"), Synonym("Net sales"))),
        MetricTerm("MARGIN", "Operating margin", (Synonym("営業利益率", "ja"),), unit="percent"),
        MetricTerm("STAFF", "Number of employees", (Synonym("従業員数", "ja"),), unit="persons"),
        MetricTerm("EPS", "Earnings per share", unit="USD/shares"),
        EntityTerm("ACME", "Acme", identifiers=(Identifier("cik", "1234567"),)),
        EntityTerm("GLOBEX", "Globex"),
    ]
)
RULES = FactRules(GLOSSARY)


class Book:
    """A workbook that is written cell by cell."""

    def __init__(self, **options: Any) -> None:
        self._out = io.BytesIO()
        self.book = xlsxwriter.Workbook(self._out, {"in_memory": True, **options})

    def sheet(self, name: str, rows: Sequence[Sequence[Any]], formats: dict[str, str] | None = None) -> Any:
        """A sheet of rows; `formats` gives cells ("B2") a number format."""
        sheet = self.book.add_worksheet(name)
        codes = {cell: self.book.add_format({"num_format": code}) for cell, code in (formats or {}).items()}
        for number, row in enumerate(rows):
            for column, value in enumerate(row):
                if value is not None:
                    cell = f"{chr(65 + column)}{number + 1}"
                    sheet.write(number, column, value, codes.get(cell))
        return sheet

    def raw(self) -> bytes:
        """The file."""
        self.book.close()
        return self._out.getvalue()


def read(
    name: str, raw: bytes, mapping: str = "", rules: FactRules = RULES
) -> list[tuple[int, FactRecord | RowRefused]]:
    """Rows of a file, its form by its name."""
    form = {"json": "xbrl_json"}.get(name.rpartition(".")[2], name.rpartition(".")[2])
    return list(read_fact_file(name, form, raw, mapping, rules))


def good(rows: Sequence[tuple[int, FactRecord | RowRefused]]) -> list[FactRecord]:
    """The figures; none may have been refused."""
    assert not refused(rows), refused(rows)
    return [record for _, record in rows if isinstance(record, FactRecord)]


def refused(rows: Sequence[tuple[int, FactRecord | RowRefused]]) -> list[tuple[int, str, str, str, str]]:
    """Row, column, value, reason and message of each refusal."""
    return [
        (number, each.column, each.value, each.reason.name, each.message)
        for number, record in rows
        if isinstance(record, RowRefused)
        for each in (record, *record.further)
    ]


def as_text(records: Sequence[FactRecord]) -> list[str]:
    """metric entity period value unit, a line each."""
    return [f"{each.metric} {each.entity} {each.period} {each.value} {each.unit}".rstrip() for each in records]
