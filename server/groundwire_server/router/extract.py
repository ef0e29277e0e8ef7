"""An answer without a model: the sentences of the found passages that say most about the question, verbatim.

Sentences are weighed by BM25 with the words' weights in the library, so no list of stop words is needed; the words of a
long phrase share some of their weight. Passages that were found first count more. Passages are always found, and not
every one is about the question: when no sentence holds a fair share of what the words of the question weigh, or the
name that weighs most in it is missing from all of them, nothing is quoted. `docs/extractive.md` has the figures.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from groundwire_server.evidence import Snippet, TextPassage, Trust, slice_text
from groundwire_server.router.quotable import quotable_spans
from groundwire_server.text import detect_language, is_cjk, is_katakana, tokenize

__all__ = ["Quotation", "Wording", "choose_quotations"]

MAX_QUOTATIONS = 3
PASSAGES = 5
_K1, _B = 1.2, 0.5
_SHARED = 0.5  # 0: a phrase weighs as all of its words together; 1: as one of them
_RANK_WEIGHT = 0.9  # what a passage's sentences count, against those of the passage before it
_OPEN_END = 0.8  # what a line without a closing mark counts, against a sentence
_ENOUGH = 0.5  # share of the best sentence's score that a further one must reach
_COVERED = 1 / 4  # share of the weight of the question's words that some sentence must hold
_NAMED = 1 / 3  # share of the words of the weightiest name that the passages must hold

_CLOSED = re.compile(r"[.。!?！？；;”’」』）》\")]$")

Weigh = Callable[[str], float]


Phrases = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Wording:
    """What a question is about, in one wording: the tokens of each name, period and other phrase in it.

    Attributes:
        terms: names of the glossary.
        others: what is no name of the glossary.
        names: those of `others` that are written as names are.
        cjk: whether the question is in Chinese or Japanese. In passages of the other writing only terms are looked for:
            the glossary may have them in it, and nothing translates the rest.
    """

    terms: Phrases
    others: Phrases
    names: Phrases
    cjk: bool

    @classmethod
    def of(cls, terms: Sequence[str], others: Sequence[str], language: str) -> Wording:
        """From the phrases as they are written. Single CJK characters count only where a phrase has nothing else."""
        names = [phrase for phrase in others if _is_name(phrase)]
        return cls(_phrases(terms), _phrases(others), _phrases(names), language != "en")

    def phrases_in(self, *, cjk: bool) -> Phrases:
        """What to look for in passages of a writing."""
        return (*self.terms, *self.others) if cjk is self.cjk else self.terms

    def names_in(self, *, cjk: bool) -> Phrases:
        """What of it names something, so that a passage without it is about something else."""
        return (*self.terms, *self.names) if cjk is self.cjk else self.terms


@dataclass(frozen=True, slots=True)
class Quotation:
    """A sentence of a passage (or a row, or a question with its answer), exactly as it stands there."""

    snippet: Snippet
    sentence: str


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence of a passage, with its tokens."""

    passage: int
    cjk: bool
    start: int
    text: str
    tokens: Counter[str]


@dataclass(frozen=True, slots=True)
class _Candidate:
    sentence: _Sentence
    held: frozenset[str]
    score: float
    coverage: float


def choose_quotations(wordings: Sequence[Wording], weigh: Weigh, snippets: Sequence[Snippet]) -> list[Quotation]:
    """At most three sentences, in the order of the passages; empty when none says enough about the question.

    Args:
        wordings: the question's own first, then those that were searched beside it. The one that fits best decides.
        weigh: how much a token tells.
        snippets: what was found, best first. Only citable passages are quoted.
    """
    passages = [
        (snippet, snippet.payload)
        for snippet in snippets[:PASSAGES]
        if isinstance(snippet.payload, TextPassage) and snippet.trust is Trust.CITABLE
    ]
    sentences = [
        _Sentence(number, cjk, span.start, text, Counter(tokenize(text)))
        for number, (_, payload) in enumerate(passages)
        for cjk in (detect_language(payload.text) != "en",)
        for span in quotable_spans(payload.text)
        for text in (slice_text(payload.text, span),)
    ]
    best: list[_Candidate] = []
    own = wordings[0].cjk if wordings else False
    for cjk in (own, not own):  # passages in the writing of the question first; the other is told by names alone
        written = [sentence for sentence in sentences if sentence.cjk is cjk]
        for wording in wordings:
            candidates = _candidates(wording, weigh, written, cjk=cjk)
            if candidates and (not best or _coverage(candidates) > _coverage(best)):
                best = candidates
        if best:
            break
    chosen = sorted(_pick(best), key=lambda candidate: (candidate.sentence.passage, candidate.sentence.start))
    return [Quotation(passages[each.sentence.passage][0], each.sentence.text) for each in chosen]


