"""Where traces go: OTLP over HTTP to a collector that is there, is not there, or refuses; and what the settings say."""

from __future__ import annotations

import builtins
import io
import json
import logging
import os
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from groundwire.v1 import narrative_pb2
from groundwire_server import __version__
from groundwire_server.errors import FailedPrecondition, InvalidRequest
from groundwire_server.rpc.log import ForeignLogs, make_log
from groundwire_server.rpc.telemetry.trace_export import TraceExport, wanted
from groundwire_server.settings import LogSettings, TelemetrySettings
from tests.rpc.house import House, house
from tests.rpc.telemetry.watching import Spans, collecting

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.fixture(autouse=True)
def quiet_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No OTEL_* of whoever runs the tests."""
    for name in list(os.environ):
        if name.startswith("OTEL_"):
            monkeypatch.delenv(name)


def ask(here: House, sampled: str = "01") -> None:
    here.store({"a.md": "A fox."})
    request = narrative_pb2.NarrativeRetrieveRequest(query="fox")
    list(here.narrative.NarrativeRetrieve(request, metadata=[("traceparent", f"00-{TRACE}-{SPAN}-{sampled}")]))


def test_a_collector_gets_the_spans_before_the_server_is_gone(tmp_path: Path) -> None:
    with collecting() as collector:
        place = f"{collector.address}/v1/traces"
        with house(tmp_path / "data", telemetry__traces="otlp", telemetry__traces_endpoint=place) as here:
            ask(here)
        names = [span.name for span in collector.spans]
        assert "groundwire.v1.NarrativeService/NarrativeRetrieve" in names
        assert {"restrict", "lexical", "fuse", "exit"} <= set(names)
        (call,) = [span for span in collector.spans if span.name.endswith("NarrativeRetrieve")]
        assert (call.trace_id.hex(), call.parent_span_id.hex()) == (TRACE, SPAN)
        about = collector.resources[0]
        assert (about["service.name"], about["service.version"]) == ("groundwire", __version__)


def test_the_environment_alone_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=secret-key")
        monkeypatch.setenv("OTEL_SERVICE_NAME", "evidence")
        with house(tmp_path / "data") as here:
            ask(here)
        assert len(collector.spans) > 2
        assert collector.resources[0]["service.name"] == "evidence"
        assert collector.headers[0]["x-key"] == "secret-key"
        assert "secret-key" not in here.written.getvalue()


def test_without_either_nothing_is_set_up(tmp_path: Path) -> None:
    with collecting() as collector:
        with house(tmp_path / "data") as here:
            ask(here)
            assert "trace_id" not in here.written.getvalue()
        assert collector.requests == []


def test_a_share_of_none_leaves_those_whose_caller_wants_them(tmp_path: Path) -> None:
    with collecting() as collector:
        settings: dict[str, Any] = {"telemetry__traces_endpoint": f"{collector.address}/v1/traces"}
        with house(tmp_path / "data", **settings, telemetry__traces_share=0.0) as here:
            ask(here)
        assert {span.trace_id.hex() for span in collector.spans} == {TRACE}
        collector.requests.clear()
        with house(tmp_path / "data", **settings) as here:
            ask(here, sampled="00")
        assert TRACE not in {span.trace_id.hex() for span in collector.spans}
        assert collector.spans


@pytest.mark.parametrize("away", ["refuses", "gone", "silent"])
def test_a_collector_that_takes_nothing_holds_nothing_up(tmp_path: Path, away: str) -> None:
    """Calls are answered, the stop is bound, and the log has no text of the exporter."""
    written = io.StringIO()
    foreign = ForeignLogs(make_log(LogSettings(format="json"), written))
    logging.getLogger().addHandler(foreign)
    try:
        with collecting(503) as refusing, socket.create_server(("127.0.0.1", 0)) as silent:
            gone = _free_port()
            place = {"refuses": refusing.address, "gone": f"http://127.0.0.1:{gone}"}.get(
                away, f"http://127.0.0.1:{silent.getsockname()[1]}"
            )
            with house(tmp_path / "data", telemetry__traces_endpoint=f"{place}/v1/traces/kanarienvogel") as here:
                ask(here)
                began = time.monotonic()
            assert time.monotonic() - began < 30
    finally:
        logging.getLogger().removeHandler(foreign)
    assert any(line["event"] == "the last traces could not be sent in time" for line in here.log())
    assert "kanarienvogel" not in here.written.getvalue() + written.getvalue()
    assert all(line["event"] == "foreign log line" for line in map(json.loads, written.getvalue().splitlines()))


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def test_two_servers_of_a_process_send_to_their_own_places(tmp_path: Path) -> None:
    with collecting() as first, collecting() as second:
        one = {"telemetry__traces_endpoint": f"{first.address}/v1/traces"}
        two = {"telemetry__traces_endpoint": f"{second.address}/v1/traces"}
        with house(tmp_path / "a", **one) as here, house(tmp_path / "b", **two):
            ask(here)
        assert first.spans
        assert second.spans == []


SET = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}


@pytest.mark.parametrize(
    ("settings", "environ", "says"),
    [
        ({}, {}, False),
        ({}, SET, True),
        ({}, {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://x"}, True),
        ({}, {"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({}, SET | {"OTEL_TRACES_EXPORTER": "none"}, False),
        ({}, SET | {"OTEL_SDK_DISABLED": "TRUE"}, False),
        ({}, SET | {"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, True),
        ({"traces": "none"}, SET, False),
        ({"traces": "off"}, SET, False),
        ({"traces": "otlp"}, {}, True),
        ({"traces": "otlp"}, {"OTEL_TRACES_EXPORTER": "none"}, True),
        ({"traces": "otlp"}, {"OTEL_SDK_DISABLED": "true"}, False),
        ({"traces_endpoint": "https://collector/v1/traces"}, {}, True),
    ],
)
def test_when_traces_are_sent(settings: dict[str, Any], environ: dict[str, str], says: bool) -> None:
    assert wanted(TelemetrySettings(**settings), environ) is says


@pytest.mark.parametrize(
    ("settings", "environ", "field"),
    [
        ({}, {"OTEL_TRACES_EXPORTER": "zipkin"}, "OTEL_TRACES_EXPORTER"),
        ({}, SET | {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "OTEL_EXPORTER_OTLP_PROTOCOL"),
        ({}, SET | {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/json"}, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"),
        ({"traces_endpoint": "collector:4318"}, {}, "telemetry.traces_endpoint"),
        ({"traces_endpoint": "http://name:secret@collector"}, {}, "telemetry.traces_endpoint"),
    ],
)
def test_what_cannot_be_is_refused(settings: dict[str, Any], environ: dict[str, str], field: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        wanted(TelemetrySettings(**settings), environ)
    assert [violation.field for violation in caught.value.violations] == [field]
    assert "secret" not in str(caught.value)


def test_what_the_environment_asks_for_in_vain_is_a_line_of_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "zipkin")
    with house(tmp_path / "data") as here:
        (line,) = [line for line in here.log() if line["event"] == "traces are not sent"]
    assert (line["level"], line["reason"]) == ("warning", "INVALID_REQUEST")
    with pytest.raises(InvalidRequest), house(tmp_path / "data", telemetry__traces="otlp"):
        pass


def test_without_the_extra_the_settings_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith(("opentelemetry.sdk", "opentelemetry.exporter")):
            raise ImportError(name)
        return original(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(FailedPrecondition, match=r"groundwire-server\[otel\]"):
        TraceExport(TelemetrySettings(), "server")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    with house(tmp_path / "data") as here:
        assert any(line["event"] == "traces are not sent" for line in here.log())


def test_a_variable_that_the_exporter_cannot_read_is_named_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def unable(**_settings: object) -> None:
        raise ValueError("kanarienvogel is no compression")  # as earlier versions do

    monkeypatch.setattr("opentelemetry.exporter.otlp.proto.http.trace_exporter.OTLPSpanExporter", unable)
    with pytest.raises(FailedPrecondition, match=r"OTEL_\*"):
        TraceExport(TelemetrySettings(), "server").close()


def test_a_provider_of_the_program_goes_before_the_settings(tmp_path: Path) -> None:
    spans = Spans()
    with collecting() as collector:
        place = f"{collector.address}/v1/traces"
        with house(tmp_path / "data", provider=spans.provider, telemetry__traces_endpoint=place) as here:
            ask(here)
        assert collector.requests == []
    assert spans.calls()
