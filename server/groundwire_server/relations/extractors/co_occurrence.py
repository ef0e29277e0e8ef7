"""Names of the glossary that stand in one passage: what a document mentions, and what stands near what (semantics 12).

Deterministic: the glossary and the text decide, and nothing else. A name that may mean several terms means none here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from groundwire_server.evidence import Label, Span
from groundwire_server.glossary import Glossary, TermMention
from groundwire_server.relations.extractors.extraction import (
    Check,
    Extraction,
    FoundRelation,
    Passage,
    SourceDocument,
)

__all__ = [
    "CO_OCCURRENCE",
    "CO_OCCURS_WITH",
    "MAX_MENTIONS",
    "MAX_PAIRS",
    "MAX_REACH",
    "MENTIONS",
    "CoOccurrenceExtractor",
]

CO_OCCURRENCE = "co_occurrence"
CO_OCCURS_WITH, MENTIONS = "co_occurs_with", "mentions"

MAX_PAIRS = 64
"""Pairs of names that a passage gives: those that stand nearest."""
MAX_MENTIONS = 256
"""Terms that a passage mentions: the first ones."""
MAX_REACH = 2000
"""Code points from the first of two names to the end of the second; what stands farther apart is no pair."""

_VERSION = 1
_ENTITY = "entity"
_MEMBER = "dimension"
_KIND = re.compile(r"[a-z][a-z0-9_]{0,63}")  # of a node; a dimension may be called otherwise

Node = tuple[str, str]
_Place = tuple[int, int]  # start and end in the passage


@dataclass(frozen=True)
class CoOccurrenceExtractor:
    """Two kinds of edges for each passage, by the longest names of the glossary in it:

    - `mentions`, from the document to each term. It stands on the first place of its name in the passage.
    - `co_occurs_with`, between two terms one of which is an entity, ends in order of kind and code, since it holds in
      both directions. It stands on the shortest stretch that begins with one name and ends with the other.

    What two overlapping passages share is found once, in the first.
    """

    glossary: Glossary = field(compare=False)
    version: str = ""
    name: str = CO_OCCURRENCE
    unverified: bool = False
    clearance: Label = Label.CONFIDENTIAL
    immediate: bool = True
    parallel: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "version", f"{CO_OCCURRENCE}/{_VERSION} {self.glossary.content_hash}")

    def extract(self, document: SourceDocument, check: Check = lambda: None) -> Extraction:
        """What the document states; see `RelationExtractor.extract`."""
        if document.label > self.clearance or not len(self.glossary):
            return Extraction()
        found: list[FoundRelation] = []
        left_out: dict[int, int] = {}
        seen: set[tuple[Node, str, Node, Span]] = set()
        source: Node = ("document", document.doc_id)
        for number, passage in enumerate(document.passages):
            check()
            mentions = [
                (node, (mention.span.start, mention.span.end))
                for mention in self.glossary.find_terms(passage.text)
                for node in _node(mention)
            ]
            firsts: dict[Node, _Place] = {}
            for node, place in mentions:
                firsts.setdefault(node, place)
            pairs = _pairs(mentions)
            kept = [(source, MENTIONS, node, place) for node, place in list(firsts.items())[:MAX_MENTIONS]]
            kept += [(first, CO_OCCURS_WITH, second, place) for place, first, second in pairs[:MAX_PAIRS]]
            more = max(0, len(firsts) - MAX_MENTIONS) + max(0, len(pairs) - MAX_PAIRS)
            if more:
                left_out[number] = more
            for start, relation, end, place in kept:
                span = _in_source(passage, place)
                if (start, relation, end, span) not in seen:
                    seen.add((start, relation, end, span))
                    found.append(FoundRelation(start, relation, end, span, number))
        return Extraction(tuple(found), left_out)


def _node(mention: TermMention) -> Iterator[Node]:
    """The node of a name; none where it may mean several terms."""
    if len(mention.terms) == 1:
        (term,) = mention.terms
        kind = term.dimension if term.kind == _MEMBER else term.kind
        if _KIND.fullmatch(kind):
            yield kind, term.code


def _pairs(mentions: Iterable[tuple[Node, _Place]]) -> list[tuple[_Place, Node, Node]]:
    """Every pair with its shortest stretch, the shortest first, then the first, then by ends.

    A name is compared with the last place of each of the names before it, and with no more of these than may be kept.
    """
    last: dict[Node, _Place] = {}  # the latest at the end
    nearest: dict[tuple[Node, Node], _Place] = {}
    for node, (start, end) in mentions:
        for steps, (other, (begin, _)) in enumerate(reversed(last.items())):
            if end - begin > MAX_REACH or steps > MAX_PAIRS:
                break
            if other == node or _ENTITY not in (other[0], node[0]):
                continue
            ends = (other, node) if other < node else (node, other)
            if ends not in nearest or end - begin < nearest[ends][1] - nearest[ends][0]:
                nearest[ends] = (begin, end)
        last.pop(node, None)
        last[node] = (start, end)
    found = [(place, first, second) for (first, second), place in nearest.items()]
    return sorted(found, key=lambda pair: (pair[0][1] - pair[0][0], *pair))


def _in_source(passage: Passage, place: _Place) -> Span:
    return Span(passage.span.start + place[0], passage.span.start + place[1])
