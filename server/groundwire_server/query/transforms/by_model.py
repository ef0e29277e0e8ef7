"""Transforms that a language model makes: a passage that might answer, other wordings, a broader question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from groundwire_server.errors import Cause, ErrorReason
from groundwire_server.evidence import QueryVariant
from groundwire_server.llm import Finish, ModelProvider, Reply, Stop
from groundwire_server.query.asking import Inquiry, NoAnswer, ask_for_text
from groundwire_server.query.query_text import MAX_QUERY_CHARS, QueryText
from groundwire_server.query.replies import read_passage, read_queries
from groundwire_server.query.transforms.transform import Transformed, skipped
from groundwire_server.text import normalize

__all__ = ["MAX_PASSAGE_CHARS", "ModelTransform", "first_passage", "queries"]

MAX_PASSAGE_CHARS = 1200
"""Code points of a passage that is made up; the rest is cut off behind a sentence."""


@dataclass(frozen=True, slots=True)
class ModelTransform:
    """Texts that a model writes after the prompt of the same name.

    Attributes:
        read: the texts in a reply. most: texts that are taken. passages: whether they are passages, or queries.
    """

    name: str
    read: Callable[[Reply], Sequence[str]]
    most: int
    passages: bool = False

    def apply(
        self, query: QueryText, model: ModelProvider | None, passes: Callable[[str], bool], stop: Stop
    ) -> Transformed:
        """See `Transform.apply`."""
        answer = ask_for_text(Inquiry(self.name, query.language, {"question": query.text}), model, stop)
        if isinstance(answer, NoAnswer):
            made = skipped(self.name, query, answer.cause)
        else:
            made = self._made(query, answer.found, passes)
        return replace(made, purpose=answer.purpose, usage=answer.usage)

    def _made(self, query: QueryText, reply: Reply, passes: Callable[[str], bool]) -> Transformed:
        if reply.finish is Finish.REFUSED:
            return self._nothing(query, "The model refused.")
        texts, outside = self._settle(query, self.read(reply), passes)
        if not texts and outside:
            return self._nothing(query, "All that the model wrote names something outside.", outside)
        if not texts:
            return self._nothing(query, "The model wrote nothing of use.")
        own = QueryVariant(query.text, "caller")
        if self.passages:
            return Transformed((own,), tuple(texts), outside)
        return Transformed((own, *(QueryVariant(text, self.name) for text in texts)), (), outside)

    def _settle(self, query: QueryText, texts: Sequence[str], passes: Callable[[str], bool]) -> tuple[list[str], int]:
        """The first `most` texts that say something else than the query and each other; and how many name outsiders."""
        seen = {normalize(""), normalize(query.text)}
        made: list[str] = []
        outside = 0
        for text in texts:
            normal = normalize(text)
            if normal in seen or (not self.passages and len(text) > MAX_QUERY_CHARS):
                continue
            seen.add(normal)
            if not passes(text):
                outside += 1
            elif len(made) < self.most:
                made.append(text)
        return made, outside

    def _nothing(self, query: QueryText, why: str, outside: int = 0) -> Transformed:
        return replace(skipped(self.name, query, Cause(ErrorReason.MODEL_FAILED, why)), outside=outside)


def queries(reply: Reply) -> list[str]:
    """The queries that a reply lists; the last one of a reply that was cut is none."""
    return read_queries(reply.text, whole=reply.finish is not Finish.LENGTH)


def first_passage(reply: Reply) -> list[str]:
    """The passage that a reply is."""
    return [read_passage(reply.text, MAX_PASSAGE_CHARS)]
