"""How a model is reached. A key stands in no setting: only the name of the environment variable that holds it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from ipaddress import ip_address
from typing import Literal
from urllib.parse import urlsplit

from groundwire_server.errors import ErrorReason, InvalidRequest, Violation
from groundwire_server.llm.usage import Prices

__all__ = ["PROVIDERS", "ApiKey", "JsonMode", "ModelConfig"]

PROVIDERS = ("none", "openai", "anthropic")
"""Names of all providers, as the settings say them."""

JsonMode = Literal["schema", "object", "none"]
"""How a server is bound to answer JSON: by the schema, to any object, or by the prompt alone."""

_DEFAULT_URL = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
_DEFAULT_KEY = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A secret that shows nowhere. Empty: none is sent."""

    value: str = field(default="", repr=False)

    def __str__(self) -> str:
        return "***" if self.value else ""


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """A model and how it is asked.

    Attributes:
        provider: "none", "openai" (and all who speak its protocol: vLLM, Ollama, llama.cpp) or "anthropic".
        base_url: what the paths of the protocol go behind; empty: the provider's own.
        model: as the provider calls it.
        api_key_env: name of the environment variable with the key; empty: the provider's usual one.
        timeout_seconds: longest time of one try, from the connection to the last byte.
        retries: tries beyond the first.
        max_tokens: of a reply, where a request does not say.
        temperature: below 0: none is sent, for models that take none.
        json: how a server that speaks OpenAI's protocol is bound to answer JSON.
        parallel: calls at a time.
        prices: for the accounts.
    """

    provider: str = "none"
    base_url: str = ""
    model: str = ""
    api_key_env: str = ""
    timeout_seconds: float = 60.0
    retries: int = 2
    max_tokens: int = 1024
    temperature: float = 0.0
    json: JsonMode = "object"
    parallel: int = 4
    prices: Prices = field(default_factory=lambda: Prices(Decimal(0), Decimal(0)))

    @property
    def url(self) -> str:
        """The base of all paths, without a slash at its end."""
        return (self.base_url or _DEFAULT_URL.get(self.provider, "")).rstrip("/")

    @property
    def host(self) -> str:
        """Who is asked, for messages."""
        return urlsplit(self.url).hostname or ""

    @property
    def is_local(self) -> bool:
        """Whether what is said stays on this machine."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    def key(self, environ: Mapping[str, str]) -> ApiKey:
        """The key, from the environment."""
        return ApiKey(environ.get(self.api_key_env or _DEFAULT_KEY.get(self.provider, ""), "").strip())

    def check(self, environ: Mapping[str, str], path: str = "llm.") -> None:
        """Raises InvalidRequest that names everything without which the model cannot be asked."""
        if self.provider == "none":
            return
        found = []
        if self.provider not in PROVIDERS:
            why = f"{self.provider[:80]!r} is none of {', '.join(PROVIDERS)}"
            found.append(Violation(f"{path}provider", ErrorReason.UNKNOWN_NAME, why))
        if not self.model.strip():
            found.append(Violation(f"{path}model", ErrorReason.VALUE_REQUIRED, "names the model that is to be asked"))
        if (fault := _fault_of_url(self.url)) and self.provider in PROVIDERS:
            found.append(Violation(f"{path}base_url", ErrorReason.VALUE_MALFORMED, fault))
        if not self.key(environ).value and (self.api_key_env or not self.base_url):
            name = self.api_key_env or _DEFAULT_KEY.get(self.provider, "")
            why = f"the environment variable {name[:80]} holds no key"
            found.append(Violation(f"{path}api_key_env", ErrorReason.VALUE_REQUIRED, why))
        elif not self.key(environ).value.isascii() or not self.key(environ).value.isprintable():
            why = "the environment variable holds something that is no key: characters that no header may have"
            found.append(Violation(f"{path}api_key_env", ErrorReason.VALUE_MALFORMED, why))
        if found:
            raise InvalidRequest(found)


def _fault_of_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        port_is_number = parts.port is None or parts.port > 0
    except ValueError:
        return "is no URL"
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_number:
        return "is no URL that begins with http:// or https://"
    if parts.username is not None or parts.password is not None:
        return "holds a name or a password; a key goes into the environment"
    return "has a query or a fragment" if parts.query or parts.fragment else ""
