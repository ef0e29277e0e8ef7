"""Which methods are tools, and what a request has to hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from google.protobuf.descriptor import MethodDescriptor

from groundwire_server.rpc.capabilities import NOT_BUILT
from groundwire_server.rpc.methods import contract_methods

__all__ = ["CHOICES", "NAMES_OF", "REQUIRED", "TOOLS", "Tool", "left_out"]


@dataclass(frozen=True, slots=True)
class Tool:
    """A method under the name that a model calls. `method` is its full name, as `contract_methods` has it."""

    name: str
    method: str

    @property
    def descriptor(self) -> MethodDescriptor:
        """The method in the contract."""
        return contract_methods()[self.method]


TOOLS: tuple[Tool, ...] = (
    Tool("ask", "groundwire.v1.RouterService/Ask"),
    Tool("describe_metrics", "groundwire.v1.MetricService/DescribeMetrics"),
    Tool("get_document", "groundwire.v1.AdminService/GetDocument"),
    Tool("graph_trace", "groundwire.v1.GraphService/GraphTrace"),
    Tool("list_documents", "groundwire.v1.AdminService/ListDocuments"),
    Tool("narrative_retrieve", "groundwire.v1.NarrativeService/NarrativeRetrieve"),
    Tool("query_metric", "groundwire.v1.MetricService/QueryMetric"),
    Tool("route", "groundwire.v1.RouterService/Route"),
    Tool("verify_citation", "groundwire.v1.ToolService/VerifyCitation"),
)

# Fields without which a request is refused, by message. Numbers are not among them: 0 is left out of the JSON form.
REQUIRED: dict[str, tuple[str, ...]] = {
    "AskRequest": ("question",),
    "Between": ("low", "high"),
    "Calculation": ("operation",),
    "Closure": ("node_ids", "relations"),
    "CommonAncestors": ("node_ids",),
    "Compare": ("metric", "period", "entities"),
    "Derivation": ("query",),
    "Dimension": ("name", "member"),
    "FilterList": ("filters",),
    "GetDocumentRequest": ("library_id", "doc_id"),
    "Lineage": ("library_id",),
    "ListDocumentsRequest": ("library_id",),
    "MetricProduct": ("metrics", "entities", "periods"),
    "MetricQuery": ("metric", "entity", "period"),
    "NarrativeRetrieveRequest": ("query",),
    "Neighborhood": ("node_ids",),
    "Paths": ("from_id", "to_id"),
    "Predicate": ("field",),
    "Rollup": ("query",),
    "RouteRequest": ("question",),
    "Turn": ("role", "text"),
    "ValueList": ("values",),
    "VerifyCitationRequest": ("lineage",),
}

# Messages that are a choice, of which exactly one member is set. Elsewhere none may be set as well.
CHOICES = frozenset({"Filter", "Predicate", "Value"})

# Fields whose values are names of one kind (`schema.Enumeration`).
NAMES_OF: dict[str, str] = {
    "CallOptions.library_ids": "LibraryId",
    "Compare.entities": "EntityName",
    "Compare.metric": "MetricName",
    "DescribeMetricsRequest.entity": "EntityName",
    "DescribeMetricsRequest.library_ids": "LibraryId",
    "DescribeMetricsRequest.metric": "MetricName",
    "GetDocumentRequest.library_id": "LibraryId",
    "ListDocumentsRequest.library_id": "LibraryId",
    "MetricProduct.channels": "ChannelName",
    "MetricProduct.entities": "EntityName",
    "MetricProduct.metrics": "MetricName",
    "MetricQuery.channel": "ChannelName",
    "MetricQuery.entity": "EntityName",
    "MetricQuery.metric": "MetricName",
}

# Where a feature (`rpc.capabilities`) stands in a request, by the part of its name before the dot.
_PLACES = {
    "": "CallOptions.{}",
    "explain": "EXPLAIN_LEVEL_{}",
    "graph": "GraphTraceRequest.{}",
    "metric": "QueryMetricRequest.{}",
    "tuning": "RetrievalTuning.{}",
}


def left_out(not_built: Iterable[str] = NOT_BUILT) -> frozenset[str]:
    """Fields ("RetrievalTuning.tree") and values of enumerations that no model should try.

    The server would refuse them; or they are its client's business, as what a broken stream goes on with.
    """
    places = {"CallOptions.resume"}
    for feature in not_built:
        group, _, name = feature.rpartition(".")
        if group in _PLACES:
            places.add(_PLACES[group].format(name.upper() if group == "explain" else name))
    return frozenset(places)
