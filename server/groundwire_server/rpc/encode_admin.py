"""What the server is and what it holds, onto the wire."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from groundwire.v1 import admin_pb2, narrative_pb2
from groundwire_server import __version__
from groundwire_server.engine import RESUME_WINDOW, Component, GlossaryUpdate, LibraryInfo, ServerInfo
from groundwire_server.evidence import MAX_FILTER_DEPTH, MAX_FILTER_NODES, MAX_FILTER_VALUES, Family
from groundwire_server.ingest import IngestLimits
from groundwire_server.narrative import Unreachable
from groundwire_server.rpc.capabilities import BUILT, NEEDS_EMBEDDER
from groundwire_server.rpc.encode_glossary import encode_kind
from groundwire_server.rpc.encode_value import encode_cause, encode_duration, wire_text
from groundwire_server.rpc.stream import MAX_BATCH_BYTES, MAX_FRAME_BYTES
from groundwire_server.settings import LimitSettings, SettingValue

__all__ = ["encode_glossary_update", "encode_library", "encode_listed_library", "encode_server_info"]

_TYPES = {
    Family.TEXT: admin_pb2.ATTRIBUTE_TYPE_STRING,
    Family.NUMBER: admin_pb2.ATTRIBUTE_TYPE_DECIMAL,
    Family.TRUTH: admin_pb2.ATTRIBUTE_TYPE_BOOL,
    Family.DAY: admin_pb2.ATTRIBUTE_TYPE_DATE,
    Family.INSTANT: admin_pb2.ATTRIBUTE_TYPE_TIME,
    Family.PERIOD: admin_pb2.ATTRIBUTE_TYPE_PERIOD,
    Family.TEXTS: admin_pb2.ATTRIBUTE_TYPE_STRING_LIST,
}


def encode_server_info(
    info: ServerInfo, methods: Iterable[str], limits: LimitSettings
) -> admin_pb2.GetServerInfoResponse:
    """What the server is, can do and allows. `methods`: full names of those that work."""
    embeds = any(each.kind == "embedder" and each.active for each in info.components)
    return admin_pb2.GetServerInfoResponse(
        server_version=__version__,
        capabilities=sorted(BUILT | NEEDS_EMBEDDER if embeds else BUILT),
        methods=sorted(methods),
        limits=_limits(limits),
        components=[_component(each) for each in info.components],
        settings=[_setting(each) for each in info.settings],
    )


def _limits(limits: LimitSettings) -> admin_pb2.Limits:
    """What is allowed. What belongs to features that are not built stays unset."""
    ingest = IngestLimits()
    return admin_pb2.Limits(
        max_top_k=limits.max_top_k,
        max_message_bytes=MAX_FRAME_BYTES,
        max_filter_nodes=MAX_FILTER_NODES,
        max_filter_depth=MAX_FILTER_DEPTH,
        max_filter_values=MAX_FILTER_VALUES,
        max_batch_bytes=MAX_BATCH_BYTES,
        max_query_chars=limits.max_query_chars,
        max_history_turns=limits.max_history_turns,
        max_metric_queries=limits.max_metric_queries,
        max_hops=limits.max_hops,
        max_trace_nodes=limits.max_trace_nodes,
        max_trace_edges=limits.max_trace_edges,
        max_ingest_part_bytes=ingest.max_part_bytes,
        max_document_bytes=limits.max_document_bytes,
        max_call_duration=encode_duration(timedelta(seconds=limits.max_call_seconds)),
        ingest_resume_window=encode_duration(RESUME_WINDOW),
    )


def _component(component: Component) -> admin_pb2.Component:
    return admin_pb2.Component(
        kind=component.kind,
        name=component.name,
        active=component.active,
        inactive_reason=component.inactive_reason,
        version=component.version,
    )


def _setting(setting: SettingValue) -> admin_pb2.Setting:
    return admin_pb2.Setting(name=setting.name, value=setting.value, origin=setting.origin)


def encode_listed_library(listed: LibraryInfo | Unreachable) -> admin_pb2.Library:
    """A library, or of one that cannot be opened its id and why."""
    if isinstance(listed, Unreachable):
        return admin_pb2.Library(library_id=listed.library_id, fault=encode_cause(listed.cause))
    return encode_library(listed)


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
        attributes=[admin_pb2.AttributeSpec(name=name, value_type=_TYPES[family]) for name, family in info.attributes],
        index=admin_pb2.IndexSettings(
            tokenizer=info.tokenizer,
            chunker=config.chunker,
            chunk_chars=config.chunk_chars,
            overlap_chars=config.overlap_chars,
            embedder=info.embedder,
            tree_builder="none",
            relation_extractor="none",
        ),
        tuning=narrative_pb2.RetrievalTuning(fusion=config.fusion),
        settings=[
            admin_pb2.Setting(name=name, value=value, origin="library")
            for name, value in (
                ("ambiguous", config.ambiguous),
                ("b", str(config.b)),
                ("default_label", config.default_label.name),
                ("k1", str(config.k1)),
                ("vector_depth", str(config.vector_depth)),
            )
        ],
    )
    if info.embedding_coverage is not None:
        message.embedding_coverage = info.embedding_coverage
    return message


def encode_glossary_update(update: GlossaryUpdate) -> admin_pb2.UpdateGlossaryResponse:
    """What a person should look at, and from which state on the change holds."""
    return admin_pb2.UpdateGlossaryResponse(
        findings=[
            admin_pb2.GlossaryFinding(
                term=admin_pb2.TermRef(
                    kind=encode_kind(each.kind), code=wire_text(each.code), dimension=wire_text(each.dimension)
                ),
                fact_count=each.fact_count,
                message=wire_text(each.message),
            )
            for each in update.findings
        ],
        snapshot_id=update.snapshot_id,
    )
