"""One typed settings tree (semantics 14, formats.md "Places").

Every switch is one setting with one dotted name, e.g. `server.port`. It is set, the first that is there wins, by

1. an argument (`--port 0`, or `load_settings({"server.port": 0})`),
2. the environment, `GROUNDWIRE_` and the name in capitals: `GROUNDWIRE_SERVER_PORT`,
3. the name that the seeds gave it, e.g. `RAGSPINE_RETRIEVAL_MODE`; with its new name beside it both must say the same,
4. the file: `--config FILE`, else `GROUNDWIRE_CONFIG`, else `./groundwire.toml` where there is one,
5. the default.

Nothing is ignored: an unknown name or value, or a switch of the seeds whose part is not built, is an error.
"""

from __future__ import annotations

import os
import re
import tomllib
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, SecretStr, ValidationError
from pydantic.fields import FieldInfo

from groundwire_server.errors import ErrorReason, InvalidRequest, Violation

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

PREFIX = "GROUNDWIRE_"
CONFIG_FILE = "groundwire.toml"
# Read elsewhere: where the file is; which server the clients call, and what they show it.
_NO_SETTINGS = frozenset(f"{PREFIX}{name}" for name in ("CONFIG", "ADDRESS", "TLS", "CA", "CERT", "KEY", "TOKEN"))
Origin = Literal["argument", "environment", "file", "default"]

_EMBEDDER_WORDS = {"minilm": "onnx", "fastembed": "onnx", "": "auto"}
_MODE_WORDS = {"economy": "lexical", "bm25": "lexical", "": "auto"}
_CHUNKER_WORDS = {"": "paragraph", "small_to_big": "parent_child"}
_EXTRACTOR_WORDS = {"": "none", "off": "none", "cooccurrence": "co_occurrence", "co-occurrence": "co_occurrence"}
_SWITCH_OFF = {"": "none", "off": "none"}
_TRANSFORM_WORDS = {"": "none", "off": "none", "rag-fusion": "rag_fusion", "step-back": "step_back"}
_ADAPTIVE_WORDS = {
    **_SWITCH_OFF,
    **dict.fromkeys(("false", "0", "no"), "none"),
    **dict.fromkeys(("true", "1", "yes", "on", "heuristic", "deterministic"), "rules"),
}
_SWITCH_RULES = {"": "learned", "none": "rules", "off": "rules"}
_CORRECTIVE_WORDS = {
    **_SWITCH_OFF,
    **dict.fromkeys(("false", "0", "no"), "none"),
    **dict.fromkeys(("true", "1", "yes", "on", "heuristic", "deterministic"), "words"),
}
_SWITCH_WORDS = {"": "false", "none": "false"}
_TRACES_WORDS = {"": "auto", "off": "none"}

# Names that the seeds or later work know, and that nothing here answers to yet.
_NOT_BUILT: dict[str, frozenset[str]] = {
    "embedding.backend": frozenset({"st", "sentence-transformers", "qwen3", "openai"}),
}


def _word(words: Mapping[str, str]) -> BeforeValidator:
    """Case and older names of one value are folded before it is checked."""

    def fold(value: object) -> object:
        if not isinstance(value, str):
            return value
        name = value.strip().casefold()
        return words.get(name, name)

    return BeforeValidator(fold)


