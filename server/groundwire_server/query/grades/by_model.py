"""Whether some passage answers a question, as a language model judges it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from groundwire_server.llm import ModelProvider, Stop
from groundwire_server.query.asking import Inquiry, NoAnswer, ask_for_json
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
        shown = [{"passage": place, "text": text[:_LONGEST_PASSAGE]} for place, text in enumerate(ground.passages)]
        question = ground.question
        inquiry = Inquiry("grade", question.language, {"question": question.text, "passages": shown}, _MAX_REPLY_TOKENS)
        answer = ask_for_json(inquiry, _SCHEMA, partial(_useful, passages=len(shown)), model, stop)
        if isinstance(answer, NoAnswer):
            made = grade_skipped(self.name, answer.cause)
        else:
            made = Grade(answer.found > 0, f"useful={answer.found}")
        return replace(made, purpose=answer.purpose, usage=answer.usage)


def _useful(found: dict[str, Any], passages: int) -> int:
    """How many passages a reply names. Raises ValueError where it is not the form that was asked for."""
    listed = found.get("useful")
    if not isinstance(listed, list):
        raise ValueError("no list")
    return len(
        {each for each in listed if isinstance(each, int) and not isinstance(each, bool) and 0 <= each < passages}
    )
