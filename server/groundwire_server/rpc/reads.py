"""Streaming reads: passages, figures, relations, answers. Each is decoded, run and encoded in a thread of the pool.

What all but passages need is loaded by the first call that needs it, so that a start waits for none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from google.protobuf.message import Message

from groundwire.v1 import graph_pb2, metric_pb2, narrative_pb2, router_pb2
from groundwire_server.engine import Engine, Filtered
from groundwire_server.evidence import Call, CallOptions
from groundwire_server.narrative import check_question, check_request, check_top_k, check_tuning
from groundwire_server.rpc.call import RpcCall
from groundwire_server.rpc.decode_narrative import decode_retrieve
from groundwire_server.rpc.decode_options import decode_options
from groundwire_server.rpc.findings import Findings
from groundwire_server.rpc.frames import FrameEncoder
from groundwire_server.rpc.sending import send_frames
from groundwire_server.rpc.stream import ASK, GRAPH, METRIC, NARRATIVE, StreamShape, in_order
from groundwire_server.rpc.work import WorkPool

__all__ = ["ReadService"]

R = TypeVar("R", bound=Message)


class ReadService:
    """The streaming reads of all services."""

    def __init__(self, engine: Engine, pool: WorkPool) -> None:
        self._engine = engine
        self._pool = pool

    async def narrative_retrieve(self, request: narrative_pb2.NarrativeRetrieveRequest, call: RpcCall) -> None:
        """Passages for a query."""
        await self._send(call, NARRATIVE, lambda: self._passages(request, call))

    async def query_metric(self, request: metric_pb2.QueryMetricRequest, call: RpcCall) -> None:
        """Figures, or why there are none."""
        await self._send(call, METRIC, lambda: self._figures(request, call))

    async def graph_trace(self, request: graph_pb2.GraphTraceRequest, call: RpcCall) -> None:
        """Relations, with their sources."""
        await self._send(call, GRAPH, lambda: self._relations(request, call))

    async def ask(self, request: router_pb2.AskRequest, call: RpcCall) -> None:
        """An answer, with what it stands on."""
        await self._send(call, ASK, lambda: self._answer(request, call))

    async def route(self, request: router_pb2.RouteRequest, call: RpcCall) -> router_pb2.RouteResponse:
        """Which kind of evidence a question needs."""
        return await self._pool.run(lambda: self._decision(request, call))

    async def _send(self, call: RpcCall, shape: StreamShape, frames: Callable[[], Iterator[Message]]) -> None:
        """Write the frames as they come. Everything before the first one, too, happens in the pool."""

        def source() -> Iterator[bytes]:
            yield from in_order(frames(), shape)

        await send_frames(self._pool, call, source())

    def _passages(
        self, request: narrative_pb2.NarrativeRetrieveRequest, call: RpcCall
    ) -> Iterator[narrative_pb2.NarrativeRetrieveResponse]:
        findings = Findings()
        options = decode_options(request.options, findings, request_id=call.request_id)
        retrieval = decode_retrieve(request, findings, self._engine.default_mode)
        if findings.violations:
            findings.extend(check_request(retrieval, self._engine.limits))
        self._settle(findings, Filtered.PASSAGES, _call(call, options))
        encoder = _encoder(narrative_pb2.NarrativeRetrieveResponse, call, options)
        yield from encoder.encode_all(self._engine.retrieve(retrieval, _call(call, options)))

    def _figures(
        self, request: metric_pb2.QueryMetricRequest, call: RpcCall
    ) -> Iterator[metric_pb2.QueryMetricResponse]:
        from groundwire_server.rpc.decode_metric import decode_metric_request

        findings = Findings()
        options = decode_options(request.options, findings, request_id=call.request_id)
        most = self._engine.settings.limits.max_metric_queries
        queries = decode_metric_request(request, most, findings)
        self._settle(findings, Filtered.FIGURES, _call(call, options))
        encoder = _encoder(metric_pb2.QueryMetricResponse, call, options)
        yield from encoder.encode_all(self._engine.query_metric(queries, _call(call, options)))

    def _relations(self, request: graph_pb2.GraphTraceRequest, call: RpcCall) -> Iterator[graph_pb2.GraphTraceResponse]:
        from groundwire_server.graph import check_request as check_walk
        from groundwire_server.rpc.decode_graph import decode_trace

        findings = Findings()
        own_budget = request.HasField("budget")
        options = decode_options(request.options, findings, request_id=call.request_id, own_budget=own_budget)
        walk = decode_trace(request, findings)
        if findings.violations:
            findings.extend(check_walk(walk, _call(call, options), self._engine.trace_limits))
        self._settle(findings, Filtered.EDGES, _call(call, options))
        encoder = _encoder(graph_pb2.GraphTraceResponse, call, options)
        yield from encoder.encode_all(self._engine.trace(walk, _call(call, options)))

    def _answer(self, request: router_pb2.AskRequest, call: RpcCall) -> Iterator[router_pb2.AskResponse]:
        from groundwire_server.rpc.decode_router import decode_ask
        from groundwire_server.rpc.encode_router import encode_ask

        findings = Findings()
        options = decode_options(request.options, findings, request_id=call.request_id)
        question = decode_ask(request, findings, self._engine.default_mode)
        if findings.violations:
            limits = self._engine.limits
            findings.extend(check_question("question", question.question, limits))
            findings.extend(check_top_k(question.top_k, limits))
            findings.extend(check_tuning(question.tuning))
        self._settle(findings, Filtered.EITHER, _call(call, options))
        encoder = _encoder(router_pb2.AskResponse, call, options)
        yield from encode_ask(self._engine.ask(question, _call(call, options)), encoder)

    def _decision(self, request: router_pb2.RouteRequest, call: RpcCall) -> router_pb2.RouteResponse:
        from groundwire_server.rpc.decode_router import decode_history
        from groundwire_server.rpc.encode_router import encode_decision

        findings = Findings()
        options = decode_options(request.options, findings, request_id=call.request_id)
        if options.soft_budget is not None:
            findings.uses("route.soft_budget")
        history = decode_history(request.history, findings)
        self._settle(findings, Filtered.EITHER, _call(call, options))
        return encode_decision(self._engine.route(request.question, _call(call, options), history))

    def _settle(self, findings: Findings, what: Filtered, call: Call) -> None:
        """Raise what is wrong with a request, its filters included."""
        if findings.violations:
            findings.extend(self._engine.filter_faults(what, findings.filters, call))
        findings.settle()


def _call(call: RpcCall, options: CallOptions) -> Call:
    return Call(call.principal, options, call.cancel, began=call.started, ends=call.ends)


def _encoder(response: Callable[..., R], call: RpcCall, options: CallOptions) -> FrameEncoder[R]:
    return FrameEncoder(
        response, principal=call.principal, request_id=call.request_id, explain=options.explain, tell=call.tell
    )
