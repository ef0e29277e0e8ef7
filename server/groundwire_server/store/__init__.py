"""The system of record: what a store must do, what goes in and comes out, and the store on SQLite."""

from groundwire_server.store.protocol import Store, StoreReader, StoreWriter
from groundwire_server.store.rows import (
    ChunkMeta,
    EdgeRecord,
    FactRecord,
    GenerationMark,
    IngestState,
    NewChunk,
    NewDocument,
    Replaced,
    RevisionDetail,
    RevisionSpan,
    StoredChunk,
    StoredEdge,
    StoredFact,
    StoredRevision,
    Withdrawn,
    WriteCounts,
    make_fact_id,
)
from groundwire_server.store.sqlite import ServerFile, SqliteStore, storage_full

__all__ = [
    "ChunkMeta",
    "EdgeRecord",
    "FactRecord",
    "GenerationMark",
    "IngestState",
    "NewChunk",
    "NewDocument",
    "Replaced",
    "RevisionDetail",
    "RevisionSpan",
    "ServerFile",
    "SqliteStore",
    "Store",
    "StoreReader",
    "StoreWriter",
    "StoredChunk",
    "StoredEdge",
    "StoredFact",
    "StoredRevision",
    "Withdrawn",
    "WriteCounts",
    "make_fact_id",
    "storage_full",
]
