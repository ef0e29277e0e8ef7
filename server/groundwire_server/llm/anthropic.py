"""Anthropic's messages. JSON is asked for as the input of a tool that has to be used: a schema binds it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from groundwire_server.llm.chat import ChatRequest, Finish
from groundwire_server.llm.config import ApiKey, ModelConfig
from groundwire_server.llm.dialect import ReadReply, Unreadable, count_of
from groundwire_server.llm.usage import Usage

__all__ = ["AnthropicDialect"]

_VERSION = "2023-06-01"
_TOOL = "answer"
_FINISH = {"max_tokens": Finish.LENGTH, "refusal": Finish.REFUSED}
_TOKENS = ("input_tokens", "output_tokens")


class AnthropicDialect:
    """POST {base}/v1/messages."""

    path = "/v1/messages"

    def headers(self, key: ApiKey) -> Mapping[str, str]:
        """The key and the version of the protocol."""
        return {"anthropic-version": _VERSION} | ({"x-api-key": key.value} if key.value else {})

    def body(self, request: ChatRequest, config: ModelConfig, *, stream: bool) -> Mapping[str, Any]:
        """The request; instructions stand apart from the turns."""
        body: dict[str, Any] = {
            "model": config.model,
            "max_tokens": request.max_tokens or config.max_tokens,
            "messages": [{"role": message.role, "content": message.text} for message in request.turns],
        }
        if request.system:
            body["system"] = request.system
        if config.temperature >= 0:
            body["temperature"] = min(config.temperature, 1.0)
        if request.schema is not None:
            body["tools"] = [{"name": _TOOL, "description": "Give the answer.", "input_schema": dict(request.schema)}]
            body["tool_choice"] = {"type": "tool", "name": _TOOL}
        if stream:
            body["stream"] = True
        return body

    def reply(self, data: object) -> ReadReply:
        """All text blocks joined, or the input of the tool. Raises Unreadable."""
        blocks = data.get("content") if isinstance(data, dict) else None
        if not isinstance(data, dict) or not isinstance(blocks, list):
            raise Unreadable
        tools = [block["input"] for block in blocks if _is(block, "tool_use") and "input" in block]
        texts = [block.get("text") for block in blocks if _is(block, "text")]
        if not all(isinstance(text, str) for text in texts):
            raise Unreadable
        text = json.dumps(tools[0], ensure_ascii=False) if tools else "".join(map(str, texts))
        finish = _FINISH.get(str(data.get("stop_reason")), Finish.DONE)
        return ReadReply(text, finish, count_of(data.get("usage"), *_TOKENS))

    def reader(self) -> _Reader:
        """For one stream."""
        return _Reader()


class _Reader:
    def __init__(self) -> None:
        self._stop_reason: str | None = None
        self._tokens: dict[str, Any] = {}
        self._ended = False

    def read(self, name: str, data: str) -> str:
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            raise Unreadable from None
        if not isinstance(event, dict):
            raise Unreadable
        match event.get("type"):
            case "error":
                raise Unreadable
            case "message_start":
                self._count(event.get("message"))
            case "message_delta":
                self._count(event)
                delta = event.get("delta")
                if isinstance(delta, dict) and delta.get("stop_reason") is not None:
                    self._stop_reason = str(delta["stop_reason"])
            case "message_stop":
                self._ended = True
            case "content_block_delta":
                return _text(event.get("delta"))
        return ""

    def end(self) -> tuple[Finish, Usage] | None:
        if not self._ended:
            return None
        return _FINISH.get(str(self._stop_reason), Finish.DONE), count_of(self._tokens, *_TOKENS)

    def _count(self, holder: object) -> None:
        usage = holder.get("usage") if isinstance(holder, dict) else None
        if isinstance(usage, dict):
            self._tokens |= {name: usage[name] for name in _TOKENS if name in usage}


def _text(delta: object) -> str:
    """What a piece brings: text, or a part of the input of the tool. Thoughts and the like bring none."""
    if not isinstance(delta, dict):
        raise Unreadable
    text = delta.get("text", delta.get("partial_json", ""))
    if not isinstance(text, str):
        raise Unreadable
    return text


def _is(block: object, kind: str) -> bool:
    return isinstance(block, dict) and block.get("type") == kind
