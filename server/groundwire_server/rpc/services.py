"""All methods that are built, by their full names.

A service is made, and its module loaded, by the first of its calls: a start waits for none of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from functools import cached_property
from typing import TYPE_CHECKING, Any

from groundwire_server.engine import Engine
from groundwire_server.rpc.methods import Handler
from groundwire_server.rpc.work import WorkPool

if TYPE_CHECKING:
    from groundwire_server.rpc.admin_service import AdminService
    from groundwire_server.rpc.document_service import DocumentService
    from groundwire_server.rpc.ingest_service import IngestService
    from groundwire_server.rpc.job_service import JobService
    from groundwire_server.rpc.metric_service import MetricService
    from groundwire_server.rpc.paging import Pager
    from groundwire_server.rpc.reads import ReadService
    from groundwire_server.rpc.record_service import RecordService
    from groundwire_server.rpc.tool_service import ToolService

__all__ = ["build_methods"]


def build_methods(engine: Engine, pool: WorkPool, stopping: asyncio.Event) -> dict[str, Handler]:
    """Full name of a method ("groundwire.v1.MetricService/QueryMetric") to its handler."""
    built: dict[str, Handler] = {}
    of = _Services(engine, pool, stopping, built)
    handlers: dict[str, Callable[[], Handler]] = {
        "NarrativeService/NarrativeRetrieve": lambda: of.reads.narrative_retrieve,
        "MetricService/QueryMetric": lambda: of.reads.query_metric,
        "MetricService/DescribeMetrics": lambda: of.metrics.describe_metrics,
        "GraphService/GraphTrace": lambda: of.reads.graph_trace,
        "RouterService/Ask": lambda: of.reads.ask,
        "RouterService/Route": lambda: of.reads.route,
        "ToolService/ListTools": lambda: of.tools.list_tools,
        "ToolService/VerifyCitation": lambda: of.tools.verify_citation,
        "IngestService/IngestDocuments": lambda: of.ingest.ingest_documents,
        "IngestService/IngestFacts": lambda: of.ingest.ingest_facts,
        "IngestService/WithdrawDocument": lambda: of.ingest.withdraw_document,
        "AdminService/GetServerInfo": lambda: of.admin.get_server_info,
        "AdminService/ListLibraries": lambda: of.admin.list_libraries,
        "AdminService/SaveLibrary": lambda: of.admin.save_library,
        "AdminService/UpdateGlossary": lambda: of.admin.update_glossary,
        "AdminService/ListDocuments": lambda: of.documents.list_documents,
        "AdminService/GetDocument": lambda: of.documents.get_document,
        "AdminService/ListRevisions": lambda: of.documents.list_revisions,
        "AdminService/DiffRevisions": lambda: of.documents.diff_revisions,
        "AdminService/ListFacts": lambda: of.records.list_facts,
        "AdminService/ListRelations": lambda: of.records.list_relations,
        "AdminService/DeleteLibrary": lambda: of.jobs.delete_library,
        "AdminService/StartReindex": lambda: of.jobs.start_reindex,
        "AdminService/PurgeRevisions": lambda: of.jobs.purge_revisions,
        "AdminService/GetJob": lambda: of.jobs.get_job,
        "AdminService/WatchJob": lambda: of.jobs.watch_job,
        "AdminService/CancelJob": lambda: of.jobs.cancel_job,
        "AdminService/ListJobs": lambda: of.jobs.list_jobs,
    }
    built.update({f"groundwire.v1.{name}": _handler(find) for name, find in handlers.items()})
    return built


def _handler(find: Callable[[], Handler]) -> Handler:
    async def handle(request: Any, call: Any) -> Any:
        return await find()(request, call)

    return handle


class _Services:
    """The services of a server."""

    def __init__(self, engine: Engine, pool: WorkPool, stopping: asyncio.Event, methods: Collection[str]) -> None:
        self._engine = engine
        self._pool = pool
        self._stopping = stopping
        self._methods = methods

    @cached_property
    def reads(self) -> ReadService:
        from groundwire_server.rpc.reads import ReadService

        return ReadService(self._engine, self._pool)

    @cached_property
    def _pager(self) -> Pager:
        from groundwire_server.rpc.paging import Pager

        return Pager(self._engine.page_key)

    @cached_property
    def metrics(self) -> MetricService:
        from groundwire_server.rpc.metric_service import MetricService

        return MetricService(self._engine, self._pool, self._pager)

    @cached_property
    def tools(self) -> ToolService:
        from groundwire_server.rpc.tool_service import ToolService

        return ToolService(self._engine, self._pool, self._methods)

    @cached_property
    def ingest(self) -> IngestService:
        from groundwire_server.rpc.ingest_service import IngestService

        return IngestService(self._engine, self._pool, self._stopping)

    @cached_property
    def admin(self) -> AdminService:
        from groundwire_server.rpc.admin_service import AdminService

        return AdminService(self._engine, self._pool, self._pager, self._methods)

    @cached_property
    def documents(self) -> DocumentService:
        from groundwire_server.rpc.document_service import DocumentService

        return DocumentService(self._engine.documents, self._pool, self._pager)

    @cached_property
    def records(self) -> RecordService:
        from groundwire_server.rpc.record_service import RecordService

        return RecordService(self._engine.records, self._pool, self._pager)

    @cached_property
    def jobs(self) -> JobService:
        from groundwire_server.rpc.job_service import JobService

        return JobService(self._engine, self._pool, self._pager, self._stopping)
