"""The tree itself: every setting with its dotted name, its value and where that comes from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, PrivateAttr, SecretStr
from pydantic.fields import FieldInfo

from groundwire_server.settings.answering import (
    EmbeddingSettings,
    GateSettings,
    IngestSettings,
    LlmSettings,
    RetrievalSettings,
)
from groundwire_server.settings.limits import LimitSettings
from groundwire_server.settings.observing import LogSettings, TelemetrySettings
from groundwire_server.settings.section import Folder, Section
from groundwire_server.settings.serving import AccessSettings, ServerSettings, TlsSettings

__all__ = ["FILES", "LEAVES", "PATHS", "Origin", "SettingValue", "Settings", "setting_names"]

Origin = Literal["argument", "environment", "file", "default"]


@dataclass(frozen=True, slots=True)
class SettingValue:
    """A setting in force: dotted name, value as the file would have it (a secret as "***"), and where it comes from."""

    name: str
    value: str
    origin: Origin


class Settings(Section):
    """All settings. Make it with `load_settings`, which knows the layers; the bare constructor reads nothing.

    It is no `BaseSettings`: the layers are gathered here, so that each origin is known and every fault named at once.
    Importing pydantic-settings would take a sixth of the time that a server has to start.
    """

    data: Folder = Field(default=Path("groundwire-data"), description="Folder of everything that is stored.")
    models: Folder | None = Field(
        default=None, description="Folder of prepared models; by default in the user's cache folder."
    )
    secret: SecretStr = Field(
        default=SecretStr(""),
        description="Key of snapshot ids; empty: one that the data folder keeps. Give several the same.",
    )
    server: ServerSettings = ServerSettings()
    tls: TlsSettings = TlsSettings()
    access: AccessSettings = AccessSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    ingest: IngestSettings = IngestSettings()
    gate: GateSettings = GateSettings()
    llm: LlmSettings = LlmSettings()
    limits: LimitSettings = LimitSettings()
    log: LogSettings = LogSettings()
    telemetry: TelemetrySettings = TelemetrySettings()

    _origins: dict[str, Origin] = PrivateAttr(default_factory=dict)

    @property
    def reading_threads(self) -> int:
        """Threads that answer reads. More than there are cores only take them from each other, and from the loop that
        takes calls in: under load it refuses too late (docs/load.md).
        """
        cores = max(2, os.cpu_count() or 2)
        return self.server.threads or (cores if self.llm.provider == "none" else max(8, cores))

    def told_of(self, origins: Mapping[str, Origin]) -> Settings:
        """Itself, with where the values of some settings come from."""
        self._origins.update(origins)
        return self

    def origin(self, name: str) -> Origin:
        """Where the value of a setting comes from."""
        return self._origins.get(name, "default")

    def in_force(self) -> list[SettingValue]:
        """Every setting with its value and origin, sorted by name."""
        return [SettingValue(name, _as_text(_at(self, name)), self.origin(name)) for name in sorted(LEAVES)]


def _leaves(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Section):
            yield from _leaves(kind, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field


LEAVES: dict[str, FieldInfo] = dict(_leaves(Settings))
"""Every setting by its dotted name."""
FILES = frozenset({"access.certificate_file", "access.token_file", "tls.cert", "tls.client_ca", "tls.key"})
PATHS = frozenset({"data", "models", *FILES})


def setting_names() -> list[str]:
    """Dotted names of all settings, sorted."""
    return sorted(LEAVES)


def _at(settings: BaseModel, name: str) -> object:
    value: object = settings
    for part in name.split("."):
        value = getattr(value, part)
    return value


def _as_text(value: object) -> str:
    """A value as the file would have it, without quotes."""
    if isinstance(value, SecretStr):
        return "***" if value.get_secret_value() else ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(value)
    return "" if value is None else str(value)
