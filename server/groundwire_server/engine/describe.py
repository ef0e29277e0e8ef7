"""A library as one caller sees it."""

from __future__ import annotations

from groundwire_server.engine.info import LibraryInfo
from groundwire_server.evidence import Call, Principal
from groundwire_server.library import BUILT_IN_ATTRIBUTES, LibraryConfig, Snapshot
from groundwire_server.text import TOKENIZER_ID

__all__ = ["describe_library", "describe_new_library"]


def describe_library(snapshot: Snapshot, principal: Principal, embedder_name: str) -> LibraryInfo:
    """Counts, attributes and coverage of what the principal may read.

    Args:
        embedder_name: of the server's embedder; used where the library searches with it.
    """
    documents, chunks, facts, relations = snapshot.reader.counts(principal.clearance)
    vectors = snapshot.vectors
    coverage = None if vectors is None else snapshot.coverage(snapshot.candidates(Call(principal)))
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
        embedder="none" if vectors is None else f"{embedder_name}@{vectors.version}",
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