def _split(value: object) -> object:
    """A list in the environment is written with commas."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _folder(value: object) -> object:
    if isinstance(value, str | Path):
        if not str(value) or "\0" in str(value) or value == Path():
            raise ValueError("no folder")
        return Path(os.path.expanduser(value))
    return value


Folder = Annotated[Path, BeforeValidator(_folder)]
FilePath = Annotated[Path, BeforeValidator(_folder)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ServerSettings(_Section):
    """Where the server listens and how it works."""

    host: str = Field(default="127.0.0.1", min_length=1, description="Address to listen on.")
    port: int = Field(default=50051, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    plaintext_remote: bool = Field(
        default=False,
        description="Listen where other machines reach it without encryption; without tokens, too, nobody is asked who "
        "calls.",
    )
    threads: int = Field(
        default=0,
        ge=0,
        le=256,
        description="Threads that answer reads; 0: one a core and at least two, and eight where a language model is "
        "asked, for which they wait.",
    )
    workers: int = Field(
        default=1,
        ge=1,
        le=64,
        description="Processes that answer reads, all on one port; from two on beside another one that writes.",
    )
    drain_seconds: float = Field(
        default=5.0, ge=0, le=600, description="How long a stop waits for calls that are running."
    )
    connection_age_seconds: float = Field(
        default=1800.0,
        ge=0,
        le=864_000,
        description="After so long, a tenth more or less, a connection takes no new call, so that clients spread anew; "
        "0: never.",
    )
    connection_grace_seconds: float = Field(
        default=600.0, ge=1, le=864_000, description="How long calls may go on after the age of their connection."
    )
    keepalive_seconds: float = Field(
        default=30.0,
        ge=1,
        le=864_000,
        description="After so long without a sign of life a connection is asked for one; without an answer it is "
        "closed after as long again.",
    )

    @property
    def address(self) -> str:
        """Host and port as clients write them."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class TlsSettings(_Section):
    """Encryption. The files are read again when they change; connections that stand go on."""

    cert: FilePath | None = Field(
        default=None, description="File of the server's certificate and those between it and its authority, PEM."
    )
    key: FilePath | None = Field(default=None, description="File of the certificate's private key, PEM, no passphrase.")
    client_ca: FilePath | None = Field(
        default=None,
        description="File of the authorities, PEM, of which every caller must bring a certificate; none: no caller has "
        "to bring one.",
    )


class AccessSettings(_Section):
    """Who calls, and what a caller without credentials may do."""

    token_file: FilePath | None = Field(
        default=None,
        description="File of the tokens that callers bring, as `groundwire tokens` makes it; none: no token is asked "
        "for.",
    )
    certificate_file: FilePath | None = Field(
        default=None,
        description="File that says whose a client certificate is; needs tls.client_ca. None: a certificate says that "
        "somebody may call, and not who it is.",
    )
    local_clearance: Annotated[Literal["public", "internal", "confidential"], _word({})] = Field(
        default="internal", description="Highest label that callers may read who are not asked who they are."
    )
    local_rights: Annotated[Literal["read", "write", "admin"], _word({})] = Field(
        default="admin", description="What these may do; each right includes those before it."
    )
    anonymous_remote: bool = Field(
        default=False,
        description="Listen where other machines reach it, encrypted, and ask nobody who calls.",
    )


class EmbeddingSettings(_Section):
    """The embedder and its background work."""

    backend: Annotated[Literal["auto", "onnx", "none", "deterministic"], _word(_EMBEDDER_WORDS)] = Field(
        default="auto",
        description="auto: the local model where it is prepared; onnx: it must be; none: lexical only; "
        "deterministic: hashes instead of a model, for tests only.",
    )
    workers: int = Field(default=0, ge=0, le=256, description="Threads that embed what was ingested; 0: one a core.")


class RetrievalSettings(_Section):
    """Defaults of a retrieval."""

    mode: Annotated[Literal["auto", "hybrid", "vector", "lexical"], _word(_MODE_WORDS)] = Field(
        default="auto", description="Legs to search where the call does not say."
    )
    query_transform: Annotated[Literal["hyde", "none", "rag_fusion", "step_back"], _word(_TRANSFORM_WORDS)] = Field(
        default="none",
        description="What the language model makes of questions to libraries that are made from now on, to search with "
        "beside them.",
    )
    decomposition: Annotated[Literal["llm", "none", "rules"], _word(_SWITCH_OFF)] = Field(
        default="none",
        description="What cuts questions to libraries that are made from now on into several: the language model, or "
        "rules.",
    )
    adaptive: Annotated[Literal["llm", "none", "rules"], _word(_ADAPTIVE_WORDS)] = Field(
        default="none",
        description="Who says which questions need several steps: rules, or the language model; libraries that are "
        "made from now on have only these cut. none: they have all cut, and rules say it where a call asks.",
    )
    filter_extractor: Annotated[Literal["glossary", "llm", "none"], _word(_SWITCH_OFF)] = Field(
        default="none",
        description="What reads hints out of questions to libraries that are made from now on: the glossary, or the "
        "language model.",
    )
    corrective: Annotated[Literal["llm", "none", "words"], _word(_CORRECTIVE_WORDS)] = Field(
        default="none",
        description="Who judges what libraries that are made from now on find, so that it is searched again or refused "
        "where it is weak: words, or the language model.",
    )
    route_classifier: Annotated[Literal["learned", "llm", "rules"], _word(_SWITCH_RULES)] = Field(
        default="learned",
        description="Who weighs whether a question needs figures, text or both where the rules are not sure: learned, "
        "a small model that comes with the server; llm, the language model; or rules, these alone.",
    )
    library_router: str = Field(
        default="keyword",
        min_length=1,
        max_length=63,
        description="Who picks libraries for a question that names none: keyword; none, all are searched; or a router "
        "of another package, by its name.",
    )
    library_router_seconds: float = Field(
        default=2.0, gt=0, le=600, description="How long a library router may take; then all libraries are searched."
    )


