"""What cited snippets say, sentence by sentence: a passage has many, a row of a table and a fact are one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from groundwire_server.evidence import DerivedFigure, MetricFact, Snippet, TextPassage, Trust
from groundwire_server.glossary import Glossary
from groundwire_server.guard.folded import fold
from groundwire_server.guard.numbers import Number
from groundwire_server.guard.reading import Figure, Reading, read_sentence
from groundwire_server.guard.units import MONEY, UNIT, canonical_unit, powers
from groundwire_server.guard.words import is_instruction
from groundwire_server.text import sentence_spans

__all__ = ["Source", "read_source", "sentences"]

_ABBREVIATION = re.compile(
    r"(?:(?<![A-Za-z])(?:[A-Z]|Mr|Mrs|Ms|Dr|St|No|Nos|Inc|Ltd|Co|Corp|Jr|Sr|vs|approx|ca|c|cf|Jan|Feb|Mar|Apr|"
    r"Jun|Jul|Aug|Sept?|Oct|"
    r"Nov|Dec|Gen|Col|Lt|Capt|Sgt|Rep|Sen|Gov|Prof|Rev|Mt|Ft|vol|pp|p|Fig|ed|eds|est|b|d|fl|i\.e|e\.g|etc|al|"
    r"feat|Bros|Ave|dept)|[A-Z]\.[A-Z])\.\s*$"
)
_OPENS = re.compile(r"[a-z0-9,;()\]]")
# A head and its value, and another: "Zone: A; Fee: 4.60". A colon and a semicolon in prose make no row.
_ROW = re.compile(
    r"(?:(?![.!?]\s+[^\W\d_]|[。！？])[^\n;:])+: (?:(?![.!?]\s+[^\W\d_]|[。！？])[^\n;])*; [^\n]*?[^\s;]: [^\n]*"
)
_HEAD_MEASURE = re.compile(
    r"(?:in\s+)?(?:(?P<before>us\$|usd|eur|jpy|gbp|cny|rmb|\$|€|£|¥)\s*)?"
    r"(?P<scale>thousands?|millions?|billions?|trillions?|mn|bn|[十百千]?[万萬億亿]|"
    r"千)(?:\s+of\s+)?\s*(?P<unit>us\s*dollars?|dollars?|usd|euros?|eur|yen|円|元|人民币|美元|日元|ドル|株|股|"
    r"人|shares|tons?|tonnes?|トン|吨)?"
)
_BRACKETS = re.compile(r"[(（\[【]([^()（）\[\]【】]*)[)）\]】]|(?:,|:|：)\s*([^,:：]*)$|\bin\s+([a-z\s$€£¥]+)$")
_SCALE_WORDS = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}


@dataclass(frozen=True, slots=True)
class Source:
    """A cited snippet as the guard reads it.

    text: exact, for quotations. readings: of its sentences that say something; what talks to the model is left out.
    plain: its sentences as they stand, without blanks. citable: whether figures may come from it. named: codes of the
    entities in its title and heading.
    """

    text: str
    readings: tuple[Reading, ...]
    plain: frozenset[str]
    citable: bool
    named: frozenset[str] = frozenset()


def read_source(snippet: Snippet, language: str, glossary: Sequence[Glossary]) -> Source:
    """The source of one snippet."""
    payload = snippet.payload
    citable = snippet.trust is Trust.CITABLE
    match payload:
        case TextPassage():
            parts = [part for part in sentences(payload.text) if not is_instruction(fold(part).text)]
            heading = snippet.lineage.heading
            readings = tuple(_scaled(read_sentence(part, language, glossary), part, heading) for part in parts)
            named = read_sentence(f"{snippet.lineage.title}\n{heading}", language, glossary).entities
            codes = frozenset(code for each in named for code in each)
            return Source(payload.text, readings, frozenset(map(squeezed, parts)), citable, codes)
        case MetricFact() | DerivedFigure():
            statement = payload.statement.replace("/", " – ") if "/" in payload.key.period else payload.statement
            key = payload.key
            reading = read_sentence(
                statement, language, glossary, entities=frozenset((key.entity,)), metrics=frozenset((key.metric,))
            )
            return Source(payload.statement, (reading,), frozenset((squeezed(payload.statement),)), citable)
        case _:
            return Source("", (), frozenset(), False)


def squeezed(text: str) -> str:
    """A sentence for comparison: without blanks and the closing mark."""
    return "".join(text.split()).rstrip(".。．")


def sentences(text: str) -> Iterator[str]:
    """Sentences of a passage; each row of a table is one, and abbreviations end none.

    >>> list(sentences("It sold U.S. bonds of Acme Inc. in May.\\nZone: A; Fee: 4.60\\nZone: B; Fee: 5"))
    ['It sold U.S. bonds of Acme Inc. in May.', 'Zone: A; Fee: 4.60', 'Zone: B; Fee: 5']
    """
    for line in _lines(text):
        if _ROW.fullmatch(line):
            yield line.strip()
            continue
        held = ""
        for span in sentence_spans(line):
            part = line[span.start : span.end]
            if held and (_ABBREVIATION.search(held) or held.rstrip().endswith((";", "；")) or _goes_on(held, part)):
                held += part
            else:
                if held.strip():
                    yield held.strip()
                held = part
        if held.strip():
            yield held.strip()


def _goes_on(held: str, part: str) -> bool:
    end = held.rstrip()
    glued = end == held and end.endswith(".") and part[:1].isalnum() and part[:1].isascii()
    return glued or (end.endswith((".", "?", "!")) and _OPENS.match(part) is not None and not part[0].isdigit())


def _lines(text: str) -> Iterator[str]:
    """Lines; one that a wrapped sentence goes on in belongs to the one before."""
    held = ""
    for line in text.split("\n"):
        wrapped = held and held[-1:].isalpha() and held[-1].isascii() and line[:1].islower()
        if wrapped and ": " not in held:
            held += " " + line
        else:
            if held:
                yield held
            held = line.rstrip("\r")
    if held:
        yield held


def _scaled(reading: Reading, text: str, heading: str) -> Reading:
    """Bare numbers of a row with the scale and unit of their head, or of the table's heading."""
    if not _ROW.fullmatch(text):
        return reading
    whole = _measure(heading)
    figures = tuple(_with_measure(figure, _measure(_head(text, figure.number)) or whole) for figure in reading.figures)
    return replace(reading, figures=figures)


