"""The page of metrics of a whole server: what stands there, what never does, and who may ask for it how."""

from __future__ import annotations

import http.client
import json
import platform
import re
import socket
import urllib.error
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY

from groundwire.v1 import admin_pb2, ingest_pb2, narrative_pb2, router_pb2, stream_pb2
from groundwire_server import __version__
from groundwire_server.errors import ErrorReason, Unavailable
from groundwire_server.rpc.methods import contract_methods
from tests.rpc.house import House, fact, furnish, house
from tests.rpc.serving import failure_of
from tests.rpc.telemetry.traffic import ask_everything
from tests.rpc.telemetry.watching import Series, page, scraped, series
from tests.support.eventually import eventually

NARRATIVE = "groundwire.v1.NarrativeService/NarrativeRetrieve"
OPEN_METRICS = "application/openmetrics-text;version=1.0.0"
# Names of labels, and how many values each can have at most: names of our own code.
LABELS = {
    "code": 18,
    "direction": 2,
    "end_reason": 9,
    "generation": 3,
    "kind": 32,
    "le": 40,
    "method": len(contract_methods()) + 6,
    "outcome": 3,
    "process": 1,
    "python": 1,
    "reason": 64,
    "service": 8,
    "stage": 64,
    "state": 2,
    "version": 1,
    "what": 16,
}


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(Path(tmp_path_factory.mktemp("watched")) / "data", telemetry__metrics_port=0) as here:
        furnish(here)
        yield here


def numbers(here: House) -> dict[Series, float]:
    return scraped(here.server.metrics)


def count(here: House, name: str, **labels: str) -> float:
    return numbers(here).get(series(name, **labels), 0)


def test_calls_are_counted_with_what_became_of_them(watched: House) -> None:
    def of(name: str, **labels: str) -> float:
        return count(watched, f"groundwire_{name}", **labels)

    before = numbers(watched)
    frames = list(watched.narrative.NarrativeRetrieve(narrative_pb2.NarrativeRetrieveRequest(query="fox")))
    failure_of(lambda: watched.narrative.NarrativeRetrieve(narrative_pb2.NarrativeRetrieveRequest()))
    assert eventually(lambda: of("calls_open", method=NARRATIVE) == 0)
    after = numbers(watched)

    def more(name: str, **labels: str) -> float:
        key = series(f"groundwire_{name}", **labels)
        return after.get(key, 0) - before.get(key, 0)

    assert more("calls_total", method=NARRATIVE, code="OK", reason="") == 1
    assert more("calls_total", method=NARRATIVE, code="INVALID_ARGUMENT", reason="INVALID_REQUEST") == 1
    assert more("messages_sent_total", method=NARRATIVE) == len(frames)
    assert more("sent_bytes_total", method=NARRATIVE) == sum(frame.ByteSize() for frame in frames)
    assert more("call_seconds_count", method=NARRATIVE) == 2
    assert more("answers_total", method=NARRATIVE, end_reason="EXHAUSTED") == 1
    for timing in frames[-1].summary.timings:
        assert more("stage_seconds_count", stage=timing.stage) >= 1


def test_what_ran_less_well_is_counted(tmp_path: Path) -> None:
    with house(tmp_path / "data", telemetry__metrics_port=0) as here:
        here.store({"a.md": "A fox."})
        hint: Any = {"predicate": {"field": "doc_id", "eq": {"string_value": "nowhere"}}}
        request = narrative_pb2.NarrativeRetrieveRequest(query="fox", options={"hint": hint})  # type: ignore[arg-type]
        kinds = [each.kind for each in list(here.narrative.NarrativeRetrieve(request))[-1].summary.degradations]
        assert kinds
        assert eventually(
            lambda: count(here, "groundwire_degradations_total", method=NARRATIVE, kind="FILTER_DROPPED") == 1
        )


