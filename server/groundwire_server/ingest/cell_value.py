"""One cell of a table to a number: sign, separators, scale, unit and footnotes (semantics 10, Cells).

Nothing is guessed: what reads as two numbers, or as none, is refused with the reason. Missing is never zero.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, field
from decimal import Context, Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from groundwire_server.errors import ErrorReason
from groundwire_server.ingest.fact_values import refuse
from groundwire_server.ingest.money_signs import MoneySigns
from groundwire_server.ingest.unit_words import PERCENT, is_money, scale_words, unit_words

__all__ = [
    "DECIMAL_COMMA",
    "CellNumber",
    "CellRules",
    "DecimalMark",
    "is_missing",
    "plain_decimal",
    "read_cell",
    "scaled",
    "without_notes",
]

DecimalMark = Literal[".", ",", ""]

DECIMAL_COMMA = 'The value has a decimal comma; say decimal = "," in the mapping.'
"""Why a number is refused that shows how the numbers of its file are written."""

_EXACT = Context(prec=4000, Emax=999_999, Emin=-999_999)
_LONGEST = 1000
_LONGEST_NAME = 500

_MISSING = frozenset({
    "", "-", "--", "---", "–", "—", "―", "ー", ".", "..", "...", "…", "*", "**", "nil", "n.a.", "n.a", "n. a.", "n/a",
    "n / a", "na", "n.d.", "n.m.", "none", "null", "not available", "not applicable", "なし", "無し", "該当なし",
    "該当無し", "无", "無", "不适用", "不適用", "暂无", "未披露", "未開示", "非開示", "#n/a", "#n/a!", "#na",
})  # fmt: skip
_ERRORS = re.compile(r"#(?:div/0!|ref!|value!|num!|name\?|null!|spill!|calc!|getting_data|err\S*)", re.IGNORECASE)

_RAISED = re.compile(r"(?<=[\d)%])\s*[⁰¹²³⁴⁵⁶⁷⁸⁹]+$")
_RAISED_BEHIND_NAME = re.compile(r"(?<=\w)\s*[⁰¹²³⁴⁵⁶⁷⁸⁹]+$")
_SQUARE = re.compile(r"(?<![^\W\d_])(m|cm|km|ft)([²³])$", re.IGNORECASE)
_SIGN_AND_BRACKET = re.compile(r"-\s*\(\s*\d")
_FOOTNOTE = re.compile(
    r"(?:\s*(?:\((?:注|note|※)?\s?\d{1,2}\)|\([a-z]\)|\[\d{1,2}\]|\[[a-z]\]|\*{1,3}\d?|[†‡§]|※\d{0,2}|(?<=\D)注\d{1,2})"
    r"|(?<=[\d)%])\s?[er])$",
    re.IGNORECASE,
)
_NAME_NOTE = re.compile(
    r"\s*(?:[(（](?:注|note|※)?\s?\d{1,2}[)）]|\[\d{1,2}\]|\*{1,3}\d?|[†‡]|※\d{0,2}|注\d{1,2})$", re.IGNORECASE
)
_MARK = re.compile(r"\s*(?:\*{1,3}|[†‡]|※\d{0,2})$")
_LETTER_NOTE = re.compile(r"[ER]$")

_TOKEN = re.compile(
    r"(?P<number>(?:\d[\d.,' ]*\d|\d|[.,]\d+)(?:[eE][+-]?\d{1,3}(?!\d))?)"
    r"|(?P<minus>[-−‐‑])|(?P<dash>–)|(?P<triangle>[△▲])|(?P<plus>\+)|(?P<left>\()|(?P<right>\))"
    r"|(?P<word>'000,000|'000s?|000's|[a-z]{1,3}\.?\$|u\.s\.\s?\$|[a-z]{2}¥|[$€£¥₩₹₽₺₫฿₪₱]|%pt|%"
    r"|(?:tsd|mio|mrd|mil|rs)\.|(?:m|cm|km|ft)[23](?![\d.,])|[^\W\d_]+)"
    r"|(?P<space>\s+)",
    re.IGNORECASE,
)
_POINT = re.compile(
    r"(?P<whole>\d+|\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})+,\d{3}|\d{1,3}(?: \d{3})+|\d{1,3}(?:'\d{3})+)?"
    r"(?:\.(?P<part>\d+))?(?:[eE](?P<power>[+-]?\d{1,3}))?"
)
_COMMA = re.compile(
    r"(?P<whole>\d+|\d{1,3}(?:\.\d{3})+|\d{1,3}(?: \d{3})+|\d{1,3}(?:'\d{3})+)?"
    r"(?:,(?P<part>\d+))?(?:[eE](?P<power>[+-]?\d{1,3}))?"
)
_PLAIN = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{1,2})?")
_EITHER = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
_ONLY_COMMA = re.compile(
    r"\d{1,3}(?:\.\d{3})+,\d+|\d+,(?:\d{1,2}|\d{4,})|0,\d+|\d{1,3}(?:\.\d{3}){2,}|\d{1,3}(?:[ ']\d{3})+,\d+"
)
_PHRASES = (
    "us dollars", "us dollar", "u.s. dollars", "basis points", "percentage points", "per cent", "japanese yen",
    "pounds sterling",
)  # fmt: skip
_LETTERS = {"M": 6, "B": 9, "K": 3}
_MONEY_LETTERS = {"m": 6, "b": 9, "t": 12}


@dataclass(frozen=True, slots=True)
class CellRules:
    """How the cells of a file are read.

    decimal: the decimal mark; empty: each number by itself, and one that may be read either way is refused.
    signs: what $ and ¥ mean.
    """

    decimal: DecimalMark = "."
    signs: MoneySigns = field(default_factory=MoneySigns)


@dataclass(frozen=True, slots=True)
class CellNumber:
    """A number as a cell states it.

    number: exact, before scale. places: digits behind the point, as written.
    power: of ten, as the cell itself says; None: it says none. unit: as the cell itself says; empty: it says none.
    either_way: another decimal mark would make another number of it.
    shown_power: of ten, in which a number format shows what is stored; it counts where nothing else says one.
    """

    number: Decimal
    power: int | None = None
    unit: str = ""
    either_way: bool = False
    shown_power: int = 0

    @property
    def places(self) -> int:
        """Digits behind the point."""
        return max(0, -int(self.number.as_tuple().exponent))


def is_missing(text: str) -> bool:
    """Whether a cell says that there is no value.

    >>> is_missing("—"), is_missing("n.a. (1)"), is_missing("なし"), is_missing("0")
    (True, True, True, False)
    """
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().replace("\u2212", "-").split())
    if folded in _MISSING:
        return True
    if _SIGN_AND_BRACKET.match(folded):  # below zero twice, or nothing with a footnote
        return False
    found = _FOOTNOTE.search(folded)
    return found is not None and folded[: found.start()].strip() in _MISSING - {""}


def read_cell(text: str, rules: CellRules, units: Collection[str] = ()) -> CellNumber:
    """The number in a cell.

    Args:
        units: spellings that count as units beside those that everybody knows, e.g. those of the glossary.

    Raises:
        RowRefused: FACT_VALUE_MISSING, FACT_VALUE_MALFORMED, or FACT_UNIT_MISMATCH for money of an unknown country.

    >>> read_cell("(1,234.50)", CellRules()).number, read_cell("△12億円", CellRules())
    (Decimal('-1234.50'), CellNumber(number=Decimal('-12'), power=8, unit='JPY', either_way=False, shown_power=0))
    """
    if _PLAIN.fullmatch(text) and (rules.decimal != "," or "." not in text):
        return CellNumber(Decimal(text), either_way=_EITHER.fullmatch(text) is not None)
    if is_missing(text):
        raise refuse(ErrorReason.FACT_VALUE_MISSING, "value", text, "There is no value, and missing is not zero.")
    try:
        return _read(text, rules.decimal, tuple(units), rules)
    except _NoNumberError as error:
        raise refuse(ErrorReason.FACT_VALUE_MALFORMED, "value", text, str(error)) from None
    except _NoCountryError as error:
        why = f"{str(error)!r} is money of several countries; name the unit, or say it in the mapping's [currencies]."
        raise refuse(ErrorReason.FACT_UNIT_MISMATCH, "value", text, why) from None


def without_notes(name: str, *, brackets: bool = True) -> str:
    """A name without the marks of footnotes behind it; the name as it stands where it has none.

    Args:
        brackets: whether a number in brackets is one; it may be part of a name ("Fund (2)").

    >>> without_notes("Net sales (1)"), without_notes("売上高※1"), without_notes("Net sales (pro forma)")
    ('Net sales', '売上高', 'Net sales (pro forma)')
    """
    if len(name) > _LONGEST_NAME:
        return name
    shown = _RAISED_BEHIND_NAME.sub("", name.strip())
    note = _NAME_NOTE if brackets else _MARK
    while found := note.search(shown):
        rest = shown[: found.start()].rstrip()
        if not rest:
            break
        shown = rest
    return shown


class _NoNumberError(Exception):
    """Why a text is no number."""


class _NoCountryError(Exception):
    """The sign of money that may be of any of several countries."""


def _read(text: str, decimal: DecimalMark, units: tuple[str, ...], rules: CellRules) -> CellNumber:
    if len(text) > _LONGEST:
        raise _NoNumberError("The cell is too long for a number.")
    if _ERRORS.fullmatch(text.strip()):
        raise _NoNumberError("The spreadsheet says that it could not compute this cell.")
    shown = _without_notes(text)
    tokens = _tokens(shown)
    return _Parse(
        shown, decimal, {unicodedata.normalize("NFKC", unit).casefold(): unit for unit in units}, rules
    ).through(tokens)


def _without_notes(text: str) -> str:
    """The figure alone, in NFKC: marks of footnotes behind it are taken off."""
    shown = text.strip()
    raised = _RAISED.search(shown)
    if raised:
        if shown[: raised.start()].strip() == "10":  # a power of ten, perhaps
            raise _NoNumberError("A raised digit behind 10 may be a power or a footnote.")
        shown = shown[: raised.start()]
    shown = _SQUARE.sub(lambda match: f"{match[1]}{'2' if match[2] == '²' else '3'}", shown)
    if any(_hides_digits(char) for char in shown):
        raise _NoNumberError("It holds a sign that is no plain digit.")
    shown = unicodedata.normalize("NFKC", shown).replace("\u2212", "-").strip()
    while found := _FOOTNOTE.search(shown):
        rest = shown[: found.start()].rstrip()
        if not any(char.isdigit() for char in rest) or _LETTER_NOTE.search(found[0]):
            break
        shown = rest
    return shown


def _hides_digits(char: str) -> bool:
    """A character that becomes a digit only in NFKC: ½, ②, ⑴ where it is no footnote."""
    return not char.isascii() and not char.isdecimal() and any(c.isdigit() for c in unicodedata.normalize("NFKC", char))


def _tokens(shown: str) -> list[tuple[str, str]]:
    """Kind and text of each piece; blanks are left out."""
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(shown):
        match = _TOKEN.match(shown, at)
        if match is None or match.lastgroup is None:
            raise _NoNumberError("The value is no number.")
        kind, text = match.lastgroup, match[match.lastgroup]
        if kind == "number":
            text = text.rstrip(" ")
        if kind != "space":
            found.append((kind, text))
        at = match.end()
    return _joined(found)


def _joined(tokens: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Words that belong together ("US dollars") as one; a word of several ("百万円") as several."""
    joined: list[tuple[str, str]] = []
    at = 0
    while at < len(tokens):
        kind, text = tokens[at]
        pair = f"{text} {tokens[at + 1][1]}".casefold() if kind == "word" and at + 1 < len(tokens) else ""
        if pair in _PHRASES:
            joined.append(("word", pair))
            at += 2
            continue
        joined += [(kind, part) for part in (_parted(text) if kind == "word" else [text])]
        at += 1
    return joined


