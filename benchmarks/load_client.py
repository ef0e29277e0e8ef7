"""Clients for `load.py`: calls at moments that were drawn beforehand, and calls of every kind of ending.

Calls begin when their moment comes, whatever became of those before them (an open loop): a server that is slow does not
slow its clients down, and each time counts from that moment.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import grpc

__all__ = ["ENDINGS", "METHOD", "Outcome", "Soak", "health_checks", "in_open_loop", "open_channels", "soak"]

METHOD = "/groundwire.v1.NarrativeService/NarrativeRetrieve"
HEALTH = "/grpc.health.v1.Health/Check"
_SERVING = b"\x08\x01"


@dataclass
class Outcome:
    """What became of calls: milliseconds of those that were answered, of those that were refused; codes of all."""

    answered_ms: list[float] = field(default_factory=list)
    first_ms: list[float] = field(default_factory=list)
    refused_ms: list[float] = field(default_factory=list)
    late_ms: list[float] = field(default_factory=list)  # how late the client itself was
    codes: Counter[str] = field(default_factory=Counter)


def open_channels(address: str, count: int, *more: tuple[str, int]) -> list[grpc.aio.Channel]:
    """So many connections."""
    options = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0), *more]
    return [grpc.aio.insecure_channel(address, options=options) for _ in range(count)]


async def in_open_loop(
    channels: Sequence[grpc.aio.Channel], requests: Sequence[bytes], rate: float, seconds: float, seed: int
) -> Outcome:
    """Calls at exponential distances, `rate` a second on average, for so long; read to their end."""
    dice, outcome = random.Random(seed), Outcome()
    calls: set[asyncio.Task[None]] = set()
    began = at = time.perf_counter()
    number = 0
    while (at := at + dice.expovariate(rate)) < began + seconds:
        wait = at - time.perf_counter()
        if wait > 0:
            await asyncio.sleep(wait)
        method = channels[number % len(channels)].unary_stream(METHOD)
        task = asyncio.create_task(_timed(method, requests[number % len(requests)], at, outcome))
        calls.add(task)
        task.add_done_callback(calls.discard)
        number += 1
    while calls:
        await asyncio.wait(calls)
    return outcome


async def _timed(method: Any, request: bytes, due: float, outcome: Outcome) -> None:
    sent = time.perf_counter()
    outcome.late_ms.append((sent - due) * 1e3)
    call = method(request, timeout=30)
    first = 0.0
    try:
        async for _ in call:
            first = first or time.perf_counter()
    except grpc.aio.AioRpcError as error:
        name = error.code().name
        outcome.codes[name] += 1
        if name == "RESOURCE_EXHAUSTED":
            outcome.refused_ms.append((time.perf_counter() - sent) * 1e3)
        return
    outcome.codes["OK"] += 1
    outcome.first_ms.append((first - due) * 1e3)
    outcome.answered_ms.append((time.perf_counter() - due) * 1e3)


async def health_checks(channel: grpc.aio.Channel, until: asyncio.Event, pause: float = 0.05) -> list[float]:
    """Ask for the health until the event; milliseconds of each answer. Raises when one is not SERVING."""
    check: Any = channel.unary_unary(HEALTH)
    times: list[float] = []
    while not until.is_set():
        began = time.perf_counter()
        if await check(b"") != _SERVING:
            raise AssertionError("the server says that it does not serve")
        times.append((time.perf_counter() - began) * 1e3)
        await asyncio.sleep(pause)
    return times


# ---- endings -------------------------------------------------------------------------------------------------------


async def _to_the_end(method: Any, request: bytes) -> None:
    async for _ in method(request):
        pass


async def _cancelled_at_once(method: Any, request: bytes) -> None:
    call = method(request)
    await asyncio.sleep(0)
    call.cancel()
    await call.code()


async def _cancelled_amidst(method: Any, request: bytes) -> None:
    call = method(request)
    await call.read()
    call.cancel()
    await call.code()


async def _out_of_time(method: Any, request: bytes) -> None:
    async for _ in method(request, timeout=0.003):
        pass


async def _wrong(method: Any, _request: bytes) -> None:
    async for _ in method(b""):
        pass


async def _not_understood(method: Any, _request: bytes) -> None:
    async for _ in method(b"\xff\xff\xff"):
        pass


async def _never_read(method: Any, request: bytes) -> None:
    call = method(request)
    await asyncio.sleep(0.2)
    call.cancel()
    await call.code()


ENDINGS: dict[str, tuple[int, Callable[[Any, bytes], Awaitable[None]]]] = {
    "read to the end": (40, _to_the_end),
    "cancelled at once": (12, _cancelled_at_once),
    "cancelled amidst": (14, _cancelled_amidst),
    "out of time": (12, _out_of_time),
    "a wrong request": (8, _wrong),
    "no request at all": (4, _not_understood),
    "never read": (8, _never_read),
    "connection gone": (2, _to_the_end),
}
"""Name to how many in a hundred, and how. That of a connection that goes is up to `Soak`."""


@dataclass
class Soak:
    """Streams of all endings over a few connections.

    Attributes:
        begun: streams so far, by ending.
        codes: how they ended, as their clients saw it.
    """

    address: str
    requests: Sequence[bytes]
    seed: int = 1
    begun: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)


async def soak(run: Soak, count: int, seconds: float, at_once: int = 48) -> None:
    """Run so many streams, no longer than so many seconds; at most `at_once` at a time."""
    dice = random.Random(f"{run.seed}-{sum(run.begun.values())}")
    names = [name for name, (weight, _) in ENDINGS.items() for _ in range(weight)]
    channels = open_channels(run.address, 8, ("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 1 << 16))
    ends, left = time.monotonic() + seconds, count

    async def worker() -> None:
        nonlocal left
        while left > 0 and time.monotonic() < ends:
            left -= 1
            name = dice.choice(names)
            run.begun[name] += 1
            place = dice.randrange(len(channels))
            method = channels[place].unary_stream(METHOD)
            work = asyncio.ensure_future(ENDINGS[name][1](method, dice.choice(run.requests)))
            if name == "connection gone":
                old, channels[place] = channels[place], open_channels(run.address, 1)[0]
                await asyncio.sleep(0.002)
                await old.close()
            try:
                await work
                run.codes["OK"] += 1
            except grpc.aio.AioRpcError as error:
                run.codes[error.code().name] += 1
            except (asyncio.CancelledError, grpc.aio.UsageError):
                run.codes["CANCELLED"] += 1

    await asyncio.gather(*(worker() for _ in range(at_once)))
    for channel in channels:
        await channel.close()