class IngestSettings(_Section):
    """Defaults of what comes in."""

    chunker: Annotated[
        Literal["book", "laws", "layout", "paragraph", "parent_child", "qa", "semantic", "sentence_window", "whole"],
        _word(_CHUNKER_WORDS),
    ] = Field(default="paragraph", description="Chunker of libraries that are made from now on.")
    contextual: Annotated[bool, _word(_SWITCH_WORDS)] = Field(
        default=False,
        description="Whether libraries that are made from now on index title, entity, period and heading before each "
        "chunk.",
    )
    relation_extractor: Annotated[Literal["co_occurrence", "llm", "none"], _word(_EXTRACTOR_WORDS)] = Field(
        default="none", description="Who finds relations in the texts of libraries that are made from now on."
    )


class GateSettings(_Section):
    """The security gate (semantics 6)."""

    outside_names: Annotated[tuple[str, ...], BeforeValidator(_split)] = Field(
        default=(), description="Names that this deployment does not answer about; with commas in the environment."
    )


class LlmSettings(_Section):
    """The language model, for what asks one."""

    provider: Annotated[Literal["none", "openai", "anthropic"], _word(_SWITCH_OFF)] = Field(
        default="none",
        description="none; openai, and all who speak its protocol (vLLM, Ollama, llama.cpp); or anthropic.",
    )
    base_url: str = Field(default="", max_length=2048, description="Where it answers; empty: the provider's own place.")
    model: str = Field(default="", max_length=256, description="The model, as the provider calls it.")
    api_key_env: str = Field(
        default="",
        max_length=256,
        description="Name of the environment variable that holds the key; empty: the provider's usual one.",
    )
    clearance: Annotated[Literal["public", "internal", "confidential"], _word({})] = Field(
        default="internal", description="Highest label of what the model may be shown."
    )
    timeout_seconds: float = Field(default=60.0, gt=0, le=3600, description="How long one try may take.")
    retries: int = Field(default=2, ge=0, le=10, description="Tries beyond the first.")
    max_tokens: int = Field(default=4096, ge=1, le=1_000_000, description="Longest reply.")
    temperature: float = Field(default=0.0, ge=-1, le=2, description="Of the model; below 0: none is sent.")
    json_form: Annotated[Literal["schema", "object", "none"], _word({})] = Field(
        default="object",
        description="How a server with the protocol of OpenAI is bound to answer JSON: by schema, to any object, or by "
        "the prompt alone.",
    )
    parallel: int = Field(default=4, ge=1, le=64, description="Calls of the model at a time.")
    prompt_price: Decimal = Field(
        default=Decimal(0), ge=0, le=1_000_000, description="What a million tokens of prompts cost, for the accounts."
    )
    reply_price: Decimal = Field(
        default=Decimal(0), ge=0, le=1_000_000, description="What a million tokens of replies cost."
    )


