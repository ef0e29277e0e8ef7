"""Which unit and scale hold for a figure of a table: what the cell says beats the row, the row beats what stands above.

The scale of a heading leaves percents, ratios, per-unit rows and head counts alone (semantics 10, Cells).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from groundwire_server.errors import ErrorReason
from groundwire_server.ingest.cell_value import CellNumber, plain_decimal, scaled
from groundwire_server.ingest.fact_values import refuse
from groundwire_server.ingest.measure_reading import unit_measure
from groundwire_server.ingest.measures import Measure
from groundwire_server.ingest.scale_mentions import speaks_of_scale
from groundwire_server.ingest.unit_kinds import in_money, kind_of_unit
from groundwire_server.ingest.unit_words import SHARES, is_left_alone, is_money, same_unit

__all__ = ["Settled", "kind_of_name", "settle"]

_LONGEST = 500
_LAST_BRACKET = re.compile(r"[(（\[]([^()（）\[\]]*)[)）\]]\s*$")
_END = r"\s*(?:[(（\[].*)?$"
# Each is narrow: a row of money that were taken for one of these would miss the scale above it.
_PER_SHARE = re.compile(
    r"\bper (?:\w+ )?(?:common |ordinary )?(?:share|ads|adr)s?\b|\b(?:eps|dps)\b|株当|每股"
    r"|\b(?:earnings|dividends?) per\b",
    re.IGNORECASE,
)
_PER_UNIT = re.compile(
    r"\bper (?:unit|employee|capita|head|person|user|customer|store|barrel|tonne|ton|kwh|mwh|kg|room|day)\b"
    r"|当たり|あたり|每(?:人|户|吨|平方米|单位)|単価|单价|單價|\bunit price\b|\barpu\b",
    re.IGNORECASE,
)
_PERCENT = re.compile(
    rf"[(（]\s*[%％]\s*[)）]|[%％]{_END}|^[%％]\s|\bper ?cent(?:age)?\b|\b(?:ratio|rate|yield|roe|roa|roic|irr){_END}"
    rf"|(?:率|比率|比|割合|占比|百分比|利回り){_END}",
    re.IGNORECASE,
)
_HEADS = re.compile(
    rf"\bnumber of (?:\w+ )?(?:employees|people|persons|staff|customers|users)\b|\bhead ?count\b"
    rf"|^(?:total |full-time )?employees{_END}"
    rf"|\bftes?{_END}|\bfull-time equivalents?\b|従業員数|社員数|職員数|人員数|人数|人數",
    re.IGNORECASE,
)
_SHARES = re.compile(
    r"\bnumber of shares\b|\bshares used\b|^shares\b"
    r"|\bshares? (?:outstanding|issued|authori[sz]ed)\b|\baverage (?:\w+ ){0,3}shares\b"
    r"|\b(?:basic|diluted) shares\b"
    r"|株式数|株数|股数|股份总数|股份數",
    re.IGNORECASE,
)
# What is seldom money, and is not said to be anything else: beside a title that counts money it is refused. Refusing
# costs a word in the file or the glossary, and a wrong guess would be a wrong figure.
_DOUBTFUL = re.compile(
    r"\bnumber of\b|\b(?:exchange|fx|conversion) rates?\b|\b(?:share|stock|closing|average|selling|unit) prices?\b"
    rf"|^(?:(?:total|active|average|paying|registered|monthly|daily) )*(?:stores?|outlets|branches|customers"
    rf"|subscribers|members|users|accounts|units|vehicles|vessels|aircraft|hospitals|rooms|beds|sites|staff|personnel|workforce"
    rf"|visitors|passengers|shareholders|countries|orders|downloads){_END}"
    r"|\b(?:yoy|qoq|churn|inflation|penetration|utili[sz]ation|market share|leverage|nps|dso|dpo|dio|bvps|p/?e|p/?b)\b"
    rf"|\b(?:growth|coverage|multiple|turnover days|cover){_END}"
    r"|\breturns? on (?:\w+ ){0,2}(?:equity|assets|capital|sales)"
    r"|\byear[- ]o(?:n|ver)[- ]year\b|\bdays (?:sales|payable|inventory|of|outstanding)\b"
    r"|/(?:ebitda|ebit|equity|sales)\b"
    r"|\b(?:per|pbr|bps|dps)$"
    rf"|(?<!期末)(?<!期初)(?<!合计)(?<!合計)(?<!金额)(?<!金額)(?<!发生)(?<!余额)(?<!本期)(?<!上期)数{_END}|数量|日数|天数|人次"
    r"|倍率|性向|レート|株価|股价|股價|年齢|年龄|シェア|(?:1|１|一)株|同比|环比|環比|增长$|增幅|销量|銷量|产量|產量|销售量|生産量|総数"
    rf"|总股本|總股本|^(?:連結|平均|全职)?(?:従業員|社員|職員|員工|员工){_END}",
    re.IGNORECASE,
)
_MARGIN = re.compile(rf"\bmargin{_END}", re.IGNORECASE)
# A unit in the bracket behind a name that is none of ours: "(kt)", "（万辆）".
_OWN_UNIT = re.compile(
    r"(?:thousand |million |billion |[km]?)?(?:t|kt|mt|kg|g|km|m2|m²|m3|m³|sq\.? ?(?:ft|m|km)|sqm|ha|acres|hectares"
    r"|[kmgt]?wh|mw|gw|kw|bbls?|barrels|boe|[mk]boe|mmboe|bcf|k?oz|ounces|lbs|tonnes|tons|lit(?:re|er)s|hl|units?|pcs|pieces|vehicles"
    r"|stores|sites|rooms|days|hours|years|months|minutes|customers|users|subscribers|contracts|cases|passengers|index|points|pts|°c)"
    r"|[十百千万萬億亿仟]*(?:台|辆|輛|両|個|个|件|店|店舗|社|家|戸|户|戶|室|床|棟|枚|冊|回|次|口|頭|吨|噸|トン|公里|平方米|㎡|m2|m²|平米|坪|日|天|年"
    r"|歳|岁|か月|ヶ月|月|時間|小时|公斤|千克|升|立方米|箱|套|万?千瓦时?|度|点|分|kl|t|kg|km|kwh|位|人次|票|床位)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Settled:
    """A figure with its unit. decimals: places that the source vouches for, where its scale tells; None: all digits."""

    value: str
    unit: str
    decimals: int | None


@lru_cache(maxsize=4096)
def kind_of_name(name: str) -> str:
    """What the name of a metric says of its unit: "per share", "per unit", "percent", "heads", "shares" or nothing.

    >>> (
    ...     kind_of_name("Earnings per share"),
    ...     kind_of_name("営業利益率"),
    ...     kind_of_name("従業員数"),
    ...     kind_of_name("Gross margin"),
    ... )
    ('per share', 'percent', 'heads', '')
    """
    for kind, pattern in (
        ("shares", _SHARES),
        ("per share", _PER_SHARE),
        ("per unit", _PER_UNIT),
        ("heads", _HEADS),
        ("percent", _PERCENT),
    ):
        if pattern.search(name[:_LONGEST]):
            return kind
    return ""


def settle(
    figure: CellNumber, row: Measure, above: Measure, *, term_unit: str, name: str, shown: str, section: str = ""
) -> Settled:
    """The value and unit of a figure.

    Args:
        row: what its unit column or the bracket behind its name says. above: what headings and titles say.
        term_unit: of its metric in the glossary; empty: not known. It says what is counted, and the currency only of
            what names none. name: of its metric, as the row has it.
        shown: the cell, for messages. section: the label that its row stands below; empty: none.

    Raises:
        RowRefused: FACT_UNIT_MISMATCH where two of them do not go together, or a sign of money has no country.
    """
    term_unit = in_money(term_unit, figure.unit or row.unit or above.unit)
    scaled_unit = row.unit or term_unit
    if unit_measure(scaled_unit):
        _check_scaled(figure, row, above, scaled_unit, shown)
        return Settled(plain_decimal(figure.number), scaled_unit, None)
    own_scale = figure.power is not None or row.power is not None
    if not own_scale and above.power and not term_unit and kind_of_name(section) and not kind_of_name(name):
        why = f"It stands below {section[:80]!r}, which a scale leaves alone; say unit and scale in the row."
        raise _mismatch(shown, why)
    if not own_scale and not term_unit and (above.power is not None or above.unit) and _has_own_unit(name):
        raise _mismatch(shown, "Its name says a unit that is not known; give it in the row or in the glossary.")
    if not own_scale and not row.unit and not figure.unit and not term_unit and (above.power or is_money(above.unit)):
        _refuse_doubtful(figure, name, shown)
    if row.power is None and _names_a_scale(name):
        raise _mismatch(shown, "Its name speaks of a scale that is not understood; say scale in the mapping.")
    unit = _unit(figure, row, above, term_unit, name, shown)
    power = figure.power if figure.power is not None else row.power
    if power is None:
        power = _power_above(unit, row, above, term_unit, name, shown)
    value = scaled(figure, power)
    said = figure.power if figure.power is not None else power
    decimals = figure.places - said if said else None
    return Settled(plain_decimal(value), unit, decimals)


def _names_a_scale(name: str) -> bool:
    """Whether the end of a name speaks of a scale: "Users (in millions of heads)", "Users, thousands"."""
    end = name[-_LONGEST:]
    found = _LAST_BRACKET.search(end)
    last = found[1] if found else re.split(r"[,;、，:：]\s*|\s(?=in\s)", end)[-1] if _PARTED.search(end) else ""
    return speaks_of_scale(last)


_PARTED = re.compile(r"[,;、，:：]|\sin\s")


def _has_own_unit(name: str) -> bool:
    found = _LAST_BRACKET.search(name[-_LONGEST:])
    return found is not None and _OWN_UNIT.fullmatch(found[1].strip()) is not None


def _refuse_doubtful(figure: CellNumber, name: str, shown: str) -> None:
    """Raises where a title counts money, and the name tells of something else whose unit nothing says."""
    if kind_of_name(name):
        return
    if _DOUBTFUL.search(name[:_LONGEST]) or (_MARGIN.search(name[:_LONGEST]) and abs(figure.number) <= 100):
        raise _mismatch(shown, "What stands above counts money, and it is not said in what this is; say it in the row.")


def _check_scaled(figure: CellNumber, row: Measure, above: Measure, unit: str, shown: str) -> None:
    """A unit that is a scale itself (USD_M) takes a number as it stands, where nothing says another scale."""
    own = unit_measure(unit)
    said = figure.unit or above.unit
    power = next((each for each in (figure.power, row.power, above.power) if each is not None), None)
    if said and own.unit and not same_unit(said, own.unit):
        raise _mismatch(shown, f"The figure is measured in {unit}; {said} is said of it.")
    if power is not None and power != own.power:
        raise _mismatch(shown, f"The figure is measured in {unit}; it is counted in 10^{power}.")
    if power is None and (figure.unit or (above.unit and not row.unit)):
        raise _mismatch(shown, f"The figure is measured in {unit}; {said} is said of it, without a scale.")


def _unit(figure: CellNumber, row: Measure, above: Measure, term_unit: str, name: str, shown: str) -> str:
    if figure.unit and row.unit and not same_unit(figure.unit, row.unit):
        raise _mismatch(shown, f"The cell says {figure.unit}, its row {row.unit}.")
    said = figure.unit or row.unit
    if said and is_money(said) and not term_unit and kind_of_name(name) == "per share":
        return f"{said}/{SHARES}"
    if said:
        if above.unit and is_money(said) and is_money(above.unit) and not same_unit(said, above.unit):
            raise _mismatch(shown, f"The row says {said}, what stands above it {above.unit}.")
        per_unit = kind_of_unit(term_unit) == "money per unit" and is_money(said)  # in the currency that is said
        return term_unit if term_unit and (per_unit or same_unit(said, term_unit)) else said
    if row.vague and not term_unit:
        raise _without_country(row.vague, shown)
    if term_unit and (is_left_alone(term_unit) or not is_money(term_unit)):
        return term_unit
    kind = "" if term_unit else kind_of_name(name)
    if kind in ("per unit", "percent", "heads", "shares"):
        fits = above.unit and not is_money(above.unit)
        return above.unit if fits else ""
    if above.vague and not term_unit:
        raise _without_country(above.vague, shown)
    if kind == "per share":
        return f"{above.unit}/{SHARES}" if above.unit and is_money(above.unit) else ""
    if above.unit and term_unit and not same_unit(above.unit, term_unit):
        raise _mismatch(shown, f"The metric is measured in {term_unit}; what stands above it says {above.unit}.")
    return above.unit or term_unit


def _power_above(unit: str, row: Measure, above: Measure, term_unit: str, name: str, shown: str) -> int | None:
    if above.power is None:
        return None
    kind = kind_of_name(name) if (not unit or is_money(unit)) and not term_unit else ""
    if (unit and is_left_alone(unit)) or kind in ("per share", "per unit", "percent", "heads"):
        return above.power if above.unit and unit and same_unit(above.unit, unit) else None
    shares = (unit and same_unit(unit, SHARES)) or kind == "shares"
    if shares and not (above.unit and same_unit(above.unit, SHARES)):
        if above.shares == "own" or row.unit:
            return None
        if above.shares == "unclear" or above.unit or above.vague:
            why = "What stands above counts money, and it is not said how shares are counted; say it in the row."
            raise _mismatch(shown, why)
        return above.power
    if unit and not is_money(unit) and (is_money(above.unit) or above.vague):
        if row.unit:
            return None
        raise _mismatch(shown, f"The metric is measured in {unit}; what stands above it counts money.")
    return above.power


def _mismatch(shown: str, why: str) -> Exception:
    return refuse(ErrorReason.FACT_UNIT_MISMATCH, "value", shown, why)


def _without_country(sign: str, shown: str) -> Exception:
    why = f"{sign!r} is money of several countries; name the unit, or say it in the mapping's [currencies]."
    return refuse(ErrorReason.FACT_UNIT_MISMATCH, "value", shown, why)
