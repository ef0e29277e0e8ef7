"""The nodes of the relation graph that a question names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from groundwire_server.glossary import Glossary
from groundwire_server.graph.nodes import ENTITY, Node

if TYPE_CHECKING:
    from groundwire_server.adjacency import Sight

__all__ = ["named_nodes"]

_WORD = re.compile(r"[^\s,;:?!\"“”。？！、，；：]+")
_MOST_WORDS = 64
_LONGEST = 6
_TERMS = {"metric", "entity", "channel"}


def named_nodes(question: str, glossary: Glossary, sight: Sight) -> list[Node]:
    """Terms of the glossary in the question, and entities whose code stands there as it is, each once, in order.

    Only nodes that a visible edge touches: from others nothing leads anywhere.
    """
    found: dict[Node, None] = {}
    for node in (*_of_terms(question, glossary), *_of_codes(question, sight)):
        if _is_there(node, sight):
            found.setdefault(node)
    return list(found)


def _is_there(node: Node, sight: Sight) -> bool:
    number = sight.view.find(*node)
    return number is not None and sight.touches(number)


def _of_terms(question: str, glossary: Glossary) -> Iterator[Node]:
    for mention in glossary.find_terms(question) if len(glossary) else ():
        for term in mention.terms:
            yield (term.kind if term.kind in _TERMS else term.dimension, term.code)


def _of_codes(question: str, sight: Sight) -> Iterator[Node]:
    """The longest stretches of words that are the code of an entity there is, from left to right."""
    words = [match.span() for match in _WORD.finditer(question)][:_MOST_WORDS]
    at = 0
    while at < len(words):
        for length in range(min(_LONGEST, len(words) - at), 0, -1):
            code = question[words[at][0] : words[at + length - 1][1]]
            if _is_there((ENTITY, code), sight):  # the view knows hidden and dead ones too
                yield ENTITY, code
                at += length - 1
                break
        at += 1
