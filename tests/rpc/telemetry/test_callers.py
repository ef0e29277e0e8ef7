"""Where callers say who they are: who is turned away is counted and traced, and no token leaves the server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc

from groundwire.v1 import admin_pb2, admin_pb2_grpc
from tests.rpc.doors import Keys, doorway
from tests.rpc.serving import failure_of
from tests.rpc.telemetry.watching import collecting, page, scraped, series
from tests.support.eventually import eventually

INFO = "groundwire.v1.AdminService/GetServerInfo"


def ask(channel: grpc.Channel) -> Any:
    return admin_pb2_grpc.AdminServiceStub(channel).GetServerInfo(admin_pb2.GetServerInfoRequest())


def test_tokens_are_nowhere_and_refusals_everywhere(tmp_path: Path) -> None:
    keys = Keys(tmp_path / "keys")
    good, gone = keys.token("zaunkoenig"), keys.token("goldammer")
    keys.tokens.revoke("goldammer")
    wrong = f"{good[:-2]}xx"
    with collecting() as collector:
        settings: dict[str, Any] = {
            "access__token_file": keys.tokens.path,
            "log__level": "debug",
            "telemetry__metrics_port": 0,
            "telemetry__traces_endpoint": f"{collector.address}/v1/traces",
        }
        with doorway(tmp_path / "data", **settings) as here:
            ask(here.channel(token=good))
            for token in (gone, wrong, ""):
                failure = failure_of(lambda token=token: ask(here.channel(token=token)))  # type: ignore[misc]
                assert failure.reason == "UNAUTHENTICATED"
            refused = series("groundwire_calls_total", method=INFO, code="UNAUTHENTICATED", reason="UNAUTHENTICATED")
            assert eventually(lambda: scraped(here.server.metrics).get(refused) == 3)
            assert (
                scraped(here.server.metrics)[series("groundwire_calls_total", method=INFO, code="OK", reason="")] == 1
            )
            metrics, written = page(here.server.metrics), here.written
    spans = "".join(str(request) for request in collector.requests)
    assert sum(span.name == INFO for span in collector.spans) == 4
    for secret in (good, gone, wrong, good.removeprefix("gw_"), "Bearer"):
        assert secret not in metrics + spans + written.getvalue()
    # The log alone names who it was, as the operator has named him.
    assert "zaunkoenig" not in metrics + spans
    assert sum(line.get("caller") == "zaunkoenig" for line in here.log()) == 1
    assert "goldammer" not in written.getvalue()
