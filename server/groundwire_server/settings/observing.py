"""What those who run a server see of it: log, metrics, traces."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from groundwire_server.settings.section import Section, word

__all__ = ["LogSettings", "TelemetrySettings"]

_TRACES_WORDS = {"": "auto", "off": "none"}


class LogSettings(Section):
    """The log: what happened, never what was said."""

    level: Annotated[Literal["debug", "info", "warning", "error"], word({})] = Field(
        default="info", description="Least level that is written."
    )
    format: Annotated[Literal["auto", "console", "json"], word({})] = Field(
        default="auto", description="auto: console on a terminal, else json."
    )


class TelemetrySettings(Section):
    """What the server tells those who watch it: numbers and spans, never content."""

    metrics_port: int | None = Field(
        default=None, ge=0, le=65535, description="Port of the Prometheus metrics; 0 takes a free one; none by default."
    )
    metrics_host: str = Field(
        default="127.0.0.1",
        min_length=1,
        description="Address that the metrics listen on; whoever reaches it may read them.",
    )
    traces: Annotated[Literal["auto", "none", "otlp"], word(_TRACES_WORDS)] = Field(
        default="auto",
        description="auto: traces are sent where an OTEL_* variable of the environment says where to; otlp: they are; "
        "none: never.",
    )
    traces_endpoint: str = Field(
        default="",
        max_length=2048,
        description="Where traces go, e.g. http://127.0.0.1:4318/v1/traces; empty: as OTEL_* says, else 4318 here.",
    )
    traces_share: float = Field(
        default=1.0, ge=0, le=1, description="Share of calls that are traced where their caller does not decide."
    )