@lru_cache(maxsize=4096)
def _parted(word: str) -> list[str]:
    folded = word.casefold()
    if word.isascii() or _is_known(folded):
        return [word]
    parts: list[str] = []
    at = 0
    while at < len(folded):
        length = next((size for size in range(min(8, len(folded) - at), 0, -1) if _is_known(folded[at : at + size])), 0)
        if not length:
            return [word]
        parts.append(folded[at : at + length])
        at += length
    return parts


def _is_known(folded: str) -> bool:
    return folded in unit_words() or folded in scale_words() or folded in ("$", "¥", "元", "圓")


@dataclass(slots=True)
class _Parse:
    """Reads tokens in the one order that they may stand in: money and sign, number, scale, unit."""

    shown: str
    decimal: DecimalMark
    units: dict[str, str]
    rules: CellRules
    negative: int = 0
    signed: bool = False
    unit: str = ""
    parts: list[tuple[Decimal, int | None]] | None = None
    either_way: bool = False

    def through(self, tokens: list[tuple[str, str]]) -> CellNumber:
        open_brackets = closed = 0
        parts: list[tuple[Decimal, int | None]] = []
        for place, (kind, text) in enumerate(tokens):
            before = not parts
            match kind:
                case "number":
                    if closed or (parts and parts[-1][1] is None):
                        raise _NoNumberError("There are several numbers.")
                    parts.append((self._number(text), None))
                case "minus" | "dash" | "triangle" | "plus":
                    behind = bool(parts) and kind == "minus" and tokens[place - 1][0] == "number"
                    if self.signed or not (before or behind) or (kind == "dash" and not before):
                        raise _NoNumberError("The value is no number: it has signs that do not go together.")
                    self.signed = True
                    self.negative = int(kind != "plus")
                case "left":
                    if open_brackets or not before:
                        raise _NoNumberError("The value is no number: its brackets do not go together.")
                    open_brackets = 1
                case "right":
                    if not open_brackets or closed or before:
                        raise _NoNumberError("The value is no number: its brackets do not go together.")
                    closed = 1
                case _:
                    self._word(text, parts, before)
        if not parts:
            raise _NoNumberError("The value is no number.")
        if open_brackets != closed or (open_brackets and self.signed):
            raise _NoNumberError("The value is no number: brackets and signs do not go together.")
        return self._total(parts, bool(open_brackets or self.negative))

    def _total(self, parts: list[tuple[Decimal, int | None]], negative: bool) -> CellNumber:
        powers = [power for _, power in parts]
        if len(parts) == 1:
            number, power = parts[0]
        else:  # 1億2,345万: each part is smaller than one of the unit before it
            whole = [0 if power is None else power for power in powers]
            if any(low >= high for high, low in pairwise(whole)):
                raise _NoNumberError("There are several numbers.")
            for (value, _), (high, low) in zip(parts[1:], pairwise(whole), strict=True):
                if value.scaleb(low, _EXACT) >= Decimal(1).scaleb(high, _EXACT):
                    raise _NoNumberError("There are several numbers.")
            power = whole[-1]
            number = sum(
                (value.scaleb(high - power, _EXACT) for (value, _), high in zip(parts, whole, strict=True)), Decimal(0)
            )
            number = Decimal(format(number, "f"))
        if self.unit == PERCENT and power is not None:
            raise _NoNumberError("A percentage has no scale.")
        return CellNumber(-number if negative and number else number, power, self.unit, self.either_way)

    def _word(self, text: str, parts: list[tuple[Decimal, int | None]], before: bool) -> None:
        folded = text.casefold()
        power = scale_words().get(folded)
        if power is None:
            power = _LETTERS.get(text)
        if power is None and self.unit and is_money(self.unit):
            power = _MONEY_LETTERS.get(folded)
        if power is not None and not before and parts[-1][1] is None:
            parts[-1] = (parts[-1][0], power)
            return
        unit = unit_words().get(folded) or self.units.get(folded, "")
        if not unit and folded in ("$", "¥", "元", "圓", "dollar", "dollars"):
            unit = self.rules.signs.unit(folded)
            if not unit:
                raise _NoCountryError(text)
        if not unit:
            raise _NoNumberError(f"The value is no number: {text[:40]!r} is no unit that is known here.")
        if self.unit or (before and not is_money(unit)):
            raise _NoNumberError("The value is no number: it has two units, or one in front that is no money.")
        self.unit = unit

    def _number(self, text: str) -> Decimal:
        mark = self.decimal
        plain = text.replace("\u00a0", " ")
        self.either_way |= _EITHER.fullmatch(plain) is not None
        if not mark:
            if self.either_way:
                raise _NoNumberError(
                    "The value may be read in two ways; say in the mapping whether decimal is a point or a comma."
                )
            mark = "," if _ONLY_COMMA.fullmatch(plain) else "."
        found = (_POINT if mark == "." else _COMMA).fullmatch(plain)
        if found is None or (found["whole"] is None and found["part"] is None):
            if mark == "." and _ONLY_COMMA.fullmatch(plain):
                raise _NoNumberError(DECIMAL_COMMA)
            raise _NoNumberError("The value is no number: its separators do not stand where they belong.")
        whole = re.sub(r"\D", "", found["whole"] or "0")
        if found["whole"] and not found["whole"].isdigit() and whole.startswith("0"):
            raise _NoNumberError("The value is no number: its separators do not stand where they belong.")
        number = Decimal(f"{whole}.{found['part']}" if found["part"] else whole)
        if found["power"]:
            number = Decimal(format(number.scaleb(int(found["power"]), _EXACT), "f"))
        return number


def scaled(figure: CellNumber, power: int | None) -> Decimal:
    """Its value where it is counted in a power of ten, exactly; the cell's own power comes before that.

    >>> plain_decimal(scaled(CellNumber(Decimal("12.50")), 6))
    '12500000'
    """
    said = figure.power if figure.power is not None else figure.shown_power if power is None else power
    return figure.number.scaleb(said, _EXACT) if said else figure.number


def plain_decimal(number: Decimal) -> str:
    """A decimal without exponent, every digit kept.

    >>> plain_decimal(Decimal("1.250E+7")), plain_decimal(Decimal("-0.00"))
    ('12500000', '0.00')
    """
    text = format(number, "f")
    return text.removeprefix("-") if text.startswith("-") and not text.strip("-0.") else text
