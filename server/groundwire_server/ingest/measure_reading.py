"""Units and scales in headings and titles: "USD millions", "百万円", "in thousands, except per share data".

A phrase is read only where all of it is understood; what is not understood says nothing.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from groundwire_server.ingest.measure_phrase import EXCEPT, SAYS_UNIT, read_phrase
from groundwire_server.ingest.measures import NO_MEASURE, Measure
from groundwire_server.ingest.money_signs import MoneySigns, Vague
from groundwire_server.ingest.scale_mentions import says_two_scales
from groundwire_server.ingest.unit_words import unit_key

__all__ = ["read_measure", "read_title", "split_measure", "unit_measure"]

_BRACKET = re.compile(r"[(\[（【〔［](?P<phrase>[^()\[\]（）【】〔〕［］]*)[)\]）】〕］]")
_TRAILING = re.compile(
    r"^(?P<name>.*\S)\s*[(\[（【〔［](?P<phrase>[^()\[\]（）【】〔〕［］]*)[)\]）】〕］]\s*$", re.DOTALL
)
_LONGEST, _LONGEST_LABEL = 200, 500
_APOSTROPHES = str.maketrans("\u2018\u2019´`", "''''")


@lru_cache(maxsize=4096)
def unit_measure(unit: str) -> Measure:
    """What a code of a unit says of scale by itself; false where it says none.

    >>> unit_measure("USD_M"), bool(unit_measure("USD"))
    (Measure(power=6, unit='USD', shares='same', vague=''), False)
    """
    measure = read_title(unit.replace("_", " "))
    return measure if measure.power is not None else NO_MEASURE


def read_measure(text: str, signs: MoneySigns = Vague) -> Measure:
    """What a heading or a title says of unit and scale; false where it says neither.

    >>> read_measure("Revenue (USD millions)"), read_measure("（単位：百万円）")
    (Measure(power=6, unit='USD', shares='same', vague=''), Measure(power=6, unit='JPY', shares='same', vague=''))
    >>> read_measure("Revenue from USD loans") == NO_MEASURE
    True
    """
    if len(text) > _LONGEST_LABEL:
        return NO_MEASURE
    return _read(unicodedata.normalize("NFKC", text).translate(_APOSTROPHES).strip(), _Frozen.of(signs))


@dataclass(frozen=True, slots=True)
class _Frozen:
    """Signs that a cache can hold."""

    said: tuple[tuple[str, str], ...]
    language: str
    traditional: bool

    @classmethod
    def of(cls, signs: MoneySigns) -> _Frozen:
        return cls(tuple(sorted(signs.said.items())), signs.language, signs.traditional)

    def thawed(self) -> MoneySigns:
        return MoneySigns(dict(self.said), self.language, self.traditional)


@lru_cache(maxsize=4096)
def _read(text: str, frozen: _Frozen) -> Measure:
    if not text or len(text) > _LONGEST:
        return NO_MEASURE
    signs = frozen.thawed()
    for phrase in _phrases(text):
        measure = read_phrase(phrase, signs)
        if measure:
            two = (measure.power is not None and says_two_scales(text)) or _says_two_units(text, signs)
            return NO_MEASURE if two else measure
    return NO_MEASURE


def _phrases(text: str) -> list[str]:
    """Where a measure may stand in a heading, the surest place first."""
    found = [text]
    said = SAYS_UNIT.search(text)
    if said:
        found.append(said["phrase"].rstrip(" )]）】"))
    found += [match["phrase"] for match in reversed(list(_BRACKET.finditer(text)))]
    found += [text[match.end() :] for match in re.finditer(r"(?:(?<!\d),|,(?!\d)|[:;、])\s*|\s+[-–—|]\s+", text)][-3:]
    lowered = text.casefold()
    at = lowered.rfind(" in ")
    if at > 0:
        found.append(text[at + 1 :])
    return found


def _says_two_units(text: str, signs: MoneySigns) -> bool:
    """Whether a text lists units, one for some figures and one for others: "USD, %"."""
    shown = SAYS_UNIT.search(text)
    listed = re.split(r"[,;、・]\s*|\s+and\s+", EXCEPT.sub("", shown["phrase"] if shown else text).strip("()[] "))
    if len(listed) < 2:
        return False
    said = [read_phrase(each, signs) for each in listed]
    return len({unit_key(each.unit or each.vague) for each in said if each.unit or each.vague}) > 1


def read_title(text: str, signs: MoneySigns = Vague) -> Measure:
    """What a text says that speaks of nothing but unit and scale; false for any other text.

    >>> read_title("（単位：百万円）").power, bool(read_title("Revenue (USD)"))
    (6, False)
    """
    if len(text) > _LONGEST_LABEL:
        return NO_MEASURE
    shown = unicodedata.normalize("NFKC", text).translate(_APOSTROPHES).strip()
    whole = re.fullmatch(r"[(\[【〔](?P<inner>[^()\[\]【】〔〕]*)[)\]】〕]", shown)
    phrase = whole["inner"].strip() if whole else shown
    return read_phrase(phrase, signs) if phrase and len(phrase) <= _LONGEST else NO_MEASURE


def split_measure(label: str, signs: MoneySigns = Vague) -> tuple[str, Measure]:
    """A name and what a bracket at its end says of its unit; the whole label where it says nothing.

    >>> split_measure("売上高（百万円）")[0], split_measure("Net sales (pro forma)")[0]
    ('売上高', 'Net sales (pro forma)')
    """
    found = _TRAILING.match(label) if len(label) <= _LONGEST_LABEL else None
    if found:
        measure = read_phrase(unicodedata.normalize("NFKC", found["phrase"]).translate(_APOSTROPHES).strip(), signs)
        if measure:
            return found["name"], measure
    return label, NO_MEASURE
