"""What a model was asked in one call, as the summary of a stream tells it."""

from __future__ import annotations

from groundwire_server.evidence import ModelUsage
from groundwire_server.llm.chat import ModelProvider
from groundwire_server.llm.usage import Usage

__all__ = ["model_usage"]


def model_usage(provider: ModelProvider, usage: Usage) -> ModelUsage:
    """Tries that failed count as calls; the cost is empty where no price is known."""
    cost = provider.meter.prices.cost(usage)
    calls = usage.calls + usage.failures + usage.retries
    name = f"{provider.name}:{provider.model}"
    return ModelUsage(name, calls, usage.prompt_tokens, usage.reply_tokens, f"{cost:f}" if cost else "")
