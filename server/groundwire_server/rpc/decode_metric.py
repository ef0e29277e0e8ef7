"""Requests of MetricService. What makes them a request that can be answered is checked by the metric room."""

from __future__ import annotations

from groundwire.v1 import evidence_pb2, metric_pb2
from groundwire_server.errors import ErrorReason
from groundwire_server.evidence import MetricQuery, Operation
from groundwire_server.metric import Calculation, MetricProduct, MetricRequest, VersionPolicy
from groundwire_server.rpc.decode_value import decode_dimensions
from groundwire_server.rpc.findings import Findings

__all__ = ["check_name", "decode_metric_request", "decode_query"]

MAX_NAME_CHARS = 512


def decode_metric_request(message: metric_pb2.QueryMetricRequest, most: int, findings: Findings) -> MetricRequest:
    """Queries, product and calculations. `most` bounds what is read of any list; beyond it the request is refused."""
    for name in ("queries", "calculations"):
        _within(name, len(getattr(message, name)), most, findings)
    versions = VersionPolicy.LATEST
    if findings.known("versions", message.versions, metric_pb2.VersionPolicy.DESCRIPTOR) and message.versions:
        versions = VersionPolicy(message.versions)
    return MetricRequest(
        queries=tuple(decode_query(each, f"queries[{n}]", findings) for n, each in enumerate(message.queries[:most])),
        product=_product(message.product, most, findings) if message.HasField("product") else None,
        calculations=tuple(
            calculation
            for n, each in enumerate(message.calculations[:most])
            if (calculation := _calculation(each, f"calculations[{n}]", findings)) is not None
        ),
        versions=versions,
    )


def decode_query(message: metric_pb2.MetricQuery, path: str, findings: Findings) -> MetricQuery:
    """One figure, named as the caller says it."""
    metric, entity, period, channel = message.metric, message.entity, message.period, message.channel
    for field, name in (("metric", metric), ("entity", entity), ("period", period)):
        findings.required(f"{path}.{field}", name)
    for field, name in (("metric", metric), ("entity", entity), ("period", period), ("channel", channel)):
        if len(name) > MAX_NAME_CHARS:
            check_name(f"{path}.{field}", name, findings)
    axes = list(message.dimensions)
    dimensions = decode_dimensions(axes, f"{path}.dimensions", findings) if axes else ()
    return MetricQuery(metric, entity, period, channel, dimensions)


def _product(message: metric_pb2.MetricProduct, most: int, findings: Findings) -> MetricProduct:
    lists: dict[str, tuple[str, ...]] = {}
    for field in ("metrics", "entities", "periods", "channels"):
        path, names = f"product.{field}", getattr(message, field)
        _within(path, len(names), most, findings)
        for place, name in enumerate(names[:most]):
            if field != "channels":
                findings.required(f"{path}[{place}]", name)
            check_name(f"{path}[{place}]", name, findings)
        lists[field] = tuple(names[:most])
    return MetricProduct(**lists)


def _calculation(message: metric_pb2.Calculation, path: str, findings: Findings) -> Calculation | None:
    operation = evidence_pb2.Operation.DESCRIPTOR
    if not findings.known(f"{path}.operation", message.operation, operation, required=True):
        return None
    return Calculation(Operation(message.operation), message.first, message.second)


def check_name(path: str, text: str, findings: Findings) -> None:
    """A name that is longer than any that a glossary can hold is refused."""
    _within(path, len(text), MAX_NAME_CHARS, findings, "characters")


def _within(path: str, count: int, most: int, findings: Findings, what: str = "entries") -> None:
    if count > most:
        findings.add(path, ErrorReason.VALUE_OUT_OF_RANGE, f"{count} {what}, at most {most}")
