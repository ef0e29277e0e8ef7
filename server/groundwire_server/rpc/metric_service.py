"""MetricService.DescribeMetrics; QueryMetric is one of the streaming reads (`rpc.reads`)."""

from __future__ import annotations

from groundwire.v1 import metric_pb2
from groundwire_server.engine import Engine, TermDescription, TermPlace, TermWish, place_of
from groundwire_server.errors import ErrorReason
from groundwire_server.evidence import Call, CallOptions
from groundwire_server.rpc.call import RpcCall
from groundwire_server.rpc.decode_glossary import decode_kind
from groundwire_server.rpc.decode_options import decode_libraries
from groundwire_server.rpc.encode_glossary import encode_term
from groundwire_server.rpc.encode_value import wire_text
from groundwire_server.rpc.findings import Findings
from groundwire_server.rpc.paging import Pager, Place
from groundwire_server.rpc.work import WorkPool

__all__ = ["MetricService"]

_MAX_KINDS = 16


class MetricService:
    """Which names exist, and for which periods there are figures."""

    def __init__(self, engine: Engine, pool: WorkPool, pager: Pager) -> None:
        self._engine = engine
        self._pool = pool
        self._pager = pager

    async def describe_metrics(
        self, request: metric_pb2.DescribeMetricsRequest, call: RpcCall
    ) -> metric_pb2.DescribeMetricsResponse:
        """A page of terms."""
        findings = Findings()
        libraries = decode_libraries(request.library_ids, "library_ids", findings)
        if len(request.kinds) > _MAX_KINDS:
            findings.add("kinds", ErrorReason.VALUE_OUT_OF_RANGE, f"{len(request.kinds)} kinds, at most {_MAX_KINDS}")
        kinds = [decode_kind(kind, f"kinds[{n}]", findings) for n, kind in enumerate(request.kinds[:_MAX_KINDS])]
        page = self._pager.begin(request, call.principal, findings)
        findings.settle()
        after = None if page.after is None else _place(page.after)
        named = [kind for kind in kinds if kind is not None]
        wish = TermWish(named, request.metric, request.entity, request.with_unlisted)
        asked = Call(call.principal, CallOptions(call.request_id, libraries), call.cancel)
        described, more = await self._pool.run(lambda: self._engine.describe_terms(wish, asked, after, page.limit))
        response = metric_pb2.DescribeMetricsResponse()
        rows = ((_encode(each), place_of(each.library_id, each.term)) for each in described)
        response.next_page_token = page.fill(response.terms, rows, more)
        return response


def _encode(described: TermDescription) -> metric_pb2.TermDescription:
    return metric_pb2.TermDescription(
        library_id=described.library_id,
        term=encode_term(described.term),
        fact_count=described.fact_count,
        periods=described.periods,
        gaps=described.gaps,
        units=map(wire_text, described.units),
        period_count=described.period_count,
        gap_count=described.gap_count,
        unlisted=described.unlisted,
    )


def _place(after: Place) -> TermPlace:
    library_id, kind, axis, code = after
    return str(library_id), int(kind), str(axis), str(code)
