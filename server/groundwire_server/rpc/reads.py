"""Streaming reads: passages, figures, relations, answers. Each is decoded, run and encoded in a thread of the pool.

What all but passages need is loaded by the first call that needs it, so that a start waits for none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from google.protobuf.message import Message

from groundwire.v1 import graph_pb2, metric_pb2, narrative_pb2, router_pb2
from groundwire_server.engine import Engine, Filtered
from groundwire_server.errors import ErrorReason
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

if TYPE_CHECKING:
    from groundwire_server.rpc.cursor import Cursor, CursorKey
    from groundwire_server.rpc.place import StreamPlace

__all__ = ["ReadService"]

R = TypeVar("R", bound=Message)


class ReadService:
    """The streaming reads of all services."""

    def __init__(self, engine: Engine, pool: WorkPool) -> None:
        self._engine = engine
        self._pool = pool

    async def narrative_retrieve(self, request: narrative_pb2.NarrativeRetrieveRequest, call: RpcCall) -> None:
        """Passages for a query."""
        await self._send(call, NARRATIVE, lambda dropped: self._passages(request, call, dropped))

    async def query_metric(self, request: metric_pb2.QueryMetricRequest, call: RpcCall) -> None:
        """Figures, or why there are none."""
        await self._send(call, METRIC, lambda dropped: self._figures(request, call, dropped))

    async def graph_trace(self, request: graph_pb2.GraphTraceRequest, call: RpcCall) -> None:
        """Relations, with their sources."""
        await self._send(call, GRAPH, lambda dropped: self._relations(request, call, dropped))

    async def ask(self, request: router_pb2.AskRequest, call: RpcCall) -> None:
        """An answer, with what it stands on."""
        await self._send(call, ASK, lambda dropped: self._answer(request, call, dropped))

    async def route(self, request: router_pb2.RouteRequest, call: RpcCall) -> router_pb2.RouteResponse:
        """Which kind of evidence a question needs."""
        return await self._pool.run(lambda: self._decision(request, call))

    async def _send(self, call: RpcCall, shape: StreamShape, frames: Callable[[list[str]], Iterator[Message]]) -> None:
        """Write the frames as they come. Everything before the first one, too, happens in the pool."""

        def source() -> Iterator[bytes]:
            dropped: list[str] = []
            yield from in_order(frames(dropped), shape, dropped)

        await send_frames(self._pool, call, source())

    def _passages(
        self, request: narrative_pb2.NarrativeRetrieveRequest, call: RpcCall, dropped: list[str]
    ) -> Iterator[narrative_pb2.NarrativeRetrieveResponse]:
        findings = Findings()
        place, cursor = self._place(request, call, dropped)
        options = decode_options(request.options, findings, request_id=call.request_id, cursor=cursor)
        retrieval = decode_retrieve(request, findings, self._engine.default_mode)
        if findings.violations:
            findings.extend(check_request(retrieval, self._engine.limits))
        self._settle(findings, Filtered.PASSAGES, _call(call, options))
        encoder = _encoder(narrative_pb2.NarrativeRetrieveResponse, call, options, place)
        yield from encoder.encode_all(self._engine.retrieve(retrieval, _call(call, options, place)))

    def _figures(
        self, request: metric_pb2.QueryMetricRequest, call: RpcCall, dropped: list[str]
    ) -> Iterator[metric_pb2.QueryMetricResponse]:
        from groundwire_server.rpc.decode_metric import decode_metric_request

        findings = Findings()
        place, cursor = self._place(request, call, dropped)
        options = decode_options(request.options, findings, request_id=call.request_id, cursor=cursor)
        most = self._engine.settings.limits.max_metric_queries
        queries = decode_metric_request(request, most, findings)
        self._settle(findings, Filtered.FIGURES, _call(call, options))
        encoder = _encoder(metric_pb2.QueryMetricResponse, call, options, place)
        yield from encoder.encode_all(self._engine.query_metric(queries, _call(call, options, place)))

    def _relations(
        self, request: graph_pb2.GraphTraceRequest, call: RpcCall, dropped: list[str]
    ) -> Iterator[graph_pb2.GraphTraceResponse]:
        from groundwire_server.graph import check_request as check_walk
        from groundwire_server.rpc.decode_graph import decode_trace

        findings = Findings()
        own_budget = request.HasField("budget")
        place, cursor = self._place(request, call, dropped)
        options = decode_options(
            request.options, findings, request_id=call.request_id, own_budget=own_budget, cursor=cursor
        )
        walk = decode_trace(request, findings)
        if findings.violations:
            findings.extend(check_walk(walk, _call(call, options), self._engine.trace_limits))
        self._settle(findings, Filtered.EDGES, _call(call, options))
        encoder = _encoder(graph_pb2.GraphTraceResponse, call, options, place)
        yield from encoder.encode_all(self._engine.trace(walk, _call(call, options, place)))

    def _answer(
        self, request: router_pb2.AskRequest, call: RpcCall, dropped: list[str]
    ) -> Iterator[router_pb2.AskResponse]:
        from groundwire_server.rpc.decode_router import decode_ask
        from groundwire_server.rpc.encode_router import encode_ask

        findings = Findings()
        place, cursor = self._place(request, call, dropped, pages=False)
        options = decode_options(request.options, findings, request_id=call.request_id, cursor=cursor)
        question = decode_ask(request, findings, self._engine.default_mode)
        if findings.violations:
            limits = self._engine.limits
            findings.extend(check_question("question", question.question, limits))
            findings.extend(check_top_k(question.top_k, limits))
            findings.extend(check_tuning(question.tuning))
        self._settle(findings, Filtered.EITHER, _call(call, options))
        encoder = _encoder(router_pb2.AskResponse, call, options, place)
        yield from encode_ask(self._engine.ask(question, _call(call, options, place)), encoder)

    def _decision(self, request: router_pb2.RouteRequest, call: RpcCall) -> router_pb2.RouteResponse:
        from groundwire_server.rpc.decode_router import decode_history
        from groundwire_server.rpc.encode_router import encode_decision

        findings = Findings()
        options = decode_options(request.options, findings, request_id=call.request_id)
        if request.options.HasField("resume"):
            findings.add("options.resume", ErrorReason.CONTRADICTION, "a decision is one answer, and none of a stream")
        history = decode_history(request.history, findings)
        self._settle(findings, Filtered.EITHER, _call(call, options))
        decision = self._engine.route(request.question, _call(call, options), history)
        for each in (*decision.degradations, *decision.model_usage):
            call.tell(each)
        return encode_decision(decision)

    def _place(
        self, request: Any, call: RpcCall, dropped: list[str], *, pages: bool = True
    ) -> tuple[StreamPlace, Cursor | None]:
        """Where a stream stands when it begins, and the cursor that says so; None: it is whole.

        Raises:
            CursorMismatch: the cursor is of another request or caller.
            Aborted: RESUME_SNAPSHOT_GONE, it is too old.
        """
        from groundwire_server.rpc.cursor import BoundKey
        from groundwire_server.rpc.place import StreamPlace

        @cache
        def key() -> BoundKey:
            return self._cursors.bound_to(call.method, request, call.principal)

        cursor = key().open(request.options.resume.token) if request.options.HasField("resume") else None
        return StreamPlace(key, cursor, pages=pages, dropped=dropped), cursor

    @cached_property
    def _cursors(self) -> CursorKey:
        from groundwire_server.rpc.cursor import CursorKey

        return CursorKey(self._engine.page_key, self._engine.settings.limits.max_cursor_seconds)

    def _settle(self, findings: Findings, what: Filtered, call: Call) -> None:
        """Raise what is wrong with a request, its filters included."""
        if findings.violations:
            findings.extend(self._engine.filter_faults(what, findings.filters, call))
        findings.settle()


def _call(call: RpcCall, options: CallOptions, place: StreamPlace | None = None) -> Call:
    pinned = None if place is None else place.pinned
    return Call(call.principal, options, call.cancel, began=call.started, ends=call.ends, pinned=pinned)


def _encoder(response: Callable[..., R], call: RpcCall, options: CallOptions, place: StreamPlace) -> FrameEncoder[R]:
    return FrameEncoder(
        response,
        principal=call.principal,
        request_id=call.request_id,
        explain=options.explain,
        tell=call.tell,
        place=place,
        stopping=lambda: call.stopping,
    )
