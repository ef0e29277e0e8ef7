"""One sentence, of a model or of a source, read for the guard: figures with all that is said of them, dates, names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from groundwire_server.evidence import Span
from groundwire_server.glossary import Glossary, TermMention
from groundwire_server.guard.association import associate
from groundwire_server.guard.folded import Folded, fold
from groundwire_server.guard.measured import priors, unit_of_counting
from groundwire_server.guard.numbers import Number, find_numbers
from groundwire_server.guard.times import Facets, Moment, read_times, years_before
from groundwire_server.guard.words import (
    Directed,
    Worded,
    directions,
    hedges_after,
    hedges_before,
    is_limit,
    quantity_words,
    ratio_words,
    results,
)

__all__ = ["Figure", "Reading", "read_sentence"]

Terms = frozenset[str]
_CLAUSE = re.compile(
    r"[,，、;；:：。()（）](?!\d{3})|(?<![a-z])(?:while|whereas|but|although|despite|and|compared)(?![a-z])|"
    r"一方|而(?!且)|但"
)
_TO = re.compile(r"\s*(?:to|through|から|至|到|ないし|乃至)\s*")
_DASH = re.compile(r"\s*[-–—~〜～]\s*")
_AND = re.compile(r"\s*(?:and|と|和|与|與)\s*")
_BETWEEN = re.compile(r"between\s*[$€£¥]?\s*$")
_FROM = re.compile(r"(?:(?<![a-z])from|从|從|由)\s*[$€£¥]?\s*$")
_INTO = re.compile(r"(?:(?<![a-z])to|至|到|为|為)\s*[$€£¥]?\s*$")
_FROM_BEHIND = re.compile(r"\s*から")
_INTO_BEHIND = re.compile(r"\s*(?:に|へ|まで)(?!お|つ|よ|関|対|比|当|達)")
_ENDS_CHANGE = re.compile(r"\s*(?:に|へ|まで|と)")
_NEAR_LATIN, _NEAR_CJK = 14, 7


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure and what the sentence says of it.

    hedges: "about", "least", "most". way: 1 up, -1 down, 0 not said; near_way: whether the word stands right beside it.
    result: 1 profit, -1 loss. partner: the other end, where it is one of two; place: 0 is the first end.
    change: from one to the other; else the two are a range. role: "from" or "to". periods, entities, metrics: of the
    sentence, those that it goes with. rate: the name of a rate whose word gave the way. per: the unit that it is
    counted for: "kg" in "$3.20 a kilogram". prior: it is of another time than the one that the sentence names.
    """

    number: Number
    hedges: frozenset[str]
    way: int
    near_way: bool
    result: int
    partner: Number | None
    place: int
    change: bool
    role: str
    periods: frozenset[Facets]
    entities: frozenset[Terms]
    metrics: frozenset[Terms]
    rate: str = ""
    per: str = ""
    prior: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """A sentence with everything in it that is held, all in order."""

    folded: Folded
    figures: tuple[Figure, ...]
    moments: tuple[Moment, ...]
    further: tuple[Moment, ...]
    entities: frozenset[Terms]
    metrics: frozenset[Terms]
    ways: frozenset[int]
    ratios: tuple[Worded, ...]
    quantities: tuple[Worded, ...]

    def holds(self, facets: Facets) -> bool:
        """Whether a date or period stands in it."""
        wanted = Moment(Span(0, 0), facets)
        return any(wanted.is_in(each) for each in (*self.moments, *self.further))

    def is_hedged(self, facets: Facets) -> bool:
        """Whether a date or period stands in it, and always with a hedge: circa 1900, at least 2019, 1969年前後."""
        wanted = Moment(Span(0, 0), facets)
        found = [each for each in self.moments if wanted.is_in(each)]
        text = self.folded.text
        return bool(found) and all(
            hedges_before(text, each.at.start) or hedges_after(text, each.at.end) & {"about"} for each in found
        )


def read_sentence(
    text: str,
    language: str,
    glossary: Sequence[Glossary],
    *,
    entities: frozenset[str] = frozenset(),
    metrics: frozenset[str] = frozenset(),
) -> Reading:
    """The reading of one sentence. entities, metrics: codes that a fact says beside its statement."""
    folded = fold(text)
    moments = read_times(folded)
    numbers = find_numbers(folded, language, [moment.at for moment in moments])
    mentions = [mention for each in glossary for mention in each.find_terms(text)]
    named = _of_kind(mentions, "entity", entities)
    measured = _of_kind(mentions, "metric", metrics)
    places = [number.span for number in numbers]
    timed = [(folded.span(moment.at.start, moment.at.end), moment.facets) for moment in moments]
    ways, gains = directions(folded.text), results(folded.text)
    prior = priors(folded.text, numbers, moments, ways)
    periods = [frozenset() if at else held for at, held in zip(prior, associate(text, places, timed), strict=True)]
    of_entities = associate(text, places, named)
    of_metrics = associate(text, places, measured)
    pairs = _pairs(folded.text, numbers, ways)
    ends = [_partner(numbers, pairs.get(place)) for place in range(len(numbers))]
    turned = [_way(folded.text, number, ways) for number in numbers]
    figures = tuple(
        Figure(
            number,
            _hedges(folded.text, number, pairs.get(place), moved=turned[place][0] != 0),
            turned[place][0],
            turned[place][1],
            _way(folded.text, number, gains)[0],
            ends[place][0],
            ends[place][1],
            ends[place][2],
            _role(folded.text, number),
            periods[place],
            of_entities[place],
            of_metrics[place],
            turned[place][2],
            unit_of_counting(folded.text, number.at),
            prior[place],
        )
        for place, number in enumerate(numbers)
    )
    return Reading(
        folded,
        figures,
        tuple(moments),
        tuple(years_before(moments)),
        frozenset(key for _, key in named),
        frozenset(key for _, key in measured),
        frozenset(each.sign for each in ways if not each.rate),
        tuple(ratio_words(folded.text)),
        tuple(quantity_words(folded.text)),
    )


