"""What the server is and what it holds, onto the wire."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from groundwire.v1 import admin_pb2
from groundwire_server import __version__
from groundwire_server.engine import RESUME_WINDOW, Component, GlossaryFinding, GlossaryUpdate, LibraryInfo, ServerInfo
from groundwire_server.evidence import MAX_FILTER_DEPTH, MAX_FILTER_NODES, MAX_FILTER_VALUES
from groundwire_server.ingest import IngestLimits
from groundwire_server.narrative import Unreachable
from groundwire_server.rpc.capabilities import BUILT, NEEDS_EMBEDDER, NEEDS_MODEL
from groundwire_server.rpc.encode_glossary import encode_kind
from groundwire_server.rpc.encode_library import encode_library
from groundwire_server.rpc.encode_value import encode_cause, encode_duration, wire_text
from groundwire_server.rpc.stream import MAX_BATCH_BYTES, MAX_FRAME_BYTES
from groundwire_server.settings import LimitSettings, SettingValue

__all__ = ["encode_glossary_update", "encode_listed_library", "encode_server_info"]


def encode_server_info(
    info: ServerInfo, methods: Iterable[str], limits: LimitSettings
) -> admin_pb2.GetServerInfoResponse:
    """What the server is, can do and allows. `methods`: full names of those that work."""
    embeds = any(each.kind == "embedder" and each.active for each in info.components)
    asks_a_model = any(each.kind == "model" for each in info.components)
    works = BUILT | (NEEDS_EMBEDDER if embeds else set()) | (NEEDS_MODEL if asks_a_model else set())
    return admin_pb2.GetServerInfoResponse(
        server_version=__version__,
        capabilities=sorted(works),
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
        cursor_lifetime=encode_duration(timedelta(seconds=limits.max_cursor_seconds)),
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


def _term_ref(finding: GlossaryFinding) -> admin_pb2.TermRef | None:
    if not finding.code:  # it is about the file
        return None
    return admin_pb2.TermRef(
        kind=encode_kind(finding.kind), code=wire_text(finding.code), dimension=wire_text(finding.dimension)
    )


def encode_glossary_update(update: GlossaryUpdate) -> admin_pb2.UpdateGlossaryResponse:
    """What a person should look at, and from which state on the change holds."""
    return admin_pb2.UpdateGlossaryResponse(
        findings=[
            admin_pb2.GlossaryFinding(
                term=_term_ref(each),
                fact_count=each.fact_count,
                message=wire_text(each.message),
                kind=admin_pb2.GlossaryFindingKind.ValueType(each.about),
            )
            for each in update.findings
        ],
        snapshot_id=update.snapshot_id,
        findings_omitted=update.omitted,
    )
