"""What one server tells those who watch it: metrics on a port of their own, and traces. Each where it is asked for.

Neither library is loaded before: a server that nobody watches pays for nothing.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from groundwire_server.errors import GroundwireError
from groundwire_server.evidence import Summary
from groundwire_server.rpc.call import RpcCall
from groundwire_server.rpc.log import Log
from groundwire_server.settings import TelemetrySettings

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider

    from groundwire_server.rpc.lifecycle import Running
    from groundwire_server.rpc.telemetry.call_spans import CallSpans
    from groundwire_server.rpc.telemetry.metrics import Metrics
    from groundwire_server.rpc.telemetry.trace_export import TraceExport

__all__ = ["Telemetry", "open_telemetry"]


class Telemetry:
    """The `CallObserver` of a server that is watched.

    Attributes:
        metrics: None: nobody reads them.
        spans: None: no traces.
    """

    def __init__(self, metrics: Metrics | None, spans: CallSpans | None) -> None:
        self.metrics = metrics
        self.spans = spans
        self._lock = threading.Lock()
        self._summaries: dict[RpcCall, Summary] = {}

    @property
    def observer(self) -> Telemetry | None:
        """For the guard; None: nobody watches."""
        return None if self.metrics is None and self.spans is None else self

    async def answer(self, server: Running) -> str:
        """Open the port of the metrics, where there are any. Returns its address; empty: none.

        Raises:
            Unavailable: the port is taken.
        """
        return "" if self.metrics is None else await self.metrics.answer(server)

    # ---- as the guard's observer

    def begun(self, call: RpcCall) -> None:
        """A call came in."""
        if self.spans is not None:
            self.spans.begun(call)
        if self.metrics is not None:
            self.metrics.calls.begun(call)

    def frame(self, call: RpcCall, size: int) -> None:
        """A message was written."""
        if self.metrics is not None:
            self.metrics.calls.frame(call, size)

    def told(self, call: RpcCall, news: object) -> None:
        """A summary is kept until its call ends: what was told of a call that is over already is told too late."""
        if isinstance(news, Summary):
            with self._lock:
                if call.outcome is None:
                    self._summaries[call] = news
        elif self.metrics is not None:
            self.metrics.calls.told(call, news)

    def ended(self, call: RpcCall, code: str, reason: str) -> None:
        """It ended; `call.outcome` says so already."""
        with self._lock:
            summary = self._summaries.pop(call, None)
        if self.metrics is not None:
            self.metrics.calls.ended(call, code, reason, summary)
        if self.spans is not None:
            self.spans.ended(call, code, reason, summary)


@asynccontextmanager
async def open_telemetry(
    settings: TelemetrySettings,
    log: Log,
    *,
    number: int = 0,
    process: str = "server",
    provider: TracerProvider | None = None,
) -> AsyncIterator[Telemetry]:
    """What a server of these settings tells; leaving sends the last spans and closes the port.

    Args:
        number: of the process among those of one server; it listens so many ports above the one that is set.
        process: its name.
        provider: makes the tracers instead of one of our own: that of the program which the server is a part of.

    Raises:
        InvalidRequest: the settings name a place for traces that cannot be one.
        FailedPrecondition: traces must be sent, and the extra that does it is not installed.
    """
    export = None if provider is not None else _export(settings, log, process)
    if export is not None:
        provider = export.provider
    spans = metrics = None
    if provider is not None:
        from groundwire_server.rpc.telemetry.call_spans import CallSpans

        spans = CallSpans(provider)
    if settings.metrics_port is not None:
        from groundwire_server.rpc.telemetry.metrics import Metrics

        metrics = Metrics(settings, number, process)
    try:
        yield Telemetry(metrics, spans)
    finally:
        if metrics is not None:
            await metrics.stop()
        if export is not None and not await asyncio.to_thread(export.close):
            log.warning("the last traces could not be sent in time")


def _export(settings: TelemetrySettings, log: Log, process: str) -> TraceExport | None:
    """What sends traces. Where the environment alone asks for them and they cannot be, a line of the log says so."""
    if settings.traces == "none":
        return None
    from groundwire_server.rpc.telemetry.trace_export import TraceExport, wanted

    try:
        return TraceExport(settings, process) if wanted(settings, os.environ) else None
    except GroundwireError as error:
        if settings.traces == "otlp" or settings.traces_endpoint:
            raise
        log.warning("traces are not sent", reason=error.reason.name, why=str(error))
        return None
