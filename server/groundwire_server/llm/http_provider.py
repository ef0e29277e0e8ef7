"""A model behind HTTP: one try, and the tries after it; every call can be ended, and none takes too long."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager
from typing import Any

import httpx

from groundwire_server.llm.chat import ChatRequest, Reply, Stop, go_on
from groundwire_server.llm.config import ApiKey, ModelConfig
from groundwire_server.llm.dialect import Dialect, Unreadable
from groundwire_server.llm.faults import ModelFailed
from groundwire_server.llm.loop import LoopThread
from groundwire_server.llm.retry import RETRIED, RetryPolicy, retry_after
from groundwire_server.llm.sse import events
from groundwire_server.llm.usage import Usage, UsageMeter

__all__ = ["MAX_REPLY_BYTES", "HttpProvider"]

MAX_REPLY_BYTES = 4 << 20
"""Bytes of an answer; what is longer is no answer."""

_CONNECT_SECONDS = 10.0
Sleep = Callable[[float], Awaitable[None]]


class _Again(Exception):
    """A try failed and another one may go well."""

    def __init__(self, fault: ModelFailed, wait: float | None = None) -> None:
        super().__init__()
        self.fault = fault
        self.wait = wait


class HttpProvider:
    """`ModelProvider` over a dialect. Redirects are not followed: neither text nor key goes to another host.

    Args:
        key: sent to the host of `config` alone.
        policy: by default as many retries as `config` says.
        sleep: how it waits between tries.
    """

    def __init__(
        self,
        config: ModelConfig,
        dialect: Dialect,
        key: ApiKey,
        *,
        policy: RetryPolicy | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.name = config.provider
        self.model = config.model
        self.meter = UsageMeter(config.prices)
        self._config = config
        self._dialect = dialect
        self._key = key
        self._policy = policy or RetryPolicy(config.retries)
        self._sleep = sleep
        self._loop = LoopThread(f"model-{config.provider}")
        self._client: httpx.AsyncClient | None = None
        self._places = asyncio.Semaphore(config.parallel)
        # It logs the address of each call, which is ours to log or not.
        logging.getLogger("httpx").setLevel(logging.WARNING)

    def chat(self, request: ChatRequest, stop: Stop = go_on) -> Reply:
        """See `ModelProvider.chat`."""
        try:
            return self._loop.run(self._counted(request, lambda: self._asked(request)), stop)
        except CancelledError:
            raise ModelFailed("The model is not asked any more: the server stops.") from None

    def stream(self, request: ChatRequest, stop: Stop = go_on) -> Iterator[str | Reply]:
        """See `ModelProvider.stream`."""

        async def follow(put: Callable[[str | Reply], None]) -> None:
            put(await self._counted(request, lambda: self._streamed(request, put)))

        try:
            yield from self._loop.iterate(follow, stop)
        except CancelledError:
            raise ModelFailed("The model is not asked any more: the server stops.") from None

    def close(self) -> None:
        """See `ModelProvider.close`."""
        self._loop.close(self._disconnect)

    # ---- in the loop

    async def _disconnect(self) -> None:
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _counted(self, request: ChatRequest, work: Callable[[], Awaitable[Reply]]) -> Reply:
        try:
            reply = await work()
        except ModelFailed:
            self.meter.add(request.purpose, Usage(failures=1))
            raise
        self.meter.add(request.purpose, reply.usage)
        return reply

    async def _asked(self, request: ChatRequest) -> Reply:
        body = self._dialect.body(request, self._config, stream=False)

        async def once() -> Reply:
            async with self._answer(body) as response:
                content = b"".join([piece async for piece in _bounded(response, self._config.host)])
                try:
                    read = self._dialect.reply(json.loads(content))
                except (ValueError, RecursionError, Unreadable):
                    raise _Again(self._unreadable()) from None
                return Reply(read.text, read.finish, read.usage)

        return await self._retried(request, once)

    async def _streamed(self, request: ChatRequest, put: Callable[[str], None]) -> Reply:
        body = self._dialect.body(request, self._config, stream=True)
        begun = False

        async def once() -> Reply:
            nonlocal begun
            reader, pieces = self._dialect.reader(), []
            try:
                async with self._answer(body) as response:
                    async for name, data in events(_lines(_bounded(response, self._config.host))):
                        piece = reader.read(name, data)
                        if piece:
                            begun = True
                            pieces.append(piece)
                            put(piece)
                end = reader.end()
                if end is None:
                    raise _Again(self._failed("broke off in the middle of an answer"))
            except Unreadable:
                raise _Again(self._unreadable()) from None
            return Reply("".join(pieces), *end)

        return await self._retried(request, once, lambda: not begun)

    async def _retried(
        self, request: ChatRequest, once: Callable[[], Awaitable[Reply]], may_retry: Callable[[], bool] = lambda: True
    ) -> Reply:
        tried = 0
        while True:
            tried += 1
            try:
                async with self._places, asyncio.timeout(self._config.timeout_seconds):
                    return await once()
            except _Again as again:
                fault, asked = again.fault, again.wait
            except TimeoutError:
                fault, asked = self._failed(f"did not answer within {self._config.timeout_seconds:g} seconds"), None
            except httpx.TransportError:
                fault, asked = self._failed("does not answer: the connection failed"), None
            except httpx.HTTPError:
                fault, asked = self._unreadable(), None
            wait = self._policy.wait(tried, asked) if may_retry() else None
            if wait is None:
                raise fault
            self.meter.add(request.purpose, Usage(retries=1))
            await self._sleep(wait)

    @asynccontextmanager
    async def _answer(self, body: Mapping[str, Any]) -> AsyncIterator[httpx.Response]:
        """The answer to one try, where it is one. Raises _Again and ModelFailed."""
        if self._client is None:
            self._client = self._connected()
        url = self._config.url + self._dialect.path
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        headers = {"content-type": "application/json", **self._dialect.headers(self._key)}
        async with self._client.stream("POST", url, content=content, headers=headers) as response:
            if response.status_code != 200:
                raise self._fault_of(response)
            yield response

    def _connected(self) -> httpx.AsyncClient:
        seconds = self._config.timeout_seconds
        return httpx.AsyncClient(
            timeout=httpx.Timeout(seconds, connect=min(_CONNECT_SECONDS, seconds), pool=None),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=self._config.parallel),
            follow_redirects=False,
            trust_env=not self._config.is_local,  # proxies and certificates of the machine, but none to itself
        )

    def _fault_of(self, response: httpx.Response) -> _Again | ModelFailed:
        status = response.status_code
        if status in RETRIED:
            fault = ModelFailed(f"The model at {self._config.host} answers {status}.", http_status=status)
            return _Again(fault, retry_after(response.headers.get("retry-after")))
        hint = {
            401: "The key is not accepted; see llm.api_key_env.",
            403: "The key is not accepted; see llm.api_key_env.",
            404: "Neither the path nor the model may be there; see llm.base_url and llm.model.",
            413: "The text is too long for the model.",
        }.get(status, "")
        message = f"The model at {self._config.host} answers {status}."
        return ModelFailed(message, http_status=status, permanent=True, hint=hint)

    def _unreadable(self) -> ModelFailed:
        return self._failed("answers with something that is no answer")

    def _failed(self, what: str) -> ModelFailed:
        return ModelFailed(f"The model at {self._config.host} {what}.")


async def _bounded(response: httpx.Response, host: str) -> AsyncIterator[bytes]:
    size = 0
    async for piece in response.aiter_bytes():
        size += len(piece)
        if size > MAX_REPLY_BYTES:
            raise ModelFailed(f"The model at {host} answers with more than {MAX_REPLY_BYTES} bytes.", permanent=True)
        yield piece


async def _lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """Lines of a stream, ended by LF or CRLF and by nothing else: a text may hold any other character raw."""
    left = b""
    async for piece in pieces:
        *whole, left = (left + piece).split(b"\n")
        for line in whole:
            yield line.removesuffix(b"\r").decode("utf-8", "replace")
