"""Requests for stored figures and relations, and the places in their lists that page tokens hold."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta

from groundwire.v1 import admin_pb2, evidence_pb2
from groundwire_server.evidence import Dimension, ReviewStatus
from groundwire_server.graph import RelationWish
from groundwire_server.metric import FactWish
from groundwire_server.rpc.findings import Findings
from groundwire_server.rpc.paging import Place
from groundwire_server.store import EdgePlace, FactPlace

__all__ = [
    "as_edge_place",
    "as_fact_place",
    "decode_fact_wish",
    "decode_relation_wish",
    "from_edge_place",
    "from_fact_place",
]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def decode_fact_wish(request: admin_pb2.ListFactsRequest, findings: Findings) -> FactWish:
    """Which figures to list."""
    findings.required("library_id", request.library_id)
    status = None
    if findings.known("review_status", request.review_status, evidence_pb2.ReviewStatus.DESCRIPTOR):
        status = ReviewStatus(request.review_status) if request.review_status else None
    return FactWish(
        metric=request.metric,
        entity=request.entity,
        source_doc=request.source_doc,
        status=status,
        all_versions=request.include_versions,
    )


def decode_relation_wish(request: admin_pb2.ListRelationsRequest, findings: Findings) -> RelationWish:
    """Which relations to list."""
    findings.required("library_id", request.library_id)
    return RelationWish(request.relation, request.source_doc)


def from_fact_place(place: FactPlace) -> Place:
    """A place in the list of figures, as a page token holds it."""
    dimensions = json.dumps([[each.name, each.member] for each in place.dimensions], ensure_ascii=False)
    stated_at = "" if place.stated_at is None else str((place.stated_at - _EPOCH) // _MICROSECOND)
    return (
        place.metric,
        place.entity,
        place.period_first.isoformat(),
        place.period_last.isoformat(),
        place.channel,
        dimensions,
        place.source,
        place.fact_id,
        stated_at,
        place.equals,
    )


def as_fact_place(after: Place | None) -> FactPlace | None:
    """The inverse of `from_fact_place`; None for the first page."""
    if after is None:
        return None
    metric, entity, first, last, channel, dimensions, source, fact_id, stated_at, equals = map(str, after)
    return FactPlace(
        metric=metric,
        entity=entity,
        period_first=date.fromisoformat(first),
        period_last=date.fromisoformat(last),
        channel=channel,
        dimensions=tuple(Dimension(name, member) for name, member in json.loads(dimensions)),
        source=source,
        fact_id=fact_id,
        stated_at=_EPOCH + int(stated_at) * _MICROSECOND if stated_at else None,
        equals=int(equals),
    )


def from_edge_place(place: EdgePlace) -> Place:
    """A place in the list of relations, as a page token holds it."""
    return (place.relation, place.source_kind, place.source, place.target_kind, place.target, place.edge_id)


def as_edge_place(after: Place | None) -> EdgePlace | None:
    """The inverse of `from_edge_place`; None for the first page."""
    return None if after is None else EdgePlace(*map(str, after))
