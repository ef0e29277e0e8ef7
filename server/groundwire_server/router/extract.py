"""An answer without a model: the sentences of the found passages that say most about the question, verbatim.

Sentences are weighed by BM25 among themselves: a word that stands in all of them (the subject of the passages) tells
little, one that few have tells much, so no list of stop words is needed. Passages that were found first count more.
When no sentence holds a fair share of what the question's words weigh, nothing is quoted: passages are always found,
and not every one of them is about the question.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from groundwire_server.evidence import Snippet, Span, TextPassage, Trust, slice_text
from groundwire_server.text import is_cjk, sentence_spans, tokenize

__all__ = ["Quotation", "choose_quotations"]

MAX_QUOTATIONS = 3
PASSAGES = 5
_LONGEST_SENTENCE = 400
_K1, _B = 1.2, 0.5
_RANK_WEIGHT = 0.9  # what a passage's sentences count, against those of the passage before it
_ENOUGH = 0.5  # share of the best sentence's score that a further one must reach
_COVERED = 0.15  # share of the weight of the question's words that the best sentence must hold


@dataclass(frozen=True, slots=True)
class Quotation:
    """A sentence of a passage, exactly as it stands there."""

    snippet: Snippet
    sentence: str


@dataclass(frozen=True, slots=True)
class _Candidate:
    passage: int
    start: int
    sentence: str
    held: frozenset[str]
    score: float
    coverage: float


def choose_quotations(wordings: Sequence[Collection[str]], snippets: Sequence[Snippet]) -> list[Quotation]:
    """At most three sentences, in the order of the passages; empty when none says enough about the question.

    Args:
        wordings: tokens of what the question is about, without its asking words: its own first, then of the wordings
            that were searched beside it. The one that fits the passages best decides.
        snippets: what was found, best first. Only citable passages are quoted.
    """
    passages = [
        (snippet, snippet.payload)
        for snippet in snippets[:PASSAGES]
        if isinstance(snippet.payload, TextPassage) and snippet.trust is Trust.CITABLE
    ]
    texts = [payload.text for _, payload in passages]
    weighed = [_weigh(_telling(wanted), texts) for wanted in wordings]
    candidates = max(weighed, key=lambda some: max((each.coverage for each in some), default=0.0), default=[])
    if max((candidate.coverage for candidate in candidates), default=0.0) < _COVERED:
        return []
    chosen = _pick(candidates)
    chosen.sort(key=lambda candidate: (candidate.passage, candidate.start))
    return [Quotation(passages[candidate.passage][0], candidate.sentence) for candidate in chosen]


def _telling(wanted: Collection[str]) -> frozenset[str]:
    """Pairs of CJK characters and words; single CJK characters only where there is nothing else."""
    longer = frozenset(token for token in wanted if len(token) > 1 or not is_cjk(token))
    return longer or frozenset(wanted)


def _weigh(telling: frozenset[str], texts: Sequence[str]) -> list[_Candidate]:
    sentences = [(number, span) for number, text in enumerate(texts) for span in _sentences(text)]
    tokens = [Counter(tokenize(slice_text(texts[number], span))) for number, span in sentences]
    lengths = [counted.total() for counted in tokens]
    average = sum(lengths) / len(lengths) if lengths else 0.0
    spread = Counter(token for counted in tokens for token in counted.keys() & telling)
    weight = {
        token: math.log(1 + (len(tokens) - spread[token] + 0.5) / (spread[token] + 0.5)) for token in sorted(telling)
    }
    everything = math.fsum(weight.values())
    candidates: list[_Candidate] = []
    for (number, span), counted, length in zip(sentences, tokens, lengths, strict=True):
        held = counted.keys() & telling
        damping = _K1 * (1 - _B + _B * length / average) if average else 0.0
        score = math.fsum(weight[token] * counted[token] * (_K1 + 1) / (counted[token] + damping) for token in held)
        if held:
            sentence = slice_text(texts[number], span)
            score *= _RANK_WEIGHT**number
            coverage = math.fsum(weight[token] for token in held) / everything
            candidates.append(_Candidate(number, span.start, sentence, frozenset(held), score, coverage))
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.passage, candidate.start))


def _pick(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """The best one, and others that are nearly as good or say more; never the same words twice."""
    chosen: list[_Candidate] = []
    covered: set[str] = set()
    for candidate in candidates:
        if len(chosen) == MAX_QUOTATIONS:
            break
        if any(candidate.sentence in other.sentence or other.sentence in candidate.sentence for other in chosen):
            continue
        if not chosen or (candidate.score >= _ENOUGH * chosen[0].score and candidate.held - covered):
            chosen.append(candidate)
            covered |= candidate.held
    return chosen


_LINE = re.compile(r"[^\n]+")
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")


def _sentences(text: str) -> list[Span]:
    """Sentences without blanks around them. A blank line ends one, as does any line end where one is very long."""
    found: list[Span] = []
    for whole in sentence_spans(text):
        at = whole.start
        for gap in [*_BLANK_LINE.finditer(text, whole.start, whole.end), None]:
            end = whole.end if gap is None else gap.start()
            found += _lines(text, at, end) if end - at > _LONGEST_SENTENCE else [Span(at, end)]
            at = end if gap is None else gap.end()
    stripped = (_strip(text, span) for span in found)
    return [span for span in stripped if span.start < span.end]


def _lines(text: str, start: int, end: int) -> list[Span]:
    return [Span(line.start(), line.end()) for line in _LINE.finditer(text, start, end)]


def _strip(text: str, span: Span) -> Span:
    part = slice_text(text, span)
    start = span.start + len(part) - len(part.lstrip())
    return Span(start, max(start, span.start + len(part.rstrip())))
