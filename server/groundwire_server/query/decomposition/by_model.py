"""Questions that a language model writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from groundwire_server.errors import Cause, ErrorReason
from groundwire_server.llm import Finish, ModelProvider, Reply, Stop
from groundwire_server.query.asking import Inquiry, NoAnswer, ask_for_text
from groundwire_server.query.decomposition.decomposer import Decomposed, settle, whole
from groundwire_server.query.query_text import QueryText
from groundwire_server.query.replies import read_queries

__all__ = ["ModelDecomposer"]


class ModelDecomposer:
    """Asks a model. One question, whatever its words, says that there is nothing to cut."""

    name = "llm"

    def apply(
        self, query: QueryText, model: ModelProvider | None, passes: Callable[[str], bool], stop: Stop
    ) -> Decomposed:
        """See `Decomposer.apply`."""
        answer = ask_for_text(Inquiry("decompose", query.language, {"question": query.text}), model, stop)
        made = whole(self.name, answer.cause) if isinstance(answer, NoAnswer) else self._made(answer.found, passes)
        return replace(made, purpose=answer.purpose, usage=answer.usage)

    def _made(self, reply: Reply, passes: Callable[[str], bool]) -> Decomposed:
        said = [] if reply.finish is Finish.REFUSED else read_queries(reply.text, whole=reply.finish is Finish.DONE)
        made = settle(said, passes)
        if len(made.questions) > 1:
            return made
        if len(made.questions) == 1 and not made.outside:
            return Decomposed()
        why = "What the model wrote names something outside." if made.outside else "The model wrote nothing of use."
        return whole(self.name, Cause(ErrorReason.MODEL_FAILED, why), made.outside)
