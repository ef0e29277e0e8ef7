"""Citations that come back to be checked. What is needed of them is for the citation room to say."""

from __future__ import annotations

from datetime import date

from groundwire.v1 import evidence_pb2, tools_pb2, value_pb2
from groundwire_server.citation import Claim, VerifyRequest
from groundwire_server.errors import ErrorReason
from groundwire_server.evidence import (
    Attribute,
    FactVersion,
    GraphEdge,
    GraphNode,
    GraphPath,
    Lineage,
    MetricFact,
    MetricKey,
    ReviewStatus,
    Span,
    Value,
)
from groundwire_server.rpc.decode_value import MAX_ATTRIBUTES, decode_time, decode_value
from groundwire_server.rpc.encode_snippet import MAX_MEMBERS
from groundwire_server.rpc.findings import Findings

__all__ = ["decode_verify"]

MAX_PATH_EDGES = 1000
_NO_DAY = date(2000, 1, 1)  # nothing that was given out is counted from a day


def decode_verify(message: tools_pb2.VerifyCitationRequest, findings: Findings) -> VerifyRequest:
    """A lineage as it was given out, and what it is said to hold."""
    findings.all_known(message)
    return VerifyRequest(_lineage(message.lineage, "lineage", findings), _claim(message, findings))


def _claim(message: tools_pb2.VerifyCitationRequest, findings: Findings) -> Claim | None:
    match message.WhichOneof("claim"):
        case "quote":
            return message.quote
        case "fact":
            return _fact(message.fact, findings)
        case "edge":
            return _edge(message.edge, "edge", findings)
        case "path":
            edges = message.path.edges
            if len(edges) > MAX_PATH_EDGES:
                words = f"{len(edges)} edges, at most {MAX_PATH_EDGES}"
                findings.add("path.edges", ErrorReason.VALUE_OUT_OF_RANGE, words)
                return GraphPath((), ())
            decoded = tuple(_edge(edge, f"path.edges[{at}]", findings) for at, edge in enumerate(edges))
            return GraphPath(decoded, tuple(message.path.node_ids))
        case _:
            return None


def _lineage(message: evidence_pb2.Lineage, path: str, findings: Findings) -> Lineage:
    """As far as a check reads it: times, titles and attributes are not."""
    if len(message.members) > MAX_MEMBERS:
        words = f"{len(message.members)} members, at most {MAX_MEMBERS}"
        findings.add(f"{path}.members", ErrorReason.VALUE_OUT_OF_RANGE, words)
    for at, member in enumerate(message.members):
        if member.members:
            findings.add(f"{path}.members[{at}].members", ErrorReason.CONTRADICTION, "no member has members")
    return Lineage(
        library_id=message.library_id,
        doc_id=message.doc_id,
        revision=message.revision,
        chunk_id=message.chunk_id,
        source_locator=message.source_locator,
        span=Span(message.span.start, message.span.end) if message.HasField("span") else None,
        text_sha256=message.text_sha256,
        members=tuple(
            _lineage(member, f"{path}.members[{at}]", findings)
            for at, member in enumerate(message.members[:MAX_MEMBERS])
            if not member.members
        ),
    )


def _fact(message: evidence_pb2.MetricFact, findings: Findings) -> MetricFact:
    version = message.version
    filed_at = (
        decode_time(version.filed_at, "fact.version.filed_at", findings) if version.HasField("filed_at") else None
    )
    return MetricFact(
        key=MetricKey(message.metric, message.entity, message.period, message.channel),
        value=message.value,
        unit=message.unit,
        statement="",
        fact_id=message.fact_id,
        review_status=ReviewStatus.AUTO_APPROVED,
        version=FactVersion(version.version, version.latest_version, filed_at) if message.HasField("version") else None,
    )


def _edge(message: evidence_pb2.GraphEdge, path: str, findings: Findings) -> GraphEdge:
    return GraphEdge(
        edge_id=message.edge_id,
        source=_node(message.source),
        target=_node(message.target),
        relation=message.relation,
        extractor=message.extractor,
        valid_from=message.valid_from,
        valid_to=message.valid_to,
        attributes=_attributes(message, path, findings),
        sources=tuple(
            _lineage(source, f"{path}.sources[{at}]", findings)
            for at, source in enumerate(message.sources[:MAX_MEMBERS])
        ),
    )


def _attributes(message: evidence_pb2.GraphEdge, path: str, findings: Findings) -> tuple[Attribute, ...]:
    """Those of a relation, under whatever names its source gave them."""
    if len(message.attributes) > MAX_ATTRIBUTES:
        words = f"{len(message.attributes)} attributes, at most {MAX_ATTRIBUTES}"
        findings.add(f"{path}.attributes", ErrorReason.VALUE_OUT_OF_RANGE, words)
        return ()
    read = (
        (each.name, _attribute_value(each.value, f"{path}.attributes[{at}].value", findings))
        for at, each in enumerate(message.attributes)
    )
    return tuple(Attribute(name, value) for name, value in read if value is not None)


def _attribute_value(message: value_pb2.Value, path: str, findings: Findings) -> Value | None:
    """As it was given out: texts of any length, periods in their canonical form."""
    match message.WhichOneof("kind"):
        case "string_value":
            return message.string_value
        case "period_value":
            return message.period_value
        case "string_list_value":
            return tuple(message.string_list_value.values)
        case _:
            return decode_value(message, path, findings, _NO_DAY)


def _node(message: evidence_pb2.GraphNode) -> GraphNode:
    return GraphNode(message.node_id, message.kind, message.label)
