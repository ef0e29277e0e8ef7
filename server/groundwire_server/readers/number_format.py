"""Numbers of a spreadsheet as people see them in their cells: number formats of Office Open XML (ECMA-376, 18.8.30).

What a format leaves to the system of whoever looks (short dates) is shown as YYYY-MM-DD; names of months and days are
English, blanks that only fill a cell's width are left out, and "General" shows up to 15 digits whatever the width.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache

from groundwire_server.readers.date_format import format_date, is_date

__all__ = ["BUILT_IN_FORMATS", "ShownWith", "format_number", "general", "shown_with"]

_ISO, _ISO_TIME = "yyyy-mm-dd", "yyyy-mm-dd h:mm"
BUILT_IN_FORMATS: dict[int, str] = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: '"$"#,##0', 6: '"$"#,##0', 7: '"$"#,##0.00',
    8: '"$"#,##0.00', 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??", 14: _ISO, 15: "d-mmm-yy",
    16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: _ISO_TIME,
    27: 'yyyy"年"m"月"', 28: 'm"月"d"日"', 29: 'm"月"d"日"', 30: _ISO, 31: 'yyyy"年"m"月"d"日"', 32: 'h"時"mm"分"',
    33: 'h"時"mm"分"ss"秒"', 34: 'yyyy"年"m"月"', 35: 'm"月"d"日"', 36: 'yyyy"年"m"月"', 37: "#,##0;(#,##0)",
    38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)", 41: '#,##0;(#,##0);"-";@',
    42: '"$"#,##0;("$"#,##0);"-";@', 43: '#,##0.00;(#,##0.00);"-";@', 44: '"$"#,##0.00;("$"#,##0.00);"-";@',
    45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@", 50: 'yyyy"年"m"月"', 51: 'm"月"d"日"',
    52: 'yyyy"年"m"月"', 53: 'm"月"d"日"', 54: 'm"月"d"日"', 55: 'yyyy"年"m"月"', 56: 'm"月"d"日"', 57: 'yyyy"年"m"月"',
    58: 'm"月"d"日"',
}  # fmt: skip
"""The formats that a file names by number only; 14, 22 and 27 to 58 look different in each country."""

_LONGEST_FORMAT = 255
_MOST_DIGITS = 400
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|_.|\*.|\[\$(?P<currency>[^\]-]*)(?:-[^\]]*)?\]|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<general>(?i:General))|(?P<exponent>[eE][+-])|(?P<sign>.)",
    re.DOTALL,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)")
_COMPARE = {
    "<": Decimal.__lt__,
    "<=": Decimal.__le__,
    ">": Decimal.__gt__,
    ">=": Decimal.__ge__,
    "=": Decimal.__eq__,
    "<>": Decimal.__ne__,
}


@dataclass(frozen=True, slots=True)
class _Section:
    """One section of a format. tokens: ("literal", text), ("digit", 0 # ?), or a sign: . , % / @ e+ general."""

    tokens: tuple[tuple[str, str], ...]
    source: str
    condition: tuple[str, Decimal] | None


def format_number(value: float, code: str, *, since_1904: bool = False) -> str:
    """A number under a format.

    Args:
        value: finite. code: as the file has it, e.g. '#,##0.0"%";(0)'. since_1904: days count from 1904.

    >>> format_number(1234.5, "#,##0.00"), format_number(-0.125, "0.0%"), format_number(-5, "#,##0;(#,##0)")
    ('1,234.50', '-12.5%', '(5)')
    >>> format_number(45473, "yyyy-mm-dd"), format_number(1234567, '0.0,,"M"'), format_number(0.1 + 0.2, "General")
    ('2024-06-30', '1.2M', '0.3')
    """
    if code == "General" or len(code) > _LONGEST_FORMAT:
        return general(value)
    sections = _sections(code)
    number = Decimal(repr(value))
    section, number = _choose(sections, number)
    if is_date(section.source):
        return format_date(value, section.source, since_1904=since_1904) or general(value)
    try:
        return _fill(section, number)
    except (InvalidOperation, OverflowError, ZeroDivisionError):
        return general(value)


@dataclass(frozen=True, slots=True)
class ShownWith:
    """What a format adds to a number that it shows.

    percent: times a hundred, with a sign of percent. thousands: how often it is divided by a thousand.
    before, behind: what is written around the digits; country: that of its sign of money, e.g. "411"; empty: not said.
    """

    percent: int = 0
    thousands: int = 0
    before: str = ""
    behind: str = ""
    country: str = ""


_COUNTRY = re.compile(r"\[\$[^\]-]*-(?:[0-9A-Fa-f]{0,4})?([0-9A-Fa-f]{3,4})\]")


@lru_cache(maxsize=4096)
def shown_with(sign: int, code: str) -> ShownWith:
    """What stands around a number, and how it is counted, under a format.

    Args:
        sign: -1, 0 or 1, which chooses the section.

    >>> shown_with(1, '0.0,,"M"'), shown_with(1, "0.0%").percent, shown_with(-1, '#,##0;"△ "#,##0').before
    (ShownWith(percent=0, thousands=2, before='', behind='M', country=''), 1, '△ ')
    """
    if code in ("", "General") or len(code) > _LONGEST_FORMAT:
        return ShownWith()
    section, _ = _choose(_sections(code), Decimal(sign))
    kinds = [kind for kind, _ in section.tokens]
    digits = [place for place, kind in enumerate(kinds) if kind in ("digit", "general")]
    if not digits:
        return ShownWith()
    point = next((place for place, kind in enumerate(kinds) if kind == "."), len(kinds))
    last_whole = max((place for place in digits if place < point), default=digits[-1])
    thousands = sum(1 for place, kind in enumerate(kinds) if kind == "," and place > last_whole)
    before = "".join(text for kind, text in section.tokens[: digits[0]] if kind == "literal")
    behind = "".join(text for kind, text in section.tokens[digits[-1] + 1 :] if kind == "literal")
    country = _COUNTRY.search(section.source)
    return ShownWith(kinds.count("%"), thousands, before, behind, country[1].lstrip("0").upper() if country else "")


def general(value: float) -> str:
    """A number without a format, up to 15 digits.

    >>> general(3.0), general(1e20), general(2.50)
    ('3', '1E+20', '2.5')
    """
    return format(value, ".15g").replace("e", "E")


@lru_cache(maxsize=1024)
def _sections(code: str) -> tuple[_Section, ...]:
    sections: list[_Section] = []
    tokens: list[tuple[str, str]] = []
    condition, start = None, 0
    for match in _TOKEN.finditer(code):
        kind, text = match.lastgroup, match[match.lastgroup] if match.lastgroup else ""
        if kind == "sign" and text == ";":
            sections.append(_Section(tuple(tokens), code[start : match.start()], condition))
            tokens, condition, start = [], None, match.end()
        elif kind in ("quoted", "escaped", "currency"):
            tokens.append(("literal", text))
        elif kind == "bracket":
            found = _CONDITION.fullmatch(text.strip())
            condition = (found[1], Decimal(found[2])) if found else condition
        elif kind == "general":
            tokens.append(("general", ""))
        elif kind == "exponent":
            tokens.append(("exponent", text[1]))
        elif kind == "sign" and text in "0#?":
            tokens.append(("digit", text))
        elif kind == "sign" and text in ".,%/@":
            tokens.append((text, text))
        elif kind == "sign":
            tokens.append(("literal", text))
    sections.append(_Section(tuple(tokens), code[start:], condition))
    return tuple(sections)


def _choose(sections: tuple[_Section, ...], number: Decimal) -> tuple[_Section, Decimal]:
    """The section for a number, and the number that it shows: one for negative numbers shows them without sign."""
    if any(section.condition for section in sections[:2]):
        for section in sections[:3]:
            if section.condition is None or _COMPARE[section.condition[0]](number, section.condition[1]):
                only_negative = section.condition is not None and section.condition[0] in ("<", "<=")
                return section, abs(number) if only_negative and len(sections) > 1 else number
        return sections[0], number
    numeric = sections[:3]
    if number < 0 and len(numeric) > 1:
        return numeric[1], -number
    if number == 0 and len(numeric) > 2:
        return numeric[2], number
    return numeric[0], number


def _fill(section: _Section, number: Decimal) -> str:
    kinds = [kind for kind, _ in section.tokens]
    if "general" in kinds or ("@" in kinds and "digit" not in kinds):
        shown = general(float(number))
        return "".join(
            shown if kind in ("general", "@") else text
            for kind, text in section.tokens
            if kind in ("general", "@", "literal")
        )
    if "digit" not in kinds:
        return "".join("%" if kind == "%" else text for kind, text in section.tokens if kind in ("literal", "%"))
    number = number.scaleb(2 * kinds.count("%"))
    if "exponent" in kinds:
        return _scientific(section, number)
    if "/" in kinds:
        return _fraction(section, number)
    return _fixed(section.tokens, number)


def _fixed(tokens: tuple[tuple[str, str], ...], number: Decimal) -> str:
    digits = [place for place, (kind, _) in enumerate(tokens) if kind == "digit"]
    point = next((place for place, (kind, _) in enumerate(tokens) if kind == "."), len(tokens))
    commas = [place for place, (kind, _) in enumerate(tokens) if kind == ","]
    # A comma behind the last digit before the point divides by a thousand; one between digits parts thousands.
    last_whole = max((place for place in digits if place < point), default=digits[-1])
    number = number.scaleb(-3 * sum(1 for place in commas if last_whole < place))
    grouped = any(digits[0] < place < last_whole for place in commas)
    decimals = [tokens[place][1] for place in digits if place > point]
    rounded = abs(number).quantize(Decimal(1).scaleb(-len(decimals)), ROUND_HALF_UP)
    if rounded.adjusted() > _MOST_DIGITS:
        raise OverflowError
    whole, _, part = f"{rounded:f}".partition(".")
    while part and decimals and decimals[-1] in "#?" and part[-1] == "0":
        part, decimals = part[:-1], decimals[:-1]
    sign = "-" if number < 0 and rounded else ""
    return sign + _place(tokens, point, whole, part, grouped=grouped)


def _place(tokens: tuple[tuple[str, str], ...], point: int, whole: str, part: str, *, grouped: bool) -> str:
    """The digits in their places, what stands between them kept."""
    least = sum(1 for kind, text in tokens[:point] if (kind, text) == ("digit", "0"))
    whole = "" if whole == "0" and least == 0 else whole.rjust(least, "0")
    left = _before_point(tokens[:point], f"{int(whole):0{len(whole)},}" if grouped and whole else whole)
    if grouped and least > 3:
        left = _before_point(tokens[:point], _group(whole))
    right: list[str] = []
    used = 0
    for kind, text in tokens[point:]:
        if kind == "digit":
            right.append(part[used : used + 1])
            used += 1
        elif kind == ".":
            right.append(".")
        elif kind in ("literal", "%"):
            right.append(text)
    return left + "".join(right)


def _group(whole: str) -> str:
    head = len(whole) % 3
    return ",".join(filter(None, [whole[:head], *(whole[at : at + 3] for at in range(head, len(whole), 3))]))


def _before_point(tokens: tuple[tuple[str, str], ...], whole: str) -> str:
    """From the right: each place takes one digit, the first one all that are left; "000-0000" keeps its hyphen."""
    placed: list[str] = []
    left = list(whole)
    places = sum(1 for kind, _ in tokens if kind == "digit")
    for kind, text in reversed(tokens):
        if kind == "digit":
            places -= 1
            take = [left.pop()] if left else []
            if take and take[0] == ",":
                take.insert(0, left.pop())
            while left and (places == 0 or left[-1] == ","):
                take.insert(0, left.pop())
            placed.append("".join(take))
        elif kind in ("literal", "%"):
            placed.append(text)
    return "".join(reversed(placed))


def _scientific(section: _Section, number: Decimal) -> str:
    place = next(at for at, (kind, _) in enumerate(section.tokens) if kind == "exponent")
    mantissa, power = section.tokens[:place], section.tokens[place:]
    point = next((at for at, (kind, _) in enumerate(mantissa) if kind == "."), len(mantissa))
    whole_digits = max(1, sum(1 for kind, _ in mantissa[:point] if kind == "digit"))
    decimals = sum(1 for kind, _ in mantissa[point:] if kind == "digit")
    exponent = (number.adjusted() // whole_digits) * whole_digits if number else 0
    scaled = number.scaleb(-exponent).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    if scaled and scaled.adjusted() >= whole_digits:
        exponent += whole_digits
        scaled = number.scaleb(-exponent).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    least = sum(1 for kind, text in power if (kind, text) == ("digit", "0"))
    mark = "-" if exponent < 0 else "+" if power[0][1] == "+" else ""
    rest = "".join(text for kind, text in power[1:] if kind in ("literal", "%"))
    return f"{_fixed(mantissa, scaled)}E{mark}{abs(exponent):0{max(1, least)}d}{rest}"


def _fraction(section: _Section, number: Decimal) -> str:
    bar = next(at for at, (kind, _) in enumerate(section.tokens) if kind == "/")
    before, after = section.tokens[:bar], section.tokens[bar + 1 :]
    fixed = "".join(text for kind, text in after if kind == "literal" and text.isdigit()) + "".join(
        text for kind, text in after if kind == "digit" and text == "0"
    )
    most = 10 ** min(4, sum(1 for kind, _ in after if kind == "digit" or kind == "literal")) - 1
    exact = Fraction(abs(number))
    mixed = sum(1 for kind, text in before if kind == "literal" and text == " ") > 0
    whole = int(exact) if mixed else 0
    rest = exact - whole
    if fixed.isdigit() and int(fixed) > 0:
        rest = Fraction(round(rest * int(fixed)), int(fixed))
        top, bottom = round(rest * int(fixed)), int(fixed)
    else:
        rest = rest.limit_denominator(max(1, most))
        top, bottom = rest.numerator, rest.denominator
    if mixed and top and top == bottom:
        whole, top = whole + 1, 0
    sign = "-" if number < 0 else ""
    if mixed:
        return sign + " ".join(filter(None, [str(whole) if whole or not top else "", f"{top}/{bottom}" if top else ""]))
    return f"{sign}{top}/{bottom}"
