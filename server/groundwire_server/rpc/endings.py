"""Endings on their way to their clients.

gRPC sends a status behind the frames before it, so the ending of a stream that nobody reads stays in the server, with
the frame or two that wait before it, until its client reads, goes away, or the connection has its age. Nothing else is
left of such a call: no thread, no snapshot, no place. A connection that leaves many endings unread gets no new call.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from groundwire_server.errors import ErrorReason, ResourceExhausted

__all__ = ["MOST_UNREAD", "Endings"]

MOST_UNREAD = 64
"""Endings that one connection may leave unread."""

_PATIENCE = 10.0


class Endings:
    """Those that are not told yet. Use it inside one event loop.

    Args:
        most: unread ones that a connection may have.
        patience: seconds after which one counts as unread; up to twice as many.
    """

    def __init__(self, most: int = MOST_UNREAD, patience: float = _PATIENCE) -> None:
        self._most = most
        self._patience = patience
        self._young: set[Any] = set()
        self._older: set[Any] = set()
        self._unread: dict[Any, str] = {}
        self._of_peer: Counter[str] = Counter()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._young) + len(self._older) + len(self._unread)

    def begin(self, context: Any) -> None:
        """A call has ended, and its client is being told."""
        self._young.add(context)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._patience, self._age)

    def told(self, context: Any) -> None:
        """The client knows, or is gone."""
        self._young.discard(context)
        self._older.discard(context)
        peer = self._unread.pop(context, None)
        if peer is not None:
            self._of_peer[peer] -= 1
            if not self._of_peer[peer]:
                del self._of_peer[peer]

    def check(self, context: Any) -> None:
        """Raises ResourceExhausted (OVERLOADED) for a call on a connection that leaves too many endings unread."""
        if self._of_peer and self._of_peer[context.peer()] >= self._most:
            raise ResourceExhausted(
                ErrorReason.OVERLOADED,
                "The answers of other calls on this connection are not read.",
                hint="Read them to their end, or cancel the calls.",
                details={"unread": str(self._most)},
            )

    def _age(self) -> None:
        for context in self._older:
            peer = context.peer()
            self._unread[context] = peer
            self._of_peer[peer] += 1
        self._young, self._older = set(), self._young
        self._timer = None
        if self._older or self._unread:
            self._timer = asyncio.get_running_loop().call_later(self._patience, self._age)
