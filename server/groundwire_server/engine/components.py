"""What a server can use, as GetServerInfo lists it."""

from __future__ import annotations

from collections.abc import Iterable

from groundwire_server.chunking import CHUNKERS, needs_model
from groundwire_server.engine.info import Component
from groundwire_server.ingest import FACT_FILE_FORMS
from groundwire_server.narrative import FUSIONS, library_routers
from groundwire_server.readers import READERS
from groundwire_server.text import TOKENIZER_ID

__all__ = ["list_components"]


def list_components(embedder: Component, no_cutting_model: str = "") -> tuple[Component, ...]:
    """Every component, sorted by kind and name.

    Args:
        no_cutting_model: why nothing can be cut by a model; empty: it can. All others work wherever the server does.
    """
    always: dict[str, Iterable[str]] = {
        "chunker": [name for name in CHUNKERS if not needs_model(name)],
        "fact_file": FACT_FILE_FORMS,
        "fusion": FUSIONS,
        "library_router": library_routers(),
        "reader": [reader.media_type for reader in READERS],
    }
    found = [Component(kind, name) for kind, names in always.items() for name in names]
    found += [
        Component("chunker", name, active=not no_cutting_model, inactive_reason=no_cutting_model)
        for name in CHUNKERS
        if needs_model(name)
    ]
    name, _, version = TOKENIZER_ID.partition("/")
    found += [Component("tokenizer", name, version=version), embedder]
    return tuple(sorted(found, key=lambda each: (each.kind, each.name)))
