"""What the server is, can do and allows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from groundwire._model.named import NamedEnum

__all__ = ["Component", "HealthStatus", "Limits", "ServerInfo", "Setting"]


class HealthStatus(NamedEnum):
    """Answer of the standard health service."""

    UNSPECIFIED = 0
    SERVING = 1
    NOT_SERVING = 2
    SERVICE_UNKNOWN = 3


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting, its value as it would stand in the file, and where it comes from."""

    name: str
    value: str
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Component:
    """A part that can be plugged in. Not active: `inactive_reason` says what is missing."""

    kind: str
    name: str
    active: bool = False
    inactive_reason: str = ""
    version: str = ""
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """What the server allows; sizes in bytes where the name says so, else counts."""

    max_top_k: int = 0
    max_message_bytes: int = 0
    max_filter_nodes: int = 0
    max_filter_depth: int = 0
    max_filter_values: int = 0
    max_batch_bytes: int = 0
    max_query_chars: int = 0
    max_history_turns: int = 0
    max_metric_queries: int = 0
    max_rerank_depth: int = 0
    max_hops: int = 0
    max_trace_nodes: int = 0
    max_trace_edges: int = 0
    max_ingest_part_bytes: int = 0
    max_document_bytes: int = 0
    max_call_duration: timedelta | None = None
    cursor_lifetime: timedelta | None = None
    ingest_resume_window: timedelta | None = None


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What the server is. `methods` are those that work; every other one answers NOT_IMPLEMENTED."""

    server_version: str
    capabilities: tuple[str, ...] = ()
    limits: Limits | None = None
    components: tuple[Component, ...] = ()
    settings: tuple[Setting, ...] = ()
    methods: tuple[str, ...] = ()
