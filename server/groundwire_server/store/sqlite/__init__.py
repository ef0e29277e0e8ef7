"""The store on SQLite: one file a library, WAL, many readers beside one writer; and one file for the server itself."""

from groundwire_server.store.sqlite.connection import storage_full
from groundwire_server.store.sqlite.followed import FollowedServerFile, FollowedStore
from groundwire_server.store.sqlite.job_rows import JobRow
from groundwire_server.store.sqlite.server_file import ServerFile
from groundwire_server.store.sqlite.store import SqliteStore

__all__ = ["FollowedServerFile", "FollowedStore", "JobRow", "ServerFile", "SqliteStore", "storage_full"]
