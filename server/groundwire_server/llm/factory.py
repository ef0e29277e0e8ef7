"""Providers by name."""

from __future__ import annotations

import os
from collections.abc import Mapping

from groundwire_server.llm.anthropic import AnthropicDialect
from groundwire_server.llm.chat import ModelProvider
from groundwire_server.llm.config import ModelConfig
from groundwire_server.llm.dialect import Dialect
from groundwire_server.llm.openai import OpenAiDialect

__all__ = ["make_provider"]


def make_provider(config: ModelConfig, environ: Mapping[str, str] | None = None) -> ModelProvider | None:
    """The provider of that configuration; None for "none". The package that speaks HTTP is loaded here.

    Args:
        environ: where the key is; by default the environment of the process.

    Raises:
        InvalidRequest: something is missing or malformed; every fault at once.
    """
    environ = os.environ if environ is None else environ
    config.check(environ)
    if config.provider == "none":
        return None
    from groundwire_server.llm.http_provider import HttpProvider

    dialect: Dialect = AnthropicDialect() if config.provider == "anthropic" else OpenAiDialect()
    return HttpProvider(config, dialect, config.key(environ))
