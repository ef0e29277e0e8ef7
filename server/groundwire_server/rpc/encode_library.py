"""A library with its settings, onto the wire: every default filled in, so that it can be read, changed and saved."""

from __future__ import annotations

from groundwire.v1 import admin_pb2, narrative_pb2
from groundwire_server.engine import LibraryInfo
from groundwire_server.library import LibraryConfig
from groundwire_server.rpc.encode_value import wire_text
from groundwire_server.rpc.named_settings import NAMED, default_text, setting_text

__all__ = ["encode_library"]

# The others have a field of their own.
_BY_NAME_ALONE = sorted(NAMED.keys() - narrative_pb2.RetrievalTuning.DESCRIPTOR.fields_by_name.keys())


def encode_library(info: LibraryInfo) -> admin_pb2.Library:
    """A library with its settings; counts are those of the caller."""
    config = info.config
    message = admin_pb2.Library(
        library_id=info.library_id,
        description=wire_text(config.description),
        snapshot_id=info.snapshot_id,
        documents=info.documents,
        active_chunks=info.chunks,
        facts=info.facts,
        relations=info.relations,
        attributes=[
            admin_pb2.AttributeSpec(name=name, value_type=admin_pb2.AttributeType.ValueType(kind))
            for name, kind in info.attributes
        ],
        index=admin_pb2.IndexSettings(
            tokenizer=info.tokenizer,
            chunker=config.chunker,
            chunk_chars=config.chunk_chars,
            overlap_chars=config.overlap_chars,
            embedder=info.embedder,
            contextual_header=config.contextual,
            tree_builder="none",
            relation_extractor=config.relation_extractor,
        ),
        tuning=_tuning(config),
        settings=[_setting(config, name) for name in _BY_NAME_ALONE],
    )
    if info.embedding_coverage is not None:
        message.embedding_coverage = info.embedding_coverage
    return message


def _tuning(config: LibraryConfig) -> narrative_pb2.RetrievalTuning:
    """What the library says, and of all other stages that they are off: none of them is built."""
    return narrative_pb2.RetrievalTuning(
        reranker="none",
        postprocessors=["none"],
        query_transform=config.query_transform,
        glossary_variants=config.glossary_variants,
        filter_extractor=config.filter_extractor,
        fusion=config.fusion,
        corrective=config.corrective,
        corrective_judge=config.corrective_judge,
        tree=False,
        graph=config.graph,
        decomposition=config.decomposition,
        adaptive=config.adaptive,
    )


def _setting(config: LibraryConfig, name: str) -> admin_pb2.Setting:
    value = setting_text(config, name)
    return admin_pb2.Setting(name=name, value=value, origin="default" if value == default_text(name) else "library")
