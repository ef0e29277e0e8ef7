"""What a server tells those who watch it: metrics for Prometheus, traces for OpenTelemetry. Neither holds content."""

from groundwire_server.rpc.telemetry.telemetry import Telemetry, open_telemetry

__all__ = ["Telemetry", "open_telemetry"]
