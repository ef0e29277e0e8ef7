"""What goes into a store and what comes out of it: plain frozen rows.

Each stored row has `born`, the generation that wrote it, and `died`, the generation that ended it or None.
It is visible at generation g exactly when born <= g and (died is None or died > g).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from groundwire_server.errors import RowRefused
from groundwire_server.evidence import Attribute, Dimension, Label, ReviewStatus, Span

__all__ = [
    "ChunkMeta",
    "EdgeColumns",
    "EdgePlace",
    "EdgeRecord",
    "FactAxes",
    "FactExtent",
    "FactKey",
    "FactLine",
    "FactPlace",
    "FactRecord",
    "GenerationMark",
    "IngestState",
    "NewChunk",
    "NewDocument",
    "PurgePolicy",
    "Replaced",
    "RevisionDetail",
    "RevisionSpan",
    "StoredChunk",
    "StoredEdge",
    "StoredFact",
    "StoredRevision",
    "Withdrawn",
    "WriteCounts",
    "extent_of_facts",
    "line_of_fact",
    "make_fact_id",
]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class NewChunk:
    """A chunk to store. `text[span]` of the document is its text; the place of it in the tuple is its seq, from 0.

    header: goes before the text in what is indexed and embedded, never into the text (empty: nothing).
    locator: place for people, whole ("notes.md#line=10-18").
    """

    span: Span
    locator: str
    header: str = ""
    heading: str = ""
    parent_id: str = ""
    parent_span: Span | None = None
    parent_locator: str = ""


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A document to store, read and chunked.

    places: where the spans of its text lie, in whatever form the reader packs them; empty where the text itself tells.
    """

    doc_id: str
    title: str
    media_type: str
    text: str
    raw_sha256: bytes
    raw_bytes: int
    chunker: str
    chunks: tuple[NewChunk, ...]
    label: Label
    valid_as_of: datetime | None = None
    attributes: tuple[Attribute, ...] = ()
    places: bytes = b""


@dataclass(frozen=True, slots=True)
class Replaced:
    """What became of a document. `unchanged`: equal content, so no new revision."""

    doc_id: str
    revision: int
    chunks: int
    unchanged: bool


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The revision that was active before (the last one if it was out already), and whether this call took it out."""

    revision: int
    withdrawn_now: bool


@dataclass(frozen=True, slots=True)
class PurgePolicy:
    """Which retired revisions are to be purged: those that no line of it keeps. An active one never is.

    until: a generation; what was retired after it stays.
    doc_id: only of this document; empty: of all.
    keep_last: so many of each document stay, the newest that are retired and readable.
    retired_before: only those that were retired before; None: whenever.
    """

    until: int
    doc_id: str = ""
    keep_last: int = 0
    retired_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class StoredRevision:
    """One revision of a document, without its text."""

    doc_id: str
    revision: int
    title: str
    media_type: str
    raw_sha256: bytes
    raw_bytes: int
    text_chars: int
    chunker: str
    chunks: int
    label: Label
    valid_as_of: datetime | None
    attributes: tuple[Attribute, ...]
    ingested_at: datetime
    retired_at: datetime | None
    born: int
    died: int | None


@dataclass(frozen=True, slots=True)
class ChunkMeta:
    """What restriction and ordering need of a chunk. `chunk_row` ascends with insertion and is never reused."""

    chunk_row: int
    doc_id: str
    revision: int
    seq: int
    label: Label
    valid_as_of: datetime | None
    born: int
    died: int | None


@dataclass(frozen=True, slots=True)
class RevisionSpan:
    """A revision and its chunk rows: first_row, first_row + 1 ... in seq order. Columns over chunks are made of it.

    number: its number for who may read up to its label; revision is that among all.
    """

    first_row: int
    chunks: int
    doc_id: str
    revision: int
    label: Label
    valid_as_of: datetime | None
    born: int
    died: int | None
    number: int


@dataclass(frozen=True, slots=True)
class RevisionDetail:
    """What filters test of the revision whose first chunk row is `first_row`."""

    first_row: int
    doc_id: str
    title: str
    media_type: str
    valid_as_of: datetime | None
    ingested_at: datetime
    attributes: tuple[Attribute, ...]


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk with all that its snippet needs."""

    chunk_row: int
    doc_id: str
    revision: int
    seq: int
    title: str
    text: str
    text_sha256: bytes
    span: Span
    locator: str
    header: str
    heading: str
    parent_id: str
    parent_span: Span | None
    parent_locator: str
    label: Label
    valid_as_of: datetime | None
    ingested_at: datetime
    attributes: tuple[Attribute, ...]


