"""The number guard and the citation guard on one sentence of a model (semantics 11)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from groundwire_server.evidence import Snippet, Span
from groundwire_server.glossary import Glossary
from groundwire_server.guard.citations import without_marks
from groundwire_server.guard.compare import closest_fault
from groundwire_server.guard.quotations import Quotation, find_quotations
from groundwire_server.guard.reading import Figure, Reading, read_sentence
from groundwire_server.guard.sources import Source, read_source, squeezed
from groundwire_server.guard.support import share_said
from groundwire_server.guard.times import Facets
from groundwire_server.guard.verdict import Fault, FaultKind, Verdict
from groundwire_server.guard.words import unchecked_words

__all__ = ["SentenceGuard"]

_LEAST_SHARE = 0.15  # of what a sentence says: with less of it in the cited texts, they speak of something else
_PARTLY = 0.3
_MOSTLY = 0.7  # of what a sentence says: with more of it in one sentence of a source, it is this one said again


class SentenceGuard:
    """Holds the sentences of one answer to what they cite.

    Args:
        question: dates and periods may stand in it instead of in the cited text.
        glossary: of the libraries that were searched.
        language: of the answer, "en", "zh" or "ja".
        figures_allowed: True on the narrative route alone; else a sentence with a figure never passes.
    """

    def __init__(self, question: str, glossary: Sequence[Glossary], language: str, *, figures_allowed: bool) -> None:
        self._glossary = tuple(glossary)
        self._language = language
        self._figures_allowed = figures_allowed
        self._question = read_sentence(question, language, self._glossary)
        self._sources: dict[Snippet, Source] = {}

    def check(self, sentence: str, cited: Sequence[Snippet]) -> Verdict:
        """Whether a sentence may be sent, given the snippets that its marks name (`citations.resolve`).

        Spans of faults are in the sentence without its marks.
        """
        text = without_marks(sentence).strip()
        if not cited:
            return Verdict(False, (Fault(FaultKind.NO_CITATION, Span(0, len(text)), text),))
        sources = [self._source(snippet) for snippet in cited]
        if self._figures_allowed:
            copied = tuple(place for place, source in enumerate(sources) if source.citable and _is_copy(text, source))
            if copied:
                return Verdict(True, (), (), copied)
        reading = read_sentence(text, self._language, self._glossary)
        quotations = find_quotations(text, [source.text for source in sources if source.citable])
        faults = sorted(
            self._faults(reading, quotations, sources), key=lambda fault: (fault.span.start, fault.kind.value)
        )
        unchecked = tuple(reading.folded.span(at.start, at.end) for at in unchecked_words(reading.folded.text))
        return Verdict(not faults, tuple(faults), unchecked, self._used(reading, sources) if not faults else ())

    def _source(self, snippet: Snippet) -> Source:
        if snippet not in self._sources:
            self._sources[snippet] = read_source(snippet, self._language, self._glossary)
        return self._sources[snippet]

    def _faults(self, reading: Reading, quotations: Sequence[Quotation], sources: Sequence[Source]) -> Iterator[Fault]:
        citable = [each for source in sources if source.citable for each in source.readings]
        told = [each for source in sources for each in source.readings]
        exempt = [quotation.span for quotation in quotations if quotation.verbatim]
        folded = reading.folded

        def fault(kind: FaultKind, at: Span) -> Fault:
            span = folded.span(at.start, at.end)
            return Fault(kind, span, folded.source[span.start : span.end])

        for quotation in quotations:
            if not quotation.verbatim and quotation.long:
                text = folded.source[quotation.span.start : quotation.span.end]
                yield Fault(FaultKind.QUOTATION, quotation.span, text)
        for figure in reading.figures:
            if _within(figure.number.span, exempt):
                continue
            if figure.number.soft and not _contradicted(figure, citable):
                continue
            if not self._figures_allowed and figure.number.unit != "nth":
                yield fault(FaultKind.FIGURE_NOT_ALLOWED, figure.number.at)
                continue
            kind = closest_fault(figure, reading, citable)
            if kind is not None:
                yield fault(kind, figure.number.at)
        for moment in reading.moments:
            if _within(folded.span(moment.at.start, moment.at.end), exempt):
                continue
            if _is_figure(reading, moment.at, moment.facets, citable) and self._figures_allowed:
                continue
            holding = [each for each in told if each.holds(moment.facets)]
            if not self._question.holds(moment.facets) and (
                not holding or _is_of_another(reading, moment.facets, told)
            ):
                yield fault(FaultKind.PERIOD, moment.at)
            elif (
                holding
                and all(each.is_hedged(moment.facets) for each in holding)
                and not reading.is_hedged(moment.facets)
            ):
                yield fault(FaultKind.HEDGE, moment.at)
        if reading.moments and not reading.figures:
            yield from self._strangers(reading, told, sources)
        for word in reading.ratios:
            if not any(_has_ratio(word.kind, each) for each in citable) and not _within(
                folded.span(word.at.start, word.at.end), exempt
            ):
                yield fault(FaultKind.QUANTITY_WORD, word.at)
        for word in reading.quantities:
            if not any(word.kind in {each.kind for each in source.quantities} for source in citable):
                yield fault(FaultKind.QUANTITY_WORD, word.at)
        short = not reading.figures
        shares = (share_said(folded.source, source.text, short=short) for source in sources)
        share = max(shares, default=None, key=_or_one)
        if share is not None and share < _LEAST_SHARE:
            yield Fault(FaultKind.UNSUPPORTED, Span(0, len(folded.source)), folded.source)

    def _strangers(self, reading: Reading, told: Sequence[Reading], sources: Sequence[Source]) -> Iterator[Fault]:
        """Names beside a date, of the glossary, that no cited text, title or heading has."""
        known = {code for each in told for codes in each.entities for code in codes}
        for source in sources:
            known |= source.named
        for codes in reading.entities:
            if not codes & known:
                text = reading.folded.source
                yield Fault(FaultKind.ENTITY, Span(0, len(text)), text)

    def _used(self, reading: Reading, sources: Sequence[Source]) -> tuple[int, ...]:
        """Sources that have a figure of the sentence, or something of what it says."""
        used: list[int] = []
        untold: list[int] = []
        for place, source in enumerate(sources):
            has = any(closest_fault(figure, reading, list(source.readings)) is None for figure in reading.figures)
            share = share_said(reading.folded.source, source.text)
            if has or (share is not None and share >= _LEAST_SHARE):
                used.append(place)
            elif share is None:
                untold.append(place)
        return tuple(used or untold)


def _is_figure(reading: Reading, at: Span, facets: Facets, readings: Sequence[Reading]) -> bool:
    """Whether four digits that look like a year are a figure of the sources: 1176, which is 1,176 there."""
    digits = reading.folded.text[at.start : at.end]
    if not digits.isdecimal() or any(each.holds(facets) for each in readings):
        return False
    return any(
        figure.number.value == int(digits) and not figure.number.decimals
        for each in readings
        for figure in each.figures
    )


def _is_of_another(reading: Reading, facets: Facets, told: Sequence[Reading]) -> bool:
    """Whether a sentence says what one sentence of the sources says, which has a date, but another one."""
    shares = [(share_said(reading.folded.source, each.folded.source) or 0.0, each) for each in told]
    share, nearest = max(shares, key=lambda pair: pair[0], default=(0.0, None))
    if nearest is None or share < _MOSTLY or nearest.holds(facets):
        return False
    if any(share >= _PARTLY and each.holds(facets) for share, each in shares):
        return False
    return any({name for name, _ in facets} <= {name for name, _ in moment.facets} for moment in nearest.moments)


def _or_one(share: float | None) -> float:
    return 1.0 if share is None else share


def _is_copy(text: str, source: Source) -> bool:
    """Whether a sentence is one of the source, whole and as it stands there."""
    return squeezed(text) in source.plain


def _within(span: Span, others: Sequence[Span]) -> bool:
    return any(other.start <= span.start and span.end <= other.end for other in others)


def _contradicted(figure: Figure, readings: Sequence[Reading]) -> bool:
    """Whether the sources count the same thing, and never as one: then "one" is a figure and no article."""
    counted = [
        other.number
        for reading in readings
        for other in reading.figures
        if (figure.number.unit and other.number.unit == figure.number.unit)
        or set(figure.number.nouns) & set(other.number.nouns)
    ]
    return bool(counted) and not any(number.value == 1 for number in counted)


def _has_ratio(kind: str, reading: Reading) -> bool:
    if kind in {word.kind for word in reading.ratios}:
        return True
    wanted = ("1", "/2") if kind == "/2" else (kind, "times")
    return any((str(figure.number.value), figure.number.unit) == wanted for figure in reading.figures)
