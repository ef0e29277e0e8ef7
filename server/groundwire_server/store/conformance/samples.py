"""Small documents, figures and relations to try a store with."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from groundwire_server.evidence import Attribute, Dimension, Label, Period, PeriodKind, ReviewStatus, Span
from groundwire_server.store.rows import EdgeRecord, FactRecord, NewChunk, NewDocument

__all__ = [
    "HOSTILE",
    "START",
    "TickingClock",
    "a_full_fact",
    "every_attribute",
    "make_document",
    "make_edge",
    "make_fact",
]

START = datetime(2026, 1, 1, tzinfo=UTC)

# Line ends of three kinds, tabs, a NUL, an emoji of several code points, combining marks, a decomposed ü, U+2028.
HOSTILE = "line\r\none\rtab\there\x00nul\n👩\u200d👩\u200d👧 e\u0301 u\u0308 漢字かな\u2028end\ufeff"


class TickingClock:
    """A clock that goes on by a second with each look at it, and that a test can set."""

    def __init__(self, start: datetime = START) -> None:
        self.moment = start

    def __call__(self) -> datetime:
        self.moment += timedelta(seconds=1)
        return self.moment


def make_document(
    doc_id: str = "notes.md",
    text: str = "first paragraph\nsecond paragraph",
    *,
    label: Label = Label.INTERNAL,
    attributes: tuple[Attribute, ...] = (),
    title: str = "Notes",
    header: str = "",
    valid_as_of: datetime | None = None,
) -> NewDocument:
    """A document with a chunk for each line that is not empty."""
    chunks: list[NewChunk] = []
    start = 0
    for line in text.split("\n"):
        if line:
            place = f"{doc_id}#line={len(chunks) + 1}"
            chunks.append(NewChunk(Span(start, start + len(line)), place, header=header))
        start += len(line) + 1
    raw = text.encode()
    return NewDocument(
        doc_id=doc_id,
        title=title,
        media_type="text/plain",
        text=text,
        raw_sha256=hashlib.sha256(raw).digest(),
        raw_bytes=len(raw),
        chunker="lines",
        chunks=tuple(chunks),
        label=label,
        valid_as_of=valid_as_of,
        attributes=attributes,
    )


def make_fact(value: str = "10", **changes: object) -> FactRecord:
    """A figure for 2024 from report.pdf."""
    record = FactRecord(
        metric="REVENUE",
        entity="ACME",
        period="2024",
        period_first=date(2024, 1, 1),
        period_last=date(2024, 12, 31),
        channel="TOTAL",
        value=value,
        unit="USD",
        source_doc="report.pdf",
        locator="report.pdf#page=3",
    )
    return replace(record, **changes)  # type: ignore[arg-type]


def make_edge(source: str = "ACME", target: str = "ACME_JP", **changes: object) -> EdgeRecord:
    """A relation from group.csv."""
    record = EdgeRecord(
        source_kind="entity",
        source=source,
        relation="parent_of",
        target_kind="entity",
        target=target,
        extractor="file",
        source_doc="group.csv",
        locator="group.csv#row=2",
    )
    return replace(record, **changes)  # type: ignore[arg-type]


def every_attribute() -> tuple[Attribute, ...]:
    """An attribute of each type, sorted by name."""
    period = Period("FY2024", PeriodKind.FISCAL, date(2024, 4, 1), date(2025, 3, 31))
    return (
        Attribute("day", date(2024, 2, 29)),
        Attribute("exact", Decimal("1.50")),
        Attribute("instant", datetime(2024, 2, 29, 12, 30, 15, 250, tzinfo=UTC)),
        Attribute("ratio", 0.1),
        Attribute("tags", ("b", "a", "b")),
        Attribute("text", HOSTILE),
        Attribute("truth", True),
        Attribute("whole", -(10**30)),
        Attribute("year", period),
    )


def a_full_fact() -> FactRecord:
    """A figure with every field set."""
    return make_fact(
        "-0.10",
        dimensions=(Dimension("region", "EMEA"), Dimension("segment", "Cloud")),
        decimals=-2,
        as_written="(0.10)",
        valid_as_of=START,
        filed_at=START + timedelta(days=3),
        review_status=ReviewStatus.APPROVED,
        author="who",
        reason="why",
        label=Label.PUBLIC,
        attributes=every_attribute(),
        source="ACME filings",
    )
