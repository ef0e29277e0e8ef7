"""What a question says: its terms, periods and cue words, and what is left over (semantics 11)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from groundwire_server.evidence import Call, Span, slice_text
from groundwire_server.glossary import PeriodMention, find_period_mentions
from groundwire_server.metric import vocabulary_of
from groundwire_server.router.cues import Cue, cue_pattern
from groundwire_server.router.frames import Slot
from groundwire_server.text import FUNCTION_WORDS, align, content_spans, detect_language, has_borders

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["CueMention", "Named", "Phrase", "Reading", "read_question"]


@dataclass(frozen=True, slots=True)
class Named:
    """A name of a term in a question. `codes`: all that it may mean, sorted. `axis`: of a member of a further axis."""

    kind: str
    raw: str
    span: Span
    codes: tuple[str, ...]
    axis: str = ""

    @property
    def code(self) -> str:
        """What it means; empty where that is several things."""
        return self.codes[0] if len(self.codes) == 1 else ""

    @property
    def said(self) -> str:
        """The code, or the name where it has none of its own."""
        return self.code or self.raw


@dataclass(frozen=True, slots=True)
class CueMention:
    """A cue word in a question."""

    cue: Cue
    raw: str
    span: Span


@dataclass(frozen=True, slots=True)
class Phrase:
    """A stretch of content that no term, period or cue explains."""

    raw: str
    span: Span


@dataclass(frozen=True, slots=True)
class Reading:
    """A question, read."""

    question: str
    language: str
    names: tuple[Named, ...]
    periods: tuple[PeriodMention, ...]
    cues: tuple[CueMention, ...]
    phrases: tuple[Phrase, ...]

    def of_kind(self, kind: str) -> tuple[Named, ...]:
        """Names of one kind, each meaning once, in text order."""
        return tuple({(name.axis, name.codes): name for name in reversed(self.names) if name.kind == kind}.values())[
            ::-1
        ]

    def has(self, *cues: Cue) -> bool:
        """Whether one of these cues is there."""
        return any(mention.cue in cues for mention in self.cues)

    def first(self, *cues: Cue) -> str:
        """The first of these cues, as the question has it; empty: none is there."""
        return next((mention.raw for mention in self.cues if mention.cue in cues), "")

    def places(self, cue: Cue) -> list[int]:
        """Where the cue stands, ascending."""
        return [mention.span.start for mention in self.cues if mention.cue is cue]

    def only_compares(self, phrase: Phrase) -> bool:
        """Whether a phrase holds nothing but words that set figures against each other: change, 増減, 变化."""
        inside = [m for m in self.cues if m.cue is Cue.COMPUTE and _overlap(m.span, phrase.span)]
        return sum(m.span.end - m.span.start for m in inside) >= len("".join(phrase.raw.split()))

    def slots(self) -> tuple[Slot, ...]:
        """All that was recognised, in text order."""
        found = [Slot(name.axis or name.kind, name.raw, name.code, name.span) for name in self.names]
        found += [
            Slot("period", each.text, each.period.canonical if each.period is not None else "", each.span)
            for each in self.periods
        ]
        found += [Slot("cue", mention.raw, "", mention.span) for mention in self.cues]
        return tuple(sorted(found, key=lambda slot: (slot.span.start, slot.span.end) if slot.span else (0, 0)))


def read_question(question: str, call: Call, snapshots: Sequence[Snapshot]) -> Reading:
    """Read a question with the names of all libraries together; where names overlap the longest wins."""
    language = detect_language(question)
    names = _names(question, call, snapshots)
    mentions = find_period_mentions(question, reference=call.reference_day, language=language)
    periods = tuple(each for each in mentions if not any(_longer(name.span, each.span) for name in names))
    names = [name for name in names if not any(_overlap(name.span, each.span) for each in periods)]
    taken = [*(name.span for name in names), *(each.span for each in periods)]
    cues = _cues(question, taken)
    asking = [mention.span for mention in cues if mention.cue is not Cue.COMPUTE]  # a change may be part of a name
    phrases = _phrases(question, language, taken, asking)
    return Reading(question, language, tuple(names), periods, tuple(cues), tuple(phrases))


def _names(question: str, call: Call, snapshots: Sequence[Snapshot]) -> list[Named]:
    found: dict[tuple[int, int], set[tuple[str, str, str]]] = {}
    for snapshot in snapshots:
        for mention in vocabulary_of(snapshot, call.principal).find_terms(question):
            if not _is_function_word(mention.text):
                refs = {(ref.kind, ref.dimension, ref.code) for ref in mention.terms}
                found.setdefault((mention.span.start, mention.span.end), set()).update(refs)
    kept: list[Named] = []
    taken = bytearray(len(question))
    for start, end in sorted(found, key=lambda place: (place[0] - place[1], place[0])):
        span = Span(start, end)
        if taken[start] or taken[end - 1]:  # those kept are no shorter: one that overlaps holds an end of it
            continue
        taken[start:end] = b"\1" * (end - start)
        refs = found[start, end]
        kind, axis = min(((ref[0], ref[1]) for ref in refs), key=lambda ref: (_KINDS.index(ref[0]), ref[1]))
        codes = tuple(sorted(code for ref_kind, ref_axis, code in refs if (ref_kind, ref_axis) == (kind, axis)))
        kept.append(Named(kind, slice_text(question, span), span, codes, axis))
    return sorted(kept, key=lambda name: name.span.start)


_KINDS = ("metric", "entity", "channel", "dimension")


def _is_function_word(raw: str) -> bool:
    """Whether a name is only a little word of the language here: "us" is no country, "US" is."""
    return raw.isascii() and raw.islower() and raw in FUNCTION_WORDS


def _cues(question: str, taken: Sequence[Span]) -> list[CueMention]:
    aligned = align(question)
    found: list[CueMention] = []
    for cue in Cue:
        at = 0
        while (match := cue_pattern(cue).search(aligned.normal, at)) is not None:
            at = match.end()
            if not has_borders(aligned.normal, match.start(), match.end()):
                at = match.start() + 1
                continue
            span = aligned.span(match.start(), match.end())
            if not any(_overlap(span, other) for other in taken):
                found.append(CueMention(cue, slice_text(question, span), span))
    return sorted(found, key=lambda mention: (mention.span.start, -mention.span.end, mention.cue.value))


# What may stand inside one phrase between two of its words.
_JOINER = re.compile(r"\s*(?:[-‐‑–&/,'’.・+]|of|and|the|an?|の|的|和|与|與|及|と)?\s*", re.IGNORECASE)


def _phrases(question: str, language: str, taken: Sequence[Span], cues: Sequence[Span]) -> list[Phrase]:
    covered = bytearray(len(question))
    for span in (*taken, *cues):
        covered[span.start : span.end] = b"\1" * (span.end - span.start)
    pieces = [piece for piece in content_spans(question, language, covered) if piece.start < piece.end]
    merged: list[Span] = []
    for piece in pieces:
        if merged:
            between = slice(merged[-1].end, piece.start)
            if not any(covered[between]) and _joins(question[between]):
                merged[-1] = Span(merged[-1].start, piece.end)
                continue
        merged.append(piece)
    return [Phrase(slice_text(question, span), span) for span in merged]


def _joins(between: str) -> bool:
    """Whether the text between two words of content keeps them in one phrase."""
    while between:
        match = _JOINER.match(between)
        if match is None or match.end() == 0:
            return False
        between = between[match.end() :]
    return True


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _longer(one: Span, other: Span) -> bool:
    """Whether two stretches overlap and the first is the longer, or as long."""
    return _overlap(one, other) and one.end - one.start >= other.end - other.start
