"""A number that a spreadsheet stores, with what its number format says of unit and scale."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from decimal import Decimal

from groundwire_server.errors import ErrorReason, RowRefused
from groundwire_server.ingest.cell_value import CellNumber, CellRules, read_cell
from groundwire_server.ingest.fact_values import refuse
from groundwire_server.ingest.unit_words import PERCENT
from groundwire_server.readers.cells import Cell, CellKind
from groundwire_server.readers.number_format import shown_with

__all__ = ["read_figure"]

# Language tags of Windows beside a sign of money, e.g. [$¥-411].
_MONEY_OF_COUNTRY = {
    "411": "JPY", "804": "CNY", "404": "TWD", "C04": "HKD", "409": "USD", "1009": "CAD", "C0C": "CAD", "C09": "AUD",
    "1409": "NZD", "1004": "SGD", "4809": "SGD", "80A": "MXN", "809": "GBP", "412": "KRW",
}  # fmt: skip
_SIGNS_OF_COUNTRY = frozenset("$¥￥元圓")
_SAYS = re.compile(r"[^\W_]|[$€£¥￥₩₹₽₺₫฿₪₱%]")
_NEGATIVE = re.compile(r"[-−△▲(]")
_SIGNS = re.compile(r"[-+−△▲()\s]")


def read_figure(cell: Cell, rules: CellRules, units: Collection[str] = ()) -> CellNumber:
    """The number in a cell: what a spreadsheet stores where it stores a number, else what its text says.

    Raises:
        RowRefused: as `read_cell`; also for days, truth values, errors, and formulas without a stored value.

    >>> read_figure(Cell("12.5%", CellKind.NUMBER, "0.125", "0.0%"), CellRules())
    CellNumber(number=Decimal('12.5'), power=None, unit='PERCENT', either_way=False, shown_power=0)
    """
    match cell.kind:
        case CellKind.NUMBER:
            return _typed(cell, rules, units)
        case CellKind.UNFILLED:
            why = "The formula has no stored value; open the file in a spreadsheet and save it."
            raise refuse(ErrorReason.FACT_VALUE_MISSING, "value", cell.text, why)
        case CellKind.DAY | CellKind.TRUTH:
            what = "a day" if cell.kind is CellKind.DAY else "a truth value"
            raise refuse(ErrorReason.FACT_VALUE_MALFORMED, "value", cell.text, f"The value is {what} and no number.")
        case _:
            return read_cell(cell.text, rules, units)


def _typed(cell: Cell, rules: CellRules, units: Collection[str]) -> CellNumber:
    number = Decimal(cell.stored)
    shown = shown_with((number > 0) - (number < 0), cell.format)
    if shown.percent > 1 or (shown.percent and shown.thousands):
        why = f"Its number format {cell.format[:80]!r} shows another number than is meant by any rule."
        raise refuse(ErrorReason.FACT_VALUE_MALFORMED, "value", cell.text, why)
    if number > 0 and _NEGATIVE.search(shown.before):
        why = f"Its number format {cell.format[:80]!r} shows a number below zero, and the one that is stored is above."
        raise refuse(ErrorReason.FACT_VALUE_MALFORMED, "value", cell.text, why)
    said = _around(cell, f"{shown.before} {shown.behind}", shown.country, rules, units)
    if shown.percent:
        if said.unit or said.power is not None:
            why = f"Its number format {cell.format[:80]!r} shows percents and another unit."
            raise refuse(ErrorReason.FACT_VALUE_MALFORMED, "value", cell.text, why)
        return CellNumber(_shifted(number, 2), None, PERCENT)
    return replace(said, number=_shifted(number, -3 * shown.thousands), shown_power=3 * shown.thousands)


def _around(cell: Cell, around: str, country: str, rules: CellRules, units: Collection[str]) -> CellNumber:
    """What is written around the digits, read as around a 1."""
    nothing = CellNumber(Decimal(1))
    if not _SAYS.search(around):
        return nothing
    written = _SIGNS.sub(" ", around).strip()
    if set(written) <= _SIGNS_OF_COUNTRY and country in _MONEY_OF_COUNTRY:
        return replace(nothing, unit=_MONEY_OF_COUNTRY[country])
    before, _, behind = around.partition(" ")
    text = f"{_SIGNS.sub(' ', around[: len(before)])}1 {_SIGNS.sub(' ', behind)}"
    try:
        return read_cell(text, rules, units)
    except RowRefused as refused:
        if refused.reason is ErrorReason.FACT_UNIT_MISMATCH:
            raise
        why = f"Its number format writes {written[:40]!r} beside the number, which is no unit that is known here."
        raise refuse(ErrorReason.FACT_VALUE_MALFORMED, "value", cell.text, why) from None


def _shifted(number: Decimal, power: int) -> Decimal:
    """The digits with their point moved, exactly."""
    if not power:
        return number
    sign, digits, exponent = number.as_tuple()
    return Decimal((sign, digits, int(exponent) + power))
