"""A library to try writes on that nobody else sees."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path

from groundwire_server.library import Library, LibraryConfig
from groundwire_server.relations import DerivedEdges
from groundwire_server.store import Store

__all__ = ["rehearsal_library"]


def rehearsal_library(library_id: str, config: LibraryConfig) -> Library:
    """An empty library outside of the data folder. It is gone, files and all, with the last who holds it."""
    folder = Path(tempfile.mkdtemp(prefix="groundwire-rehearsal-"))
    try:
        library = Library(folder, library_id, secret=b"", config=config, deriver=DerivedEdges.of)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(library, _discard, library.store, folder)
    return library


def _discard(store: Store, folder: Path) -> None:
    store.close()
    shutil.rmtree(folder, ignore_errors=True)
