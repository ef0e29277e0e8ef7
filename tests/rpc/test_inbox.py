from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from groundwire_server.rpc.inbox import Inbox


async def numbers(count: int, error: Exception | None = None) -> AsyncIterator[int]:
    for number in range(count):
        yield number
    if error is not None:
        raise error


async def _taken(inbox: Inbox[int], most: int) -> list[int]:
    got: list[int] = []
    while part := await inbox.take(most):
        assert len(part) <= most
        got += part
    return got


@pytest.mark.parametrize("count", [0, 1, 7, 50])
@pytest.mark.parametrize("most", [1, 3, 100])
def test_everything_is_taken_once_in_order(count: int, most: int) -> None:
    async def main() -> None:
        inbox = Inbox(numbers(count), 4)
        assert await _taken(inbox, most) == list(range(count))
        await inbox.close()

    asyncio.run(main())


def test_an_error_comes_after_what_was_read_before_it() -> None:
    async def main() -> None:
        inbox = Inbox(numbers(3, ValueError("x")), 10)
        assert await inbox.take(2) == [0, 1]
        assert await inbox.take(2) == [2]
        with pytest.raises(ValueError, match="x"):
            await inbox.take(2)
        await inbox.close()

    asyncio.run(main())


def test_it_reads_only_a_few_ahead_and_can_be_left() -> None:
    read = 0

    async def endless() -> AsyncIterator[int]:
        nonlocal read
        while True:
            read += 1
            yield read

    async def main() -> None:
        inbox = Inbox(endless(), 4)
        assert await inbox.take(1) == [1]
        await inbox.close()
        assert read <= 6

    asyncio.run(main())
