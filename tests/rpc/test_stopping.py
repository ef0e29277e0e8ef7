"""A server that stops hands its streams over: what was sent, and where to go on elsewhere."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from groundwire.v1 import stream_pb2
from tests.rpc.endings import gate
from tests.rpc.house import furnish, house
from tests.rpc.resuming import ask, expected, piece_counts, requests, rest, resumed, token_of
from tests.rpc.serving import Failure
from tests.support.eventually import eventually

REQUESTS = requests()


@pytest.mark.parametrize("name", sorted(REQUESTS))
def test_a_stream_that_a_stop_meets_goes_on_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("groundwire_server.rpc.stream.MAX_BATCH_SNIPPETS", 1)
    request = REQUESTS[name]
    got: list[Any] = []
    with gate(monkeypatch) as held:
        with house(tmp_path / "data", server__drain_seconds=2) as here:
            furnish(here)
            whole = list(ask(here, request))
            first = next(at for at, frame in enumerate(whole) if token_of(frame))  # the first part that has a cursor
            held.shut(at=first + 1)
            stream = ask(here, request)
            reader = threading.Thread(target=lambda: got.extend(stream))
            reader.start()
            assert held.reached.wait(10)
            running = list(here.server.guard._calls)

            def go_on() -> None:
                assert eventually(lambda: all(call.stopping for call in running))
                held.open()

            opener = threading.Thread(target=go_on)
            opener.start()
        reader.join(10)
        opener.join(10)
    summary = got[-1].summary
    if name.startswith("ask"):  # an answer is whole: it had the time to come to its end
        assert rest(got) == rest(whole)
        return
    assert rest(got[:-1]) == rest(whole[: first + 1])
    assert summary.end_reason == stream_pb2.END_REASON_SERVER_STOPPING
    assert summary.returned == piece_counts(got)[2]
    with house(tmp_path / "data") as other:
        again = list(ask(other, resumed(request, token_of(got[-1]))))
        assert rest(again) == expected(whole, piece_counts(got))


def test_a_stream_of_which_nothing_came_yet_is_refused_at_the_end_of_the_drain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures: list[Failure] = []
    with gate(monkeypatch) as held, house(tmp_path / "data", server__drain_seconds=0.2) as here:
        furnish(here)
        held.shut(at=1)
        stream = ask(here, REQUESTS["retrieve"])

        def read() -> None:
            try:
                list(stream)
            except Exception as error:  # noqa: BLE001 - looked at below
                failures.append(Failure.of(error))  # type: ignore[arg-type]
            held.open()

        reader = threading.Thread(target=read)
        reader.start()
        assert held.reached.wait(10)
    reader.join(10)
    assert [(each.reason, each.retry) for each in failures] == [("NOT_SERVING", True)]
