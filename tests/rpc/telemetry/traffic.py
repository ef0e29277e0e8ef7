"""Calls of every kind to a furnished server."""

from __future__ import annotations

from groundwire.v1 import admin_pb2, graph_pb2, metric_pb2, narrative_pb2, router_pb2, tools_pb2
from tests.rpc.house import House
from tests.rpc.serving import failure_of


def ask_everything(here: House) -> None:
    """One good call of each method that reads and a few bad ones."""
    list(here.narrative.NarrativeRetrieve(narrative_pb2.NarrativeRetrieveRequest(query="fox")))
    query = metric_pb2.MetricQuery(metric="population", entity="Japan", period="2020")
    list(here.metric.QueryMetric(metric_pb2.QueryMetricRequest(queries=[query])))
    near = graph_pb2.Neighborhood(node_ids=["entity:ASIA"])
    list(here.graph.GraphTrace(graph_pb2.GraphTraceRequest(neighborhood=near)))
    list(here.router.Ask(router_pb2.AskRequest(question="What was the population of Japan in 2020?")))
    here.router.Route(router_pb2.RouteRequest(question="Why?"))
    here.tools.ListTools(tools_pb2.ListToolsRequest())
    here.metric.DescribeMetrics(metric_pb2.DescribeMetricsRequest())
    here.admin.ListDocuments(admin_pb2.ListDocumentsRequest(library_id="default"))
    here.admin.GetServerInfo(admin_pb2.GetServerInfoRequest())
    failure_of(lambda: here.narrative.NarrativeRetrieve(narrative_pb2.NarrativeRetrieveRequest()))
    failure_of(lambda: here.admin.GetJob(admin_pb2.GetJobRequest(job_id="never")))
