"""What a server can use, as GetServerInfo lists it."""

from __future__ import annotations

from collections.abc import Iterable

from groundwire_server.chunking import CHUNKERS
from groundwire_server.engine.info import Component
from groundwire_server.ingest import FACT_FILE_FORMS
from groundwire_server.narrative import FUSIONS, library_routers
from groundwire_server.readers import READERS
from groundwire_server.text import TOKENIZER_ID

__all__ = ["list_components"]


def list_components(embedder: Component) -> tuple[Component, ...]:
    """Every component, sorted by kind and name; all but the embedder work wherever the server does."""
    always: dict[str, Iterable[str]] = {
        "chunker": CHUNKERS,
        "fact_file": FACT_FILE_FORMS,
        "fusion": FUSIONS,
        "library_router": library_routers(),
        "reader": [reader.media_type for reader in READERS],
    }
    found = [Component(kind, name) for kind, names in always.items() for name in names]
    name, _, version = TOKENIZER_ID.partition("/")
    found += [Component("tokenizer", name, version=version), embedder]
    return tuple(sorted(found, key=lambda each: (each.kind, each.name)))
