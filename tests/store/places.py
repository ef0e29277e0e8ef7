"""Places for SQLite stores."""

from __future__ import annotations

import itertools
from pathlib import Path

from groundwire_server.store import SqliteStore
from groundwire_server.store.conformance import Clock, Place, Places

__all__ = ["sqlite_places"]


def sqlite_places(folder: Path) -> Places:
    """Each place is a file of its own."""
    numbers = itertools.count()

    def places() -> Place:
        path = folder / f"store {next(numbers)} 店.sqlite"

        def place(clock: Clock) -> SqliteStore:
            return SqliteStore(path, now=clock)

        return place

    return places
