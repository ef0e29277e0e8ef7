"""How the parts of this room ask a language model: one prompt, bounded, each call counted, and no failure unsaid."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from groundwire_server.errors import Cause, ErrorReason
from groundwire_server.evidence import Degradation
from groundwire_server.llm import (
    ChatRequest,
    CountedCalls,
    ModelFailed,
    ModelProvider,
    Reply,
    Stop,
    Usage,
    ask_json,
    load_prompt,
)

__all__ = ["MAX_REPLY_TOKENS", "Answer", "Inquiry", "NoAnswer", "StepResult", "ask_for_json", "ask_for_text"]

MAX_REPLY_TOKENS = 1024
"""Where a model's reply is cut."""
_NO_USAGE = Usage()
_NO_MODEL = Cause(ErrorReason.NO_MODEL, "The server has no language model.")

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """How a step went that may ask a model, beside what came of it.

    Attributes:
        purpose: the prompt with its version; empty: no model was asked.
        usage: what the model was asked, as it counts that.
        degradation: why nothing came of it; None: the step did what it is there for, whatever came of it.
    """

    purpose: str = ""
    usage: Usage = _NO_USAGE
    degradation: Degradation | None = None


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What is to be asked.

    Attributes:
        prompt: its name. language: of the prompt.
        shown: what stands in its places, as JSON.
        max_tokens: where the reply is cut.
    """

    prompt: str
    language: str
    shown: Mapping[str, object]
    max_tokens: int = MAX_REPLY_TOKENS


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What the model said; `purpose` and `usage` as in `StepResult`."""

    found: T
    purpose: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Why it said nothing of use: there is none, it failed, it refused, or it answered in another form."""

    cause: Cause
    purpose: str = ""
    usage: Usage = _NO_USAGE


def ask_for_text(inquiry: Inquiry, model: ModelProvider | None, stop: Stop) -> Answer[Reply] | NoAnswer:
    """A model's reply as it comes; refusals too. What `stop` raises is not caught."""
    return _ask(inquiry, None, model, lambda asked, request: asked.chat(request, stop), stop)


def ask_for_json(
    inquiry: Inquiry,
    schema: Mapping[str, Any],
    check: Callable[[dict[str, Any]], T],
    model: ModelProvider | None,
    stop: Stop,
) -> Answer[T] | NoAnswer:
    """What `check` makes of the object that a model answers. What `stop` raises is not caught.

    Args:
        check: raises ValueError where the object is not what was asked for; the model is then asked once more.
    """
    return _ask(inquiry, schema, model, lambda asked, request: ask_json(asked, request, check, stop), stop)


def _ask(
    inquiry: Inquiry,
    schema: Mapping[str, Any] | None,
    model: ModelProvider | None,
    ask: Callable[[ModelProvider, ChatRequest], T],
    stop: Stop,
) -> Answer[T] | NoAnswer:
    if model is None:
        return NoAnswer(_NO_MODEL)
    stop()
    prompt = load_prompt(inquiry.prompt, inquiry.language)
    written = {place: json.dumps(value, ensure_ascii=False) for place, value in inquiry.shown.items()}
    request = ChatRequest(prompt.fill(**written), prompt.purpose, schema=schema, max_tokens=inquiry.max_tokens)
    asked = CountedCalls(model)
    try:
        found = ask(asked, request)
    except ModelFailed as error:
        return NoAnswer(error.cause(), prompt.purpose, asked.usage)
    return Answer(found, prompt.purpose, asked.usage)
