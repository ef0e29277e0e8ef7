"""A library as one caller sees it."""

from __future__ import annotations

from groundwire_server.engine.info import LibraryInfo
from groundwire_server.evidence import Call, Principal
from groundwire_server.library import BUILT_IN_ATTRIBUTES, LibraryConfig, Snapshot
from groundwire_server.text import TOKENIZER_ID

__all__ = ["describe_library", "describe_new_library"]


def describe_library(
    snapshot: Snapshot, principal: Principal, embedder_name: str, *, embedder_loading: bool
) -> LibraryInfo:
    """Counts, attributes and coverage of what the principal may read.

    Args:
        embedder_name: of the server's embedder; used where the library searches with it.
        embedder_loading: it is on its way; until then no chunk can be found by its vector, so coverage is 0.
    """
    documents, chunks, facts, relations = snapshot.reader.counts(principal.clearance)
    vectors = snapshot.vectors
    on_its_way = vectors is None and embedder_loading and snapshot.config.embedder != "none"
    coverage = 0.0 if on_its_way else None
    if vectors is not None:
        coverage = snapshot.coverage(snapshot.candidates(Call(principal)))
    return LibraryInfo(
        library_id=snapshot.library_id,
        config=snapshot.config,
        snapshot_id=snapshot.snapshot_id(principal),
        documents=documents,
        chunks=chunks,
        facts=facts,
        relations=relations,
        embedding_coverage=coverage,
        attributes=tuple(sorted(snapshot.attribute_schema(principal).items())),
        tokenizer=TOKENIZER_ID,
        embedder=f"{embedder_name}@{vectors.version}" if vectors is not None else "auto" if on_its_way else "none",
    )


def describe_new_library(library_id: str, config: LibraryConfig) -> LibraryInfo:
    """A library that is not there, as it would be made."""
    return LibraryInfo(
        library_id=library_id,
        config=config,
        snapshot_id="",
        documents=0,
        chunks=0,
        facts=0,
        relations=0,
        embedding_coverage=None,
        attributes=tuple(sorted(BUILT_IN_ATTRIBUTES.items())),
        tokenizer=TOKENIZER_ID,
        embedder=config.embedder,
    )
