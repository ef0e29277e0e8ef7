"""What a server tells those who watch it: metrics for Prometheus, traces for OpenTelemetry. Neither holds content.

`telemetry` puts together what the settings ask for. Of each call it tells `call_metrics` and `call_spans`;
`state_metrics` is read when `metrics_port` is asked, and `trace_export` sends spans away.
"""

from groundwire_server.rpc.telemetry.telemetry import Telemetry, open_telemetry

__all__ = ["Telemetry", "open_telemetry"]
