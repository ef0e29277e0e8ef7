"""So many calls of a service at once, and no more: the next one is told at once, and others do not notice."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import ErrorReason, ResourceExhausted
from groundwire_server.rpc.admission import WATCHES, Admission, Slot
from groundwire_server.rpc.endings import Endings
from groundwire_server.rpc.server import _connection_options
from groundwire_server.settings import LimitSettings, ServerSettings
from tests.rpc.endings import Gate, begin, gate, nothing_left
from tests.rpc.house import House, house
from tests.rpc.serving import Failure
from tests.support.eventually import eventually

RETRIEVE = "NarrativeService/NarrativeRetrieve"


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    with gate(monkeypatch) as each:
        yield each


@pytest.fixture
def small(tmp_path: Path) -> Iterator[House]:
    """A house with room for two retrievals and little else."""
    limits = {"limits__max_narrative_calls": 2, "limits__max_metric_calls": 1, "limits__max_watches": 1}
    with house(tmp_path / "data", **limits) as here:
        here.store({f"{at}.md": f"Population of {at} and 売上高." for at in range(24)})
        yield here


def refused(call: Any) -> Failure:
    with pytest.raises(grpc.RpcError) as caught:
        list(call)
    return Failure.of(caught.value)


def test_one_more_than_may_is_told_to_come_again(small: House, held: Gate) -> None:
    with nothing_left(small, descriptors=False):
        held.shut()
        running = [begin(small.channel, RETRIEVE) for _ in range(2)]
        assert eventually(lambda: small.server.leftovers["slots"] == 2)
        failure = refused(begin(small.channel, RETRIEVE))
        assert (failure.code, failure.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED")
        assert failure.metadata["service"] == "NarrativeService"
        assert failure.retry
        assert small.server.guard.admission.refused["NarrativeService"] == 1
        assert small.server.guard.admission.crowded()
        held.open()
        for call in running:
            assert len(list(call)) > 2
        assert eventually(lambda: small.server.leftovers["slots"] == 0)
        assert len(list(begin(small.channel, RETRIEVE))) > 2


def test_it_is_crowded_for_a_second_after_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("groundwire_server.rpc.admission.time", SimpleNamespace(monotonic=lambda: now))
    admission = Admission(LimitSettings(max_metric_calls=1))
    admission.enter("groundwire.v1.MetricService/QueryMetric")
    assert not admission.crowded()
    with pytest.raises(ResourceExhausted):
        admission.enter("groundwire.v1.MetricService/QueryMetric")
    now += 0.9
    assert admission.crowded()
    now += 0.2
    assert not admission.crowded()


def test_a_full_service_is_nothing_to_the_others(small: House, held: Gate) -> None:
    health: Any = health_pb2_grpc.HealthStub(small.channel)
    with nothing_left(small, descriptors=False):
        held.shut()
        running = [begin(small.channel, RETRIEVE) for _ in range(2)]
        running.append(begin(small.channel, "MetricService/QueryMetric"))
        assert eventually(lambda: small.server.leftovers["slots"] == 3)
        assert refused(begin(small.channel, "MetricService/DescribeMetrics")).metadata["service"] == "MetricService"
        assert len(list(begin(small.channel, "AdminService/GetServerInfo"))) == 1
        for service in ("", "groundwire.v1.NarrativeService", "groundwire.v1.MetricService"):
            answer = health.Check(health_pb2.HealthCheckRequest(service=service))
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        held.open()
        for call in running:
            list(call)


def test_a_place_is_kept_while_the_work_of_a_cancelled_call_goes_on(small: House, held: Gate) -> None:
    with nothing_left(small, descriptors=False):
        held.shut()
        running = [begin(small.channel, RETRIEVE) for _ in range(2)]
        assert eventually(lambda: small.server.leftovers["work"] == 2)
        for call in running:
            call.cancel()
        assert eventually(lambda: small.server.leftovers["calls"] == 0)
        assert refused(begin(small.channel, RETRIEVE)).reason == "OVERLOADED"
        held.open()
        assert eventually(lambda: small.server.leftovers["slots"] == 0)
        assert len(list(begin(small.channel, RETRIEVE))) > 2


def test_what_nobody_answers_has_places_of_its_own(small: House) -> None:
    """A call of a method that is not there waits for its request as all do, and may not be without number."""
    raw: Any = small.channel
    waiting = iter(lambda: eventually(lambda: False, 5) and b"", None)  # it never brings one
    with nothing_left(small, descriptors=False):
        first = raw.stream_stream("/nowhere.Nothing/Ever")(waiting)
        assert eventually(lambda: small.server.guard.admission.running[WATCHES] == 1)
        assert refused(raw.unary_stream("/nowhere.Nothing/Other")(b"")).metadata["service"] == WATCHES
        first.cancel()


def test_the_refusal_says_nothing_of_who_is_there(small: House, held: Gate) -> None:
    held.shut()
    running = [begin(small.channel, RETRIEVE) for _ in range(2)]
    assert eventually(lambda: small.server.leftovers["slots"] == 2)
    failure = refused(begin(small.channel, RETRIEVE, metadata=[("x-request-id", "q-1")]))
    assert failure.metadata == {"service": "NarrativeService", "request_id": "q-1"}
    assert failure.message == "Too many calls at once. Try again a little later."
    held.open()
    for call in running:
        list(call)


# ---- places, without a wire ----------------------------------------------------------------------------------------

METHODS = ("groundwire.v1.NarrativeService/NarrativeRetrieve", "groundwire.v1.AdminService/WatchJob", "x/y")


@given(st.lists(st.tuples(st.sampled_from(("enter", "hold", "let_go")), st.integers(0, 5)), max_size=60))
def test_places_are_counted_by_who_holds_them(steps: list[tuple[str, int]]) -> None:
    admission = Admission(LimitSettings(max_narrative_calls=2, max_watches=3))
    slots: list[tuple[Slot, int]] = []  # and how many hold it
    for step, which in steps:
        held = [each for each in slots if each[1]]
        if step == "enter":
            method = METHODS[which % 3]
            lane = "NarrativeService" if which % 3 == 0 else WATCHES
            taken = sum(1 for slot, count in held if slot.service == lane)
            if taken < admission.most[lane]:
                slots.append((admission.enter(method), 1))
                continue
            with pytest.raises(ResourceExhausted) as caught:
                admission.enter(method)
            assert caught.value.reason is ErrorReason.OVERLOADED
        elif held:
            place = slots.index(held[which % len(held)])
            slot, count = slots[place]
            getattr(slot, step)()
            slots[place] = (slot, count + (1 if step == "hold" else -1))
        assert admission.taken == sum(1 for _, count in slots if count)


# ---- endings that nobody reads -------------------------------------------------------------------------------------


def test_a_connection_that_reads_nothing_gets_no_new_call() -> None:
    async def main() -> None:
        endings = Endings(most=2, patience=0.01)
        deaf = [SimpleNamespace(peer=lambda: "deaf") for _ in range(3)]
        other = SimpleNamespace(peer=lambda: "other")
        contexts: list[Any] = [_Context("deaf") for _ in deaf] + [_Context("other")]
        for each in contexts[:2]:
            endings.begin(each)
        endings.check(contexts[2])  # they may still be read
        async with asyncio.timeout(10):
            while endings._of_peer.total() != 2:
                await asyncio.sleep(0)
        with pytest.raises(ResourceExhausted) as caught:
            endings.check(contexts[2])
        assert caught.value.reason is ErrorReason.OVERLOADED
        endings.check(other)
        assert len(endings) == 2
        endings.told(contexts[0])
        endings.check(contexts[2])
        endings.told(contexts[1])
        endings.told(contexts[1])
        assert len(endings) == 0
        assert not endings._of_peer

    asyncio.run(main())


class _Context:
    """Of a call, as far as an ending needs it."""

    def __init__(self, peer: str) -> None:
        self._peer = peer

    def peer(self) -> str:
        return self._peer


# ---- connections ---------------------------------------------------------------------------------------------------


def test_connections_have_an_age_and_a_pulse() -> None:
    options = dict(_connection_options(ServerSettings()))
    assert options["grpc.keepalive_time_ms"] == 30_000
    assert options["grpc.http2.ping_timeout_ms"] == 30_000
    assert options["grpc.max_connection_age_ms"] == 1_800_000
    assert options["grpc.max_connection_age_grace_ms"] == 600_000
    assert "grpc.max_connection_age_ms" not in dict(_connection_options(ServerSettings(connection_age_seconds=0)))


def test_a_connection_of_age_is_left_and_its_calls_go_on(tmp_path: Path, held: Gate) -> None:
    """The client is told to open another one; what runs on the old one ends as if nothing had been."""
    with house(tmp_path / "data", server__connection_age_seconds=0.2) as here:
        here.store({"a.md": "Population of A and 売上高."})
        seen: set[str] = set()
        held.shut()
        old = begin(here.channel, RETRIEVE)
        assert held.reached.wait(10)
        context = next(iter(here.server.guard._calls)).context
        first = context.peer()
        assert eventually(lambda: _another_peer(here, first, seen))
        held.open()
        assert len(list(old)) > 2


def _another_peer(here: House, first: str, seen: set[str]) -> bool:
    """Whether a new call of the same channel comes over another connection."""
    call = begin(here.channel, "AdminService/ListLibraries")
    assert eventually(lambda: len(here.server.guard._calls) > 1)
    seen.update(each.context.peer() for each in list(here.server.guard._calls))
    call.cancel()
    assert eventually(lambda: len(here.server.guard._calls) == 1)
    return bool(seen - {first})
