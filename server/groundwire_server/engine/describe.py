"""A library as one caller sees it."""

from __future__ import annotations

from dataclasses import replace

from groundwire_server.engine.info import LibraryInfo
from groundwire_server.evidence import AttributeType, Call, Principal
from groundwire_server.library import BUILT_IN_ATTRIBUTES, LibraryConfig, Snapshot
from groundwire_server.text import TOKENIZER_ID

__all__ = ["describe_library", "describe_new_library"]


def describe_library(
    snapshot: Snapshot,
    principal: Principal,
    embedder_name: str,
    *,
    embedder_loading: bool,
    config: LibraryConfig | None = None,
) -> LibraryInfo:
    """Counts, attributes and coverage of what the principal may read.

    Args:
        embedder_name: of the server's embedder; used where the library searches with it.
        embedder_loading: it is on its way; until then no chunk can be found by its vector, so coverage is 0.
        config: settings that it would have; None: its own.
    """
    documents, chunks, facts, relations = snapshot.reader.counts(principal.clearance)
    shown = replace(snapshot, config=config or snapshot.config)
    fits = shown.config.embedder != "none" and snapshot.foreign_model(principal.clearance) is None
    vectors = snapshot.vectors if fits else None
    coverage: float | None = None
    if vectors is not None:
        coverage = snapshot.coverage(snapshot.candidates(Call(principal)))
    elif embedder_loading and shown.config.embedder != "none":
        coverage = 0.0
    return LibraryInfo(
        library_id=snapshot.library_id,
        config=shown.config,
        snapshot_id=snapshot.snapshot_id(principal),
        documents=documents,
        chunks=chunks,
        facts=facts,
        relations=relations,
        embedding_coverage=coverage,
        attributes=tuple(shown.attribute_types(principal).items()),
        tokenizer=TOKENIZER_ID,
        embedder=shown.config.embedder if vectors is None else f"{embedder_name}@{vectors.version}",
    )


def describe_new_library(library_id: str, config: LibraryConfig) -> LibraryInfo:
    """A library that is not there, as it would be made."""
    built_in = {name: AttributeType.of(family) for name, family in BUILT_IN_ATTRIBUTES.items()}
    return LibraryInfo(
        library_id=library_id,
        config=config,
        snapshot_id="",
        documents=0,
        chunks=0,
        facts=0,
        relations=0,
        embedding_coverage=None,
        attributes=tuple(sorted({**built_in, **dict(config.attributes)}.items())),
        tokenizer=TOKENIZER_ID,
        embedder=config.embedder,
    )
