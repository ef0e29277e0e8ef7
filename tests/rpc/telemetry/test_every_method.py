"""Every method, in every ending: counted once, traced once, and nothing is open afterwards, on the page of a server."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.rpc.endings import LONG, NARROW, REQUESTS, Gate, begin, fill, gate
from tests.rpc.house import House, house
from tests.rpc.telemetry.watching import Spans, scraped
from tests.support.eventually import eventually
from tests.support.relay import relay_to

STREAMS = [name for name in LONG if not name.startswith("Admin")]
Ends = dict[tuple[str, str, str], float]


@dataclass
class Watched:
    """A filled server and its spans."""

    here: House
    spans: Spans

    def ends(self) -> Ends:
        """Calls that ended, by method, code and reason."""
        found = {}
        for (name, labels), value in scraped(self.here.server.metrics).items():
            if name == "groundwire_calls_total":
                of = dict(labels)
                found[of["method"].removeprefix("groundwire.v1."), of["code"], of["reason"]] = value
        return found

    def at_rest(self) -> bool:
        found = scraped(self.here.server.metrics)
        open_now = ("groundwire_calls_open", "groundwire_held", "groundwire_admission_taken", "groundwire_work_waiting")
        # An ending that its client has not taken is the client's to take.
        return not any(
            value for (name, labels), value in found.items() if name in open_now and ("what", "endings") not in labels
        )

    def traced(self) -> Counter[str]:
        return Counter(span.name.removeprefix("groundwire.v1.") for span in self.spans.calls())

    @contextmanager
    def each_ends(self, methods: list[str], *told: tuple[str, str]) -> Iterator[None]:
        """One call of each method is made inside, and ends in one of these ways: by code and reason; no others do."""
        assert eventually(self.at_rest, 30)
        before, traced = self.ends(), self.traced()
        yield
        assert eventually(lambda: sum(self.ends().values()) >= sum(before.values()) + len(methods), 30)
        assert eventually(self.at_rest, 30)
        more = Counter({key: int(value - before.get(key, 0)) for key, value in self.ends().items()})
        more = +more
        assert Counter(method for method, _, _ in more.elements()) == Counter(methods)
        assert {(code, reason) for _, code, reason in more} <= set(told), more
        assert self.traced() - traced == Counter(methods)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    spans = Spans()
    settings = {"server__threads": 2, "limits__reader_idle_seconds": 1, "limits__max_call_seconds": 20}
    folder = tmp_path_factory.mktemp("every") / "data"
    with house(folder, provider=spans.provider, telemetry__metrics_port=0, **settings) as here:
        fill(here)
        yield Watched(here, spans)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    with gate(monkeypatch) as each:
        yield each


def read(call: Any) -> None:
    with suppress(grpc.RpcError):
        for _ in call:
            pass


OK, GONE, NOT_THERE, INVALID = (
    ("OK", ""),
    ("CANCELLED", ""),
    ("NOT_FOUND", "UNKNOWN_JOB"),
    ("INVALID_ARGUMENT", "INVALID_REQUEST"),
)
NO_DOCUMENT = ("NOT_FOUND", "UNKNOWN_DOCUMENT")


def test_to_the_end(watched: Watched) -> None:
    with watched.each_ends(list(REQUESTS), OK, NOT_THERE, NO_DOCUMENT, INVALID):
        for method in REQUESTS:
            read(begin(watched.here.channel, method))


@pytest.mark.parametrize("at", [0, 1], ids=["before", "amidst"])
def test_cancelled(watched: Watched, held: Gate, at: int) -> None:
    with watched.each_ends(list(REQUESTS), OK, GONE, NOT_THERE, NO_DOCUMENT, INVALID):
        for number, method in enumerate(REQUESTS):
            held.shut(at=at)
            call = begin(watched.here.channel, method, metadata=[("x-request-id", name := f"{at}-{number}-c")])
            ended = f'"{name}"'
            assert eventually(lambda ended=ended: held.reached.is_set() or ended in watched.here.written.getvalue())  # type: ignore[misc]
            call.cancel()
            held.open()
    assert sum(value for (_, code, _), value in watched.ends().items() if code == "CANCELLED") >= 20


def test_out_of_time(watched: Watched, held: Gate) -> None:
    late = ("DEADLINE_EXCEEDED", "DEADLINE")
    with watched.each_ends(STREAMS, GONE, late):
        held.shut()
        for method in STREAMS:
            read(begin(watched.here.channel, method, timeout=0.2))
        held.open()


def test_client_gone(watched: Watched, held: Gate) -> None:
    for method in STREAMS:
        with watched.each_ends([method], GONE), relay_to(watched.here.server.address) as relay:
            held.shut(at=1)
            with grpc.insecure_channel(relay.address, options=NARROW) as channel:
                call = begin(channel, method)
                assert held.reached.wait(10)
                relay.cut()
                read(call)
            held.open()


def test_a_fault(watched: Watched, held: Gate) -> None:
    with watched.each_ends(STREAMS, ("INTERNAL", "INTERNAL")):
        held.break_at(1)
        for method in STREAMS:
            read(begin(watched.here.channel, method))
        held.open()


def test_never_read(watched: Watched) -> None:
    """What a narrow channel takes at once is written and the call over; of the others the server tires."""
    idle = ("ABORTED", "READER_IDLE")
    with (
        watched.each_ends(list(LONG), OK, idle),
        grpc.insecure_channel(watched.here.server.address, options=NARROW) as channel,
    ):
        calls = [begin(channel, method) for method in LONG]
        before = watched.ends()
        assert eventually(lambda: sum(watched.ends().values()) >= sum(before.values()) + len(LONG), 30)
        for call in calls:
            call.cancel()
    assert any((code, reason) == idle for _, code, reason in watched.ends())


def test_a_server_that_stops(tmp_path: Path, held: Gate) -> None:
    spans = Spans()
    with house(tmp_path / "data", provider=spans.provider, server__drain_seconds=0.2, server__threads=8) as here:
        fill(here)
        before = len(spans.calls())
        held.shut(at=1)
        calls = [begin(here.channel, method) for method in STREAMS]
        assert eventually(lambda: here.server.leftovers["calls"] == len(STREAMS))
        assert held.reached.wait(10)

        def open_when_told() -> None:
            for call in calls:
                read(call)
            held.open()

        opener = threading.Thread(target=open_when_told)
        opener.start()
    opener.join(30)
    assert len(spans.calls()) == before + len(STREAMS)
    reasons = {(span.attributes or {}).get("groundwire.reason", "") for span in spans.calls()[before:]}
    assert reasons <= {"NOT_SERVING", ""}
