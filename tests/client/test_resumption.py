"""What a client does when a stream breaks: goes on, tells, gives up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import grpc
import pytest

from groundwire import (
    AnswerPart,
    AnswerRestarted,
    BrokenStream,
    EndReason,
    ErrorReason,
    GroundwireError,
    Reconnecting,
    StreamHeader,
)
from groundwire.v1 import evidence_pb2, narrative_pb2, router_pb2, stream_pb2
from groundwire_server.errors import Aborted, ResourceExhausted, Unavailable
from groundwire_server.errors import ErrorReason as Reason
from groundwire_server.rpc.errors import to_status
from tests.client.both import Connect
from tests.client.serving import serving

Response = narrative_pb2.NarrativeRetrieveResponse
Script = Callable[[Any, Any], Iterator[Any]]


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundwire._operation.resumption.retry_delay", lambda attempt, error: 0.0)


def header() -> Response:
    return Response(header=stream_pb2.StreamHeader(request_id="r"))


def snippet(rank: int) -> evidence_pb2.Snippet:
    return evidence_pb2.Snippet(
        snippet_id=f"id{rank}",
        rank=rank,
        trust=evidence_pb2.TRUST_CITABLE,
        lineage=evidence_pb2.Lineage(library_id="default", doc_id="a.md", revision=1),
        text=evidence_pb2.TextPassage(text=f"passage {rank}"),
    )


def batch(*ranks: int, token: bytes = b"") -> Response:
    after = stream_pb2.ResumeCursor(token=token) if token else None
    return Response(batch=stream_pb2.SnippetBatch(snippets=map(snippet, ranks), after=after))


def summary(returned: int, end: int = stream_pb2.END_REASON_EXHAUSTED, token: bytes = b"") -> Response:
    told = stream_pb2.StreamSummary(returned=returned, end_reason=end)  # type: ignore[arg-type]
    if token:
        told.next.token = token
    return Response(summary=told)


def breaks(context: grpc.ServicerContext, code: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE) -> None:
    context.abort(code, "reset")


def refuses(context: grpc.ServicerContext, error: Any) -> None:
    status = to_status(error, "r")
    context.set_trailing_metadata((("grpc-status-details-bin", status.details),))
    context.abort(status.code, status.message)


class Scripted:
    """Answers each call by the next script, and notes what it was asked."""

    def __init__(self, *scripts: Script) -> None:
        self._scripts = list(scripts)
        self.asked: list[Any] = []

    def __call__(self, request: Any, context: Any) -> Iterator[Any]:
        self.asked.append(request)
        return self._scripts[min(len(self.asked), len(self._scripts)) - 1](request, context)

    @property
    def tokens(self) -> list[bytes]:
        return [each.options.resume.token for each in self.asked]


def whole(_request: Any, _context: Any) -> Iterator[Response]:
    yield from (header(), batch(1, 2, token=b"t2"), summary(2))


def test_it_goes_on_behind_the_last_cursor(connect: Connect) -> None:
    def first(_request: Any, context: Any) -> Iterator[Response]:
        yield from (header(), batch(1, 2, token=b"t2"), batch(3, token=b"t3"))
        breaks(context)

    def second(_request: Any, context: Any) -> Iterator[Response]:
        yield from (header(), batch(4, token=b"t4"))
        breaks(context, grpc.StatusCode.INTERNAL)

    def third(_request: Any, _context: Any) -> Iterator[Response]:
        yield from (header(), batch(5, token=b"t5"), summary(1))

    script = Scripted(first, second, third)
    with serving(NarrativeRetrieve=script) as address, connect(address) as client:
        stream = client.retrieve("q", top_k=5)
        told = [each for each in stream if isinstance(each, Reconnecting)]
        result = stream.collect()
    assert script.tokens == [b"", b"t3", b"t4"]
    assert [each.query for each in script.asked] == ["q"] * 3
    assert [each.rank for each in result.snippets] == [1, 2, 3, 4, 5]
    assert result.summary.returned == 5
    assert [each.attempt for each in told] == [1, 1]


def test_a_server_that_stops_hands_over(connect: Connect) -> None:
    def first(_request: Any, _context: Any) -> Iterator[Response]:
        yield from (header(), batch(1, token=b"t1"), summary(1, stream_pb2.END_REASON_SERVER_STOPPING, b"n1"))

    def second(_request: Any, _context: Any) -> Iterator[Response]:
        yield from (header(), batch(2, token=b"t2"), summary(1))

    script = Scripted(first, second)
    with serving(NarrativeRetrieve=script) as address, connect(address) as client:
        result = client.retrieve("q").collect()
    assert script.tokens == [b"", b"n1"]
    assert (len(result.snippets), result.summary.returned, result.summary.end_reason) == (2, 2, EndReason.EXHAUSTED)


@pytest.mark.parametrize(
    "error",
    [
        Unavailable(Reason.NOT_SERVING, "stopping"),
        ResourceExhausted(Reason.OVERLOADED, "busy"),
        Aborted(Reason.READER_IDLE, "idle"),
    ],
    ids=lambda error: error.reason.name,
)
def test_refusals_that_pass_are_waited_out(connect: Connect, error: Any) -> None:
    def first(_request: Any, context: Any) -> Iterator[Response]:
        yield from (header(), batch(1, token=b"t1"))
        refuses(context, error)

    def refused(_request: Any, context: Any) -> Iterator[Response]:
        refuses(context, error)
        yield header()

    def last(_request: Any, _context: Any) -> Iterator[Response]:
        yield from (header(), batch(2, token=b"t2"), summary(1))

    script = Scripted(first, refused, refused, last)
    with serving(NarrativeRetrieve=script) as address, connect(address) as client:
        result = client.retrieve("q").collect()
    assert script.tokens == [b"", b"t1", b"t1", b"t1"]
    assert result.summary.returned == 2


def test_a_header_alone_is_no_beginning_that_must_hold(connect: Connect) -> None:
    """Nothing of the evidence had come: what the stream begins with now takes the place of that header."""

    def first(_request: Any, context: Any) -> Iterator[Response]:
        yield header()
        breaks(context)

    def second(_request: Any, _context: Any) -> Iterator[Response]:
        plan = [stream_pb2.PlanStep(stage="dense", backend="m")]
        yield Response(header=stream_pb2.StreamHeader(request_id="other", plan=plan))
        yield from (batch(1, token=b"t1"), summary(1))

    script = Scripted(first, second)
    with serving(NarrativeRetrieve=script) as address, connect(address) as client:
        stream = client.retrieve("q")
        headers = [each for each in stream if isinstance(each, StreamHeader)]
        result = stream.collect()
    assert script.tokens == [b"", b""]
    assert [len(each.plan) for each in headers] == [0, 1]
    assert result.header == headers[1]
    assert result.summary.returned == 1


def test_it_gives_up_after_some_tries(connect: Connect) -> None:
    def first(_request: Any, context: Any) -> Iterator[Response]:
        yield from (header(), batch(1, token=b"t1"))
        breaks(context)

    def never(_request: Any, context: Any) -> Iterator[Response]:
        breaks(context)
        yield header()

    script = Scripted(first, never)
    with (
        serving(NarrativeRetrieve=script) as address,
        connect(address) as client,
        pytest.raises(GroundwireError) as raised,
    ):
        client.retrieve("q").collect()
    assert raised.value.status == "UNAVAILABLE"
    assert len(script.asked) == 9


def test_what_is_gone_is_an_error(connect: Connect) -> None:
    def first(_request: Any, context: Any) -> Iterator[Response]:
        yield from (header(), batch(1, token=b"t1"))
        breaks(context)

    def gone(_request: Any, context: Any) -> Iterator[Response]:
        refuses(context, Aborted(Reason.RESUME_SNAPSHOT_GONE, "gone"))
        yield header()

    script = Scripted(first, gone)
    with (
        serving(NarrativeRetrieve=script) as address,
        connect(address) as client,
        pytest.raises(GroundwireError) as raised,
    ):
        client.retrieve("q").collect()
    assert raised.value.reason is ErrorReason.RESUME_SNAPSHOT_GONE
    assert len(script.asked) == 2


@pytest.mark.parametrize("token", [b"", b"t1"])
def test_without_a_cursor_or_when_switched_off_a_break_is_an_error(connect: Connect, token: bytes) -> None:
    def first(_request: Any, context: Any) -> Iterator[Response]:
        yield from (header(), batch(1, token=token))
        breaks(context)

    script = Scripted(first, whole)
    with (
        serving(NarrativeRetrieve=script) as address,
        connect(address, reconnect=not token) as client,
        pytest.raises(GroundwireError),
    ):
        client.retrieve("q").collect()
    assert len(script.asked) == 1


def test_a_stream_without_its_summary_goes_on_too(connect: Connect) -> None:
    def first(_request: Any, _context: Any) -> Iterator[Response]:
        yield from (header(), batch(1, token=b"t1"))

    def second(_request: Any, _context: Any) -> Iterator[Response]:
        yield from (header(), batch(2, token=b"t2"), summary(1))

    script = Scripted(first, second)
    with serving(NarrativeRetrieve=script) as address, connect(address) as client:
        assert client.retrieve("q").collect().summary.returned == 2
    broken = Scripted(first)
    with (
        serving(NarrativeRetrieve=broken) as address,
        connect(address, reconnect=False) as client,
        pytest.raises(BrokenStream),
    ):
        client.retrieve("q").collect()


def test_before_anything_came_it_tries_too_and_an_overload_is_told_at_once(connect: Connect) -> None:
    def fails(_request: Any, context: Any) -> Iterator[Response]:
        breaks(context)
        yield header()

    def busy(_request: Any, context: Any) -> Iterator[Response]:
        refuses(context, ResourceExhausted(Reason.OVERLOADED, "busy"))
        yield header()

    for script, asked in ((Scripted(fails), 9), (Scripted(busy), 1)):
        with serving(NarrativeRetrieve=script) as address, connect(address) as client, pytest.raises(GroundwireError):
            client.retrieve("q").collect()
        assert len(script.asked) == asked
    script = Scripted(fails, whole)
    with serving(NarrativeRetrieve=script) as address, connect(address) as client:
        assert client.retrieve("q").collect().summary.returned == 2


def test_that_nobody_is_there_is_told_soon(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []

    def pause(attempt: int, _error: GroundwireError) -> float:
        tries.append(attempt)
        return 0.0

    monkeypatch.setattr("groundwire._operation.resumption.retry_delay", pause)
    with serving(NarrativeRetrieve=whole) as address:
        pass
    with connect(address) as client, pytest.raises(GroundwireError, match="no server answers"):
        client.retrieve("q").collect()
    assert tries == [1]


def test_the_time_of_the_call_is_not_stretched(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundwire._operation.resumption.retry_delay", lambda attempt, error: 100.0)

    def first(_request: Any, context: Any) -> Iterator[Response]:
        yield from (header(), batch(1, token=b"t1"))
        breaks(context)

    script = Scripted(first, whole)
    with serving(NarrativeRetrieve=script) as address, connect(address) as client, pytest.raises(GroundwireError):
        client.retrieve("q", timeout=50.0).collect()
    assert len(script.asked) == 1


def test_a_pause_can_be_broken_off(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundwire._operation.resumption.retry_delay", lambda attempt, error: 3600.0)

    def first(_request: Any, context: Any) -> Iterator[Response]:
        yield from (header(), batch(1, token=b"t1"))
        breaks(context)

    with serving(NarrativeRetrieve=Scripted(first)) as address, connect(address) as client:
        stream = client.retrieve("q")
        for each in stream:
            if isinstance(each, Reconnecting):
                assert timedelta(seconds=each.delay_seconds) == timedelta(hours=1)
                stream.cancel()
        with pytest.raises(GroundwireError, match="cancelled"):
            stream.collect()


Asked = router_pb2.AskResponse


def asked(text: str, origin: int = router_pb2.ANSWER_ORIGIN_MODEL) -> Asked:
    part = router_pb2.AnswerPart(text=text, cited_snippet_ids=["id1"], origin=origin)  # type: ignore[arg-type]
    return Asked(answer=part, sub_call_index=1)


def opening() -> list[Asked]:
    return [
        Asked(header=stream_pb2.StreamHeader(request_id="r")),
        Asked(route=router_pb2.RouteResponse(route=router_pb2.ROUTE_NARRATIVE)),
        Asked(sub_call=router_pb2.SubCall(route=router_pb2.ROUTE_NARRATIVE), sub_call_index=1),
    ]


def ending(returned: int) -> list[Asked]:
    branch = router_pb2.SubCallSummary(end_reason=stream_pb2.END_REASON_EXHAUSTED, returned=1)
    told = stream_pb2.StreamSummary(returned=returned, end_reason=stream_pb2.END_REASON_EXHAUSTED)
    return [Asked(sub_call_summary=branch, sub_call_index=1), Asked(summary=told)]


@pytest.mark.parametrize(("again", "restarted"), [(["One. ", "Two."], False), (["Other. ", "Two."], True)])
def test_an_answer_is_given_out_once_or_begun_anew(connect: Connect, again: list[str], restarted: bool) -> None:
    found = stream_pb2.SnippetBatch(snippets=[snippet(1)], after=stream_pb2.ResumeCursor(token=b"t1"))

    def first(_request: Any, context: Any) -> Iterator[Asked]:
        yield from (*opening(), Asked(batch=found, sub_call_index=1), asked("One. "))
        breaks(context)

    def second(_request: Any, _context: Any) -> Iterator[Asked]:
        yield from (*opening(), *map(asked, again), *ending(0))

    script = Scripted(first, second)
    with serving(Ask=script) as address, connect(address) as client:
        stream = client.ask("q")
        frames = list(stream)
        answer = stream.collect()
    assert script.tokens == [b"", b"t1"]
    assert answer.text == "".join(again)
    assert (len(answer.branches), len(answer.snippets), answer.summary.returned) == (1, 1, 1)
    assert any(isinstance(each, AnswerRestarted) for each in frames) is restarted
    parts = [each.text for each in frames if isinstance(each, AnswerPart)]
    assert parts == (["One. ", *again] if restarted else again)
