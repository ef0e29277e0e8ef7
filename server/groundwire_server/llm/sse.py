"""Server-sent events, as far as models use them: the event's name and its data."""

from __future__ import annotations

from collections.abc import AsyncIterator

__all__ = ["events"]


async def events(lines: AsyncIterator[str]) -> AsyncIterator[tuple[str, str]]:
    """(name, data) of each event that is whole; comments are passed over, lines of data joined.

    An event that breaks off with the stream is none: whoever reads sees that the end did not come.
    """
    name = ""
    data: list[str] = []
    async for line in lines:
        if not line:
            if data:
                yield name, "\n".join(data)
            name, data = "", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value
