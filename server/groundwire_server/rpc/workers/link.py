"""The connection of a process that reads to the one that writes."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import grpc

from groundwire_server.rpc.stream import MAX_FRAME_BYTES
from groundwire_server.rpc.workers.socket_path import grpc_target

__all__ = ["AWAY", "WriterLink"]

AWAY = "The process that writes is away; another one is on its way."
"""What callers are told."""

_OPTIONS = [
    ("grpc.max_receive_message_length", 16 << 20),
    ("grpc.max_send_message_length", 16 << 20),
    # One that was replaced is found again at once.
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 250),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_retries", 0),
    ("grpc.enable_http_proxy", 0),
    ("grpc.default_authority", "localhost"),
]
assert MAX_FRAME_BYTES < 16 << 20


class WriterLink:
    """Make, use and close it inside one event loop.

    Args:
        path: of the writer's socket; nobody need listen there yet.
    """

    def __init__(self, path: Path) -> None:
        self._held = ExitStack()
        target = self._held.enter_context(grpc_target(path))
        self._channel = grpc.aio.insecure_channel(target, options=_OPTIONS)
        self._methods: dict[str, Any] = {}
        self._away = False
        self._watching = asyncio.ensure_future(self._watch())

    def begin(self, method: str, metadata: tuple[tuple[str, str | bytes], ...], timeout: float | None) -> Any:
        """A call of a method ("groundwire.v1.AdminService/GetJob"): messages are bytes, as many as are written.

        Args:
            timeout: seconds that it may take; None: as long as it likes.
        """
        if method not in self._methods:
            self._methods[method] = self._channel.stream_stream(f"/{method}")
        return self._methods[method](metadata=metadata, timeout=timeout)

    @property
    def fault(self) -> str:
        """Why nothing can be written now; empty: it can, as far as is known. From any thread."""
        return AWAY if self._away else ""

    async def _watch(self) -> None:
        """Stay connected, and know whether it is."""
        while True:
            state = self._channel.get_state(try_to_connect=True)
            if state is grpc.ChannelConnectivity.READY:
                self._away = False
            elif state is grpc.ChannelConnectivity.TRANSIENT_FAILURE:
                self._away = True
            await self._channel.wait_for_state_change(state)

    async def close(self) -> None:
        """End what is under way."""
        self._watching.cancel()
        await self._channel.close()
        self._held.close()
