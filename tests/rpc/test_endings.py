"""However a call of whatever method ends, nothing of it is left in the server."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from groundwire.v1 import narrative_pb2, stream_pb2
from groundwire_server.rpc import Running
from groundwire_server.rpc.services import build_methods
from tests.rpc.endings import LONG, NARROW, REQUESTS, Gate, begin, fill, gate, nothing_left
from tests.rpc.house import House, house
from tests.rpc.serving import Failure
from tests.support.eventually import eventually
from tests.support.relay import relay_to

STREAMS = [name for name in LONG if not name.startswith("Admin")]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("endings") / "data"
    with house(folder, server__threads=2, limits__reader_idle_seconds=1, limits__max_call_seconds=20) as served:
        fill(served)
        yield served


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    with gate(monkeypatch) as each:
        yield each


def told(call: Any) -> str:
    """Read a call to its end; the name of its status."""
    with suppress(grpc.RpcError):
        for _ in call:
            pass
    return str(call.code().name)


def under_way(here: House, held: Gate, call: Any, name: str) -> None:
    """Until the work of a call stands at the gate, or the call has ended without any."""
    assert eventually(lambda: held.reached.is_set() or f'"{name}"' in here.written.getvalue())


def test_every_method_is_there() -> None:
    class Nothing:
        """In place of an engine: no handler is made here."""

    built = build_methods(Nothing(), Nothing(), Nothing())  # type: ignore[arg-type]
    assert {f"groundwire.v1.{name}" for name in REQUESTS} == set(built)


@pytest.mark.parametrize("method", REQUESTS)
def test_to_the_end(here: House, method: str) -> None:
    with nothing_left(here):
        assert told(begin(here.channel, method)) in ("OK", "NOT_FOUND", "INVALID_ARGUMENT")


@pytest.mark.parametrize("at", [0, 1], ids=["before", "amidst"])
@pytest.mark.parametrize("method", REQUESTS)
def test_cancelled(here: House, held: Gate, method: str, at: int) -> None:
    with nothing_left(here):
        held.shut(at=at)
        call = begin(here.channel, method, metadata=[("x-request-id", name := f"c-{uuid.uuid4()}")])
        under_way(here, held, call, name)
        call.cancel()
        assert eventually(lambda: not here.server.leftovers["calls"])
        assert here.server.leftovers["work"] == here.server.leftovers["slots"] <= 1  # a place is kept while it costs
        held.open()


@pytest.mark.parametrize("method", REQUESTS)
def test_out_of_time(here: House, held: Gate, method: str) -> None:
    with nothing_left(here):
        held.shut()
        assert told(begin(here.channel, method, timeout=0.2)) in ("DEADLINE_EXCEEDED", "OK", "NOT_FOUND")
        held.open()


@pytest.mark.parametrize("method", REQUESTS)
def test_client_gone(here: House, held: Gate, method: str) -> None:
    with nothing_left(here), relay_to(here.server.address) as relay:
        held.shut(at=1)
        with grpc.insecure_channel(relay.address, options=NARROW) as channel:
            call = begin(channel, method, metadata=[("x-request-id", name := f"g-{uuid.uuid4()}")])
            under_way(here, held, call, name)
            relay.cut()
            assert told(call) in ("UNAVAILABLE", "OK", "NOT_FOUND")
            assert eventually(lambda: not here.server.leftovers["calls"])
        held.open()


@pytest.mark.parametrize(("method", "at"), [*((each, 0) for each in REQUESTS), *((each, 1) for each in STREAMS)])
def test_fault(here: House, held: Gate, method: str, at: int) -> None:
    with nothing_left(here):
        held.break_at(at)
        want = ("OK", "NOT_FOUND") if method in _WITHOUT_WORK else ("INTERNAL", "NOT_FOUND", "INVALID_ARGUMENT")
        assert told(begin(here.channel, method)) in want
        held.open()


# Of these nothing runs in a thread.
_WITHOUT_WORK = ("AdminService/GetJob", "AdminService/GetServerInfo", "AdminService/WatchJob")


@pytest.mark.parametrize("method", REQUESTS)
def test_never_read(here: House, method: str) -> None:
    with nothing_left(here), grpc.insecure_channel(here.server.address, options=NARROW) as channel:
        call = begin(channel, method, metadata=[("x-request-id", name := f"n-{uuid.uuid4()}")])
        assert eventually(lambda: f'"{name}"' in here.written.getvalue()), here.server.leftovers
        assert eventually(lambda: not any(each for name, each in here.server.leftovers.items() if name != "endings"))
        # Only what a client has not taken of the last frames, and the ending behind them, waits for it.
        assert here.server.leftovers["endings"] <= 1
        call.cancel()


@pytest.mark.parametrize("method", STREAMS)
def test_who_begins_to_read_after_all_is_told(here: House, method: str) -> None:
    with nothing_left(here), grpc.insecure_channel(here.server.address, options=NARROW) as channel:
        call = begin(channel, method, metadata=[("x-request-id", f"idle-{method[:4]}")])
        assert eventually(lambda: here.server.leftovers["endings"] == 1 and not here.server.leftovers["calls"])
        with pytest.raises(grpc.RpcError) as caught:
            list(call)
        failure = Failure.of(caught.value)
        assert (failure.code, failure.reason) == (grpc.StatusCode.ABORTED, "READER_IDLE")
        assert failure.metadata["idle_seconds"] == "1"


def test_a_slow_reader_is_no_idle_one(here: House) -> None:
    """It takes far longer than an idle one may, a frame at a time."""
    with nothing_left(here), grpc.insecure_channel(here.server.address, options=NARROW) as channel:
        call = begin(channel, LONG[0])
        kinds, began = [], time.monotonic()
        pause = threading.Event()
        for raw in call:
            kinds.append(narrative_pb2.NarrativeRetrieveResponse.FromString(raw).WhichOneof("frame"))
            pause.wait(0.1)
        assert kinds[0] == "header"
        assert kinds[-1] == "summary"
        assert time.monotonic() - began > 1


def test_a_call_is_cut_at_the_longest_run_and_leaves_nothing(tmp_path: Any, held: Gate) -> None:
    with house(tmp_path / "data", limits__max_call_seconds=0.2) as hasty:
        hasty.store({"a.md": "Some text about foxes."})
        for method in ("NarrativeService/NarrativeRetrieve", "RouterService/Ask", "AdminService/ListLibraries"):
            with nothing_left(hasty):
                held.shut()
                call = begin(hasty.channel, method)
                with pytest.raises(grpc.RpcError) as caught:
                    list(call)
                assert Failure.of(caught.value).reason == "DEADLINE"
                held.open()


def test_a_stop_ends_every_call_with_a_status(tmp_path: Any, held: Gate) -> None:
    calls: dict[str, Any] = {}
    health: list[int] = []
    with house(tmp_path / "data", server__drain_seconds=0.2, server__threads=len(REQUESTS)) as here:
        fill(here)
        stub: Any = health_pb2_grpc.HealthStub(here.channel)
        watch = stub.Watch(health_pb2.HealthCheckRequest())
        assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
        held.shut()
        for method in REQUESTS:
            calls[method] = begin(here.channel, method)
        at_the_gate = len(REQUESTS) - len(_WITHOUT_WORK)
        assert eventually(lambda: here.server.leftovers["work"] == at_the_gate), here.server.leftovers
        server: Running = here.server

        def open_when_told() -> None:
            health.append(next(watch).status)
            for call in calls.values():
                told(call)
            held.open()

        opener = threading.Thread(target=open_when_told)
        opener.start()
    opener.join(30)
    assert health == [health_pb2.HealthCheckResponse.NOT_SERVING]
    assert not any(server.leftovers.values())
    codes = {method: call.code() for method, call in calls.items()}
    assert set(codes.values()) <= {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.OK, grpc.StatusCode.NOT_FOUND}
    for method, call in calls.items():
        if codes[method] is grpc.StatusCode.UNAVAILABLE:
            failure = Failure.of(call)
            assert (failure.reason, failure.retry) == ("NOT_SERVING", True), method


def test_a_call_without_options_is_what_it_always_was(here: House) -> None:
    """Endings of calls are no part of answers: two plain ones are alike."""
    request = narrative_pb2.NarrativeRetrieveRequest(
        query="population", top_k=1, options=stream_pb2.CallOptions(request_id="q-1")
    )
    kinds = [frame.WhichOneof("frame") for frame in here.narrative.NarrativeRetrieve(request)]
    assert kinds == ["header", "batch", "summary"]
