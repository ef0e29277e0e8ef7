"""MetricService.DescribeMetrics; QueryMetric is one of the streaming reads (`rpc.reads`)."""

from __future__ import annotations

import json

from groundwire.v1 import metric_pb2
from groundwire_server.engine import Engine, TermDescription, TermPlace, TermWish, place_of
from groundwire_server.errors import ErrorReason
from groundwire_server.evidence import Call, CallOptions
from groundwire_server.rpc.call import RpcCall
from groundwire_server.rpc.decode_glossary import decode_kind
from groundwire_server.rpc.decode_options import decode_libraries
from groundwire_server.rpc.encode_glossary import encode_term
from groundwire_server.rpc.findings import Findings
from groundwire_server.rpc.paging import MAX_PAGE_BYTES, page_size, page_token, read_page_token
from groundwire_server.rpc.work import WorkPool

__all__ = ["MetricService"]

_METHOD = "DescribeMetrics"
_MAX_KINDS = 16


class MetricService:
    """Which names exist, and for which periods there are figures."""

    def __init__(self, engine: Engine, pool: WorkPool) -> None:
        self._engine = engine
        self._pool = pool

    async def describe_metrics(
        self, request: metric_pb2.DescribeMetricsRequest, call: RpcCall
    ) -> metric_pb2.DescribeMetricsResponse:
        """A page of terms."""
        findings = Findings()
        libraries = decode_libraries(request.library_ids, "library_ids", findings)
        if len(request.kinds) > _MAX_KINDS:
            findings.add("kinds", ErrorReason.VALUE_OUT_OF_RANGE, f"{len(request.kinds)} kinds, at most {_MAX_KINDS}")
        kinds = [decode_kind(kind, f"kinds[{n}]", findings) for n, kind in enumerate(request.kinds[:_MAX_KINDS])]
        limit = page_size(request.page_size, findings)
        after = _read_place(read_page_token(_METHOD, request.page_token, findings), findings)
        findings.settle()
        wish = TermWish([kind for kind in kinds if kind is not None], request.metric, request.entity)
        asked = Call(call.principal, CallOptions(call.request_id, libraries), call.cancel)
        described, more = await self._pool.run(lambda: self._engine.describe_terms(wish, asked, after, limit))
        return _page(described, more)


def _page(described: list[TermDescription], more: bool) -> metric_pb2.DescribeMetricsResponse:
    response, size = metric_pb2.DescribeMetricsResponse(), 0
    for place, each in enumerate(described):
        message = metric_pb2.TermDescription(
            library_id=each.library_id,
            term=encode_term(each.term),
            fact_count=each.fact_count,
            periods=each.periods,
            gaps=each.gaps,
        )
        size += message.ByteSize()
        if response.terms and size > MAX_PAGE_BYTES:
            described, more = described[:place], True
            break
        response.terms.append(message)
    if more:
        last = described[-1]
        response.next_page_token = page_token(_METHOD, json.dumps(place_of(last.library_id, last.term)))
    return response


def _read_place(text: str, findings: Findings) -> TermPlace | None:
    if not text:
        return None
    try:
        library_id, kind, axis, code = json.loads(text)
    except (ValueError, TypeError):
        findings.add("page_token", ErrorReason.VALUE_MALFORMED, "is no token of this list")
        return None
    return str(library_id), kind if isinstance(kind, int) else 0, str(axis), str(code)
