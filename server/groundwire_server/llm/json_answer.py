"""JSON from a model: read leniently, checked strictly, asked for a second time where it does not hold (semantics 7)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from groundwire_server.llm.chat import ChatRequest, Finish, Message, ModelProvider, Stop, go_on
from groundwire_server.llm.faults import ModelAnswerUnusable

__all__ = ["ask_json", "parse_json"]

T = TypeVar("T")

_FENCE = re.compile(r"```[a-zA-Z]*[ \t]*\r?\n(.*?)```", re.DOTALL)
_MOST = 1 << 20
_SAY_AGAIN = (
    "That was not the JSON object that was asked for. Answer once more, with that object alone: no text around it, no "
    "code fence."
)


def parse_json(text: str) -> dict[str, Any]:
    r"""The object in an answer: the whole of it, within a code fence, or from the first brace on.

    Raises:
        ValueError: there is none.

    >>> parse_json('Sure!\n```json\n{"a": 1}\n```'), parse_json('Here: {"a": [2]} as you wished')
    ({'a': 1}, {'a': [2]})
    """
    if len(text) > _MOST:
        raise ValueError("too long")
    fenced = _FENCE.search(text)
    for candidate in (text.strip(), fenced[1].strip() if fenced else "", text[text.find("{") :] if "{" in text else ""):
        try:
            found, _ = _DECODER.raw_decode(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    raise ValueError("no JSON object")


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def ask_json(
    provider: ModelProvider, request: ChatRequest, check: Callable[[dict[str, Any]], T], stop: Stop = go_on
) -> T:
    """What `check` makes of the object that a model answers; it is asked twice at most.

    Args:
        request: with a schema. check: raises ValueError where the object is not what was asked for.

    Raises:
        ModelAnswerUnusable: neither answer held, or it was cut, or refused.
        ModelFailed: no answer came.
    """
    for _ in range(2):
        reply = provider.chat(request, stop)
        if reply.finish is Finish.REFUSED:
            break
        try:
            return check(parse_json(reply.text))
        except ValueError:
            shown = Message("assistant", reply.text[:2000] or "(nothing)")
            request = replace(request, messages=(*request.messages, shown, Message("user", _SAY_AGAIN)))
    raise ModelAnswerUnusable("The model did not answer with what was asked for.")
