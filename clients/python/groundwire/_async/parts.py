"""Documents and records of an asynchronous caller, cut into parts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import TypeVar

from groundwire._ingest.parts import Cutter, Part, cut

__all__ = ["cut_async"]

ItemT = TypeVar("ItemT")


async def cut_async(items: Iterable[ItemT] | AsyncIterable[ItemT], cutter: Cutter[ItemT]) -> AsyncIterator[Part]:
    """The parts of all items. Files are read, and a plain iterable is asked, in a thread: no other task waits."""
    if isinstance(items, AsyncIterable):
        async for item in items:
            async for part in _in_thread(cutter.cut(item)):
                yield part
        async for part in _in_thread(cutter.rest()):
            yield part
    else:
        async for part in _in_thread(cut(items, cutter)):
            yield part


async def _in_thread(parts: Iterator[Part]) -> AsyncIterator[Part]:
    while (part := await asyncio.to_thread(next, parts, None)) is not None:
        yield part
