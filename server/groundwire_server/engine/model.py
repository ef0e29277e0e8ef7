"""The language model as the settings say."""

from __future__ import annotations

from groundwire_server.llm import ModelConfig, Prices
from groundwire_server.settings import LlmSettings

__all__ = ["model_config"]


def model_config(settings: LlmSettings) -> ModelConfig:
    """What a provider is made of."""
    return ModelConfig(
        provider=settings.provider,
        base_url=settings.base_url.strip(),
        model=settings.model.strip(),
        api_key_env=settings.api_key_env.strip(),
        timeout_seconds=settings.timeout_seconds,
        retries=settings.retries,
        max_tokens=settings.max_tokens,
        temperature=settings.temperature,
        json=settings.json_form,
        parallel=settings.parallel,
        prices=Prices(settings.prompt_price, settings.reply_price),
    )