def _phrases(written: Sequence[str]) -> Phrases:
    return tuple(tokens for phrase in written if (tokens := _telling(phrase)))


def _is_name(phrase: str) -> bool:
    """Whether a phrase is written as names are: with a capital, or in Katakana."""
    return any(character.isupper() for character in phrase) or all(map(is_katakana, phrase))


def _telling(phrase: str) -> tuple[str, ...]:
    tokens = tuple(dict.fromkeys(tokenize(phrase)))
    return tuple(token for token in tokens if len(token) > 1 or not is_cjk(token)) or tokens


def _weights(phrases: Phrases, weigh: Weigh) -> dict[str, float]:
    """Weight of each token; a phrase of many weighs more than one of few, but not by their number."""
    found: dict[str, float] = {}
    for tokens in phrases:
        for token in tokens:
            found[token] = max(found.get(token, 0.0), weigh(token) / len(tokens) ** _SHARED)
    return found


def _candidates(wording: Wording, weigh: Weigh, sentences: Sequence[_Sentence], *, cjk: bool) -> list[_Candidate]:
    """Sentences that share a word with the question, best first; none when they say too little about it."""
    weights = _weights(wording.phrases_in(cjk=cjk), weigh)
    everything = math.fsum(weights.values())
    lengths = [sentence.tokens.total() for sentence in sentences]
    average = sum(lengths) / len(lengths) if lengths else 0.0
    if everything == 0 or average == 0 or not _holds_name(wording.names_in(cjk=cjk), weigh, sentences):
        return []
    found: list[_Candidate] = []
    for sentence, length in zip(sentences, lengths, strict=True):
        held = frozenset(weights.keys() & sentence.tokens.keys())
        if not held:
            continue
        damping = _K1 * (1 - _B + _B * length / average)
        score = math.fsum(weights[token] * _saturated(sentence.tokens[token], damping) for token in held)
        score *= _RANK_WEIGHT**sentence.passage
        if not _CLOSED.search(sentence.text):
            score *= _OPEN_END
        coverage = math.fsum(weights[token] for token in held) / everything
        found.append(_Candidate(sentence, held, score, coverage))
    if _coverage(found) < _COVERED:
        return []
    return sorted(found, key=lambda each: (-each.score, each.sentence.passage, each.sentence.start))


def _saturated(count: int, damping: float) -> float:
    return count * (_K1 + 1) / (count + damping)


def _coverage(candidates: Sequence[_Candidate]) -> float:
    return max((candidate.coverage for candidate in candidates), default=0.0)


def _holds_name(names: Phrases, weigh: Weigh, sentences: Sequence[_Sentence]) -> bool:
    """Whether enough of the name that weighs most stands in the passages at all; true where there is no name."""
    if not names:
        return True
    there = {token for sentence in sentences for token in sentence.tokens}
    heaviest = max(names, key=lambda tokens: math.fsum(map(weigh, tokens)) / len(tokens) ** _SHARED)
    return sum(token in there for token in heaviest) >= _NAMED * len(heaviest)


def _pick(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """The best one, and others that are nearly as good and say more; never the same words twice."""
    chosen: list[_Candidate] = []
    covered: set[str] = set()
    for candidate in candidates:
        text = candidate.sentence.text
        if len(chosen) == MAX_QUOTATIONS:
            break
        if any(text in other.sentence.text or other.sentence.text in text for other in chosen):
            continue
        if not chosen or (candidate.score >= _ENOUGH * chosen[0].score and candidate.held - covered):
            chosen.append(candidate)
            covered |= candidate.held
    return chosen
