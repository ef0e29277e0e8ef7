"""A streamed answer: made in a thread of the pool, written as its reader takes it."""

from __future__ import annotations

from collections.abc import Iterator

from groundwire_server.rpc.call import RpcCall
from groundwire_server.rpc.work import WorkPool

__all__ = ["send_frames"]


async def send_frames(pool: WorkPool, call: RpcCall, frames: Iterator[bytes]) -> None:
    """Write frames as they come. Everything before the first one, too, happens in the pool."""
    stream = pool.stream(frames)
    try:
        async for frame in stream:
            await call.write(frame)
    finally:
        # Before the stream is closed, so that what runs in a thread stops at its next check.
        call.cancel.cancel()
        await stream.aclose()
