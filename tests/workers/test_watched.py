"""Several processes, each watched by itself: what one passes on is counted by both and stands in one trace."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from groundwire.v1 import narrative_pb2
from tests.rpc.house import Documents, document_part, finish, start
from tests.rpc.telemetry.watching import collecting, scraped, series
from tests.support.eventually import eventually
from tests.workers.team import team

INGEST = "groundwire.v1.IngestService/IngestDocuments"
RETRIEVE = "groundwire.v1.NarrativeService/NarrativeRetrieve"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def calls(address: str, method: str) -> float:
    return scraped(address).get(series("groundwire_calls_total", method=method, code="OK", reason=""), 0)


def process_of(address: str) -> str:
    (name,) = [dict(labels)["process"] for (family, labels) in scraped(address) if family == "groundwire_build_info"]
    return name


def free_ports(count: int) -> int:
    """The first of some ports in a row that are free."""
    for first in range(20_000, 60_000, 97):
        try:
            for port in range(first, first + count):
                socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return first
    raise AssertionError("no ports are free")


def test_each_process_tells_of_itself(tmp_path: Path) -> None:
    with team(tmp_path / "data", readers=2, telemetry__metrics_port=0) as made:
        first, second = made.readers
        writer = made.writer.metrics
        addresses = [writer, first.server.metrics, second.server.metrics]
        assert len(set(addresses)) == 3
        assert [process_of(each) for each in addresses] == ["writer", "reader-1", "reader-2"]
        first.store({"fox.md": "A fox sleeps in a den."})
        request = narrative_pb2.NarrativeRetrieveRequest(query="fox")
        assert eventually(lambda: list(second.narrative.NarrativeRetrieve(request))[-1].summary.returned == 1)
        assert [calls(each, INGEST) for each in addresses] == [1, 1, 0]
        assert calls(second.server.metrics, RETRIEVE) >= 1
        assert [calls(each, RETRIEVE) for each in addresses[:2]] == [0, 0]
        # What was stored is told by who stored it, and jobs by who has them.
        jobs = [any(family == "groundwire_jobs" for family, _ in scraped(each)) for each in addresses]
        assert jobs == [True, False, False]


def test_a_port_that_is_set_is_that_of_the_writer(tmp_path: Path) -> None:
    port = free_ports(2)
    with team(tmp_path / "data", telemetry__metrics_port=port) as made:
        (reader,) = made.readers
        assert (made.writer.metrics, reader.server.metrics) == (f"127.0.0.1:{port}", f"127.0.0.1:{port + 1}")


def test_a_call_that_is_passed_on_has_one_id_and_one_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address)
        with team(tmp_path / "data") as made:
            (reader,) = made.readers
            parts = [start(Documents), Documents(part=document_part(1, "fox.md", b"A fox.")), finish(Documents, 1)]
            metadata = [("x-request-id", "the-call"), ("traceparent", f"00-{TRACE}-00f067aa0ba902b7-01")]
            list(reader.ingest.IngestDocuments(iter(parts), metadata=metadata))
        spans = [span for span in collector.spans if span.name == INGEST]
        assert [span.trace_id.hex() for span in spans] == [TRACE, TRACE]
        ids = [
            each.value.string_value for span in spans for each in span.attributes if each.key == "groundwire.request_id"
        ]
        assert ids == ["the-call", "the-call"]
        assert {about["groundwire.process"] for about in collector.resources} == {"writer", "reader-1"}
    assert '"request_id": "the-call"' in made.written.getvalue()
