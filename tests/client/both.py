"""The async client in the place of the sync one, so that one suite runs on both."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Self, cast

from groundwire import AsyncClient, AsyncIngestStream, Client

__all__ = ["KINDS", "Connect"]

Connect = Callable[..., AbstractContextManager[Client]]
_PATIENCE = 60.0
_END = object()


class Awaited:
    """An async object as if it were sync: what it gives is awaited on an event loop that runs in a thread."""

    def __init__(self, inner: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._inner = inner
        self._loop = loop

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_PATIENCE)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        if not callable(value):
            return value

        def call(*args: Any, **kwargs: Any) -> Any:
            async def in_the_loop() -> Any:
                given = value(*args, **kwargs)
                return await given if inspect.isawaitable(given) else given

            result = self._run(in_the_loop())
            return Awaited(result, self._loop) if isinstance(result, AsyncIterator | AsyncIngestStream) else result

        return call

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        async def following() -> Any:
            return await anext(self._inner, _END)

        item = self._run(following())
        if item is _END:
            raise StopIteration
        return item

    def __enter__(self) -> Self:
        self._run(self._inner.__aenter__())
        return self

    def __exit__(self, *raised: object) -> None:
        self._run(self._inner.__aexit__(*raised))


@contextmanager
def _async_client(*args: Any, **kwargs: Any) -> Iterator[Client]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        with Awaited(AsyncClient(*args, **kwargs), loop) as client:
            yield cast(Client, client)
        asyncio.run_coroutine_threadsafe(loop.shutdown_asyncgens(), loop).result(_PATIENCE)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


KINDS: dict[str, Connect] = {"sync": Client, "async": _async_client}
