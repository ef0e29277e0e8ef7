"""The store on SQLite: one file a library, WAL, many readers beside one writer."""

from groundwire_server.store.sqlite.connection import connect_writer, storage_full, translated
from groundwire_server.store.sqlite.schema import Migration, apply_migrations
from groundwire_server.store.sqlite.store import SqliteStore

__all__ = ["Migration", "SqliteStore", "apply_migrations", "connect_writer", "storage_full", "translated"]
