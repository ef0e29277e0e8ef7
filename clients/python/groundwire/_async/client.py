"""The client for asyncio."""

from __future__ import annotations

from groundwire._async.ingesting import AsyncIngestingClient
from groundwire._async.reading import AsyncReadingClient
from groundwire._async.running import AsyncRunningClient

__all__ = ["AsyncClient"]


class AsyncClient(AsyncReadingClient, AsyncIngestingClient, AsyncRunningClient):
    """A connection to a Groundwire server; for any number of tasks of one event loop.

    >>> from groundwire import AsyncClient
    >>> async def main() -> None:
    ...     async with AsyncClient("127.0.0.1:50051") as client:
    ...         answer = await client.ask("How many people live in Japan?").collect()
    ...         print(answer.text)

    It has the methods of Client: those that give one answer are awaited, what streams or comes in pages is read by
    `async for`, `await stream.collect()` gives the whole, and cancelling a task cancels its call on the server. Every
    method raises GroundwireError when the call fails as a whole; streams raise it while they are read. Reading methods
    take the keyword arguments of CallOptions.
    """