def _of_kind(mentions: Sequence[TermMention], kind: str, said: frozenset[str]) -> list[tuple[Span, Terms]]:
    found = [
        (mention.span, frozenset(term.code for term in mention.terms if term.kind == kind))
        for mention in sorted(mentions, key=lambda mention: mention.span.start)
    ]
    return [(span, codes) for span, codes in found if codes] + ([(Span(0, 0), said)] if said else [])


@dataclass(frozen=True, slots=True)
class _Pair:
    first: int
    second: int
    place: int
    change: bool


def _pairs(text: str, numbers: Sequence[Number], ways: Sequence[Directed]) -> dict[int, _Pair]:
    """By place of a number, the pair that it is an end of."""
    pairs: dict[int, _Pair] = {}
    for place in range(len(numbers) - 1):
        first, second = numbers[place], numbers[place + 1]
        if place in pairs or first.unit == "nth" or (first.unit and first.unit != second.unit):
            continue
        between = text[first.at.end : second.at.start]
        dashed = not between.strip() and text[second.at.start : second.at.start + 1] in ("-", "−") and second.value >= 0
        start, end = _clause(text, first.at.start)
        moved = any(start <= way.start < end for way in ways) and (
            _FROM.search(text[: first.at.start]) is not None
            or ("から" in between and _ENDS_CHANGE.match(text, second.at.end) is not None)
        )
        if dashed or _DASH.fullmatch(between):
            change = False
        elif _TO.fullmatch(between):
            change = moved
        elif _AND.fullmatch(between) and (
            _BETWEEN.search(text[: first.at.start]) or text[second.at.end :].startswith(("の間", "之间", "之間"))
        ):
            change = False
        else:
            continue
        pairs[place] = _Pair(place, place + 1, 0, change)
        pairs[place + 1] = _Pair(place, place + 1, 1, change)
    return pairs


def _partner(numbers: Sequence[Number], pair: _Pair | None) -> tuple[Number | None, int, bool]:
    if pair is None:
        return None, 0, False
    return numbers[pair.first if pair.place else pair.second], pair.place, pair.change


def _hedges(text: str, number: Number, pair: _Pair | None, *, moved: bool) -> frozenset[str]:
    """`moved`: the clause says rose or fell, and up to what, so that it is no limit."""
    inside = frozenset(("least",)) if re.search(r"[余餘多](?=[^\d\s]*$)", number.text) else frozenset()
    if re.search(r"[来來](?=[^\d\s]*$)", number.text):
        inside |= {"about"}
    if pair is None and not moved and is_limit(text, number.at.end):
        inside |= {"most"}
    return inside | hedges_before(text, number.at.start) | hedges_after(text, number.at.end)


def _role(text: str, number: Number) -> str:
    before = text[max(0, number.at.start - 12) : number.at.start]
    if _FROM.search(before) or _FROM_BEHIND.match(text, number.at.end):
        return "from"
    if _INTO.search(before) or _INTO_BEHIND.match(text, number.at.end):
        return "to"
    return ""


def _clause(text: str, at: int) -> tuple[int, int]:
    start, end = 0, len(text)
    for found in _CLAUSE.finditer(text):
        if found.end() <= at and not _in_digits(text, found.start()):
            start = found.end()
        elif found.start() > at and not _in_digits(text, found.start()):
            end = found.start()
            break
    return start, end


def _in_digits(text: str, at: int) -> bool:
    return text[at : at + 1] == "," and text[at - 1 : at].isdigit() and text[at + 1 : at + 2].isdigit()


def _way(text: str, number: Number, words: Sequence[Directed]) -> tuple[int, bool, str]:
    """The sign of the nearest word in the clause of the number, whether it stands right beside the number, and the
    rate whose name it is part of; that counts only where nothing else gives a direction.
    """
    start, end = _clause(text, number.at.start)
    held = [word for word in words if start <= word.start and word.end <= end]
    if not held:
        return 0, False, ""
    best = min([word for word in held if not word.rate] or held, key=lambda word: (_distance(word, number), word.start))
    gap = _distance(best, number)
    near = gap <= (_NEAR_LATIN if text[best.start].isascii() else _NEAR_CJK)
    return best.sign, near, best.rate


def _distance(word: Directed, number: Number) -> int:
    if word.end <= number.at.start:
        return number.at.start - word.end
    return max(0, word.start - number.at.end)
