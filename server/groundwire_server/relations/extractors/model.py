"""Relations that a language model finds: unverified, each on a quotation that really stands there (semantics 12).

A model is shown passages up to a clearance and nothing else, and what it says is taken for nothing but a pointer into
them: a relation whose quotation, or whose names, are not in the passage is dropped, and so is one that names an outside
name at either end. What is stored is the text of the passage, never the model's.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from groundwire_server.evidence import Label, Span, slice_text
from groundwire_server.glossary import Ambiguous, EntityTerm, Glossary, Resolved, names_of, resolve_name
from groundwire_server.llm import (
    ChatRequest,
    ModelAnswerUnusable,
    ModelFailed,
    ModelProvider,
    Prompt,
    ask_json,
    load_prompt,
)
from groundwire_server.relations.extractors.co_occurrence import CO_OCCURS_WITH, MENTIONS
from groundwire_server.relations.extractors.extraction import Check, Extraction, FoundRelation, SourceDocument
from groundwire_server.relations.extractors.registry import LLM
from groundwire_server.security import SecurityGate
from groundwire_server.text import detect_language, find_term, sentence_spans

__all__ = ["MAX_CALLS", "MAX_CALL_CHARS", "MAX_RELATIONS", "ModelExtractor"]

MAX_RELATIONS = 64
"""Relations that are taken from one call (semantics 12)."""
MAX_CALL_CHARS = 6000
"""Code points of the passages that one call shows."""
MAX_CALLS = 200
"""Calls for one document; passages behind them are not read."""

_RULES = 1  # of what is taken from an answer
_PROMPT = "relations"
_ENTITY = "entity"
_LONGEST_NAME = 200
_LONGEST_QUOTE = 1000
_MOST_PIECES = 32
_RELATION = re.compile(r"[a-z][a-z0-9_]{0,63}")
# What the house itself finds, and a model does not.
_RESERVED = frozenset({CO_OCCURS_WITH, MENTIONS, "derives", "derived_from", "has_member", "member_of", "reports"})
_COMMON = ("acquired", "competes_with", "employs", "founded", "located_in", "owned_by", "parent_of", "part_of")
_COMMON_TOO = ("partner_of", "produces", "subsidiary_of", "supplies")
_MOST_NAMED = 60
# Statuses that say that this text cannot be answered, and nothing of the next one.
_OF_THE_TEXT = frozenset({400, 413, 422})

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["relations"],
    "properties": {
        "relations": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["passage", "subject", "relation", "object", "quote"],
                "properties": {
                    "passage": {"type": "integer"},
                    "subject": {"type": "string"},
                    "relation": {"type": "string"},
                    "object": {"type": "string"},
                    "quote": {"type": "string"},
                },
            },
        }
    },
}


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a passage: where it begins in the source text, and which passage it is of."""

    text: str
    start: int
    passage: int


