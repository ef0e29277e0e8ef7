"""The metrics of one server: a registry of its own, what counts into it, and the port that it is read at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector

from groundwire_server.rpc.telemetry.call_metrics import CallMetrics
from groundwire_server.rpc.telemetry.metrics_port import MetricsPort
from groundwire_server.rpc.telemetry.state_metrics import StateMetrics
from groundwire_server.settings import TelemetrySettings

if TYPE_CHECKING:
    from groundwire_server.rpc.lifecycle import Running

__all__ = ["Metrics"]


class Metrics:
    """Numbers of calls are counted from the beginning; the state is read once `answer` has been called.

    Attributes:
        registry: of this server alone.
        calls: told of every call.
    """

    def __init__(self, settings: TelemetrySettings, number: int, process: str) -> None:
        self._host = settings.metrics_host
        self._port = settings.metrics_port + number if settings.metrics_port else 0
        self._process = process
        self.registry = CollectorRegistry(auto_describe=False)
        self.calls = CallMetrics(self.registry)
        self.port = MetricsPort(self.registry)
        ProcessCollector(registry=self.registry)
        GCCollector(registry=self.registry)

    async def answer(self, server: Running) -> str:
        """Open the port. Returns its address. Raises Unavailable: it is taken."""
        self.registry.register(StateMetrics(server, self._process, tells_jobs=server.role.writes))
        return await self.port.start(self._host, self._port)

    async def stop(self) -> None:
        """Close the port."""
        await self.port.stop()