def test_a_route_that_fell_back_and_its_model_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
    model: dict[str, Any] = {
        "llm__provider": "openai",
        "llm__base_url": place,
        "llm__model": "small",
        "llm__retries": 0,
    }
    settings: dict[str, Any] = {**model, "retrieval__route_classifier": "llm", "telemetry__metrics_port": 0}
    with house(tmp_path / "data", **settings) as here:
        furnish(here)
        answer = here.router.Route(router_pb2.RouteRequest(question="What was the interest expense?"))
        (fallback,) = answer.degradations
        kind = stream_pb2.DegradationKind.Name(fallback.kind).removeprefix("DEGRADATION_KIND_")
        route = "groundwire.v1.RouterService/Route"
        assert count(here, "groundwire_degradations_total", method=route, kind=kind) == 1
        assert count(here, "groundwire_model_calls_total") == sum(usage.calls for usage in answer.model_usage) > 0


def test_what_comes_in_is_counted(tmp_path: Path) -> None:
    with house(tmp_path / "data", telemetry__metrics_port=0) as here:
        here.store({"a.md": "A fox.", "b.md": "日本の人口。", "c.bin": "\0"})
        here.store({"a.md": "A fox."})
        good = [fact("revenue", "ACME", str(year), "1", unit="USD") for year in range(2000, 2010)]
        here.store_facts(ingest_pb2.FactRecords(facts=[*good, fact("revenue", "ACME", "soon", "1", unit="USD")]))
        found = numbers(here)
        documents = {
            outcome: found.get(series("groundwire_ingest_documents_total", outcome=outcome), 0)
            for outcome in ("stored", "unchanged", "failed")
        }
        assert sum(documents.values()) == 4
        assert (documents["unchanged"], documents["stored"]) == (1, 4 - 1 - documents["failed"])
        rows = {
            outcome: found[series("groundwire_ingest_rows_total", outcome=outcome)]
            for outcome in ("stored", "unchanged", "failed")
        }
        assert rows == {"stored": 10, "unchanged": 0, "failed": 1}


def test_what_gets_vectors_is_counted_from_the_start_of_the_process(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"telemetry__metrics_port": 0, "embedding__backend": "deterministic"}
    with house(tmp_path / "data", **settings) as here:
        here.store({f"{number}.md": f"Text {number}." for number in range(30)})
        assert eventually(lambda: count(here, "groundwire_embedded_chunks_total") == 30)
        assert count(here, "groundwire_embedding_waiting_chunks") == 0
        assert eventually(lambda: count(here, "groundwire_jobs", kind="EMBED", state="RUNNING") == 0)
    with house(tmp_path / "data", **settings) as here:
        here.server.engine.wait_for_embedder(10)
        assert count(here, "groundwire_embedded_chunks_total") == 0
        here.store({"more.md": "One more."})
        assert eventually(lambda: count(here, "groundwire_embedded_chunks_total") == 1)


def test_the_state_is_zero_at_rest(watched: House) -> None:
    ask_everything(watched)
    assert eventually(
        lambda: not any(value for (name, _), value in numbers(watched).items() if name == "groundwire_held")
    )
    found = numbers(watched)
    assert found[series("groundwire_work_waiting")] == 0
    assert not any(
        value for (name, _), value in found.items() if name in ("groundwire_calls_open", "groundwire_admission_taken")
    )
    assert (
        found[series("groundwire_build_info", version=__version__, process="server", python=platform.python_version())]
        == 1
    )
    assert found[series("process_start_time_seconds")] > 0
    assert found[series("groundwire_admission_places", service="NarrativeService")] > 0


def test_every_label_has_few_values_and_none_that_a_caller_wrote(watched: House) -> None:
    ask_everything(watched)
    before = {key for key, _ in _shape(watched)}
    for number in range(30):
        name = f"kanarienvogel-{number}"
        request = narrative_pb2.NarrativeRetrieveRequest(
            query=name, options={"library_ids": [name], "request_id": name}
        )  # type: ignore[arg-type]
        assert (
            failure_of(lambda request=request: watched.narrative.NarrativeRetrieve(request)).reason == "UNKNOWN_LIBRARY"
        )  # type: ignore[misc]
        failure_of(lambda name=name: watched.channel.unary_unary(f"/{name}/{name}")(b""))  # type: ignore[misc]
        failure_of(lambda name=name: watched.admin.GetJob(admin_pb2.GetJobRequest(job_id=name)))  # type: ignore[misc]
    values: dict[str, set[str]] = {}
    for _, labels in numbers(watched):
        for label, value in labels:
            values.setdefault(label, set()).add(value)
    assert values.keys() <= LABELS.keys()
    assert {label: len(found) for label, found in values.items() if len(found) > LABELS[label]} == {}
    assert "kanarienvogel" not in page(watched.server.metrics)
    added = {key for key, _ in _shape(watched)} - before
    assert {dict(labels).get("method") for _, labels in added} <= {None, "other", NARRATIVE}
    reasons = {reason.name for reason in ErrorReason}
    assert values["reason"] <= reasons | {""}


