"""The port that Prometheus reads: GET /metrics over HTTP/1.1, a call a connection, on the loop of the server.

Families are read and written out in a thread, so that a scrape holds up no call. Whoever does not send a whole request
in time is cut off, and no more than a few are served at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Protocol

from prometheus_client import Metric
from prometheus_client.exposition import choose_encoder

from groundwire_server.errors import ErrorReason, Unavailable

__all__ = ["MetricsPort", "MetricsSource"]

_MOST_HEAD_BYTES = 16 << 10
_MOST_AT_ONCE = 16
_SECONDS = 10.0
_TEXT = "text/plain; charset=utf-8"


class MetricsSource(Protocol):
    """What a registry of prometheus_client is, as far as it is read."""

    def collect(self) -> Iterable[Metric]: ...


class _WithoutCreated:
    """A registry without the times at which its counters were made: a series more for each, and the start of the
    process says as much."""

    def __init__(self, source: MetricsSource) -> None:
        self._source = source

    def collect(self) -> Iterable[Metric]:
        for metric in self._source.collect():
            metric.samples = [each for each in metric.samples if not each.name.endswith("_created")]
            yield metric


class MetricsPort:
    """Listens, answers, stops. Start and stop it inside one event loop.

    Attributes:
        address: where it really listens, once it is started.
    """

    def __init__(self, source: MetricsSource) -> None:
        self._source = _WithoutCreated(source)
        self._places = asyncio.Semaphore(_MOST_AT_ONCE)
        self._serving: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.address = ""

    async def start(self, host: str, port: int) -> str:
        """Listen; port 0 takes a free one. Returns the address.

        Raises:
            Unavailable: the port is taken, or the address is not of this machine.
        """
        try:
            self._server = await asyncio.start_server(self._accept, host, port, limit=_MOST_HEAD_BYTES)
        except OSError:
            raise Unavailable(
                ErrorReason.NOT_SERVING,
                f"Cannot listen for metrics on {_address(host, port)}: the port is taken, or the address is not of "
                "this machine.",
                hint="Stop what listens there, or set another telemetry.metrics_port; 0 takes a free one.",
                details={"port": str(port)},
            ) from None
        self.address = _address(host, self._server.sockets[0].getsockname()[1])
        return self.address

    async def stop(self) -> None:
        """Close the port and what is connected to it."""
        if self._server is None:
            return
        self._server.close()
        for task in list(self._serving):
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await self._server.wait_closed()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(TimeoutError, OSError):
                async with asyncio.timeout(_SECONDS), self._places:
                    writer.write(await self._answer(reader))
                    await writer.drain()
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader) -> bytes:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.LimitOverrunError:
            return _response("431 Request Header Fields Too Large", b"", _TEXT)
        except asyncio.IncompleteReadError:
            return b""
        request, *lines = head.split("\r\n")
        method, _, rest = request.partition(" ")
        target, _, protocol = rest.rpartition(" ")
        if not protocol.startswith("HTTP/1."):
            return _response("400 Bad Request", b"", _TEXT)
        if target.partition("?")[0] != "/metrics":
            return _response("404 Not Found", b"The metrics are at /metrics.\n", _TEXT)
        if method not in ("GET", "HEAD"):
            return _response("405 Method Not Allowed", b"", _TEXT, "Allow: GET, HEAD\r\n")
        accepted = (line.partition(":") for line in lines)
        accept = ",".join(value.strip() for name, _, value in accepted if name.strip().lower() == "accept")
        encode, content_type = choose_encoder(accept)
        body = await asyncio.to_thread(encode, self._source)
        return _response("200 OK", body, content_type, head_only=method == "HEAD")


def _response(status: str, body: bytes, content_type: str, more: str = "", *, head_only: bool = False) -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n"
        f"{more}Connection: close\r\n\r\n"
    )
    return head.encode("latin-1") + (b"" if head_only else body)


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
