"""The transforms that there are (semantics 7): a passage that might answer, other wordings, a broader question."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from groundwire_server.errors import Cause, ErrorReason, InvalidRequest
from groundwire_server.evidence import QueryVariant
from groundwire_server.llm import ChatRequest, Finish, ModelFailed, ModelProvider, Reply, Stop, Usage, load_prompt
from groundwire_server.query.replies import read_passage, read_queries
from groundwire_server.query.transform import (
    MAX_QUERIES,
    MAX_QUERY_CHARS,
    MAX_REPLY_TOKENS,
    QueryText,
    Transform,
    Transformed,
    skipped,
)
from groundwire_server.text import normalize

__all__ = ["CORRECTIVE", "HYDE", "MAX_PASSAGE_CHARS", "TRANSFORMS", "make_rewriter", "make_transform"]

HYDE = "hyde"
MAX_PASSAGE_CHARS = 1200
"""Code points of a passage that is made up; the rest is cut off behind a sentence."""


@dataclass(frozen=True, slots=True)
class _ByModel:
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
        if model is None:
            return skipped(self.name, query, Cause(ErrorReason.NO_MODEL, "The server has no language model."))
        prompt = load_prompt(self.name, query.language)
        messages = prompt.fill(question=json.dumps(query.text, ensure_ascii=False))
        stop()
        try:
            reply = model.chat(ChatRequest(messages, prompt.purpose, max_tokens=MAX_REPLY_TOKENS), stop)
        except ModelFailed as error:
            return skipped(self.name, query, error.cause(), purpose=prompt.purpose, usage=Usage(failures=1))
        if reply.finish is Finish.REFUSED:
            return self._nothing(query, "The model refused.", 0, prompt.purpose, reply.usage)
        made, outside = self._settle(query, self.read(reply), passes)
        if not made:
            why = "All that the model wrote names something outside." if outside else "The model wrote nothing of use."
            return self._nothing(query, why, outside, prompt.purpose, reply.usage)
        own = QueryVariant(query.text, "caller")
        if self.passages:
            return Transformed((own,), tuple(made), outside, prompt.purpose, reply.usage)
        variants = (own, *(QueryVariant(text, self.name) for text in made))
        return Transformed(variants, (), outside, prompt.purpose, reply.usage)

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

    def _nothing(self, query: QueryText, why: str, outside: int, purpose: str, usage: Usage) -> Transformed:
        return skipped(self.name, query, Cause(ErrorReason.MODEL_FAILED, why), outside, purpose, usage)


def _queries(reply: Reply) -> list[str]:
    return read_queries(reply.text, whole=reply.finish is not Finish.LENGTH)


def _passage(reply: Reply) -> list[str]:
    return [read_passage(reply.text, MAX_PASSAGE_CHARS)]


_ALL: tuple[_ByModel, ...] = (
    _ByModel(HYDE, _passage, 1, passages=True),
    _ByModel("rag_fusion", _queries, MAX_QUERIES - 1),
    _ByModel("step_back", _queries, 1),
)

CORRECTIVE = "corrective"
_REWRITER = _ByModel(CORRECTIVE, _queries, 1)


def make_rewriter() -> Transform:
    """What writes another query after one that found too little; no call asks for it by name."""
    return _REWRITER


TRANSFORMS: tuple[str, ...] = tuple(sorted(each.name for each in _ALL))


def make_transform(name: str) -> Transform:
    """A transform by name.

    Raises:
        InvalidRequest: a name that none has; it lists the valid ones.
    """
    for each in _ALL:
        if each.name == name:
            return each
    raise InvalidRequest.one(
        "query_transform", ErrorReason.UNKNOWN_NAME, f"{name!r} is none of {', '.join(TRANSFORMS)}"
    )