class LimitSettings(_Section):
    """What a call may ask for. A value over a limit is refused, never cut in silence."""

    max_top_k: int = Field(default=200, ge=1, le=10_000, description="Snippets of one retrieval.")
    max_query_chars: int = Field(default=8192, ge=1, le=100_000, description="Code points of a query or question.")
    max_history_turns: int = Field(default=20, ge=0, le=1000, description="Turns of history.")
    max_metric_queries: int = Field(default=1000, ge=1, le=100_000, description="Outcomes of one QueryMetric.")
    max_hops: int = Field(default=6, ge=1, le=100, description="Hops of a walk in the relation graph.")
    max_trace_nodes: int = Field(default=100_000, ge=1, description="Nodes that a walk may visit.")
    max_trace_edges: int = Field(default=100_000, ge=1, description="Edges that a walk may look at.")
    max_document_bytes: int = Field(default=64 << 20, ge=1, description="Bytes of a document.")
    max_unpacked_bytes: int = Field(default=256 << 20, ge=1, description="Bytes of a packed document, unpacked.")
    max_document_pages: int = Field(default=5000, ge=1, description="Pages, slides or sheets of a document.")
    max_text_chars: int = Field(default=20_000_000, ge=1, description="Code points of the text that a reader makes.")
    max_read_seconds: float = Field(
        default=60.0, ge=1, le=86_400, description="Processor time that reading one document may take."
    )
    max_read_memory_bytes: int = Field(
        default=2 << 30, ge=256 << 20, description="Memory that reading one document may take."
    )
    max_call_seconds: float = Field(default=60.0, gt=0, le=86_400, description="Longest run of a read.")
    max_narrative_calls: int = Field(default=64, ge=1, le=100_000, description="Retrievals at once, in one process.")
    max_metric_calls: int = Field(default=64, ge=1, le=100_000, description="Calls of the MetricService at once.")
    max_graph_calls: int = Field(default=32, ge=1, le=100_000, description="Calls of the GraphService at once.")
    max_router_calls: int = Field(default=32, ge=1, le=100_000, description="Calls of the RouterService at once.")
    max_tool_calls: int = Field(default=32, ge=1, le=100_000, description="Calls of the ToolService at once.")
    max_ingest_calls: int = Field(default=16, ge=1, le=100_000, description="Calls of the IngestService at once.")
    max_admin_calls: int = Field(
        default=32, ge=1, le=100_000, description="Calls of the AdminService at once, those that watch a job aside."
    )
    max_watches: int = Field(
        default=256, ge=1, le=100_000, description="Calls at once that watch a job or ask for the contract."
    )
    reader_idle_seconds: float = Field(
        default=30.0, gt=0, le=86_400, description="How long a client may take nothing of an answer."
    )
    max_cursor_seconds: float = Field(
        default=86_400.0, gt=0, le=31_536_000, description="How long a stream can be gone on with, or asked for more."
    )


class LogSettings(_Section):
    """The log: what happened, never what was said."""

    level: Annotated[Literal["debug", "info", "warning", "error"], _word({})] = Field(
        default="info", description="Least level that is written."
    )
    format: Annotated[Literal["auto", "console", "json"], _word({})] = Field(
        default="auto", description="auto: console on a terminal, else json."
    )


