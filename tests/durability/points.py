"""The named points: where the server is killed, along the whole way of what comes in, and while it starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tests.durability.triggers import Call, DatabaseFile, FileCall, Statement, Trigger

__all__ = ["POINTS", "Point", "Scene"]

Scene = Literal["first", "change", "catch-up", "rebuild", "purge"]
"""What the server is killed in.

first: on an empty folder, while a library is made. change: while a library changes. catch-up: starting after a first
kill that left the indexes behind the store. rebuild: starting without indexes. purge: while old revisions are erased.
"""

_STORE = "groundwire_server.store.sqlite"
_LIBRARY = "groundwire_server.library.library:Library"
_LEXICAL = "*/index/lexical"
_VECTORS = "*/index/vectors"


@dataclass(frozen=True, slots=True)
class Point:
    """A point: its name, the place, and which of its passages is the last."""

    name: str
    trigger: Trigger
    passage: int = 1
    scene: Scene = "change"


_RPC = "groundwire_server.rpc.ingest_service"
_INGEST = "groundwire_server.ingest"

POINTS: tuple[Point, ...] = (
    # A part comes in.
    Point("document part: before it is read", Call(f"{_RPC}:_feed_document", "before"), 4),
    Point("document part: after it is taken", Call(f"{_RPC}:_feed_document", "after"), 6),
    Point("document: whole, before it is read", Call(f"{_INGEST}.documents:prepare_documents", "before"), 7),
    Point("document: read, before it is cut", Call("groundwire_server.readers.registry:read_document", "after"), 7),
    Point("document: after it is cut", Call("groundwire_server.chunking.paragraph:ParagraphChunker.chunk", "after"), 6),
    Point("upload: after the second part is put to the first", Call(f"{_INGEST}.upload:Upload.add", "after"), 8),
    Point("fact part: before the second of a file is read", Call(f"{_RPC}:_feed_facts", "before"), 5),
    Point("fact file: before its rows are read", Call(f"{_INGEST}.fact_files:read_rows", "before"), 2),
    # A transaction.
    Point("transaction: just begun", Statement("BEGIN IMMEDIATE", "after"), 4),
    Point("ledger: before an ingest is started", Call(f"{_STORE}.ledger:start_ingest", "before")),
    Point("ledger: after an ingest is started", Statement("INSERT OR IGNORE INTO ingest", "after"), 2),
    Point("spool: before a part is kept", Call(f"{_STORE}.ledger:spool_part", "before")),
    Point("spool: between sequence and content", Statement("INSERT INTO ingest_spool", "before")),
    Point("spool: after a part is kept", Call(f"{_STORE}.ledger:spool_part", "after")),
    Point("replace: before", Call(f"{_STORE}.documents:replace_document", "before"), 3),
    Point("replace: before the old revision ends", Statement("UPDATE document_revision SET died", "before"), 2),
    Point(
        "replace: the old one ended, the new one not there", Statement("UPDATE document_revision SET died", "after"), 2
    ),
    Point("replace: after the revision's row", Statement("INSERT INTO document_revision", "after"), 4),
    Point("replace: after the text", Statement("INSERT INTO source_text", "after"), 4),
    Point("replace: half of the chunks are in", Statement("INSERT INTO chunk", "middle"), 2),
    Point("replace: after the chunks", Statement("INSERT INTO chunk", "after"), 5),
    Point("replace: after", Call(f"{_STORE}.documents:replace_document", "after"), 6),
    Point("attributes: a family is fixed", Statement("INSERT INTO attribute_family", "after")),
    Point("ledger: before a part is finished", Call(f"{_STORE}.ledger:finish_part", "before"), 3),
    Point("ledger: the spool is dropped", Statement("DELETE FROM ingest_spool", "after"), 7),
    Point("ledger: after the outcome", Statement("INSERT INTO ingest_outcome", "after"), 8),
    Point("withdraw: before", Call(f"{_STORE}.writer:SqliteWriter.withdraw_document", "before")),
    Point("withdraw: after", Call(f"{_STORE}.writer:SqliteWriter.withdraw_document", "after")),
    Point("facts: before a batch", Call(f"{_STORE}.facts:put_facts", "before"), 2),
    Point("facts: the old version ended", Statement("UPDATE fact SET died", "after")),
    Point("facts: some rows are in", Statement("INSERT INTO fact ", "after"), 50),
    Point("facts: after a batch", Call(f"{_STORE}.facts:put_facts", "after"), 4),
    Point("edges: between two", Statement("INSERT INTO edge", "after"), 3),
    Point("edges: after a batch", Call(f"{_STORE}.edges:put_edges", "after"), 3),
    Point("digest: before it is written", Call(f"{_STORE}.digest:DigestBook.write", "before"), 3),
    Point("generation: after its row", Statement("INSERT INTO generation", "after"), 5),
    Point("commit: before", Statement("COMMIT", "before"), 5),
    Point("commit: a page of the log half written", DatabaseFile("write", "*/store.sqlite-wal", "middle"), 30),
    Point("commit: pages written, before the sync", DatabaseFile("sync", "*/store.sqlite-wal", "before"), 5),
    Point("commit: after the sync", DatabaseFile("sync", "*/store.sqlite-wal", "after"), 6),
    Point("commit: after", Statement("COMMIT", "after"), 6),
    Point("checkpoint: a page half written", DatabaseFile("write", "*/store.sqlite", "middle", 40), 30),
    Point("checkpoint: before the sync", DatabaseFile("sync", "*/store.sqlite", "before", 40), 2),
    # What is derived.
    Point("publish: before", Call(f"{_LIBRARY}._publish", "before"), 3),
    Point("publish: after", Call(f"{_LIBRARY}._publish", "after"), 4),
    Point("columns: before they grow", Call("groundwire_server.library.columns:ColumnBuilder.add", "before"), 3),
    Point(
        "lexical: before rows are appended",
        Call("groundwire_server.lexical.directory:LexicalDirectory.append", "before"),
    ),
    Point("lexical: a segment is made", Call("groundwire_server.lexical.postings:pack", "after"), 2),
    Point("lexical: a segment half written", FileCall("write", f"{_LEXICAL}/segment-*.tmp", "middle"), 9),
    Point("lexical: a segment before its sync", FileCall("fsync", f"{_LEXICAL}/segment-*", "before"), 2),
    Point("lexical: a segment before its name", FileCall("replace", f"{_LEXICAL}/segment-*", "before"), 2),
    Point("lexical: a segment after its name", FileCall("replace", f"{_LEXICAL}/segment-*", "after")),
    Point("lexical: segments merged", Call("groundwire_server.lexical.merge:merge_segments", "after")),
    Point("lexical: the manifest half written", FileCall("write", f"{_LEXICAL}/manifest.json.tmp", "middle")),
    Point("lexical: the manifest before its name", FileCall("replace", f"{_LEXICAL}/manifest.json", "before")),
    Point("lexical: the manifest after its name", FileCall("replace", f"{_LEXICAL}/manifest.json", "after")),
    Point("lexical: before an old segment goes", FileCall("unlink", f"{_LEXICAL}/segment-*", "before")),
    Point("lexical: an old segment is gone", FileCall("unlink", f"{_LEXICAL}/segment-*", "after")),
    Point(
        "lexical: after rows are appended",
        Call("groundwire_server.lexical.directory:LexicalDirectory.append", "after"),
        2,
    ),
    Point(
        "lexical: saved and merged, before readers have it",
        Call("groundwire_server.lexical.directory:LexicalDirectory._replace", "before"),
        2,
    ),
    # Embedding.
    Point("embedding: before a batch", Call(f"{_INGEST}.embedding:EmbeddingWorker._embed_batch", "before")),
    Point("embedding: vectors made", Call(f"{_LIBRARY}.add_vectors", "before")),
    Point("embedding: in the store's transaction", Statement("INSERT OR IGNORE INTO embedding (", "after"), 20),
    Point(
        "embedding: stored, not in the index",
        Call("groundwire_server.library.indexes:LibraryIndexes.set_vectors", "before"),
    ),
    Point("vectors: the file grown", FileCall("ftruncate", f"{_VECTORS}/vectors-*.f32", "after")),
    Point("vectors: half written", FileCall("pwrite", f"{_VECTORS}/vectors-*.f32", "middle")),
    Point("vectors: before the sync", FileCall("fsync", f"{_VECTORS}/vectors-*.f32", "before")),
    Point("vectors: the manifest half written", FileCall("write", f"{_VECTORS}/vectors.json.new", "middle"), 3),
    Point("vectors: the manifest before its name", FileCall("replace", f"{_VECTORS}/vectors.json", "before")),
    Point("vectors: the manifest after its name", FileCall("replace", f"{_VECTORS}/vectors.json", "after")),
    # What the client is told.
    Point(
        "outcome: durable, before it is sent", Call("groundwire_server.rpc.call:RpcCall.write", "before", "outcome"), 6
    ),
    Point(
        "outcome: sent, before its acknowledgement",
        Call("groundwire_server.rpc.call:RpcCall.write", "after", "outcome"),
        5,
    ),
    Point(
        "acknowledgement: durable, before it is sent",
        Call("groundwire_server.rpc.call:RpcCall.write", "before", "ack"),
        3,
    ),
    Point("acknowledgement: just sent", Call("groundwire_server.rpc.call:RpcCall.write", "after", "ack"), 4),
    Point(
        "rejected rows: before they are sent", Call("groundwire_server.rpc.call:RpcCall.write", "before", "rejected")
    ),
    Point("finish: before", Call(f"{_INGEST}.stream:IngestStream.finish", "before")),
    Point("finish: in the transaction", Statement("UPDATE ingest SET finished", "after")),
    Point("finish: before the summary is sent", Call("groundwire_server.rpc.call:RpcCall.write", "before", "summary")),
    Point("finish: the summary just sent", Call("groundwire_server.rpc.call:RpcCall.write", "after", "summary"), 2),
    # Glossary.
    Point("glossary: in the transaction", Call("groundwire_server.library.kept_file:KeptFile.put", "after")),
    Point(
        "glossary: committed, the file not written",
        Call("groundwire_server.library.kept_file:write_atomically", "before"),
    ),
    Point("glossary: the file half written", FileCall("write", "*/.glossary.toml.new", "middle")),
    Point("glossary: the file before its name", FileCall("replace", "*/glossary.toml", "before")),
    # A library is made.
    Point("folder: libraries made", FileCall("mkdir", "*/libraries", "after"), 2, "first"),
    Point("server file: before the tables are laid", Statement("CREATE TABLE library", "before"), 1, "first"),
    Point("library: its folder made", FileCall("mkdir", "*/libraries/default", "after"), 1, "first"),
    Point("library: half of its tables laid", Statement("CREATE TABLE", "after"), 7, "first"),
    Point(
        "library: before library.toml",
        Call("groundwire_server.library.kept_file:write_atomically", "before"),
        1,
        "first",
    ),
    Point("library: library.toml half written", FileCall("write", "*/.library.toml.new", "middle"), 1, "first"),
    Point("library: before it is listed", Statement("INSERT OR IGNORE INTO library ", "before"), 1, "first"),
    Point(
        "library: first rows in the first segment", FileCall("replace", f"{_LEXICAL}/segment-*", "before"), 1, "first"
    ),
    Point("vectors: the first file named", FileCall("replace", f"{_VECTORS}/vectors.json", "before"), 1, "first"),
    # The server starts.
    Point(
        "start: the folder is locked",
        Call("groundwire_server.store.folder_lock:FolderLock.announce", "after"),
        1,
        "catch-up",
    ),
    Point("start: before the library is opened", Call(f"{_STORE}.store:SqliteStore.__init__", "before"), 1, "catch-up"),
    Point(
        "start: before the words are caught up",
        Call("groundwire_server.lexical.build:PostingsBuilder.add", "before"),
        1,
        "catch-up",
    ),
    Point("start: words caught up, not saved", FileCall("write", f"{_LEXICAL}/segment-*.tmp", "middle"), 3, "catch-up"),
    Point("start: words saved, not named", FileCall("replace", f"{_LEXICAL}/manifest.json", "before"), 1, "catch-up"),
    Point(
        "start: before the vectors are opened",
        Call("groundwire_server.dense.vector_directory:VectorDirectory.load", "before"),
        1,
        "catch-up",
    ),
    Point(
        "rebuild: the first segment half written",
        FileCall("write", f"{_LEXICAL}/segment-*.tmp", "middle"),
        3,
        "rebuild",
    ),
    Point(
        "rebuild: the first manifest not named",
        FileCall("replace", f"{_LEXICAL}/manifest.json", "before"),
        1,
        "rebuild",
    ),
    Point(
        "rebuild: vectors fetched, half written",
        FileCall("pwrite", f"{_VECTORS}/vectors-*.f32", "middle"),
        1,
        "rebuild",
    ),
    Point(
        "rebuild: vectors written, not named", FileCall("replace", f"{_VECTORS}/vectors.json", "before"), 1, "rebuild"
    ),
    # Old revisions are erased.
    Point("purge: some of a batch erased", Statement("UPDATE document_revision SET purged", "after"), 2, "purge"),
    Point("purge: a batch erased, not committed", Call(f"{_STORE}.writer:SqliteWriter.purge", "after"), 1, "purge"),
    Point("purge: all erased, nothing swept", Call(f"{_LIBRARY}.sweep", "before"), 1, "purge"),
    Point(
        "sweep: words written anew, vectors not",
        Call("groundwire_server.library.indexes:LibraryIndexes.sweep_vectors", "before"),
        1,
        "purge",
    ),
    Point("sweep: before the store is written anew", Statement("VACUUM", "before"), 1, "purge"),
    Point("sweep: the store written anew, its log still there", Statement("VACUUM", "after"), 1, "purge"),
)
