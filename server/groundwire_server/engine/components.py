"""What a server can use, as GetServerInfo lists it."""

from __future__ import annotations

from collections.abc import Iterable

from groundwire_server.chunking import CHUNKERS, needs_model
from groundwire_server.engine.info import Component
from groundwire_server.ingest import FACT_FILE_FORMS, what_is_lacking
from groundwire_server.llm import ModelProvider
from groundwire_server.narrative import FUSIONS, library_routers
from groundwire_server.query import DECOMPOSERS, TRANSFORMS
from groundwire_server.query.filters import FILTER_EXTRACTORS
from groundwire_server.query.grades import GRADERS
from groundwire_server.readers import READERS
from groundwire_server.relations.extractors import EXTRACTORS, LLM
from groundwire_server.text import TOKENIZER_ID

__all__ = ["list_components"]


def list_components(
    embedder: Component, no_cutting_model: str = "", model: ModelProvider | None = None
) -> tuple[Component, ...]:
    """Every component, sorted by kind and name.

    Args:
        no_cutting_model: why nothing can be cut by a model; empty: it can. All others work wherever the server does.
        model: the language model; None: there is none, and what asks one does not work.
    """
    always: dict[str, Iterable[str]] = {
        "chunker": [name for name in CHUNKERS if not needs_model(name)],
        "decomposition": [name for name in DECOMPOSERS if name != LLM],
        "corrective_judge": [name for name in GRADERS if name != LLM],
        "filter_extractor": [name for name in FILTER_EXTRACTORS if name != LLM],
        "fusion": FUSIONS,
        "library_router": library_routers(),
        "reader": [reader.media_type for reader in READERS],
        "relation_extractor": [name for name in EXTRACTORS if name != LLM],
    }
    found = [Component(kind, name) for kind, names in always.items() for name in names]
    for form in FACT_FILE_FORMS:
        lacking = what_is_lacking(form)
        found.append(Component("fact_file", form, active=not lacking, inactive_reason=lacking))
    found += [
        Component("chunker", name, active=not no_cutting_model, inactive_reason=no_cutting_model)
        for name in CHUNKERS
        if needs_model(name)
    ]
    no_model = "" if model is not None else "The server has no language model."
    asking = [(kind, LLM) for kind in ("corrective_judge", "decomposition", "filter_extractor", "relation_extractor")]
    asking += [("query_transform", name) for name in TRANSFORMS]
    found += [Component(kind, name, active=not no_model, inactive_reason=no_model) for kind, name in asking]
    if model is not None:
        found.append(Component("model", model.name, version=model.model))
    name, _, version = TOKENIZER_ID.partition("/")
    found += [Component("tokenizer", name, version=version), embedder]
    return tuple(sorted(found, key=lambda each: (each.kind, each.name)))
