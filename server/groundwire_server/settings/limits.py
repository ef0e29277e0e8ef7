"""How much a call, and how many calls at once."""

from __future__ import annotations

from pydantic import Field

from groundwire_server.settings.section import Section

__all__ = ["LimitSettings"]


class LimitSettings(Section):
    """What a call may ask for. A value over a limit is refused, never cut in silence."""

    max_top_k: int = Field(default=200, ge=1, le=10_000, description="Snippets of one retrieval.")
    max_query_chars: int = Field(default=8192, ge=1, le=100_000, description="Code points of a query or question.")
    max_history_turns: int = Field(default=20, ge=0, le=1000, description="Turns of history.")
    max_metric_queries: int = Field(default=1000, ge=1, le=100_000, description="Outcomes of one QueryMetric.")
    max_hops: int = Field(default=6, ge=1, le=100, description="Hops of a walk in the relation graph.")
    max_trace_nodes: int = Field(default=100_000, ge=1, description="Nodes that a walk may visit.")
    max_trace_edges: int = Field(default=100_000, ge=1, description="Edges that a walk may look at.")
    max_document_bytes: int = Field(default=64 << 20, ge=1, description="Bytes of a document.")
    max_unpacked_bytes: int = Field(default=256 << 20, ge=1, description="Bytes of a packed document, unpacked.")
    max_document_pages: int = Field(default=5000, ge=1, description="Pages, slides or sheets of a document.")
    max_text_chars: int = Field(default=20_000_000, ge=1, description="Code points of the text that a reader makes.")
    max_read_seconds: float = Field(
        default=60.0, ge=1, le=86_400, description="Processor time that reading one document may take."
    )
    max_read_memory_bytes: int = Field(
        default=2 << 30, ge=256 << 20, description="Memory that reading one document may take."
    )
    max_call_seconds: float = Field(default=60.0, gt=0, le=86_400, description="Longest run of a read.")
    max_cursor_seconds: float = Field(
        default=86_400.0, gt=0, le=31_536_000, description="How long a stream can be gone on with, or asked for more."
    )
    max_narrative_calls: int = Field(default=64, ge=1, le=100_000, description="Retrievals at once, in one process.")
    max_metric_calls: int = Field(default=64, ge=1, le=100_000, description="Calls of the MetricService at once.")
    max_graph_calls: int = Field(default=32, ge=1, le=100_000, description="Calls of the GraphService at once.")
    max_router_calls: int = Field(default=32, ge=1, le=100_000, description="Calls of the RouterService at once.")
    max_tool_calls: int = Field(default=32, ge=1, le=100_000, description="Calls of the ToolService at once.")
    max_ingest_calls: int = Field(default=16, ge=1, le=100_000, description="Calls of the IngestService at once.")
    max_admin_calls: int = Field(
        default=32, ge=1, le=100_000, description="Calls of the AdminService at once, those that watch a job aside."
    )
    max_watches: int = Field(
        default=256, ge=1, le=100_000, description="Calls at once that watch a job or ask for the contract."
    )
    reader_idle_seconds: float = Field(
        default=30.0, gt=0, le=86_400, description="How long a client may take nothing of an answer."
    )