@dataclass(frozen=True, slots=True)
class FactRecord:
    """A figure to store. `make_fact_id` makes its id from its key and source.

    period is canonical; period_first and period_last are its days. filed_at orders the versions; None: now.
    source: who states it over all its versions, where these stand in documents of their own (a figure filed in one
    report and restated in the next); empty: source_doc. Lineage and withdrawal always go by source_doc.
    keeps_label: a word about a figure that may be there; then it stands under that one's label instead of its own.
    withdraw: the figure of this key and source is taken back; of all else only the label counts, for what is not there.
    """

    metric: str
    entity: str
    period: str
    period_first: date
    period_last: date
    channel: str
    value: str
    unit: str
    source_doc: str
    locator: str
    dimensions: tuple[Dimension, ...] = ()
    decimals: int | None = None
    as_written: str = ""
    valid_as_of: datetime | None = None
    filed_at: datetime | None = None
    review_status: ReviewStatus = ReviewStatus.AUTO_APPROVED
    author: str = ""
    reason: str = ""
    label: Label = Label.INTERNAL
    attributes: tuple[Attribute, ...] = ()
    source: str = ""
    keeps_label: bool = False
    withdraw: bool = False


def make_fact_id(record: FactRecord) -> str:
    """128-bit hex of key and source: metric, entity, days, channel, dimensions in any order, unit without case, source.

    The days and not the wording make the period: "2020" and "2020-01-01/2020-12-31" are one; a day alone (an instant)
    and the span of that one day are two.
    """
    first, last = record.period_first.isoformat(), record.period_last.isoformat()
    instant = first == last and "/" not in record.period
    parts = [record.metric, record.entity, first if instant else f"{first}/{last}", record.channel]
    parts += [record.unit.casefold(), record.source or record.source_doc]
    for dimension in sorted(record.dimensions, key=lambda d: d.name):
        parts += [dimension.name, dimension.member]
    digest = hashlib.sha256()
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        digest.update(len(raw).to_bytes(8, "big") + raw)
    return digest.hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class StoredFact:
    """One filed value of a figure. Those of one fact_id are versions, by (filed_at or recorded_at, fact_row)."""

    fact_row: int
    fact_id: str
    record: FactRecord
    recorded_at: datetime
    born: int
    died: int | None


class FactLine(NamedTuple):
    """A filed value as a sum over many entities needs it. A tuple, since tens of thousands are read at once.

    source: the record's, or its source_doc where it has none. label: as its number. filed_at, stated_at: microseconds
    since 1970 in UTC; the second is the first, or where that is None when the value was recorded.
    """

    entity: str
    fact_id: str
    fact_row: int
    value: str
    unit: str
    decimals: int | None
    label: int
    source: str
    source_doc: str
    locator: str
    filed_at: int | None
    stated_at: int
    period: str


def line_of_fact(fact: StoredFact) -> FactLine:
    """The line of a whole figure."""
    record = fact.record
    return FactLine(
        entity=record.entity,
        fact_id=fact.fact_id,
        fact_row=fact.fact_row,
        value=record.value,
        unit=record.unit,
        decimals=record.decimals,
        label=int(record.label),
        source=record.source or record.source_doc,
        source_doc=record.source_doc,
        locator=record.locator,
        filed_at=None if record.filed_at is None else (record.filed_at - _EPOCH) // _MICROSECOND,
        stated_at=((record.filed_at or fact.recorded_at) - _EPOCH) // _MICROSECOND,
        period=record.period,
    )


@dataclass(frozen=True, slots=True)
class FactExtent:
    """How far some figures reach: how many facts, whose periods (first day, last day, as written), in which units.

    Periods by their days, units by code point, each once.
    """

    facts: int = 0
    periods: tuple[tuple[date, date, str], ...] = ()
    units: tuple[str, ...] = ()