def _head(text: str, number: Number) -> str:
    cell = text[: number.span.start].rpartition("; ")[2]
    return cell.rpartition(": ")[0] if ": " in cell else ""


def _measure(head: str) -> tuple[int, str] | None:
    """Power of ten and unit that a head says: "Revenue (USD millions)", "売上高（百万円）"."""
    folded = fold(head).text
    for found in reversed(list(_BRACKETS.finditer(folded))):
        inside = next((group for group in found.groups() if group is not None), "").strip()
        inside = re.sub(r"^(?:単位|单位|單位|unit)\s*[:：]\s*|^in\s+", "", inside)
        measured = _HEAD_MEASURE.fullmatch(inside)
        if measured:
            scale = measured["scale"]
            power = _SCALE_WORDS.get(scale.rstrip("s"), 0) or powers(scale)
            return power, canonical_unit(measured["before"] or measured["unit"] or "")
        unit = UNIT.fullmatch(inside)
        if unit and inside:
            return 0, canonical_unit(inside)
    return None


def _with_measure(figure: Figure, measure: tuple[int, str] | None) -> Figure:
    number = figure.number
    if measure is None or number.scale or (number.unit and number.unit not in MONEY) or number.nouns:
        return figure
    power, unit = measure
    if number.unit and unit and unit != number.unit:
        return figure
    scaled = replace(
        number, value=Decimal(f"{number.value.scaleb(power):f}"), scale=power, unit=number.unit or unit,
        low=number.low + power, high=number.high + power,
    )  # fmt: skip
    return replace(figure, number=scaled)
