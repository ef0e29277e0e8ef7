"""One typed settings tree (semantics 14, formats.md "Places").

Every switch is one setting with one dotted name, e.g. `server.port`. It is set, the first that is there wins, by

1. an argument (`--port 0`, or `load_settings({"server.port": 0})`),
2. the environment, `GROUNDWIRE_` and the name in capitals: `GROUNDWIRE_SERVER_PORT`,
3. the name that the seeds gave it, e.g. `RAGSPINE_RETRIEVAL_MODE`; with its new name beside it both must say the same,
4. the file: `--config FILE`, else `GROUNDWIRE_CONFIG`, else `./groundwire.toml` where there is one,
5. the default.

Nothing is ignored: an unknown name or value, or a switch of the seeds whose part is not built, is an error.
"""

from groundwire_server.settings.answering import (
    EmbeddingSettings,
    GateSettings,
    IngestSettings,
    LlmSettings,
    RetrievalSettings,
)
from groundwire_server.settings.limits import LimitSettings
from groundwire_server.settings.loading import load_settings
from groundwire_server.settings.observing import LogSettings, TelemetrySettings
from groundwire_server.settings.serving import AccessSettings, ServerSettings, TlsSettings
from groundwire_server.settings.tree import Settings, SettingValue, setting_names

__all__ = [
    "AccessSettings",
    "EmbeddingSettings",
    "GateSettings",
    "IngestSettings",
    "LimitSettings",
    "LlmSettings",
    "LogSettings",
    "RetrievalSettings",
    "ServerSettings",
    "SettingValue",
    "Settings",
    "TelemetrySettings",
    "TlsSettings",
    "load_settings",
    "setting_names",
]
