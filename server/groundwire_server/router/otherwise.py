"""What looks like a known name or period and means something else (semantics 11).

American Samoa is not Samoa, 南スーダン not スーダン, Mexico City not Mexico; "excluding 2010" asks for anything but
2010; the growth of a figure is not the figure. Each becomes the name that it is, as the question has it, and no known
name is put in its place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from groundwire_server.evidence import Span
from groundwire_server.router.cues import Cue
from groundwire_server.router.reading import Named, Phrase, Reading
from groundwire_server.router.words import KINDS_OF_ENTITIES
from groundwire_server.text import is_cjk, is_katakana, normalize

__all__ = ["belongs_to_entity", "computed_metric", "joined_name", "narrows_metric", "taken_out"]

_BLANK = re.compile(r"[ \t\u3000]*[-‐‑–]?[ \t\u3000]*")
_NATION = re.compile(
    r"(?:new|old|greater|central|inner|outer|upper|lower|(?:north|south|east|west)\w*|\w{3,}(?:an|ish|ese|ern))"
)
_DIRECTION = re.compile("[南北東东西新旧舊古大小上下内內外前後后]{1,2}")
_JOINING = r"[&+、・]|and|or|vs\.?|versus|to|と|や|和|与|與|及|跟|以及"
_WORD_BETWEEN = re.compile(rf"(?:{_JOINING})", re.IGNORECASE)
_JOINER = re.compile(rf"(?:[,，]|(?:[,，]\s*)?(?:{_JOINING}))", re.IGNORECASE)
_AGAINST = re.compile(r"(?:vs\.?|versus)\s+", re.IGNORECASE)
_OF = re.compile(r"\s+of\s+(?:the\s+)?", re.IGNORECASE)
_WITHIN = re.compile(r"\s+(?:in|of|at|within|from|across|for)\s+(?:the\s+)?", re.IGNORECASE)
_PLACE_OF = re.compile(r"\b(?:of|in|for|at|near|around)\s+(?:the\s+)?$", re.IGNORECASE)

_OUT_BEFORE = re.compile(
    r"(?:\b(?:excluding|except|excepting|excludes|without|minus|not|outside|besides|barring"
    r"|(?:all|any\w*|every\w*)\s+but|other\s+than|(?:apart|aside)\s+from|with\s+the\s+exception\s+of)"
    r"(?:\s+(?:for|in|of|during|the|year))*\s+"
    r"|\b(?:ex|non)[-‐\s]+"
    r"|(?:除了|除去|不包括|不包含|不含|不算|排除|除)在?)$",
    re.IGNORECASE,
)
_OUT_AFTER = re.compile(
    r"(?:年|度|度分)?(?:[をはが]?(?:除[くい外]|抜き|含[まめ]ない|含まず|じゃな|ではな|以外)|之外|以外|除外)"
)

# Of a single figure they ask nothing new: it is its own sum, and is set beside others elsewhere.
_SIDE_BY_SIDE = re.compile(
    "compare|compared|comparison|versus|vs|sum of|total of|合計|合计|比較|比べ|比较|相比|对比|對比"
)


def belongs_to_entity(phrase: Phrase, entity: Named, metrics: Sequence[Named], reading: Reading) -> bool:
    """Whether a phrase and an entity's name are one name, of something that is not known.

    Beside the name: one that is written as names are, a word such as "south" or "American", and in CJK whatever follows
    without a particle, or a direction that stands before. Before it with a comma: the place within it (Tokyo, Japan).
    """
    question, raw = reading.question, phrase.raw
    if raw.casefold() in KINDS_OF_ENTITIES or _AGAINST.match(raw):
        return False
    cjk = is_cjk(raw[-1]) and is_cjk(entity.raw[0])
    if phrase.span.start >= entity.span.end:
        between = question[entity.span.end : phrase.span.start]
        if between.strip() in ("'s", "’s"):
            return any(_OF.fullmatch(question[each.span.end : entity.span.start]) for each in metrics)
        if _is_dotted(entity.raw[-1], between, raw[0]):
            return True
        return not between if is_cjk(raw[0]) else bool(_BLANK.fullmatch(between)) and _is_name(raw)
    between = question[phrase.span.end : entity.span.start]
    if cjk:
        return _is_dotted(raw[-1], between, entity.raw[0]) or (not between and _DIRECTION.fullmatch(raw) is not None)
    if between.strip() == "," and _is_name(raw):
        return _PLACE_OF.search(question[: phrase.span.start]) is not None
    if not _BLANK.fullmatch(between):
        return False
    words = raw.split()
    begins = not question[: phrase.span.start].strip()  # there every word has a capital
    return (_is_name(raw) and not begins) or _NATION.fullmatch(words[-1].casefold()) is not None


def joined_name(phrase: Phrase, entity: Named, reading: Reading) -> str:
    """The other name, where a phrase is named beside an entity: Japan and Xanadu, 日本とザナドゥ; else empty."""
    first, second = sorted((phrase.span, entity.span), key=lambda span: span.start)
    between = reading.question[first.end : second.start].strip()
    if not (_is_name(phrase.raw) or is_cjk(phrase.raw[-1]) or entity.raw.islower()):
        return ""
    against = _AGAINST.match(phrase.raw)
    if against is not None and first is entity.span and not between:
        return phrase.raw[against.end() :]
    # Before a comma stands much else: Hey, Japan; According to the Bank, Japan.
    joiner = _JOINER if first is entity.span else _WORD_BETWEEN
    return phrase.raw if joiner.fullmatch(between) else ""


def narrows_metric(phrase: Phrase, metric: Named, entities: Sequence[Named], reading: Reading) -> bool:
    """Whether a phrase between a metric and an entity says whose figure is meant: population of women in Japan."""
    question = reading.question
    return (
        phrase.span.start >= metric.span.end
        and phrase.raw.casefold() not in KINDS_OF_ENTITIES
        and _OF.fullmatch(question[metric.span.end : phrase.span.start]) is not None
        and any(
            each.span.start >= phrase.span.end and _WITHIN.fullmatch(question[phrase.span.end : each.span.start])
            for each in entities
        )
    )


def computed_metric(metric: Named, reading: Reading) -> str:
    """What is asked for where it is the change, the average or a multiple of a figure; empty where it is the figure."""
    if reading.has(Cue.EXPLAIN):
        return ""
    asked = next(
        (each for each in reading.cues if each.cue is Cue.COMPUTE and not _SIDE_BY_SIDE.fullmatch(normalize(each.raw))),
        None,
    )
    if asked is None:
        return ""
    return f"{metric.raw}{asked.raw}" if is_cjk(asked.raw[-1]) else f"{metric.raw} {asked.raw}"


def taken_out(span: Span, reading: Reading) -> str:
    """The stretch of the question that takes out what stands there: "excluding 2010", 日本以外; empty: none does."""
    question = reading.question
    before, after = _OUT_BEFORE.search(question[: span.start]), _OUT_AFTER.match(question, span.end)
    if before is None and after is None:
        return ""
    return question[before.start() if before else span.start : after.end() if after else span.end].strip()


def _is_dotted(left: str, between: str, right: str) -> bool:
    """Whether a middle dot joins parts of one name: サン・マルタ."""
    return between == "・" and is_katakana(left) and is_katakana(right)


def _is_name(phrase: str) -> bool:
    return any(character.isupper() for character in phrase)
