"""One word of a few that a language model says of a question: its route, how many steps it needs.

The model is told the question alone. What goes wrong is no error: there is no word then, and why.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from groundwire_server.errors import Cause, DeadlineExceeded, ErrorReason
from groundwire_server.evidence import BudgetOver, Call, CallCancelled, Degradation, DegradationKind
from groundwire_server.llm import (
    ChatRequest,
    ModelFailed,
    ModelProvider,
    Reply,
    Stop,
    Usage,
    UsageMeter,
    ask_json,
    go_on,
    load_prompt,
)

__all__ = ["Choice", "Wish", "choose_word"]

_log = logging.getLogger(__name__)
_MOST_TOKENS = 128


@dataclass(frozen=True, slots=True)
class Wish:
    """What a model is to say of a question.

    Attributes:
        prompt: its name. field: of the object that is answered. words: that may be said.
        component, kind: of the degradation where none is said.
    """

    prompt: str
    field: str
    words: tuple[str, ...]
    component: str
    kind: DegradationKind


@dataclass(frozen=True, slots=True)
class Choice:
    """The word; empty: `lost` tells why there is none. `usage` is that of all tries, as the model counts it."""

    word: str
    usage: Usage = Usage()  # noqa: RUF009 - a frozen value
    lost: Degradation | None = None


def choose_word(wish: Wish, question: str, language: str, model: ModelProvider | None, call: Call) -> Choice:
    """What the model says; it is asked a second time where it says something else.

    Raises:
        CallCancelled, DeadlineExceeded: the call is over. A soft budget that runs out is no error: BUDGET_CUT.
    """
    if model is None:
        return Choice("", lost=_lost(wish, Cause(ErrorReason.NO_MODEL, "The server has no language model.")))
    prompt = load_prompt(wish.prompt, language)
    schema = {
        "type": "object",
        "properties": {wish.field: {"type": "string", "enum": list(wish.words)}},
        "required": [wish.field],
        "additionalProperties": False,
    }
    messages = prompt.fill(question=json.dumps(question, ensure_ascii=False))
    request = ChatRequest(messages, prompt.purpose, schema=schema, max_tokens=_MOST_TOKENS)
    counted = _Counted(model)
    bounded = call.softly(before_end=True).cancel
    try:
        bounded.check(wish.prompt)
        word = ask_json(
            counted, request, lambda found: _word(found, wish.field, wish.words), lambda: bounded.check(wish.prompt)
        )
    except BudgetOver:
        return Choice("", counted.usage, Degradation(DegradationKind.BUDGET_CUT, wish.component))
    except (CallCancelled, DeadlineExceeded):
        raise
    except ModelFailed as error:
        return Choice("", counted.usage, _lost(wish, error.cause()))
    except Exception as error:  # noqa: BLE001 - whatever a model's client raises, the question is answered
        _log.warning("the model of %s failed: %s", wish.component, type(error).__name__)
        return Choice("", counted.usage, _lost(wish, Cause(ErrorReason.MODEL_FAILED, "The model failed.")))
    return Choice(word, counted.usage)


def _word(found: Mapping[str, Any], field: str, words: Sequence[str]) -> str:
    said = found.get(field)
    word = said.strip().casefold() if isinstance(said, str) else ""
    if word not in words:
        raise ValueError(f"none of {', '.join(words)}")
    return word


def _lost(wish: Wish, cause: Cause) -> Degradation:
    return Degradation(wish.kind, wish.component, cause=cause)


class _Counted:
    """A provider whose use in one call is added up."""

    def __init__(self, model: ModelProvider) -> None:
        self._model = model
        self.usage = Usage()

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def model(self) -> str:
        return self._model.model

    @property
    def meter(self) -> UsageMeter:
        return self._model.meter

    def chat(self, request: ChatRequest, stop: Stop = go_on) -> Reply:
        """As the provider does."""
        try:
            reply = self._model.chat(request, stop)
        except ModelFailed:
            self.usage += Usage(failures=1)
            raise
        self.usage += reply.usage
        return reply

    def stream(self, request: ChatRequest, stop: Stop = go_on) -> Any:
        """As the provider does; not counted."""
        return self._model.stream(request, stop)

    def close(self) -> None:
        """It is not ours."""
