"""OpenAI's chat completions, which vLLM, Ollama, llama.cpp and many others speak as well."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from groundwire_server.llm.chat import ChatRequest, Finish
from groundwire_server.llm.config import ApiKey, ModelConfig
from groundwire_server.llm.dialect import ReadReply, Unreadable, count_of
from groundwire_server.llm.usage import Usage

__all__ = ["OpenAiDialect"]

_OWN_HOST = "api.openai.com"
_FINISH = {"stop": Finish.DONE, "length": Finish.LENGTH, "content_filter": Finish.REFUSED}
_TOKENS = ("prompt_tokens", "completion_tokens")


class OpenAiDialect:
    """POST {base}/chat/completions."""

    path = "/chat/completions"

    def headers(self, key: ApiKey) -> Mapping[str, str]:
        """The key as a bearer token, where there is one."""
        return {"authorization": f"Bearer {key.value}"} if key.value else {}

    def body(self, request: ChatRequest, config: ModelConfig, *, stream: bool) -> Mapping[str, Any]:
        """The request. OpenAI's own newer models want another name for the bound of a reply than others know."""
        bound = "max_completion_tokens" if config.host == _OWN_HOST else "max_tokens"
        body: dict[str, Any] = {
            "model": config.model,
            "messages": [{"role": message.role, "content": message.text} for message in request.messages],
            bound: request.max_tokens or config.max_tokens,
        }
        if config.temperature >= 0:
            body["temperature"] = config.temperature
        if request.schema is not None and config.json == "schema":
            form = {"name": "answer", "strict": True, "schema": dict(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        elif request.schema is not None and config.json == "object":
            body["response_format"] = {"type": "json_object"}
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return body

    def reply(self, data: object) -> ReadReply:
        """The first choice. Raises Unreadable."""
        choice = _choice(data)
        message = choice.get("message") if choice is not None else None
        if choice is None or not isinstance(message, dict):
            raise Unreadable
        text = message.get("content")
        refused = bool(message.get("refusal"))
        if not isinstance(text, str):
            if text is not None or not (refused or choice.get("finish_reason") in _FINISH):
                raise Unreadable
            text = ""
        finish = Finish.REFUSED if refused else _FINISH.get(str(choice.get("finish_reason")), Finish.DONE)
        return ReadReply(text, finish, count_of(data.get("usage"), *_TOKENS) if isinstance(data, dict) else Usage())

    def reader(self) -> _Reader:
        """For one stream."""
        return _Reader()


class _Reader:
    def __init__(self) -> None:
        self._finish: Finish | None = None
        self._refused = False
        self._usage: Usage | None = None
        self._done = False

    def read(self, name: str, data: str) -> str:
        if data.strip() == "[DONE]":
            self._done = True
            return ""
        event = _parsed(data)
        if "error" in event:
            raise Unreadable
        if isinstance(event.get("usage"), dict):
            self._usage = count_of(event["usage"], *_TOKENS)
        choice = _choice(event)
        if choice is None:
            return ""
        reason = choice.get("finish_reason")
        if reason is not None:
            self._finish = _FINISH.get(str(reason), Finish.DONE)
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return ""
        self._refused = self._refused or bool(delta.get("refusal"))
        text = delta.get("content")
        if text is not None and not isinstance(text, str):
            raise Unreadable
        return text or ""

    def end(self) -> tuple[Finish, Usage] | None:
        """Some servers send no [DONE], but then they say why they ended."""
        if self._finish is None and not self._done:
            return None
        finish = Finish.REFUSED if self._refused else self._finish or Finish.DONE
        return finish, self._usage or Usage(calls=1, uncounted=1)


def _parsed(data: str) -> dict[str, Any]:
    try:
        event = json.loads(data)
    except (ValueError, RecursionError):
        raise Unreadable from None
    if not isinstance(event, dict):
        raise Unreadable
    return event


def _choice(data: object) -> dict[str, Any] | None:
    choices = data.get("choices") if isinstance(data, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else None