def _shape(here: House) -> list[tuple[Series, float]]:
    return sorted(numbers(here).items())


def test_each_family_says_what_it_is(watched: House) -> None:
    ask_everything(watched)
    text = page(watched.server.metrics)
    helped = set(re.findall(r"^# HELP (\S+) .+", text, re.MULTILINE))
    assert helped == set(re.findall(r"^# TYPE (\S+) ", text, re.MULTILINE))
    assert not re.search(r"_created\b", text)


def test_two_servers_of_a_process_share_nothing(tmp_path: Path) -> None:
    before = {metric.name for metric in REGISTRY.collect()}
    with (
        house(tmp_path / "a", telemetry__metrics_port=0) as one,
        house(tmp_path / "b", telemetry__metrics_port=0) as two,
    ):
        one.store({"a.md": "A fox."})
        assert one.server.metrics != two.server.metrics
        ingest = "groundwire.v1.IngestService/IngestDocuments"
        assert count(one, "groundwire_calls_total", method=ingest, code="OK", reason="") == 1
        assert count(two, "groundwire_calls_total", method=ingest, code="OK", reason="") == 0
    assert {metric.name for metric in REGISTRY.collect()} == before


def test_a_server_that_nobody_watches_has_no_port(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        assert here.server.metrics == ""


def test_the_port_closes_with_the_server(tmp_path: Path) -> None:
    with house(tmp_path / "data", telemetry__metrics_port=0) as here:
        address = here.server.metrics
        held = socket.create_connection(_place(address))  # a scrape that never comes to its end
    with held:
        assert held.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(_place(address))


def test_a_port_that_is_taken_is_an_error(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(Unavailable, match=f"metrics on 127.0.0.1:{port}"),
            house(tmp_path / "data", telemetry__metrics_port=port),
        ):
            pass
    with house(tmp_path / "data", telemetry__metrics_port=port) as here:  # nothing of the first one is left
        assert here.server.metrics == f"127.0.0.1:{port}"


def _place(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host, int(port)


def _status(address: str, method: str, path: str, headers: dict[str, str] | None = None) -> tuple[int, str, bytes]:
    connection = http.client.HTTPConnection(address, timeout=10)
    try:
        connection.request(method, path, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.getheader("Content-Type", ""), answer.read()
    finally:
        connection.close()


def test_what_the_port_answers(watched: House) -> None:
    address = watched.server.metrics
    assert _status(address, "GET", "/")[0] == 404
    assert _status(address, "POST", "/metrics")[0] == 405
    assert _status(address, "HEAD", "/metrics")[::2] == (200, b"")
    status, kind, body = _status(address, "GET", "/metrics?name=x", {"Accept": OPEN_METRICS})
    assert (status, kind.partition(";")[0], body[-6:]) == (200, "application/openmetrics-text", b"# EOF\n")
    assert _status(address, "GET", "/metrics")[1].startswith("text/plain")
    assert _raw(address, b"GET /metrics HTTP/9\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert _raw(address, b"nonsense\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert _raw(address, b"GET /metrics HTTP/1.1\r\nx: " + b"x" * 100_000 + b"\r\n\r\n")[:13] in (b"HTTP/1.1 431 ", b"")
    assert _raw(address, b"") == b""
    with pytest.raises(urllib.error.HTTPError):
        page(address, "/papagei")
    assert "papagei" not in json.dumps(watched.log())


def _raw(address: str, sent: bytes) -> bytes:
    with socket.create_connection(_place(address), timeout=10) as connection:
        try:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            found = b""
            while part := connection.recv(1 << 16):
                found += part
        except ConnectionError:  # it need not read to its end what it refuses
            return b""
        return found
