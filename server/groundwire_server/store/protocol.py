"""What any store of a library must do. `conformance.py` holds each sentence of these docstrings with a test."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import date, datetime
from typing import Protocol

from groundwire_server.evidence import AttributeType, Dimension, Family, Label, Period, ReviewStatus, Value
from groundwire_server.store.graph_protocol import GraphReader, GraphWriter
from groundwire_server.store.rows import (
    ChunkMeta,
    FactAxes,
    FactExtent,
    FactKey,
    FactLine,
    FactPlace,
    FactRecord,
    GenerationMark,
    IngestState,
    NewChunk,
    NewDocument,
    PurgePolicy,
    Replaced,
    RevisionDetail,
    RevisionSpan,
    StoredChunk,
    StoredFact,
    StoredRevision,
    Withdrawn,
    WriteCounts,
)

__all__ = ["Store", "StoreReader", "StoreWriter"]


class StoreReader(GraphReader, Protocol):
    """One consistent state: all that is visible at `generation`. Usable from any thread; never blocks a writer.

    `clearance` bounds what is returned: rows with a stricter label do not exist, and RESTRICTED never does. None, where
    it may be given, bounds nothing: for the house's own work, never for what goes to a caller.
    """

    @property
    def generation(self) -> int: ...

    def state(self) -> str:
        """What tells this state from any other, also from one that a store restored from a copy came to instead."""
        ...

    def chunk_count(self) -> int:
        """Chunk rows ever written up to this generation, dead ones included."""
        ...

    def chunk_metas(self, after_row: int = 0) -> Iterator[ChunkMeta]:
        """Every chunk row above `after_row` in ascending order, dead and hidden ones included: the index needs them."""
        ...

    def revision_spans(self, after_row: int = 0) -> Iterator[RevisionSpan]:
        """Every revision with chunk rows above `after_row`, by first_row, dead and hidden ones included.

        All the chunks of a revision are written together, so that their rows follow one another in seq order.
        """
        ...

    def revision_details(self, after_row: int = 0) -> Iterator[RevisionDetail]:
        """What filters test, of the same revisions in the same order."""
        ...

    def retired_spans(self, after_generation: int) -> Iterator[RevisionSpan]:
        """Every revision with chunks that died in (after_generation, generation], hidden ones included."""
        ...

    def index_texts(self, first_row: int, last_row: int) -> Iterator[tuple[int, str]]:
        """(chunk_row, header + newline + text, or text where there is no header) for rows in [first_row, last_row]."""
        ...

    def chunks(self, chunk_rows: Sequence[int], *, clearance: Label | None = None) -> list[StoredChunk]:
        """The chunks in the order asked. Raises KeyError for a row that is not there.

        clearance: for whom their revisions are counted; it leaves none of them out.
        """
        ...

    def chunks_of(
        self, doc_id: str, revision: int, first_seq: int = 0, limit: int | None = None, *, clearance: Label | None
    ) -> list[StoredChunk]:
        """Chunks of one revision, ended or not, by seq, from a place on."""
        ...

    def iter_chunks(
        self,
        *,
        clearance: Label | None,
        doc_id: str | None = None,
        equal: Mapping[str, Value] | None = None,
        include_inactive: bool = False,
    ) -> Iterator[StoredChunk]:
        """Chunks in row order whose attributes equal all that is asked for; those of ended revisions on demand (seed).

        Values are equal as in a filter: 1 and 1.0 are, "1" and 1 are not.
        """
        ...

    def revision(self, doc_id: str, revision: int, *, clearance: Label | None) -> StoredRevision | None:
        """One revision by its number.

        A reader counts from 1 over the revisions that it may read, here and wherever a revision is given or taken
        beside a clearance; None counts all of them.
        """
        ...

    def active_revision(self, doc_id: str, *, clearance: Label | None) -> StoredRevision | None:
        """The revision that answers now; None as well where it is there and not readable."""
        ...

    def revisions(
        self, doc_id: str, before: int | None = None, limit: int | None = None, *, clearance: Label | None
    ) -> list[StoredRevision]:
        """Newest first, below a number, up to a limit."""
        ...

    def documents(
        self,
        prefix: str = "",
        after: str = "",
        limit: int | None = None,
        *,
        clearance: Label | None,
        include_withdrawn: bool = False,
    ) -> list[StoredRevision]:
        """Active revisions sorted by doc_id in code-point order, or of every document the last that can be read."""
        ...

    def purgeable(self, policy: PurgePolicy, *, clearance: Label | None) -> dict[Label, int]:
        """How many revisions `StoreWriter.purge` would take, by label; of what a clearance may read alone."""
        ...

    def purged_since(self, clearance: Label | None) -> bool:
        """Whether the contents of a readable revision that had been written by then were erased after this state."""
        ...

    def source_text(self, doc_id: str, revision: int, *, clearance: Label | None) -> str | None: ...

    def source_places(self, doc_id: str, revision: int, *, clearance: Label | None) -> bytes:
        """`NewDocument.places` of a revision; empty where it has none, or there is none to read."""
        ...

    def attribute_schema(self, clearance: Label | None) -> dict[str, Family]:
        """Attributes of documents, facts and edges that filters may name.

        The first use of a name fixed its family, for everything of that label and above. What is hidden from a reader
        neither shows a name nor fixes a family for it; where two labels fixed two families, the lower label's holds.
        """
        ...

    def facts(
        self,
        clearance: Label,
        *,
        metric: str | None = None,
        entity: str | None = None,
        channel: str | None = None,
        period: str | None = None,
        days: tuple[date, date] | None = None,
        known_at: datetime | None = None,
    ) -> list[StoredFact]:
        """Every readable filed value that fits, PENDING too, by (fact_id, filed_at or recorded_at, fact_row).

        days: first and last day of the period, whatever its canonical form.
        known_at: only what was filed by then; a value without filed_at as the store had recorded it then.
        """
        ...

    def facts_of(
        self, clearance: Label, keys: Sequence[FactKey], *, known_at: datetime | None = None
    ) -> list[list[StoredFact]]:
        """What `facts` gives for each of many keys, in their order."""
        ...

    def fact_page(
        self,
        clearance: Label,
        *,
        statuses: Collection[ReviewStatus],
        metric: str | None = None,
        entity: str | None = None,
        source_doc: str | None = None,
        all_versions: bool = False,
        after: FactPlace | None = None,
        limit: int,
    ) -> list[StoredFact]:
        """Readable filed values in one of the states, of each fact the last such one or all, behind a place.

        By metric, entity, period_first, period_last, channel, dimensions, source (else source_doc), fact_id, and within
        a fact as in `facts`; no dimensions come first, others by the JSON text of [[name, member], ...]. A place holds
        whatever becomes of the row that stood there.
        """
        ...

    def fact_lines(
        self,
        clearance: Label,
        *,
        metric: str,
        period: Period,
        channel: str,
        dimensions: Sequence[Dimension] = (),
        known_at: datetime | None = None,
        valid_at: datetime | None = None,
    ) -> list[FactLine]:
        """Every readable filed value that is not PENDING of one metric, period, channel and dimensions, by (entity,
        fact_row); every version.

        period: by its days, whatever its form; an instant is answered with instants alone, a span with spans alone.
        valid_at: not what says that it holds from a later time on.
        """
        ...

    def fact_rows(self, clearance: Label, rows: Sequence[int]) -> list[StoredFact]:
        """The readable values of these fact rows, in the order asked, be they there no more; others are left out."""
        ...

    def fact_codes(self, clearance: Label, axis: str) -> list[str]:
        """Distinct codes on an axis ("metric", "entity", "channel") of readable facts that are not PENDING, sorted."""
        ...

    def fact_members(self, clearance: Label) -> list[Dimension]:
        """Distinct members of further axes of readable facts that are not PENDING, by axis and member."""
        ...

    def fact_extent(
        self,
        clearance: Label,
        *,
        metric: str | None = None,
        entity: str | None = None,
        channel: str | None = None,
        member: Dimension | None = None,
    ) -> FactExtent:
        """How far the readable facts that are not PENDING reach; member: those with this one on its axis."""
        ...

    def stored_codes(self, after_row: int = 0) -> tuple[int, dict[str, list[str]]]:
        """The last fact row, and by axis the codes of the rows behind another, hidden, dead and PENDING ones included;
        of all rows also the channel that is the whole.

        What those codes mean is found once for all callers; nobody is shown one by it.
        """
        ...

    def stored_members(self, after_row: int = 0) -> tuple[int, list[Dimension]]:
        """As `stored_codes`, the members of further axes, by axis and member."""
        ...

    def fact(self, clearance: Label, fact_id: str, *, known_at: datetime | None = None) -> list[StoredFact]:
        """Every readable filed value of one fact, ordered and bounded as in `facts`."""
        ...

    def retired_facts(self, clearance: Label, fact_id: str) -> list[StoredFact]:
        """Readable values of one fact that are there no more, in the order of `facts`: old citations name them."""
        ...

    def counts(self, clearance: Label) -> tuple[int, int, int, int]:
        """Readable active documents, chunks, facts (distinct fact_id, PENDING left out), edges (distinct edge_id)."""
        ...

    def content_digest(self, clearance: Label) -> bytes:
        """32 bytes: order-independent multiset hash of every birth and death of rows that `clearance` may read."""
        ...

    def embeddings(self, model: str, first_row: int, last_row: int) -> Iterator[tuple[int, bytes | None]]:
        """(chunk_row, float32 bytes, or None where it has no vector of this model) for [first_row, last_row].

        Embeddings have no generations: whatever is there now. RESTRICTED chunks have none.
        """
        ...

    def vectors_of_texts(self, model: str, texts: Iterable[str], clearance: Label) -> dict[str, bytes]:
        """Vectors of this model that were made of index texts, where a label up to the clearance has them.

        Like `embeddings` whatever is there now, also of chunks that are active no more.
        """
        ...

    def rows_without_embedding(self, model: str, after_row: int = 0) -> Iterator[tuple[int, str]]:
        """(chunk_row, index text) of visible chunks without a vector, in row order. RESTRICTED ones are left out."""
        ...

    def ingest(self, ingest_id: str) -> IngestState | None: ...

    def spooled(self, ingest_id: str) -> bytes:
        """Content of the unfinished document, in order."""
        ...

    def meta(self, name: str) -> str | None:
        """A named text of the library, e.g. its glossary or settings."""
        ...


class StoreWriter(GraphWriter, Protocol):
    """One open write transaction: all of it becomes visible at once, at `generation`, or nothing does.

    `clearance` is that of whoever is told what became of a write: rows with a stricter label refuse nothing, and are
    never what was there already. None: the house, which may know of all.
    """

    @property
    def generation(self) -> int: ...

    def replace_document(self, document: NewDocument, *, clearance: Label | None = None) -> Replaced:
        """Retire the active revision and store revision max + 1; an empty tuple of chunks is a document without chunks.

        Equal content (text, title, media type, label, valid_as_of, attributes, chunker and chunks) changes nothing. Of
        a document that `clearance` may not read is told that it is the next one behind the revisions that it may read.

        Raises:
            DocumentRefused: an attribute of another family than its first use.
        """
        ...

    def recut_document(self, doc_id: str, revision: int, chunker: str, chunks: Sequence[NewChunk]) -> Replaced | None:
        """Give a document other chunks: a new revision that is the active one in all else, whatever its attributes are.

        Equal chunks of an equal chunker change nothing. None, and nothing is done, when `revision` is not active now.
        """
        ...

    def withdraw_document(self, doc_id: str, *, clearance: Label | None = None) -> Withdrawn:
        """Retire the active revision, and the facts and edges whose source_doc it is.

        A source of facts or edges alone is withdrawn likewise, with revision 0. What is hidden from `clearance` goes
        along with what is not, but an active revision that is hidden stays, with all that is hidden of its own; and
        where nothing is to be seen any more, nothing goes. Raises UnknownResource when there never was anything to see.
        """
        ...

    def purge(self, policy: PurgePolicy, limit: int, *, clearance: Label | None) -> dict[Label, int]:
        """Erase what up to `limit` revisions hold that a policy names and a clearance may read; how many, by label.

        Texts, chunks, places, titles, attributes and hashes go, and vectors of texts that nothing else holds. No
        generation has the revisions any more, neither this one nor one before; their numbers are not given again.
        """
        ...

    def put_facts(self, records: Iterable[FactRecord], *, clearance: Label | None = None) -> WriteCounts:
        """Add filed values. A repeat changes nothing; a bad record is refused and the others go on.

        The same value from the same place (source_doc, locator) and filed at the same time is the same version: where
        something else of it differs (digits, review, label ...) the old row dies and the new one is born; but PENDING
        takes nothing back that is approved. Without filed_at it is compared with the newest such value from its place,
        and where there is none with all of them, whose date it leaves as it is; with one, also with a value from its
        place that was written without, later than the filing: it gets its date. Any other value is a further version.
        Rows of a stricter label decide nothing; one that says the same dies too, since a lower label takes its place.

        A record that withdraws ends every value of its fact that `clearance` may read; known_at before it still finds
        them. One that keeps the label stands under the strictest of those that are there and that it may read.
        """
        ...

    def fact_axes(self, *, source_doc: str | None = None, entity: str | None = None) -> list[FactAxes]:
        """On which axes a source, or an entity, or the one of the other, has figures that are not PENDING.

        As this transaction has it so far, by source_doc, entity, metric, channel, dimensions; of every label.
        """
        ...

    def put_embeddings(self, model: str, vectors: Iterable[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
        """Store vectors (float32 bytes) of chunk rows. Returns every chunk row that has one by it, ascending, with it.

        Equal index texts share one vector, but a chunk never takes one from a text of a stricter label than its own.
        """
        ...

    def start_ingest(self, ingest_id: str, kind: str) -> IngestState: ...

    def spool(self, ingest_id: str, seq: int, head: bytes | None, content: bytes) -> None:
        """Keep a part of an unfinished document; makes `seq` durable."""
        ...

    def finish_part(self, ingest_id: str, seq: int, outcome: bytes) -> None:
        """The open document is done: drop its spool, record its outcome; makes `seq` durable."""
        ...

    def finish_ingest(self, ingest_id: str) -> None: ...

    def forget_ingests(self, before: datetime) -> int:
        """Drop ingests, finished or not, that were last written before; returns how many."""
        ...

    def set_meta(self, name: str, value: str) -> None: ...


class Store(Protocol):
    """A library's system of record."""

    def was(self, state: str) -> bool:
        """Whether it is in a state, or was before it came to the present one (`StoreReader.state`)."""
        ...

    def reader(self, generation: int | None = None) -> StoreReader:
        """The state at `generation`, by default the last committed one."""
        ...

    def writer(self, declared: Mapping[str, AttributeType] | None = None) -> AbstractContextManager[StoreWriter]:
        """A transaction, committed durably on a clean exit and undone on an exception. One at a time.

        A transaction that changed nothing visible commits its ledger entries without a new generation.

        declared: attributes whose types the library fixes; a value of another type is refused, and what the first use
        of such a name was counts no more.

        Raises:
            ResourceExhausted: the disk is full; nothing was half written.
        """
        ...

    def generation_at(self, moment: datetime) -> int:
        """The last generation committed at or before `moment`; 0 when there was none."""
        ...

    def generations(self) -> list[GenerationMark]: ...

    def sweep(self) -> None:
        """Leave nothing on the disk of what was erased. Writers wait, readers do not; it may be repeated.

        Raises:
            ResourceExhausted: the disk is full; nothing was changed.
            Unavailable: a read of another process does not end.
        """
        ...

    def close(self) -> None: ...
