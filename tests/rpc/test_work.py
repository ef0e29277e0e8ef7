from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Iterator

import pytest

from groundwire_server.rpc.work import BYTES_AHEAD, FRAMES_AHEAD, WorkPool


class Source:
    """Counts what it made and notes its end."""

    def __init__(self, count: int, fail_at: int = -1) -> None:
        self.made = 0
        self.closed = threading.Event()
        self._count, self._fail_at = count, fail_at

    def items(self) -> Iterator[bytes]:
        try:
            for place in range(self._count):
                if place == self._fail_at:
                    raise ValueError("boom")
                self.made += 1
                yield str(place).encode()
        finally:
            self.closed.set()


async def _all_closed(pool: WorkPool) -> None:
    async with asyncio.timeout(5):
        while pool.open_work:
            await asyncio.sleep(0)


def run(main: object) -> None:
    asyncio.run(main)  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [0, 1, FRAMES_AHEAD, FRAMES_AHEAD + 1, 100])
def test_a_stream_brings_all_items_in_order(count: int) -> None:
    async def main() -> None:
        pool, source = WorkPool(2), Source(count)
        got = [item async for item in pool.stream(source.items())]
        assert got == [str(place).encode() for place in range(count)]
        assert pool.open_work == 0
        pool.shutdown()

    run(main())


def test_an_error_comes_after_what_was_made_before_it() -> None:
    async def main() -> None:
        pool, got = WorkPool(1), []

        async def read() -> None:
            async for item in pool.stream(Source(5, fail_at=3).items()):
                got.append(item)  # noqa: PERF401 - what came before the error is the point

        with pytest.raises(ValueError, match="boom"):
            await read()
        assert got == [b"0", b"1", b"2"]
        assert pool.open_work == 0
        pool.shutdown()

    run(main())


def test_a_slow_reader_holds_a_few_items_and_no_thread() -> None:
    async def main() -> None:
        pool, source = WorkPool(1), Source(1000)
        stream = pool.stream(source.items())
        assert await anext(stream) == b"0"
        # The only thread is free for others although the stream is not read.
        assert await pool.run(lambda: 7) == 7
        assert source.made <= FRAMES_AHEAD + 1
        await stream.aclose()  # type: ignore[attr-defined]
        await _all_closed(pool)
        assert source.closed.is_set()
        assert source.made <= FRAMES_AHEAD + 1
        pool.shutdown()

    run(main())


def test_a_cancelled_reader_leaves_nothing() -> None:
    async def main() -> None:
        pool = WorkPool(2)
        begun, go_on = threading.Event(), threading.Event()
        closed = threading.Event()

        def slow() -> Iterator[bytes]:
            try:
                yield b"first"
                begun.set()
                go_on.wait(5)
                yield b"second"
            finally:
                closed.set()

        async def read() -> None:
            async for _ in pool.stream(slow()):
                pass

        task = asyncio.create_task(read())
        await asyncio.to_thread(begun.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert pool.open_work == 1  # the thread is still inside the source
        go_on.set()
        await _all_closed(pool)
        assert closed.is_set()
        pool.shutdown()

    run(main())


def test_run_raises_what_the_function_raises() -> None:
    async def main() -> None:
        pool = WorkPool(1)
        with pytest.raises(ZeroDivisionError):
            await pool.run(lambda: 1 // 0)
        assert pool.open_work == 0
        pool.shutdown()

    run(main())


def test_a_stream_left_open_at_shutdown_is_still_closed() -> None:
    async def main() -> None:
        pool, source = WorkPool(1), Source(1000)
        stream = pool.stream(source.items())
        await anext(stream)
        await pool.run(lambda: None)
        pool.shutdown()
        await stream.aclose()  # type: ignore[attr-defined]
        assert source.closed.is_set()
        assert pool.open_work == 0

    run(main())


def test_a_slow_reader_holds_no_more_than_so_many_bytes() -> None:
    async def main() -> None:
        pool, made = WorkPool(1), 0

        def source() -> Iterator[bytes]:
            nonlocal made
            for _ in range(100):
                made += 1
                yield bytes(100_000)

        stream = pool.stream(source())
        await anext(stream)
        await pool.run(lambda: None)  # the thread is through with what it may make
        assert made <= BYTES_AHEAD // 100_000 + 2
        got = [len(item) async for item in stream]
        assert got == [100_000] * 99
        await _all_closed(pool)
        pool.shutdown()

    run(main())


def test_reads_are_made_one_at_a_time_while_it_is_crowded() -> None:
    async def main() -> None:
        crowded = True
        pool, inside, most = WorkPool(2, lambda: crowded), 0, 0

        def alone() -> None:
            nonlocal inside, most
            inside += 1
            most = max(most, inside)
            sum(range(20_000))
            inside -= 1

        await asyncio.gather(*(pool.run(alone) for _ in range(50)))
        assert most == 1
        crowded = False
        together = threading.Barrier(2, timeout=5)
        await asyncio.gather(*(pool.run(together.wait) for _ in range(2)))
        pool.shutdown()

    run(main())


def test_an_error_leaves_the_turn_to_others() -> None:
    async def main() -> None:
        pool = WorkPool(2, lambda: True)
        with pytest.raises(ZeroDivisionError):
            await pool.run(lambda: 1 // 0)
        assert await pool.run(lambda: "turn") == "turn"
        pool.shutdown()

    run(main())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts niceness by thread")
def test_threads_step_back_behind_the_loop() -> None:
    def niceness() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    async def main() -> None:
        pool, here = WorkPool(1), niceness()
        assert await pool.run(niceness) == min(19, here + 5)
        assert niceness() == here
        pool.shutdown()

    run(main())