def extent_of_facts(facts: Iterable[StoredFact]) -> FactExtent:
    """The extent of whole figures; those that wait for review do not count."""
    kept = [fact for fact in facts if fact.record.review_status is not ReviewStatus.PENDING]
    records = [fact.record for fact in kept]
    return FactExtent(
        len({fact.fact_id for fact in kept}),
        tuple(sorted({(each.period_first, each.period_last, each.period) for each in records})),
        tuple(sorted({each.unit for each in records})),
    )


@dataclass(frozen=True, slots=True)
class FactAxes:
    """That a source has figures of an entity and a metric, on a channel and further axes, with the least label."""

    source_doc: str
    entity: str
    metric: str
    channel: str
    dimensions: tuple[Dimension, ...]
    label: Label


@dataclass(frozen=True, slots=True)
class EdgeRecord:
    """A relation to store, already turned round where the relation names say so. Days are ISO text or empty."""

    source_kind: str
    source: str
    relation: str
    target_kind: str
    target: str
    extractor: str
    source_doc: str
    locator: str
    valid_from: str = ""
    valid_to: str = ""
    attributes: tuple[Attribute, ...] = ()
    label: Label = Label.INTERNAL


@dataclass(frozen=True, slots=True)
class StoredEdge:
    """One source of a relation. Rows with one edge_id are the sources of one edge, ordered by (source_doc, locator)."""

    edge_row: int
    edge_id: str
    record: EdgeRecord
    recorded_at: datetime
    born: int
    died: int | None


@dataclass(frozen=True, slots=True)
class EdgeColumns:
    """Edge rows as columns, one entry a row, `edge_row` ascending: what a walk needs of a source of a relation."""

    edge_row: tuple[int, ...]
    edge_id: tuple[str, ...]
    label: tuple[int, ...]
    born: tuple[int, ...]
    died: tuple[int | None, ...]
    source_kind: tuple[str, ...]
    source: tuple[str, ...]
    relation: tuple[str, ...]
    target_kind: tuple[str, ...]
    target: tuple[str, ...]
    extractor: tuple[str, ...]
    valid_from: tuple[str, ...]
    valid_to: tuple[str, ...]


class FactKey(NamedTuple):
    """Under what a figure is asked for: codes, and the first and last day of its period."""

    metric: str
    entity: str
    channel: str
    first: date
    last: date


@dataclass(frozen=True, slots=True)
class FactPlace:
    """Where a filed value stands in the list of all: a place that has meaning without the row that was there.

    source: the record's, or its source_doc where it has none.
    stated_at: its filed_at or recorded_at; None: behind all versions of the fact.
    equals: how many values of the fact with the same stated_at stand up to here, this one included.
    """

    metric: str
    entity: str
    period_first: date
    period_last: date
    channel: str
    dimensions: tuple[Dimension, ...]
    source: str
    fact_id: str
    stated_at: datetime | None = None
    equals: int = 0


@dataclass(frozen=True, slots=True)
class EdgePlace:
    """Where a relation stands in the list of all."""

    relation: str
    source_kind: str
    source: str
    target_kind: str
    target: str
    edge_id: str


@dataclass(frozen=True, slots=True)
class WriteCounts:
    """How many rows were new or changed, and how many were there already.

    refused: (place in what was given, from 0; why) of each record that was not stored.
    """

    stored: int
    unchanged: int
    refused: tuple[tuple[int, RowRefused], ...] = ()


@dataclass(frozen=True, slots=True)
class IngestState:
    """An ingest stream as far as it is durable.

    durable_seq: every part up to here survives a crash.
    head: opaque bytes of the unfinished document or file, empty when none is open; its content is spooled beside it.
    outcomes: opaque bytes of each final outcome in order, so that a repeat gives the same.
    """

    ingest_id: str
    kind: str
    durable_seq: int
    finished: bool
    head: bytes
    outcomes: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class GenerationMark:
    """A generation and when it was committed; committed_at never goes back."""

    generation: int
    committed_at: datetime
