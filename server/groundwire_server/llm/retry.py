"""When a call is tried again, and how long is waited before."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

__all__ = ["RETRIED", "RetryPolicy", "retry_after"]

RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Statuses of HTTP after which a call may go well the next time; 529 is Anthropic's word for overload."""

_MOST_DOUBLINGS = 30


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Back-off that doubles, with chance so that many callers do not come back together.

    Attributes:
        retries: tries beyond the first.
        first_seconds: longest wait before the second try. most_seconds: before any.
        chance: a number of [0, 1) for each wait.
    """

    retries: int = 2
    first_seconds: float = 0.5
    most_seconds: float = 30.0
    chance: Callable[[], float] = random.random

    def wait(self, tried: int, asked: float | None = None) -> float | None:
        """Seconds before the next try; None: there is none.

        Args:
            tried: tries so far. asked: what the server asked to wait; more than is ever waited ends the call.

        >>> policy = RetryPolicy(retries=2, first_seconds=1, most_seconds=10, chance=lambda: 0.5)
        >>> policy.wait(1), policy.wait(2), policy.wait(3), policy.wait(1, 7.0), policy.wait(1, 60.0)
        (0.75, 1.5, None, 7.0, None)
        """
        if tried > self.retries:
            return None
        if asked is not None:
            return asked if asked <= self.most_seconds else None
        longest = min(self.most_seconds, self.first_seconds * 2.0 ** min(tried - 1, _MOST_DOUBLINGS))
        return longest * (0.5 + self.chance() / 2)


def retry_after(header: str | None, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> float | None:
    """Seconds that a Retry-After header asks for, as a number or as a time; None: it says nothing that can be read.

    >>> retry_after("3"), retry_after("soon"), retry_after(None), retry_after("-1")
    (3.0, None, None, 0.0)
    """
    if not header or len(header) > 64:
        return None
    try:
        return max(0.0, float(header)) if header.strip().lower() not in ("nan", "inf", "infinity") else None
    except ValueError:
        pass
    try:
        moment: datetime = parsedate_to_datetime(header)
    except (ValueError, TypeError, IndexError):
        return None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return max(0.0, float((moment - now()).total_seconds()))
