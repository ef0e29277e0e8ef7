"""`groundwire serve` as a process: all that it writes and sends, put beside what went in."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import grpc

from groundwire.v1 import narrative_pb2, narrative_pb2_grpc
from tests.cli.commands import finish, spawn
from tests.rpc.house import House, house
from tests.rpc.telemetry.test_no_content import CANARIES, WORDS, calls_with_canaries, make, store_canaries
from tests.rpc.telemetry.watching import collecting, page


def called(channel: grpc.Channel) -> House:
    """As much of a house as the calls need: stubs on a channel to another process."""
    made = House.__new__(House)
    made.channel = channel
    made.__post_init__()
    return made


def test_what_a_process_writes_and_sends_holds_no_content(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with house(data) as here:
        store_canaries(here)
    with collecting() as collector:
        settings = {
            "GROUNDWIRE_EMBEDDING_BACKEND": "none",
            "GROUNDWIRE_LOG_LEVEL": "debug",
            "GROUNDWIRE_LOG_FORMAT": "json",
            "GROUNDWIRE_TELEMETRY_METRICS_PORT": "0",
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.address,
            "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=tests",
        }
        process = spawn("--data", data, "serve", "--port", "0", **settings)
        assert process.stdout is not None
        assert process.stderr is not None
        address = process.stdout.readline().partition(" answers on ")[2].partition(",")[0]
        serving = json.loads(process.stderr.readline())
        assert (serving["event"], serving["address"]) == ("serving", address)
        with grpc.insecure_channel(address) as channel:
            made = called(channel)
            endings = [make(call) for call in calls_with_canaries(made)]
            assert {"OK", "INVALID_ARGUMENT", "NOT_FOUND"} <= set(endings)
            request = narrative_pb2.NarrativeRetrieveRequest(query=CANARIES["query"])
            stream = narrative_pb2_grpc.NarrativeServiceStub(channel).NarrativeRetrieve(request)
            next(stream)
            stream.cancel()
            metrics = page(serving["metrics"])
            assert "groundwire_calls_total" in metrics
        process.send_signal(signal.SIGTERM)
        ran = finish(process)
    assert ran.code == 0
    lines = [json.loads(line) for line in ran.err.splitlines()]
    calls = [line for line in lines if line["event"] == "call"]
    assert len(calls) >= len(endings)
    assert all(line["trace_id"] for line in calls if not line["method"].startswith("grpc."))
    assert lines[-1]["event"] == "stopped"
    # Spans of every call were sent before it was gone.
    traces = {span.trace_id.hex() for span in collector.spans}
    assert {line["trace_id"] for line in calls if "trace_id" in line} <= traces
    assert collector.resources[0]["deployment.environment"] == "tests"
    told = repr((lines, ran.out, metrics)) + "".join(str(request) for request in collector.requests)
    told += repr([span.SerializeToString().decode("utf-8", "replace") for span in collector.spans])
    assert [word for word in WORDS if word.casefold() in told.casefold()] == []
