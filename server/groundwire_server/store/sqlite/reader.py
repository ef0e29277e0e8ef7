"""One consistent state of a SQLite store."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any, TypeVar

from groundwire_server.evidence import (
    AllOf,
    Dimension,
    Family,
    Label,
    Operator,
    Period,
    Predicate,
    ReviewStatus,
    Value,
    matches,
)
from groundwire_server.store.rows import (
    ChunkMeta,
    EdgeColumns,
    EdgePlace,
    FactExtent,
    FactKey,
    FactLine,
    FactPlace,
    IngestState,
    PurgePolicy,
    RevisionDetail,
    RevisionSpan,
    StoredChunk,
    StoredEdge,
    StoredFact,
    StoredRevision,
)
from groundwire_server.store.sqlite import (
    chunks,
    documents,
    edge_pages,
    edges,
    embeddings,
    fact_codes,
    fact_extents,
    fact_keys,
    fact_lines,
    fact_pages,
    facts,
    generations,
    ledger,
    purge,
)
from groundwire_server.store.sqlite.attributes import read_attribute_schema
from groundwire_server.store.sqlite.codec import encode_instant, encode_optional_instant
from groundwire_server.store.sqlite.connection import ReadPool
from groundwire_server.store.sqlite.digest import read_digest
from groundwire_server.store.sqlite.transaction import VISIBLE, readable_labels

__all__ = ["SqliteReader"]

_Row = TypeVar("_Row")
_EDGES_A_PAGE = 20_000


class SqliteReader:
    """`StoreReader` over a pool of read-only connections.

    Rows carry the generations of their birth and death, so that no transaction stays open between two reads.
    """

    def __init__(self, pool: ReadPool, generation: int) -> None:
        self._pool = pool
        self._generation = generation

    @property
    def generation(self) -> int:
        return self._generation

    def state(self) -> str:
        with self._pool.connection() as connection:
            return generations.read_state(connection, self._generation)

    def chunk_count(self) -> int:
        with self._pool.connection() as connection:
            return documents.last_chunk_row(connection, self._generation)

    def chunk_metas(self, after_row: int = 0) -> Iterator[ChunkMeta]:
        while page := self._page(chunks.page_of_metas, after_row):
            yield from page
            after_row = page[-1].chunk_row

    def revision_spans(self, after_row: int = 0) -> Iterator[RevisionSpan]:
        while page := self._page(documents.page_of_spans, after_row):
            yield from page
            after_row = page[-1].first_row + page[-1].chunks - 1

    def revision_details(self, after_row: int = 0) -> Iterator[RevisionDetail]:
        while page := self._page(documents.page_of_details, after_row):
            for detail, count in page:
                yield detail
                after_row = detail.first_row + count - 1

    def retired_spans(self, after_generation: int) -> Iterator[RevisionSpan]:
        yield from self._page(documents.retired_spans, after_generation)

    def index_texts(self, first_row: int, last_row: int) -> Iterator[tuple[int, str]]:
        while page := self._page(chunks.page_of_index_texts, first_row, last_row):
            yield from page
            first_row = page[-1][0] + 1

    def chunks(self, chunk_rows: Sequence[int], *, clearance: Label | None = None) -> list[StoredChunk]:
        with self._pool.connection() as connection:
            return chunks.read_chunks(connection, self._generation, chunk_rows, readable_labels(clearance))

    def chunks_of(
        self, doc_id: str, revision: int, first_seq: int = 0, limit: int | None = None, *, clearance: Label | None
    ) -> list[StoredChunk]:
        most, strictest = -1 if limit is None else limit, readable_labels(clearance)
        return self._page(chunks.chunks_of_revision, strictest, doc_id, revision, first_seq, most)

    def iter_chunks(
        self,
        *,
        clearance: Label | None,
        doc_id: str | None = None,
        equal: Mapping[str, Value] | None = None,
        include_inactive: bool = False,
    ) -> Iterator[StoredChunk]:
        wanted = AllOf(tuple(Predicate(name, Operator.EQ, (value,)) for name, value in (equal or {}).items()))
        after_row, strictest = 0, readable_labels(clearance)
        while page := self._page(chunks.page_of_chunks, strictest, after_row, doc_id, include_inactive):
            for chunk in page:
                if matches(wanted, {attribute.name: attribute.value for attribute in chunk.attributes}):
                    yield chunk
            after_row = page[-1].chunk_row

    def revision(self, doc_id: str, revision: int, *, clearance: Label | None) -> StoredRevision | None:
        found = self._revisions(doc_id, clearance, revision=revision)
        return found[0] if found else None

    def active_revision(self, doc_id: str, *, clearance: Label | None) -> StoredRevision | None:
        found = self._revisions(doc_id, clearance, active=True)
        return found[0] if found else None

    def revisions(
        self, doc_id: str, before: int | None = None, limit: int | None = None, *, clearance: Label | None
    ) -> list[StoredRevision]:
        return self._revisions(doc_id, clearance, before=before, limit=-1 if limit is None else limit)

    def documents(
        self,
        prefix: str = "",
        after: str = "",
        limit: int | None = None,
        *,
        clearance: Label | None,
        include_withdrawn: bool = False,
    ) -> list[StoredRevision]:
        with self._pool.connection() as connection:
            return documents.page_of_documents(
                connection,
                self._generation,
                readable_labels(clearance),
                prefix,
                after,
                -1 if limit is None else limit,
                include_withdrawn=include_withdrawn,
            )

    def purgeable(self, policy: PurgePolicy, *, clearance: Label | None) -> dict[Label, int]:
        return dict(self._page(purge.count_purgeable, policy, readable_labels(clearance)))

    def purged_since(self, clearance: Label | None) -> bool:
        with self._pool.connection() as connection:
            return purge.was_purged_since(connection, self._generation, readable_labels(clearance))

    def source_text(self, doc_id: str, revision: int, *, clearance: Label | None) -> str | None:
        with self._pool.connection() as connection:
            return documents.read_source_text(
                connection, self._generation, readable_labels(clearance), doc_id, revision
            )

    def source_places(self, doc_id: str, revision: int, *, clearance: Label | None) -> bytes:
        with self._pool.connection() as connection:
            return documents.read_source_places(
                connection, self._generation, readable_labels(clearance), doc_id, revision
            )

    def attribute_schema(self, clearance: Label | None) -> dict[str, Family]:
        with self._pool.connection() as connection:
            return read_attribute_schema(connection, self._generation, readable_labels(clearance))

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
        named = {"metric": metric, "entity": entity, "channel": channel, "period": period}
        wanted = {name: value for name, value in named.items() if value is not None}
        if days is not None:
            wanted |= {"period_first": days[0].isoformat(), "period_last": days[1].isoformat()}
        return self._facts(clearance, wanted, known_at)

    def facts_of(
        self, clearance: Label, keys: Sequence[FactKey], *, known_at: datetime | None = None
    ) -> list[list[StoredFact]]:
        with self._pool.connection() as connection:
            known = self._known(connection, known_at)
            return fact_keys.read_facts_of(connection, self._generation, readable_labels(clearance), keys, known)

    def fact(self, clearance: Label, fact_id: str, *, known_at: datetime | None = None) -> list[StoredFact]:
        return self._facts(clearance, {"fact_id": fact_id}, known_at)

    def retired_facts(self, clearance: Label, fact_id: str) -> list[StoredFact]:
        return self._facts(clearance, {"fact_id": fact_id}, None, gone=True)

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
        named = {"metric": metric, "entity": entity, "source_doc": source_doc}
        with self._pool.connection() as connection:
            return fact_pages.read_fact_page(
                connection,
                self._generation,
                readable_labels(clearance),
                statuses=statuses,
                wanted={name: value for name, value in named.items() if value is not None},
                all_versions=all_versions,
                after=after,
                limit=limit,
            )

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
        with self._pool.connection() as connection:
            return fact_lines.read_fact_lines(
                connection,
                self._generation,
                readable_labels(clearance),
                metric=metric,
                period=period,
                channel=channel,
                dimensions=dimensions,
                known=self._known(connection, known_at),
                valid_at=encode_optional_instant(valid_at),
            )

    def fact_rows(self, clearance: Label, rows: Sequence[int]) -> list[StoredFact]:
        return self._page(fact_lines.read_fact_rows, readable_labels(clearance), rows)

    def fact_codes(self, clearance: Label, axis: str) -> list[str]:
        with self._pool.connection() as connection:
            return fact_codes.read_fact_codes(connection, self._generation, readable_labels(clearance), axis)

    def fact_extent(
        self,
        clearance: Label,
        *,
        metric: str | None = None,
        entity: str | None = None,
        channel: str | None = None,
        member: Dimension | None = None,
    ) -> FactExtent:
        named = {"metric": metric, "entity": entity, "channel": channel}
        wanted = {axis: code for axis, code in named.items() if code is not None}
        with self._pool.connection() as connection:
            return fact_extents.read_fact_extent(
                connection, self._generation, readable_labels(clearance), wanted, member
            )

    def fact_members(self, clearance: Label) -> list[Dimension]:
        with self._pool.connection() as connection:
            return fact_codes.read_fact_members(connection, self._generation, readable_labels(clearance))

    def stored_codes(self, after_row: int = 0) -> tuple[int, dict[str, list[str]]]:
        with self._pool.connection() as connection:
            return fact_codes.read_stored_codes(connection, after_row)

    def stored_members(self, after_row: int = 0) -> tuple[int, list[Dimension]]:
        with self._pool.connection() as connection:
            return fact_codes.read_stored_members(connection, after_row)

    def edges(self, clearance: Label, nodes: Sequence[tuple[str, str]], *, outgoing: bool) -> list[StoredEdge]:
        with self._pool.connection() as connection:
            return edges.read_edges(connection, self._generation, readable_labels(clearance), nodes, outgoing=outgoing)

    def edge(self, clearance: Label, edge_id: str) -> list[StoredEdge]:
        with self._pool.connection() as connection:
            return edges.read_edge(connection, self._generation, readable_labels(clearance), edge_id)

    def retired_edge(self, clearance: Label, edge_id: str) -> list[StoredEdge]:
        with self._pool.connection() as connection:
            return edges.read_edge(connection, self._generation, readable_labels(clearance), edge_id, gone=True)

    def edge_rows(self, clearance: Label, rows: Sequence[int]) -> list[StoredEdge]:
        with self._pool.connection() as connection:
            return edges.read_edge_rows(connection, self._generation, readable_labels(clearance), rows)

    def edge_count(self) -> int:
        with self._pool.connection() as connection:
            return edges.count_edges(connection, self._generation)

    def edge_columns(self, after_row: int = 0) -> Iterator[EdgeColumns]:
        while page := self._page(edges.read_edge_columns, after_row, _EDGES_A_PAGE):
            yield from page
            after_row = page[-1].edge_row[-1]

    def retired_edges(self, after_generation: int) -> list[tuple[int, int]]:
        with self._pool.connection() as connection:
            return edges.read_retired_edges(connection, self._generation, after_generation)

    def edge_page(
        self,
        clearance: Label,
        *,
        relation: str | None = None,
        source_doc: str | None = None,
        after: EdgePlace | None = None,
        limit: int,
    ) -> list[list[StoredEdge]]:
        named = {"relation": relation, "source_doc": source_doc}
        with self._pool.connection() as connection:
            return edge_pages.read_edge_page(
                connection,
                self._generation,
                readable_labels(clearance),
                wanted={name: value for name, value in named.items() if value is not None},
                after=after,
                limit=limit,
            )

    def relations(self, clearance: Label) -> list[str]:
        with self._pool.connection() as connection:
            return edges.read_relations(connection, self._generation, readable_labels(clearance))

    def has_node(self, clearance: Label, kind: str, code: str) -> bool:
        with self._pool.connection() as connection:
            return edges.has_node(connection, self._generation, readable_labels(clearance), kind, code)

    def nodes(self, clearance: Label) -> list[tuple[str, str]]:
        with self._pool.connection() as connection:
            return edges.read_nodes(connection, self._generation, readable_labels(clearance))

    def counts(self, clearance: Label) -> tuple[int, int, int, int]:
        state = f"{VISIBLE} AND label <= :label"
        with self._pool.connection() as connection:
            row = connection.execute(
                f"SELECT (SELECT count(*) FROM document_revision WHERE {state}),"
                f" (SELECT coalesce(sum(chunks), 0) FROM document_revision WHERE {state}),"
                f" (SELECT count(DISTINCT fact_id) FROM fact WHERE {state} AND review_status <> :pending),"
                f" (SELECT count(DISTINCT edge_id) FROM edge WHERE {state})",
                {
                    "g": self._generation,
                    "label": readable_labels(clearance),
                    "pending": int(ReviewStatus.PENDING),
                },
            ).fetchone()
        return int(row[0]), int(row[1]), int(row[2]), int(row[3])

    def content_digest(self, clearance: Label) -> bytes:
        with self._pool.connection() as connection:
            return read_digest(connection, clearance, self._generation)

    def embeddings(self, model: str, first_row: int, last_row: int) -> Iterator[tuple[int, bytes | None]]:
        while page := self._page(embeddings.page_of_embeddings, model, first_row, last_row):
            yield from page
            first_row = page[-1][0] + 1

    def vectors_of_texts(self, model: str, texts: Iterable[str], clearance: Label) -> dict[str, bytes]:
        with self._pool.connection() as connection:
            found = ((text, embeddings.vector_of_text(connection, model, text, clearance)) for text in texts)
            return {text: vector for text, vector in found if vector is not None}

    def rows_without_embedding(self, model: str, after_row: int = 0) -> Iterator[tuple[int, str]]:
        while page := self._page(embeddings.page_without_embedding, model, after_row):
            yield from page
            after_row = page[-1][0]

    def ingest(self, ingest_id: str) -> IngestState | None:
        with self._pool.connection() as connection:
            return ledger.read_ingest(connection, ingest_id)

    def spooled(self, ingest_id: str) -> bytes:
        with self._pool.connection() as connection:
            return ledger.read_spool(connection, ingest_id)

    def meta(self, name: str) -> str | None:
        with self._pool.connection() as connection:
            return generations.read_meta(connection, self._generation, name)

    def _page(self, read: Callable[..., list[_Row]], *arguments: object) -> list[_Row]:
        with self._pool.connection() as connection:
            return read(connection, self._generation, *arguments)

    def _revisions(self, doc_id: str, clearance: Label | None, **which: Any) -> list[StoredRevision]:
        with self._pool.connection() as connection:
            return documents.read_revisions(connection, self._generation, readable_labels(clearance), doc_id, **which)

    def _facts(
        self, clearance: Label, wanted: dict[str, str], known_at: datetime | None, *, gone: bool = False
    ) -> list[StoredFact]:
        with self._pool.connection() as connection:
            known = self._known(connection, known_at)
            return facts.read_facts(
                connection, self._generation, readable_labels(clearance), wanted=wanted, known=known, gone=gone
            )

    def _known(self, connection: sqlite3.Connection, known_at: datetime | None) -> tuple[int, int] | None:
        """(instant, generation then) of known_at."""
        if known_at is None:
            return None
        then = generations.generation_at(connection, known_at)
        return encode_instant(known_at), min(then, self._generation)
