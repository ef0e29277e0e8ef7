"""Who is told of every call: that it began, what it wrote, how it ended."""

from __future__ import annotations

from typing import Protocol

from groundwire_server.rpc.call import RpcCall

__all__ = ["CallObserver", "Unobserved"]


class CallObserver(Protocol):
    """Told by the guard, in the thread of the event loop. A call that begins ends exactly once, however it ends."""

    def begun(self, call: RpcCall) -> None:
        """A call came in; who asks is not known yet (`call.principal` is nobody)."""

    def frame(self, call: RpcCall, size: int) -> None:
        """A message of `size` bytes was written: a frame of a stream, or the one answer."""

    def told(self, call: RpcCall, news: object) -> None:
        """What the service says of its work: the summary of a stream, an event of an ingest. From any thread."""

    def ended(self, call: RpcCall, code: str, reason: str) -> None:
        """It ended, with the name of a status code, and the name of an `ErrorReason` where it was refused, else ""."""


class Unobserved:
    """Nobody is told."""

    def begun(self, call: RpcCall) -> None:
        """Nothing."""

    def frame(self, call: RpcCall, size: int) -> None:
        """Nothing."""

    def told(self, call: RpcCall, news: object) -> None:
        """Nothing."""

    def ended(self, call: RpcCall, code: str, reason: str) -> None:
        """Nothing."""
