"""The store on SQLite: one file a library, WAL, many readers beside one writer."""

from groundwire_server.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
