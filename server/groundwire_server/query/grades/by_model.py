"""Whether some passage answers a question, as a language model judges it."""

from __future__ import annotations

import json
from typing import Any

from groundwire_server.errors import Cause, ErrorReason, GroundwireError
from groundwire_server.llm import ChatRequest, CountedCalls, ModelProvider, Stop, ask_json, load_prompt
from groundwire_server.query.grades.grader import Grade, Ground, grade_skipped

__all__ = ["ModelGrader"]

_LONGEST_PASSAGE = 2000
_MAX_REPLY_TOKENS = 256
_SCHEMA = {
    "type": "object",
    "properties": {"useful": {"type": "array", "items": {"type": "integer"}}},
    "required": ["useful"],
}


class ModelGrader:
    """Asks a model which passages answer the question; one is enough."""

    name = "llm"
    asks_model = True

    def grade(self, ground: Ground, model: ModelProvider | None, stop: Stop) -> Grade:
        """See `Grader.grade`."""
        stop()
        if not ground.passages:
            return Grade(enough=False, detail="nothing")
        if model is None:
            return grade_skipped(self.name, Cause(ErrorReason.NO_MODEL, "The server has no language model."))
        prompt = load_prompt("grade", ground.question.language)
        shown = [{"passage": place, "text": text[:_LONGEST_PASSAGE]} for place, text in enumerate(ground.passages)]
        request = ChatRequest(
            prompt.fill(question=_json(ground.question.text), passages=_json(shown)),
            prompt.purpose,
            schema=_SCHEMA,
            max_tokens=_MAX_REPLY_TOKENS,
        )
        asked = CountedCalls(model)
        try:
            useful = ask_json(asked, request, lambda found: _useful(found, len(shown)), stop)
        except GroundwireError as error:
            if error.reason is not ErrorReason.MODEL_FAILED:
                raise  # the end of the call
            return grade_skipped(self.name, error.cause(), prompt.purpose, asked.usage)
        return Grade(useful > 0, f"useful={useful}", prompt.purpose, asked.usage)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _useful(found: dict[str, Any], passages: int) -> int:
    """How many passages a reply names. Raises ValueError where it is not the form that was asked for."""
    listed = found.get("useful")
    if not isinstance(listed, list):
        raise ValueError("no list")
    return len(
        {each for each in listed if isinstance(each, int) and not isinstance(each, bool) and 0 <= each < passages}
    )