class TelemetrySettings(_Section):
    """What the server tells those who watch it: numbers and spans, never content."""

    metrics_port: int | None = Field(
        default=None, ge=0, le=65535, description="Port of the Prometheus metrics; 0 takes a free one; none by default."
    )
    metrics_host: str = Field(
        default="127.0.0.1",
        min_length=1,
        description="Address that the metrics listen on; whoever reaches it may read them.",
    )
    traces: Annotated[Literal["auto", "none", "otlp"], _word(_TRACES_WORDS)] = Field(
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


@dataclass(frozen=True, slots=True)
class SettingValue:
    """A setting in force: dotted name, value as the file would have it (a secret as "***"), and where it comes from."""

    name: str
    value: str
    origin: Origin


class Settings(_Section):
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

    def origin(self, name: str) -> Origin:
        """Where the value of a setting comes from."""
        return self._origins.get(name, "default")

    def in_force(self) -> list[SettingValue]:
        """Every setting with its value and origin, sorted by name."""
        return [SettingValue(name, _as_text(_at(self, name)), self.origin(name)) for name in sorted(_LEAVES)]


def _leaves(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, _Section):
            yield from _leaves(kind, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field


_LEAVES: dict[str, FieldInfo] = dict(_leaves(Settings))
_FILES = frozenset({"access.certificate_file", "access.token_file", "tls.cert", "tls.client_ca", "tls.key"})
_PATHS = frozenset({"data", "models", *_FILES})
_ENVIRONMENT: dict[str, str] = {PREFIX + name.replace(".", "_").upper(): name for name in _LEAVES}


def setting_names() -> list[str]:
    """Dotted names of all settings, sorted."""
    return sorted(_LEAVES)


@dataclass(frozen=True, slots=True)
class _Alias:
    """A name of the seeds. Without a `setting` only the values that mean "off" are accepted."""

    setting: str = ""
    feature: str = ""
    off: frozenset[str] = frozenset({"", "none", "off", "0", "false", "no"})


_ALIASES: dict[str, _Alias] = {
    "RAGSPINE_RETRIEVAL_MODE": _Alias("retrieval.mode"),
    "RAGSPINE_EMBEDDING": _Alias("embedding.backend"),
    "RAGSPINE_EMBEDDING_BACKEND": _Alias("embedding.backend"),
    "RAGSPINE_CHUNKER": _Alias("ingest.chunker"),
    "RAGSPINE_RERANKER": _Alias(feature="Reranking"),
    "RAGSPINE_POSTPROCESSOR": _Alias(feature="Postprocessing"),
    "RAGSPINE_QUERY_TRANSFORM": _Alias("retrieval.query_transform"),
    "RAGSPINE_QUERY_DECOMPOSE": _Alias("retrieval.decomposition"),
    "RAGSPINE_ADAPTIVE": _Alias("retrieval.adaptive"),
    "RAGSPINE_CORRECTIVE": _Alias("retrieval.corrective"),
    "RAGSPINE_CONTEXTUAL": _Alias("ingest.contextual"),
    "RAGSPINE_RAPTOR": _Alias(feature="The summary tree"),
    "RAGSPINE_GRAPH_STORE": _Alias(
        feature="Another graph store", off=frozenset({"", "default", "sqlite", "memory", "inprocess"})
    ),
    "RAGSPINE_RELATION_EXTRACTOR": _Alias("ingest.relation_extractor"),
    "RAGSPINE_VISUAL_EMBEDDER": _Alias(feature="Retrieval of page images"),
    "ASK_RAPTOR": _Alias(feature="The summary tree"),
}


@dataclass(frozen=True, slots=True)
class _Given:
    """A value with the place it was written at, so that an error names that place."""

    value: object
    origin: Origin
    place: str


def load_settings(
    arguments: Mapping[str, object] | None = None,
    *,
    config: Path | str | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Gather all layers and check them together.

    Args:
        arguments: dotted name to value; None means "not given".
        config: the file; None: `GROUNDWIRE_CONFIG`, else `./groundwire.toml` where there is one.
        environ: by default the environment of the process.

    Raises:
        InvalidRequest: names every setting that is wrong, where it was written and what is valid.
    """
    environ = os.environ if environ is None else environ
    faults: list[Violation] = []
    given: dict[str, _Given] = {}
    given.update(_from_file(config, environ, faults))
    given.update(_from_aliases(environ, faults))
    given.update(_from_environment(environ, faults))
    given.update(_from_arguments(arguments or {}, faults))
    settings = _build(given, faults)
    if faults or settings is None:
        raise InvalidRequest(faults, hint="`groundwire serve --help` shows the settings.")
    settings._origins.update({name: value.origin for name, value in given.items()})
    return settings


def _from_arguments(arguments: Mapping[str, object], faults: list[Violation]) -> dict[str, _Given]:
    found: dict[str, _Given] = {}
    for name, value in arguments.items():
        if name not in _LEAVES:
            faults.append(_unknown(name, name, _LEAVES))
        elif value is not None:
            found[name] = _Given(value, "argument", name)
    return found


def _from_environment(environ: Mapping[str, str], faults: list[Violation]) -> dict[str, _Given]:
    found: dict[str, _Given] = {}
    for variable in sorted(environ):
        if not variable.startswith(PREFIX) or variable in _NO_SETTINGS:
            continue
        if variable not in _ENVIRONMENT:
            faults.append(_unknown(variable, variable, _ENVIRONMENT))
            continue
        name = _ENVIRONMENT[variable]
        found[name] = _Given(environ[variable], "environment", variable)
    return found


def _from_aliases(environ: Mapping[str, str], faults: list[Violation]) -> dict[str, _Given]:
    """Values under the names of the seeds. One that contradicts its new name, or another alias, is an error."""
    found: dict[str, _Given] = {}
    for variable in sorted(environ):
        alias = _alias(variable)
        if alias is None:
            continue
        value = environ[variable]
        if not alias.setting:
            if value.strip().casefold() not in alias.off:
                faults.append(
                    Violation(
                        variable,
                        ErrorReason.NOT_IMPLEMENTED,
                        f"{alias.feature} is not available yet; leave it out, or say {_listed(alias.off)}",
                    )
                )
            continue
        others = [found[alias.setting]] if alias.setting in found else []
        new_name = PREFIX + alias.setting.replace(".", "_").upper()
        if new_name in environ:
            others.append(_Given(environ[new_name], "environment", new_name))
        faults.extend(
            Violation(variable, ErrorReason.CONTRADICTION, f"is {value!r} and {other.place} is {other.value!r}")
            for other in others
            if _folded(alias.setting, value) != _folded(alias.setting, other.value)
        )
        found[alias.setting] = _Given(value, "environment", variable)
    return found


def _alias(variable: str) -> _Alias | None:
    if variable.startswith("RAGSPINE_RAPTOR"):
        return _ALIASES["RAGSPINE_RAPTOR"]
    return _ALIASES.get(variable)


def _folded(name: str, value: object) -> object:
    """A value under its present name, for comparison: `minilm` and `onnx` are the same."""
    for item in _LEAVES[name].metadata:
        if isinstance(item, BeforeValidator):
            value = item.func(value)  # type: ignore[call-arg]
    return value


def _from_file(config: Path | str | None, environ: Mapping[str, str], faults: list[Violation]) -> dict[str, _Given]:
    named = config or environ.get(f"{PREFIX}CONFIG") or None
    path = Path(named) if named else Path(CONFIG_FILE)
    if not named and not path.is_file():
        return {}
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        faults.append(Violation("--config", ErrorReason.UNKNOWN_NAME, f"{path} cannot be read: {error.strerror}"))
        return {}
    except UnicodeDecodeError:
        faults.append(Violation("--config", ErrorReason.VALUE_MALFORMED, f"{path} is no UTF-8 text"))
        return {}
    except (ValueError, RecursionError) as error:
        place = re.search(r"line \d+, column \d+", str(error))
        at = place.group() if place else "at its end"
        faults.append(Violation("--config", ErrorReason.VALUE_MALFORMED, f"{path} is no TOML ({at})"))
        return {}
    found: dict[str, _Given] = {}
    for name, value in _flat(tree):
        if name not in _LEAVES:
            faults.append(_unknown(f"{path}: {name}", name, _LEAVES))
            continue
        if name in _PATHS and isinstance(value, str):
            value = path.parent / os.path.expanduser(value) if value else value
        found[name] = _Given(value, "file", f"{path}: {name}")
    return found


def _flat(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _build(given: Mapping[str, _Given], faults: list[Violation]) -> Settings | None:
    tree: dict[str, Any] = {}
    for name, item in given.items():
        section, dot, leaf = name.partition(".")
        if dot:
            tree.setdefault(section, {})[leaf] = item.value
        else:
            tree[name] = item.value
    try:
        return Settings(**tree)
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            name = _name_at(fault["loc"])
            place = given[name].place if name in given else name
            value = given[name].value if name in given else None
            faults.append(Violation(place, *_explain(name, value, fault)))
        return None


def _name_at(location: tuple[int | str, ...]) -> str:
    parts = [str(part) for part in location]
    return next((name for size in (2, 1) if (name := ".".join(parts[:size])) in _LEAVES), ".".join(parts))


def _explain(name: str, value: object, fault: Any) -> tuple[ErrorReason, str]:
    """What is wrong with a value, and what is valid, in words."""
    shown = "the value" if name == "secret" else repr(value)
    if isinstance(value, str) and value.strip().casefold() in _NOT_BUILT.get(name, ()):
        return ErrorReason.NOT_IMPLEMENTED, f"{shown} is not available yet; valid: {_listed(_choices(name))}"
    if choices := _choices(name):
        return ErrorReason.UNKNOWN_NAME, f"{shown} is none of {_listed(choices)}"
    context = fault.get("ctx", {})
    bounds = {
        "greater_than_equal": f"at least {context.get('ge')}",
        "greater_than": f"above {context.get('gt')}",
        "less_than_equal": f"at most {context.get('le')}",
    }
    if fault["type"] in bounds:
        return ErrorReason.VALUE_OUT_OF_RANGE, f"{shown} must be {bounds[fault['type']]}"
    forms = {"int": "a whole number", "float": "a number", "bool": "true or false", "path": "a path"}
    wanted = next((text for kind, text in forms.items() if fault["type"].startswith(kind)), "a text")
    if name in _PATHS:
        wanted = "the path of a file" if name in _FILES else "the path of a folder"
    if "tuple" in fault["type"]:
        wanted = "a list of texts"
    return ErrorReason.VALUE_MALFORMED, f"{shown} is not {wanted}"


def _choices(name: str) -> tuple[str, ...]:
    field = _LEAVES.get(name)
    return typing.get_args(field.annotation) if field and typing.get_origin(field.annotation) is Literal else ()


def _unknown(place: str, name: str, known: Mapping[str, object]) -> Violation:
    near = get_close_matches(name, known, n=3)
    hint = f"did you mean {_listed(near)}? " if near else ""
    return Violation(place, ErrorReason.UNKNOWN_NAME, f"is no setting; {hint}valid: {', '.join(sorted(known))}")


def _listed(names: typing.Iterable[str]) -> str:
    return ", ".join(sorted(name or "nothing" for name in names))


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
