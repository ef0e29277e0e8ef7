"""All methods that are built, by their full names."""

from __future__ import annotations

import asyncio

from groundwire_server.engine import Engine
from groundwire_server.rpc.admin_service import AdminService
from groundwire_server.rpc.document_service import DocumentService
from groundwire_server.rpc.ingest_service import IngestService
from groundwire_server.rpc.job_service import JobService
from groundwire_server.rpc.methods import Handler
from groundwire_server.rpc.metric_service import MetricService
from groundwire_server.rpc.paging import Pager
from groundwire_server.rpc.reads import ReadService
from groundwire_server.rpc.record_service import RecordService
from groundwire_server.rpc.tool_service import ToolService
from groundwire_server.rpc.work import WorkPool

__all__ = ["build_methods"]


def build_methods(engine: Engine, pool: WorkPool, stopping: asyncio.Event) -> dict[str, Handler]:
    """Full name of a method ("groundwire.v1.MetricService/QueryMetric") to its handler."""
    built: dict[str, Handler] = {}
    reads = ReadService(engine, pool)
    pager = Pager(engine.page_key)
    metrics = MetricService(engine, pool, pager)
    tools = ToolService(engine, pool, built)
    ingest = IngestService(engine, pool, stopping)
    admin = AdminService(engine, pool, pager, built)
    documents = DocumentService(engine.documents, pool, pager)
    records = RecordService(engine.records, pool, pager)
    jobs = JobService(engine, pool, pager, stopping)
    handlers: dict[str, Handler] = {
        "NarrativeService/NarrativeRetrieve": reads.narrative_retrieve,
        "MetricService/QueryMetric": reads.query_metric,
        "MetricService/DescribeMetrics": metrics.describe_metrics,
        "GraphService/GraphTrace": reads.graph_trace,
        "RouterService/Ask": reads.ask,
        "RouterService/Route": reads.route,
        "ToolService/ListTools": tools.list_tools,
        "ToolService/VerifyCitation": tools.verify_citation,
        "IngestService/IngestDocuments": ingest.ingest_documents,
        "IngestService/IngestFacts": ingest.ingest_facts,
        "IngestService/WithdrawDocument": ingest.withdraw_document,
        "AdminService/GetServerInfo": admin.get_server_info,
        "AdminService/ListLibraries": admin.list_libraries,
        "AdminService/SaveLibrary": admin.save_library,
        "AdminService/UpdateGlossary": admin.update_glossary,
        "AdminService/ListDocuments": documents.list_documents,
        "AdminService/GetDocument": documents.get_document,
        "AdminService/ListRevisions": documents.list_revisions,
        "AdminService/DiffRevisions": documents.diff_revisions,
        "AdminService/ListFacts": records.list_facts,
        "AdminService/ListRelations": records.list_relations,
        "AdminService/DeleteLibrary": jobs.delete_library,
        "AdminService/StartReindex": jobs.start_reindex,
        "AdminService/GetJob": jobs.get_job,
        "AdminService/WatchJob": jobs.watch_job,
        "AdminService/CancelJob": jobs.cancel_job,
        "AdminService/ListJobs": jobs.list_jobs,
    }
    built.update({f"groundwire.v1.{name}": handler for name, handler in handlers.items()})
    return built
