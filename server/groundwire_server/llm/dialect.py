"""What differs from one protocol over HTTP to another: where to ask, what is sent, how an answer is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from groundwire_server.llm.chat import ChatRequest, Finish
from groundwire_server.llm.config import ApiKey, ModelConfig
from groundwire_server.llm.usage import Usage

__all__ = ["Dialect", "ReadReply", "StreamReader", "Unreadable", "count_of"]


class Unreadable(Exception):
    """An answer is not in the form of the protocol. It says nothing, and never leaves the provider."""


@dataclass(frozen=True, slots=True)
class ReadReply:
    """A whole answer as it was read."""

    text: str
    finish: Finish
    usage: Usage


class StreamReader(Protocol):
    """Reads the events of one answer."""

    def read(self, name: str, data: str) -> str:
        """The text that an event brings; often none. Raises Unreadable, and what it says of an error."""
        ...

    def end(self) -> tuple[Finish, Usage] | None:
        """How the answer ended; None: it did not, the stream broke off."""
        ...


class Dialect(Protocol):
    """One protocol."""

    @property
    def path(self) -> str: ...

    def headers(self, key: ApiKey) -> Mapping[str, str]: ...

    def body(self, request: ChatRequest, config: ModelConfig, *, stream: bool) -> Mapping[str, Any]: ...

    def reply(self, data: object) -> ReadReply:
        """Read a whole answer. Raises Unreadable."""
        ...

    def reader(self) -> StreamReader: ...


def count_of(usage: object, *names: str) -> Usage:
    """The tokens that an answer tells of, in two fields of an object: of the prompt and of the reply.

    >>> count_of({"in": 5, "out": 2}, "in", "out").prompt_tokens, count_of(None, "in", "out").uncounted
    (5, 1)
    """
    counts = [usage.get(name) for name in names] if isinstance(usage, dict) else []
    numbers = [count for count in counts if isinstance(count, int) and not isinstance(count, bool) and count >= 0]
    if len(numbers) != 2:
        return Usage(calls=1, uncounted=1)
    return Usage(calls=1, prompt_tokens=numbers[0], reply_tokens=numbers[1])
