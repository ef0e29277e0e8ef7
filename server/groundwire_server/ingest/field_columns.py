"""Which column is which field: by the mapping, else by its name."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.ingest.fact_layout import Layout
from groundwire_server.ingest.fact_mapping import FACT_FIELDS, FactMapping
from groundwire_server.ingest.layout_refusals import SIGN_COLUMN, lacks_field, listed_names
from groundwire_server.ingest.sheet_cells import column_letter, column_number

__all__ = [
    "REQUIRED",
    "SCALE",
    "find_column",
    "find_fields",
    "is_field",
    "lacking_fields",
    "refuse_lacking",
    "told_apart",
]

REQUIRED = ("metric", "entity", "period", "value")
_PLACE = re.compile(r"#([A-Z]{1,3})", re.IGNORECASE)
SCALE = "scale"
"""A column of this name counts the figures of its row in powers of ten."""
_SCALE_WORDS = frozenset({"scale", "multiplier", "unitmultiplier", "unitmult", "unitscale", "powercode", "倍率"})
_SIGN_WORDS = frozenset({
    "sign", "dr/cr", "cr/dr", "d/c", "c/d", "drcr", "debit/credit", "credit/debit", "s/h", "貸借",
    "貸借区分", "借贷", "借贷方向", "借貸", "方向", "符号", "符號",
})  # fmt: skip
_UNIT_WORDS = frozenset({"units", "uom", "currency", "単位", "单位", "單位", "通貨", "货币", "币种", "貨幣", "幣別"})


def lacking_fields(names: Sequence[str], layout: Layout) -> list[str]:
    """The fields that a figure needs and that neither a column nor the mapping gives."""
    mapping, wide = layout.mapping, layout.mapping.table.wide
    there = (
        {name for _, name in find_fields(names, mapping).items()} | set(mapping.constants) | {mapping.table.sheet_is}
    )
    if wide is not None:
        there |= {*wide.heading, "value"}
    return [name for name in REQUIRED if name not in there]


def find_fields(names: Sequence[str], mapping: FactMapping) -> dict[int, str]:
    """Column to field, axis or its own name; a column whose field stands elsewhere is left out."""
    taken: dict[int, str] = {}
    for name, said in (
        *mapping.columns.items(),
        *((f"dimensions.{axis}", said) for axis, said in mapping.dimensions.items()),
    ):
        column = find_column(said, names)
        if column is not None:
            taken[column] = name
    for column, name in enumerate(names):
        own = "filed" if name == "filed_at" else name
        if column not in taken and own and own not in mapping.columns:
            taken[column] = own
    # Whatever these are called, a figure read without them would be another one.
    for meant, words in ((SCALE, _SCALE_WORDS), ("unit", _UNIT_WORDS)):
        if meant not in taken.values() and meant not in mapping.columns:
            found = [column for column, name in taken.items() if not is_field(name) and _folded(name) in words]
            if len(found) == 1:
                taken[found[0]] = meant
    signs = [name for name in taken.values() if not is_field(name) and _folded(name) in _SIGN_WORDS]
    if signs:
        raise DocumentRefused(
            ErrorReason.CONTRADICTION,
            f"Column {signs[0][:80]!r} says the sign of the figures beside it, and is not read.",
            hint="Write the sign into the figures, or map the column to a dimension.",
            details={"field": SIGN_COLUMN},
        )
    return taken


def told_apart(fields: dict[int, str]) -> dict[int, str]:
    """Columns that are no fields, by names of their own where they share one."""
    times = Counter(fields.values())
    return {
        column: name if is_field(name) or times[name] == 1 else f"{name} {column_letter(column)}"
        for column, name in fields.items()
    }


def is_field(name: str) -> bool:
    return name in FACT_FIELDS or name.startswith("dimensions.") or name == SCALE


def find_column(said: str, names: Sequence[str]) -> int | None:
    """A column by its letter ("#C") or its heading: as it stands, else without regard to case, width and blanks."""
    letter = _PLACE.fullmatch(said.strip())
    if letter:
        return column_number(letter[1])
    if said in names:
        return names.index(said)
    wanted = _folded(said)
    found = [column for column, name in enumerate(names) if _folded(name) == wanted]
    return found[0] if len(found) == 1 else None


def _folded(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().replace("_", " ").split())


def refuse_lacking(names: Sequence[str], layout: Layout) -> None:
    """Raises where a field that a figure needs is nowhere."""
    lacking = lacking_fields(names, layout)
    if lacking:
        raise lacks_field(layout, lacking[0], f"the heading has no {', '.join(lacking)}; it has {listed_names(names)}")
