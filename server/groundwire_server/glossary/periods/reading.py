"""Periods from text: one given as a parameter, and all that stand in a sentence (semantics 10)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Literal

from groundwire_server.evidence import Period, Span, slice_text
from groundwire_server.glossary.periods.days import FiscalCalendar, interval
from groundwire_server.glossary.periods.faults import PeriodError, PeriodFault
from groundwire_server.glossary.periods.grammar import Grammar
from groundwire_server.glossary.periods.iso import read_iso_span
from groundwire_server.glossary.periods.lexer import read_words
from groundwire_server.glossary.periods.reckoning import Circumstances, Unreckonable, reckon
from groundwire_server.glossary.periods.symbols import Symbol, Word
from groundwire_server.glossary.periods.tree import Ended, Expression, Month, Point, Range, Year
from groundwire_server.text import AlignedText, align, normalize

__all__ = ["PeriodMention", "find_period_mentions", "find_periods", "parse_period"]

_LONGEST = 200
_NOTE = re.compile(r"\s*(?:\([^()]*\)|\[[^\[\]]*\]|【[^【】]*】|〔[^〔〕]*〕)\s*$")
_EDGES = " \t\r\n.,;:?!。、;:"
_LEAD = re.compile(r"(?:the|in|for|during|over|within|period|at|on)\s+")
_TAIL = re.compile(r"(?:の|的|に|は|期間|期间|period)$")
_COUNTED = re.compile(
    r"(?:people|persons|employees|stores|shares|units|items|times|companies|countries|customers|users|dollars|yen|euros?"
    r"|pounds|usd|jpy|eur|gbp|cny|rmb|million|billion|trillion|thousand|hundred|percent|pages|words|points|km|kg|mw|gb|mb)"
    r"|[%‰$€£¥人社店件円元株個台万億千名家亿倍歳%℃°]"
)
_CURRENCY = "$€£¥#@"


@dataclass(frozen=True, slots=True)
class PeriodMention:
    """A period in a sentence: its place in the sentence, and the period or why there is none."""

    span: Span
    text: str
    period: Period | None
    error: PeriodError | None = None


def parse_period(
    raw: str,
    *,
    reference: date,
    fiscal_year_start: str = "01-01",
    fiscal_year_named_by: Literal["", "start", "end"] = "",
    language: str = "",
) -> Period:
    """The period that a text names, whole, in words of English, Chinese or Japanese or in canonical form.

    A second try leaves out a bracketed note at the end: "2019 (restated)".

    Args:
        reference: day from which relative words are counted.
        fiscal_year_start: first day of the entity's fiscal year, "04-01".
        fiscal_year_named_by: "start", "end", or empty where the entity does not say.
        language: decides 前年 (last year in Japanese, two years ago in Chinese).

    Raises:
        PeriodError: it names none; `fault` says why. Nothing is guessed.
        ValueError: fiscal_year_start or fiscal_year_named_by is malformed.

    >>> parse_period("令和6年度", reference=date(2025, 6, 30), fiscal_year_start="04-01").canonical
    'FY2025'
    >>> parse_period("Q3 2024", reference=date(2025, 6, 30)).canonical
    '2024Q3'
    """
    return _parse(raw, Circumstances(reference, FiscalCalendar(fiscal_year_start, fiscal_year_named_by), language))


@lru_cache(maxsize=65_536)
def _parse(raw: str, given: Circumstances) -> Period:
    if len(raw) > _LONGEST or any(map(_is_mark, raw)):
        raise PeriodError(raw, PeriodFault.UNKNOWN)
    text = normalize(raw)
    try:
        return _whole(text, raw, given)
    except PeriodError as error:
        shorter = _NOTE.sub("", text)
        if error.fault is PeriodFault.UNKNOWN and shorter != text:
            return _whole(shorter, raw, given)
        raise


def _is_mark(char: str) -> bool:
    """Whether it is a raised or lowered digit, the mark of a footnote: 2020-1² is not December."""
    return char.isdigit() and unicodedata.decomposition(char).startswith(("<super>", "<sub>"))


def _whole(text: str, raw: str, given: Circumstances) -> Period:
    by_standard = read_iso_span(text.strip())
    if by_standard is not None:
        try:
            return interval(*by_standard())
        except LookupError:
            raise PeriodError(raw, PeriodFault.UNKNOWN) from None
        except (ValueError, OverflowError):
            raise PeriodError(raw, PeriodFault.IMPOSSIBLE) from None
    text = _TAIL.sub("", text.strip(_EDGES)).strip(_EDGES)
    text = _LEAD.sub("", text, count=1) if _LEAD.match(text) else text
    words = read_words(text)
    if _is_open(words):
        raise PeriodError(raw, PeriodFault.OPEN)
    readings = [expression for expression, end in Grammar(words).expressions(0) if end == len(words)]
    if not readings:
        raise PeriodError(raw, PeriodFault.UNKNOWN)
    return _reckon_all(readings, raw, given)


def _is_open(words: list[Word]) -> bool:
    """2020-01-01/ and ../2020-12-31: an interval with one end."""
    ends = (Symbol.SLASH, Symbol.DASH)
    shown = [word for word in words if word.symbol is not Symbol.DOT]
    return len(shown) > 1 and (shown[-1].symbol in ends or (shown[0].symbol is Symbol.SLASH))


def _reckon_all(readings: list[Expression], raw: str, given: Circumstances) -> Period:
    """The one period that the readings name. Several are a refusal, never a pick; with none the first fault counts."""
    named: dict[str, Period] = {}
    fault: Unreckonable | None = None
    for expression in readings:
        try:
            period = reckon(expression, given)
        except Unreckonable as unreckonable:
            fault = fault or unreckonable
        else:
            named.setdefault(period.canonical, period)
    if len(named) == 1:
        return next(iter(named.values()))
    if named:
        raise PeriodError(raw, PeriodFault.AMBIGUOUS, tuple(sorted(named)))
    assert fault is not None
    raise PeriodError(raw, fault.fault, fault.candidates) from None


def find_periods(
    text: str,
    *,
    reference: date,
    fiscal_year_start: str = "01-01",
    fiscal_year_named_by: Literal["", "start", "end"] = "",
    language: str = "",
) -> list[tuple[Span, Period]]:
    """Every period in a sentence, in order: the longest reading at each place, never two over one another."""
    mentions = find_period_mentions(
        text,
        reference=reference,
        fiscal_year_start=fiscal_year_start,
        fiscal_year_named_by=fiscal_year_named_by,
        language=language,
    )
    return [(mention.span, mention.period) for mention in mentions if mention.period is not None]


def find_period_mentions(
    text: str,
    *,
    reference: date,
    fiscal_year_start: str = "01-01",
    fiscal_year_named_by: Literal["", "start", "end"] = "",
    language: str = "",
) -> list[PeriodMention]:
    """As `find_periods`, with what is refused too: Q3 without a year, 03/04/2024, "since 2020".

    A bare number is a year from 1800 to 2099 only, and not where it counts something ("2000 stores") or belongs to a
    longer number.
    """
    given = Circumstances(reference, FiscalCalendar(fiscal_year_start, fiscal_year_named_by), language)
    aligned = align(text)
    words = read_words(aligned.normal)
    grammar = Grammar(words)
    found: list[PeriodMention] = []
    at = 0
    while at < len(words):
        taken = _longest(grammar, words, at, given)
        if taken is None:
            at += 1
            continue
        readings, end = taken
        found.append(_mention(aligned, words[at], words[end - 1], readings, given))
        at = end
    return found


def _longest(grammar: Grammar, words: list[Word], at: int, given: Circumstances) -> tuple[list[Expression], int] | None:
    if words[at].symbol in _NEVER_FIRST:
        return None
    expressions = list(grammar.expressions(at))
    # "Q4 2019 to Q4 2018" compares two periods, and "as of" is no part of a day's name.
    compares = any(isinstance(each, Range) and _is_reversed(each, given) for each, _ in expressions)
    of_account = words[at].symbol is Symbol.AS_OF
    by_end: dict[int, list[Expression]] = {}
    for expression, end in expressions:
        if not (compares and isinstance(expression, Range)) and (isinstance(expression, Ended) or not of_account):
            by_end.setdefault(end, []).append(expression)
    for end in sorted(by_end, reverse=True):
        if _has_borders(words, at, end):
            readings = [expression for expression in by_end[end] if _stands_alone(expression, words, at, end)]
            if readings:
                return readings, end
    return None


def _is_reversed(expression: Range, given: Circumstances) -> bool:
    try:
        reckon(expression, given)
    except Unreckonable as unreckonable:
        return unreckonable.fault is PeriodFault.IMPOSSIBLE
    return False


_NEVER_FIRST = frozenset({Symbol.THE, Symbol.OF, Symbol.COMMA, Symbol.DOT, Symbol.SLASH, Symbol.DASH})


def _has_borders(words: list[Word], first: int, end: int) -> bool:
    """Whether the stretch is not a part of a longer word or number."""
    head, tail = words[first], words[end - 1]
    if head.letters and head.glued and first > 0:
        before = words[first - 1]
        if before.letters or before.text in _CURRENCY:
            return False
        joins = before.symbol in (Symbol.DOT, Symbol.COMMA, Symbol.DASH, Symbol.SLASH) and before.glued
        if joins and first > 1 and words[first - 2].letters and head.symbol is Symbol.NUMBER:
            return False
    if tail.letters and end < len(words) and words[end].glued:
        after = words[end]
        if after.letters or after.symbol is Symbol.DECADE or after.text in ("%", "‰"):
            return False
        joins = after.symbol in (Symbol.DOT, Symbol.COMMA, Symbol.DASH, Symbol.SLASH)
        if joins and end + 1 < len(words) and words[end + 1].glued and words[end + 1].symbol is Symbol.NUMBER:
            return False
    return True


def _stands_alone(expression: Expression, words: list[Word], first: int, end: int) -> bool:
    """Whether so little text is a period in a sentence: not a number that counts, a two-digit 年, the word may."""
    if not isinstance(expression, Point):
        return True
    year, part = expression.year, expression.part
    if year is None and isinstance(part, Month) and words[first].text in ("may", "march", "mar", "dec", "sep", "jan"):
        return False
    if year is None and words[first].symbol is Symbol.COUNT and words[end - 1].text == "季":
        return False  # 四季 is the seasons
    if isinstance(year, Year) and part is None and not expression.end:
        if year.bare and end == first + 1:
            counted = end < len(words) and _COUNTED.match(words[end].text) is not None
            return 1800 <= year.label <= 2099 and not counted
        if end == first + 2 and len(words[first].text) == 2 and words[first].symbol is Symbol.NUMBER:
            return words[first + 1].symbol is not Symbol.YEAR
    return True


def _mention(
    aligned: AlignedText, head: Word, tail: Word, readings: list[Expression], given: Circumstances
) -> PeriodMention:
    span = aligned.span(head.start, tail.end)
    raw = slice_text(aligned.source, span)
    try:
        return PeriodMention(span, raw, _reckon_all(readings, raw, given))
    except PeriodError as error:
        return PeriodMention(span, raw, None, error)
