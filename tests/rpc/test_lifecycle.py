"""How a server begins and ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from groundwire.v1 import admin_pb2, admin_pb2_grpc, narrative_pb2, narrative_pb2_grpc
from groundwire_server.engine import Engine
from groundwire_server.errors import ErrorReason, FailedPrecondition, Unavailable
from groundwire_server.evidence import Call, EndReason, Header, Summary
from groundwire_server.rpc import running_server
from groundwire_server.settings import load_settings
from tests.rpc.house import furnish, house, snippets
from tests.rpc.serving import failure_of

SERVE = """
import sys
from groundwire_server.rpc import serve
from groundwire_server.settings import load_settings
chosen = {"data": sys.argv[1], "server.port": 0, "embedding.backend": "none", "log.format": "json"}
serve(load_settings(chosen, environ={}))
"""


def settings(data: Path, **more: object) -> Any:
    return load_settings({"data": data, "server.port": 0, "embedding.backend": "none", **more}, environ={})


def test_a_server_leaves_the_interpreter_to_its_loop() -> None:
    program = """
import gc, sys
from groundwire_server.rpc.lifecycle import favour_the_loop
favour_the_loop()
print(round(sys.getswitchinterval() * 1e6), gc.get_freeze_count() > 0)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["200", "True"]


def test_a_taken_port_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(Unavailable) as caught, running_server(settings(tmp_path / "d", **{"server.port": port})):
            pass
    assert str(port) in str(caught.value)
    assert "--port" in str(caught.value)
    with running_server(settings(tmp_path / "d")):
        pass  # the folder was let go


def test_two_servers_never_share_a_port(tmp_path: Path) -> None:
    with running_server(settings(tmp_path / "one")) as address:
        port = int(address.rpartition(":")[2])
        with pytest.raises(Unavailable), running_server(settings(tmp_path / "two", **{"server.port": port})):
            pass


def test_a_second_server_on_a_folder_is_told_of_the_first(tmp_path: Path) -> None:
    with running_server(settings(tmp_path / "d")) as address:
        with pytest.raises(FailedPrecondition) as caught, running_server(settings(tmp_path / "d")):
            pass
        assert caught.value.details["address"] == address
        assert caught.value.details["pid"] == str(os.getpid())


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_other_machines_are_let_in_only_when_asked_for(tmp_path: Path, host: str) -> None:
    with pytest.raises(FailedPrecondition) as caught, running_server(settings(tmp_path / "d", **{"server.host": host})):
        pass
    assert "plaintext_remote" in str(caught.value)
    if host == "0.0.0.0":
        open_to_all = settings(tmp_path / "d", **{"server.host": host, "server.plaintext_remote": True})
        with running_server(open_to_all) as address:
            assert address.startswith("0.0.0.0:")


def test_a_model_that_must_be_there_is_asked_for_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundwire_server.engine.embedding.find_model", lambda *_: None)
    wanted = settings(tmp_path / "d", **{"embedding.backend": "onnx"})
    with pytest.raises(FailedPrecondition) as caught, running_server(wanted):
        pass
    assert caught.value.reason is ErrorReason.NO_MODEL
    assert "groundwire models prepare" in str(caught.value)
    with running_server(settings(tmp_path / "d")):
        pass  # the folder was let go


def test_a_stop_lets_calls_end_and_says_not_serving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(_self: Engine, _request: Any, call: Call) -> Any:
        yield Header((), (), call.reference_day)
        begun.set()
        go_on.wait(10)
        yield Summary(EndReason.EXHAUSTED)

    monkeypatch.setattr(Engine, "retrieve", slow)
    heard: list[str] = []
    with house(tmp_path / "d", server__drain_seconds=10) as here:
        watch = health_pb2_grpc.HealthStub(here.channel).Watch(health_pb2.HealthCheckRequest())
        assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
        stream = here.narrative.NarrativeRetrieve(narrative_pb2.NarrativeRetrieveRequest(query="x"))

        def read() -> None:
            heard.extend(frame.WhichOneof("frame") for frame in stream)

        reader = threading.Thread(target=read)
        reader.start()
        assert begun.wait(10)

        def release() -> None:
            assert next(watch).status == health_pb2.HealthCheckResponse.NOT_SERVING
            go_on.set()

        releaser = threading.Thread(target=release)
        releaser.start()
    reader.join(10)
    releaser.join(10)
    assert heard == ["header", "summary"]


def test_a_stop_does_not_wait_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = threading.Event()

    def endless(_self: Engine, _request: Any, call: Call) -> Any:
        pause = threading.Event()
        yield Header((), (), call.reference_day)
        begun.set()
        while True:
            call.cancel.check()
            pause.wait(0.01)

    monkeypatch.setattr(Engine, "retrieve", endless)
    with house(tmp_path / "d", server__drain_seconds=0) as here:
        stream = here.narrative.NarrativeRetrieve(narrative_pb2.NarrativeRetrieveRequest(query="x"))
        next(stream)
        assert begun.wait(10)
    failure = failure_of(lambda: stream)
    assert (failure.code, failure.reason) == (grpc.StatusCode.UNAVAILABLE, "NOT_SERVING")
    assert failure.metadata["phase"] == "draining"
    assert failure.retry


def test_each_call_that_runs_when_the_signal_comes_gets_an_ending(tmp_path: Path) -> None:
    with house(tmp_path / "d") as here:
        furnish(here)
    process = subprocess.Popen([sys.executable, "-c", SERVE, str(tmp_path / "d")], stdout=subprocess.PIPE, text=True)
    callers, answered, endings = 6, threading.Semaphore(0), []
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split(" on ")[1].split(",")[0]

        def call_until_it_stops() -> None:
            with grpc.insecure_channel(address) as channel:
                stub = narrative_pb2_grpc.NarrativeServiceStub(channel)
                try:
                    while True:
                        stream = stub.NarrativeRetrieve(narrative_pb2.NarrativeRetrieveRequest(query="fox report"))
                        assert [frame.WhichOneof("frame") for frame in stream][-1] == "summary"
                        answered.release()
                except grpc.RpcError as error:
                    endings.append(error.code())

        threads = [threading.Thread(target=call_until_it_stops) for _ in range(callers)]
        for thread in threads:
            thread.start()
        for _ in range(callers * 5):
            assert answered.acquire(timeout=10)
        process.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join(30)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.communicate()
    assert endings == [grpc.StatusCode.UNAVAILABLE] * callers


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_process_in_order(tmp_path: Path, number: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(tmp_path / "d")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        address = line.split(" on ")[1].split(",")[0]
        with grpc.insecure_channel(address) as channel:
            info = admin_pb2_grpc.AdminServiceStub(channel).GetServerInfo(admin_pb2.GetServerInfoRequest())
        assert info.server_version
        process.send_signal(number)
        _, log = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0
    events = [json.loads(each)["event"] for each in log.splitlines()]
    assert events[0] == "serving"
    assert events[-2:] == ["stopping", "stopped"]


def test_what_was_stored_is_there_after_a_restart_with_the_same_snapshot(tmp_path: Path) -> None:
    seen = []
    for _ in range(2):
        with house(tmp_path / "d") as here:
            if not seen:
                furnish(here)
            frames = list(here.narrative.NarrativeRetrieve(narrative_pb2.NarrativeRetrieveRequest(query="fox")))
            seen.append((frames[0].header.snapshots[0].snapshot_id, [each.snippet_id for each in snippets(frames)]))
    assert seen[0] == seen[1]
