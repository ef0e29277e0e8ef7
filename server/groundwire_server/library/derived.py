"""Edges that are derived of what a library holds follow its settings and its glossary, in one transaction with them.

What derives them stands above this room; it is handed in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from groundwire_server.glossary import Glossary
from groundwire_server.library.config import LibraryConfig
from groundwire_server.store import StoreReader, StoreWriter

__all__ = ["Derived", "Deriver", "follow_settings"]

_META = "derived"


class Derived(Protocol):
    """The edges of one glossary under one set of settings."""

    @property
    def key(self) -> str:
        """What they hang on beside what comes in: another key, other edges."""
        ...

    def derive_all(self, writer: StoreWriter, reader: StoreReader) -> None:
        """Make all of them in a transaction that changes no document and no figure; `reader`: the state before it."""
        ...


Deriver = Callable[[LibraryConfig, Glossary], Derived]
"""What a library derives under its settings, by its glossary."""


def follow_settings(
    deriver: Deriver | None, writer: StoreWriter, reader: StoreReader, config: LibraryConfig, glossary: Glossary
) -> None:
    """Derive everything anew where settings or glossary are not those by which it was derived.

    Args:
        reader: the state before the transaction.
    """
    derived = None if deriver is None else deriver(config, glossary)
    if derived is not None and reader.meta(_META) != derived.key:
        derived.derive_all(writer, reader)
        writer.set_meta(_META, derived.key)
