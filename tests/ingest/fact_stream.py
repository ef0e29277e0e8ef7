"""Files of figures of every form, cut into parts, and what a library holds of them in the end."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow
from pyarrow import parquet

from groundwire_server.evidence import Label
from groundwire_server.ingest import FactFileHead, FactIngest, FactIngestRules, IngestEvent, IngestLimits, IngestOpening
from groundwire_server.library import Library
from tests.ingest.support import INGEST, desk_for
from tests.ingest.tables import Book

__all__ = ["FILES", "LIMITS", "held", "opened_facts", "parts_of"]

LIMITS = IngestLimits(group_parts=4)
_WIDE = '[columns]\nmetric = "#A"\n[constants]\nentity = "Acme"\n[wide]\nheading = "period"\n'


def _workbook() -> bytes:
    book = Book()
    rows = [["(USD in millions)"], ["Item", "FY2023", "FY2024"], ["Revenue", 1.5, "n.a."], ["Margin", 0.125, 0.5]]
    book.sheet("PL", rows, {"B4": "0.0%"})
    return book.raw()


def _parquet() -> bytes:
    out = io.BytesIO()
    columns = {"metric": ["Staff", "Staff"], "entity": ["Acme", "Acme"], "period": ["2023", "soon"], "value": [5, 6]}
    parquet.write_table(pyarrow.table(columns), out)
    return out.getvalue()


FILES: list[tuple[FactFileHead, bytes]] = [
    (
        FactFileHead("long.csv"),
        b"metric,entity,period,value\n"
        + b"".join(f'Revenue,Acme,{1950 + n},"{n},000"\n'.encode() for n in range(1, 60))
        + "売上高,Acme,2023,△5\nRevenue,Acme,2024,なし\n".encode(),
    ),
    (FactFileHead("book.xlsx", mapping_toml=_WIDE), _workbook()),
    (FactFileHead("table.parquet"), _parquet()),
    (FactFileHead("CIK0001234567.json"), (Path(__file__).parent / "files/company_facts.json").read_bytes()),
    (FactFileHead("broken.xlsx"), b"PK no workbook"),
    (FactFileHead("lines.jsonl"), b'{"metric": "Revenue", "entity": "Acme", "period": "2025", "value": "7.50"}\n{\n'),
]

Part = tuple[FactFileHead | None, bytes, bool]


def parts_of(files: Sequence[tuple[FactFileHead, bytes]], lengths: Sequence[int]) -> list[Part]:
    """Head, content and whether it is the last of its file, of parts whose lengths are taken over and over."""
    parts: list[Part] = []
    for head, raw in files:
        first, offset = True, 0
        while first or offset < len(raw):
            end = min(len(raw), offset + (lengths[len(parts) % len(lengths)] or len(raw)))
            parts.append((head if first else None, raw[offset:end], end == len(raw)))
            first, offset = False, end
    return parts


@contextmanager
def opened_facts(
    library: Library, limits: IngestLimits | None = None, *, resume_after_seq: int = 0, ingest_id: str = INGEST
) -> Iterator[tuple[FactIngest, list[IngestEvent]]]:
    """An ingest on a connection of its own, with what it says at the beginning."""
    desk = desk_for(library, limits=limits)
    opening = IngestOpening(ingest_id, resume_after_seq)
    with desk.open_facts(library, opening, lambda: FactIngestRules.of(library.snapshot())) as ingest:
        yield ingest, list(ingest.opening())


def held(library: Library) -> list[tuple[object, ...]]:
    """What is stored, without row numbers and times."""
    facts = library.store.reader().facts(Label.CONFIDENTIAL)
    return sorted((each.fact_id, each.record.value, each.record.locator, repr(each.record)) for each in facts)
