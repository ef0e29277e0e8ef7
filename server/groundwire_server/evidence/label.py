"""Sensitivity of what is stored (seed: RESTRICTED isolation). It goes in with ingestion and never comes out."""

from __future__ import annotations

import unicodedata
from enum import IntEnum

__all__ = ["Label", "parse_label"]


class Label(IntEnum):
    """PUBLIC < INTERNAL < CONFIDENTIAL < RESTRICTED. RESTRICTED is readable by nobody over the wire."""

    PUBLIC = 1
    INTERNAL = 2
    CONFIDENTIAL = 3
    RESTRICTED = 4


def parse_label(text: str | None, default: Label = Label.INTERNAL) -> Label:
    """Read a label as people write it: after NFKC, trim and case-fold; unknown is RESTRICTED, empty is `default`.

    >>> parse_label(" ＰＵＢＬＩＣ ").name, parse_label("top secret").name, parse_label("").name
    ('PUBLIC', 'RESTRICTED', 'INTERNAL')
    """
    if text is None:
        return default
    name = unicodedata.normalize("NFKC", text).strip().casefold()
    if not name:
        return default
    return {label.name.casefold(): label for label in Label}.get(name, Label.RESTRICTED)
