"""Where traces go: the SDK of OpenTelemetry with its OTLP exporter, both of the extra `otel`, set up for one server.

The provider is the server's own and not the process's, so that several in one process share nothing.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from groundwire_server import __version__
from groundwire_server.errors import ErrorReason, FailedPrecondition, InvalidRequest
from groundwire_server.settings import TelemetrySettings

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

__all__ = ["TraceExport", "wanted"]

# How long a stop waits for what has not been sent, and then for an exporter that was told not to try again.
_LAST_SECONDS = 2.0
_ENDING_SECONDS = 1.0
_PLACES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_TRACES_EXPORTER")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_SERVICE = "groundwire"


def wanted(settings: TelemetrySettings, environ: Mapping[str, str]) -> bool:
    """Whether traces are to be sent.

    Raises:
        InvalidRequest: settings or environment ask for an exporter, a protocol or a place that cannot be.
    """
    if settings.traces == "none" or environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    exporter = environ.get("OTEL_TRACES_EXPORTER", "").strip().lower()
    asked = exporter != "none" and any(environ.get(name, "").strip() for name in _PLACES)
    if settings.traces == "auto" and not settings.traces_endpoint and not asked:
        return False
    _check_place(settings.traces_endpoint)
    if exporter not in ("", "otlp", "none"):
        raise _refused("OTEL_TRACES_EXPORTER", exporter, "otlp, none")
    protocol_at = next((name for name in _PROTOCOLS if environ.get(name, "").strip()), "")
    if protocol_at and environ[protocol_at].strip().lower() != "http/protobuf":
        raise _refused(protocol_at, environ[protocol_at], "http/protobuf")
    return True


def _check_place(endpoint: str) -> None:
    """Whoever may administer sees the settings, so that no key stands in one."""
    parts = urlsplit(endpoint)
    if endpoint and (parts.scheme not in ("http", "https") or not parts.netloc):
        words = "is no address that begins with http:// or https://"
        raise InvalidRequest.one("telemetry.traces_endpoint", ErrorReason.VALUE_MALFORMED, words)
    if "@" in parts.netloc:
        words = "holds a name or a password; a key goes into OTEL_EXPORTER_OTLP_HEADERS"
        raise InvalidRequest.one("telemetry.traces_endpoint", ErrorReason.VALUE_MALFORMED, words)


def _refused(variable: str, value: str, valid: str) -> InvalidRequest:
    return InvalidRequest.one(variable, ErrorReason.UNKNOWN_NAME, f"{value[:80]!a} is none of {valid}")


class TraceExport:
    """Sends spans in batches, from a thread of its own; what cannot be sent is dropped and holds up nothing.

    Args:
        process: which process of the server this is.
        exporter: by default one for OTLP over HTTP, which reads OTEL_EXPORTER_OTLP_*.

    Attributes:
        provider: makes the tracers.

    Raises:
        FailedPrecondition: the extra is not installed, or cannot read a variable OTEL_*.
    """

    def __init__(self, settings: TelemetrySettings, process: str, exporter: SpanExporter | None = None) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
            from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
        except ImportError:
            raise FailedPrecondition(
                ErrorReason.NOT_IMPLEMENTED,
                "Traces are to be sent, and what sends them is not installed.",
                hint="Install groundwire-server[otel], or set telemetry.traces = none.",
            ) from None
        share = settings.traces_share
        about = {"service.version": __version__, "groundwire.process": process}
        if not os.environ.get("OTEL_SERVICE_NAME", "").strip():
            about["service.name"] = _SERVICE
        try:
            self.provider: TracerProvider = TracerProvider(
                sampler=None if share == 1.0 else ParentBased(TraceIdRatioBased(share)),
                resource=Resource.create(about),
                shutdown_on_exit=False,
            )
            self._exporter = exporter or OTLPSpanExporter(endpoint=settings.traces_endpoint or None)
        except (ValueError, OSError):
            raise FailedPrecondition(
                ErrorReason.VALUE_MALFORMED,
                "Traces are to be sent, and a variable OTEL_* of the environment cannot be read.",
                hint="Mend it, or set telemetry.traces = none.",
            ) from None
        self.provider.add_span_processor(BatchSpanProcessor(self._exporter))

    def close(self) -> bool:
        """Send what is left, for two seconds at most. Says whether all was over by then."""
        ending = threading.Thread(target=self.provider.shutdown, name="groundwire-traces-end", daemon=True)
        ending.start()
        ending.join(_LAST_SECONDS)
        if not ending.is_alive():
            return True
        self._exporter.shutdown()
        ending.join(_ENDING_SECONDS)
        return False