class ModelExtractor:
    """Asks a model, a few passages of one document at a time.

    Args:
        glossary: its entities and relations are what names mean.
        gate: outside names.
        clearance: the strictest label that the model may be shown.
        parallel: documents on which it may be asked at a time.
    """

    name = LLM
    unverified = True
    immediate = False

    def __init__(
        self,
        glossary: Glossary,
        provider: ModelProvider,
        gate: SecurityGate,
        clearance: Label = Label.INTERNAL,
        parallel: int = 1,
    ) -> None:
        self._glossary = glossary
        self._provider = provider
        self._gate = gate
        self.parallel = parallel
        self.clearance = min(clearance, Label.CONFIDENTIAL)
        prompt = load_prompt(_PROMPT, "en")
        self.version = f"{LLM}/{_RULES} {prompt.purpose} {provider.name} {provider.model} {self.clearance.name}"

    def extract(self, document: SourceDocument, check: Check = lambda: None) -> Extraction:
        """What the document states, as the model reads it; see `RelationExtractor.extract`.

        Raises:
            ModelFailed: the model does not answer, as of now.
        """
        if document.label > self.clearance:
            return Extraction()
        found: dict[FoundRelation, None] = {}
        places: set[tuple[object, ...]] = set()
        dropped: Counter[str] = Counter()
        unread: set[int] = set()
        for number, pieces in enumerate(_batches(document)):
            check()
            if number >= MAX_CALLS:
                unread.update(piece.passage for piece in pieces)
                continue
            try:
                answered = self._ask(pieces, check)
            except ModelAnswerUnusable:
                unread.update(piece.passage for piece in pieces)
                continue
            except ModelFailed as error:
                if error.http_status not in _OF_THE_TEXT:
                    raise
                unread.update(piece.passage for piece in pieces)
                continue
            dropped["over the bound"] += max(0, len(answered) - MAX_RELATIONS)
            for item in answered[:MAX_RELATIONS]:
                relation = self._judge(item, pieces)
                if isinstance(relation, str):
                    dropped[relation] += 1
                elif (place := _place(relation)) not in places:
                    places.add(place)
                    found[relation] = None
        ordered = sorted(found, key=lambda each: (each.passage, each.span.start, each.span.end, _place(each)))
        return Extraction(tuple(ordered), dropped=dict(sorted((+dropped).items())), unread=tuple(sorted(unread)))

    def _ask(self, pieces: Sequence[_Piece], check: Check) -> list[object]:
        """What the model answers, as a list of whatever it says."""
        prompt: Prompt = load_prompt(_PROMPT, detect_language("\n".join(piece.text for piece in pieces)))
        shown = [{"passage": number, "text": piece.text} for number, piece in enumerate(pieces)]
        messages = prompt.fill(
            relations=", ".join(self._relations()),
            most=str(MAX_RELATIONS),
            passages=json.dumps(shown, ensure_ascii=False, indent=0),
        )
        return ask_json(self._provider, ChatRequest(messages, prompt.purpose, _SCHEMA), _list_of, check)

    def _relations(self) -> list[str]:
        """Names of relations to choose from: those of the glossary first."""
        return sorted({*sorted(self._glossary.relations)[:_MOST_NAMED], *_COMMON, *_COMMON_TOO} - _RESERVED)

    def _judge(self, item: object, pieces: Sequence[_Piece]) -> FoundRelation | str:
        """The relation that an item states, or why it is not taken."""
        if not isinstance(item, dict):
            return "malformed"
        number, subject, relation, target, quote = (
            item.get(name) for name in ("passage", "subject", "relation", "object", "quote")
        )
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < len(pieces):
            return "malformed"
        texts = (subject, relation, target, quote)
        if not all(isinstance(text, str) and text.strip() for text in texts) or len(str(quote)) > _LONGEST_QUOTE:
            return "malformed"
        piece = pieces[number]
        span = _find(piece.text, str(quote).strip())
        if span is None:
            return "not in the text"
        quoted = slice_text(piece.text, span)
        ends = [self._end(quoted, str(name)) for name in (subject, target)]
        if isinstance(ends[0], str):
            return ends[0]
        if isinstance(ends[1], str):
            return ends[1]
        if ends[0] == ends[1]:
            return "one end twice"
        named = self._relation(str(relation))
        if named is None:
            return "no name of a relation"
        stored, turned = named
        source, end = reversed(ends) if turned else ends
        at = Span(piece.start + span.start, piece.start + span.end)
        return FoundRelation((_ENTITY, source[0]), stored, (_ENTITY, end[0]), at, piece.passage)

    def _end(self, quoted: str, name: str) -> tuple[str] | str:
        """The code of a name that stands in a quotation; or why there is none."""
        name = name.strip()
        span = _find(quoted, name) if len(name) <= _LONGEST_NAME else None
        if span is None or not any(char.isalnum() for char in name):
            return "not in the text"
        written = " ".join(unicodedata.normalize("NFKC", slice_text(quoted, span)).split())
        if not written or any(unicodedata.category(char) in ("Cc", "Cs") for char in written):
            return "malformed"
        found = resolve_name(written, (self._glossary.entity_names,), drop_note=False, suggest=False)
        if isinstance(found, Ambiguous):
            return "a name of several"
        code = found.code if isinstance(found, Resolved) else written
        if len(code.encode()) > 512:
            return "malformed"
        term = self._glossary.entities.get(code)
        known = names_of(term) if isinstance(term, EntityTerm) else ()
        return (code,) if all(self._gate.passes(each) for each in (name, written, code, *known)) else "an outside name"

    def _relation(self, name: str) -> tuple[str, bool] | None:
        """The stored name of a relation and whether its ends change places; None: it is none."""
        found = resolve_name(name, (self._glossary.relation_index,), drop_note=False, suggest=False)
        written = unicodedata.normalize("NFKC", name).strip().casefold()
        code = found.code if isinstance(found, Resolved) else re.sub(r"[\s\-]+", "_", written)
        stored, turned = self._glossary.relation_names.resolve(code)
        if isinstance(found, Ambiguous) or stored in _RESERVED or code in _RESERVED:
            return None
        return (stored, turned) if isinstance(found, Resolved) or _RELATION.fullmatch(stored) else None


def _list_of(answer: dict[str, Any]) -> list[object]:
    relations = answer.get("relations")
    if not isinstance(relations, list):
        raise ValueError("no list of relations")
    return relations


def _find(text: str, wanted: str) -> Span | None:
    """Where a text first holds another one between borders, in normal form and with any blanks between words."""
    return next(iter(find_term(text, wanted, across_blanks=True)), None)


def _place(relation: FoundRelation) -> tuple[object, ...]:
    return relation.source, relation.relation, relation.target, (relation.span.start, relation.span.end)


def _batches(document: SourceDocument) -> Iterator[list[_Piece]]:
    """The passages of a document, cut where one is too long, as many at a time as a call shows."""
    batch: list[_Piece] = []
    size = 0
    for piece in _pieces(document):
        if batch and (size + len(piece.text) > MAX_CALL_CHARS or len(batch) >= _MOST_PIECES):
            yield batch
            batch, size = [], 0
        batch.append(piece)
        size += len(piece.text)
    if batch:
        yield batch


def _pieces(document: SourceDocument) -> Iterator[_Piece]:
    for number, passage in enumerate(document.passages):
        if not passage.text.strip():
            continue
        if len(passage.text) <= MAX_CALL_CHARS:
            yield _Piece(passage.text, passage.span.start, number)
            continue
        start = end = 0
        for sentence in sentence_spans(passage.text):
            if sentence.end - start > MAX_CALL_CHARS and end > start:
                yield _Piece(passage.text[start:end], passage.span.start + start, number)
                start = end
            while sentence.end - start > MAX_CALL_CHARS:
                yield _Piece(passage.text[start : start + MAX_CALL_CHARS], passage.span.start + start, number)
                start += MAX_CALL_CHARS
            end = sentence.end
        if end > start:
            yield _Piece(passage.text[start:end], passage.span.start + start, number)
