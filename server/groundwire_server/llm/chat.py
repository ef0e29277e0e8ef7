"""What is said to a language model and what it says: the one protocol of all providers (semantics 7, 11).

Nothing here decides what may be said: whoever makes a prompt has left out what the model may not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, Protocol

from groundwire_server.llm.usage import Usage, UsageMeter

__all__ = ["ChatRequest", "Finish", "Message", "ModelProvider", "Reply", "Stop", "go_on"]

Stop = Callable[[], None]
"""Looked at while a model is waited for; what it raises ends the call (`CancelToken.check`, `JobControl.check`)."""


def go_on() -> None:
    """The `Stop` of a call that nobody ends."""


class Finish(Enum):
    """Why a reply ends."""

    DONE = "done"
    LENGTH = "length"
    """It was cut at `max_tokens`."""
    REFUSED = "refused"
    """The model, or who runs it, does not answer this."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn. Instructions go into "system", which stands first, if anywhere."""

    role: Literal["system", "user", "assistant"]
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What a model is asked.

    Attributes:
        messages: not empty; a system message stands first, the last one is the user's.
        purpose: for the accounts, e.g. "relations/1".
        schema: JSON Schema of the object that is to be answered; None: text. A provider that cannot bind the model to
            it asks for a JSON object, or for nothing more than the prompt does: the answer is checked anyway.
        max_tokens: of the reply; 0: as the settings say.
    """

    messages: tuple[Message, ...]
    purpose: str
    schema: Mapping[str, Any] | None = None
    max_tokens: int = 0

    def __post_init__(self) -> None:
        if not self.messages or self.messages[-1].role != "user":
            raise ValueError("the last message must be the user's")
        if any(message.role == "system" for message in self.messages[1:]):
            raise ValueError("a system message must stand first")

    @property
    def system(self) -> str:
        """Instructions; empty: none."""
        return self.messages[0].text if self.messages[0].role == "system" else ""

    @property
    def turns(self) -> tuple[Message, ...]:
        """The messages without the instructions."""
        return self.messages[1:] if self.messages[0].role == "system" else self.messages


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said, whole."""

    text: str = field(repr=False)
    finish: Finish
    usage: Usage


class ModelProvider(Protocol):
    """A language model. Any thread may ask it, several at once; a call waits for no other.

    Attributes:
        name: of the provider, as in the settings.
        model: as the provider calls it.
        meter: what was used so far.
    """

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def meter(self) -> UsageMeter: ...

    def chat(self, request: ChatRequest, stop: Stop = ...) -> Reply:
        """Ask, and wait for the whole reply.

        Raises:
            ModelFailed: no usable reply came, after as many tries as the settings allow.
            Exception: what `stop` raises; the connection is closed then.
        """
        ...

    def stream(self, request: ChatRequest, stop: Stop = ...) -> Iterator[str | Reply]:
        """Ask, and give the text in pieces as it comes; the whole `Reply` is the last item, and there is one.

        What was given is not taken back: a try that fails is repeated only before its first piece. Raises as `chat`
        does. An iterator that is closed closes the connection.
        """
        ...

    def close(self) -> None:
        """End what runs and let go of connections. May be called twice."""
        ...
