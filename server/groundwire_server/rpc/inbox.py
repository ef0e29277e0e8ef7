"""Requests of an upward stream, read ahead a little, so that several that wait can be taken together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Generic, TypeVar

__all__ = ["Inbox"]

T = TypeVar("T")


class _End:
    """No request comes any more; `error` is why, when it is not the client's own end."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error


class Inbox(Generic[T]):
    """Holds at most `ahead` requests; the client is left unread while it is full. Leave it with `close`."""

    def __init__(self, requests: AsyncIterator[T], ahead: int) -> None:
        self._queue: asyncio.Queue[T | _End] = asyncio.Queue(ahead)
        self._ended: _End | None = None
        self._reader = asyncio.create_task(self._read(requests))

    @property
    def empty(self) -> bool:
        """Whether nothing is waiting right now."""
        return self._queue.empty()

    async def take(self, most: int) -> list[T]:
        """What is waiting, at least one request; an empty list at the client's end. Raises what reading raised."""
        taken: list[T] = []
        while len(taken) < most and self._ended is None:
            if taken and self._queue.empty():
                break
            item = await self._queue.get()
            if isinstance(item, _End):
                self._ended = item
            else:
                taken.append(item)
        if not taken and self._ended is not None and self._ended.error is not None:
            raise self._ended.error
        return taken

    async def following(self, seconds: float) -> list[T]:
        """The next request, [] at the client's end or when neither comes in that time. Raises as `take` does."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await self.take(1)
        return []

    async def close(self) -> None:
        """Stop reading."""
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)

    async def _read(self, requests: AsyncIterator[T]) -> None:
        try:
            async for request in requests:
                await self._queue.put(request)
            await self._queue.put(_End())
        except Exception as error:  # noqa: BLE001 - raised where the requests are taken
            await self._queue.put(_End(error))
