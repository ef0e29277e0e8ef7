"""What calls of a model took: tokens, and what they cost."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

__all__ = ["Prices", "Usage", "UsageMeter"]

_MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Usage:
    """Of one call or of many.

    Attributes:
        calls: replies that came. prompt_tokens, reply_tokens: as the model counts them.
        uncounted: replies of which the model did not say how many tokens they took.
        failures: calls that ended without a reply. retries: tries beyond the first of a call.
    """

    calls: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    uncounted: int = 0
    failures: int = 0
    retries: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.reply_tokens + other.reply_tokens,
            self.uncounted + other.uncounted,
            self.failures + other.failures,
            self.retries + other.retries,
        )

    def __sub__(self, other: Usage) -> Usage:
        return Usage(
            self.calls - other.calls,
            self.prompt_tokens - other.prompt_tokens,
            self.reply_tokens - other.reply_tokens,
            self.uncounted - other.uncounted,
            self.failures - other.failures,
            self.retries - other.retries,
        )


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in whatever currency the provider bills. 0: not known, or nothing.

    >>> Prices(Decimal("0.15"), Decimal("0.60")).cost(Usage(calls=1, prompt_tokens=2000, reply_tokens=500))
    Decimal('0.0006')
    """

    prompt: Decimal = Decimal(0)
    reply: Decimal = Decimal(0)

    def cost(self, usage: Usage) -> Decimal:
        """Exact, without trailing zeros; of what was counted."""
        cost = (self.prompt * usage.prompt_tokens + self.reply * usage.reply_tokens) / _MILLION
        return cost.normalize() if cost else Decimal(0)


class UsageMeter:
    """Adds up by purpose. Thread-safe."""

    def __init__(self, prices: Prices | None = None) -> None:
        self.prices = prices or Prices()
        self._lock = threading.Lock()
        self._totals: dict[str, Usage] = {}

    def add(self, purpose: str, usage: Usage) -> None:
        """Count a call."""
        with self._lock:
            self._totals[purpose] = self._totals.get(purpose, Usage()) + usage

    def totals(self) -> Mapping[str, Usage]:
        """By purpose, sorted by it."""
        with self._lock:
            return dict(sorted(self._totals.items()))

    def total(self) -> Usage:
        """All purposes together."""
        return sum(self.totals().values(), Usage())

    def cost(self) -> Decimal:
        """Of all that was counted."""
        return self.prices.cost(self.total())
