"""A provider that answers from a script: for tests, and for trying what stands on a model without one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from groundwire_server.llm.chat import ChatRequest, Finish, Reply, Stop, go_on
from groundwire_server.llm.faults import ModelFailed
from groundwire_server.llm.usage import Usage, UsageMeter

__all__ = ["Answer", "ScriptedProvider"]

Answer = str | Reply | Exception
"""A text, a whole reply, or what is to be raised."""

_PIECE = 7


class ScriptedProvider:
    """Gives answers in order, or what a function makes of each request. It keeps what it was asked.

    Args:
        script: answers, or the function. After the last answer comes ModelFailed.
    """

    name = "scripted"

    def __init__(self, script: Iterable[Answer] | Callable[[ChatRequest], Answer], model: str = "script") -> None:
        self.model = model
        self.meter = UsageMeter()
        self._lock = threading.Lock()
        self._asked: list[ChatRequest] = []
        self._answer = script if callable(script) else None
        self._answers = iter(() if callable(script) else script)

    @property
    def asked(self) -> list[ChatRequest]:
        """Every request so far, in order."""
        with self._lock:
            return list(self._asked)

    def chat(self, request: ChatRequest, stop: Stop = go_on) -> Reply:
        """See `ModelProvider.chat`."""
        stop()
        with self._lock:
            self._asked.append(request)
            answer = self._answer(request) if self._answer is not None else next(self._answers, None)
        if answer is None:
            answer = ModelFailed("The script has ended.", permanent=True)
        if isinstance(answer, Exception):
            self.meter.add(request.purpose, Usage(failures=1))
            raise answer
        reply = Reply(answer, Finish.DONE, Usage()) if isinstance(answer, str) else answer
        words = sum(len(message.text.split()) for message in request.messages)
        usage = Usage(calls=1, prompt_tokens=words, reply_tokens=len(reply.text.split()))
        self.meter.add(request.purpose, usage)
        return replace(reply, usage=usage)

    def stream(self, request: ChatRequest, stop: Stop = go_on) -> Iterator[str | Reply]:
        """See `ModelProvider.stream`; pieces of seven characters."""
        reply = self.chat(request, stop)
        for start in range(0, len(reply.text), _PIECE):
            stop()
            yield reply.text[start : start + _PIECE]
        yield reply

    def close(self) -> None:
        """Nothing is held."""
