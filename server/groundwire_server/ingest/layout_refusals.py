"""Why no heading is found in a sheet, and the settings of a mapping that would say it."""

from __future__ import annotations

from collections.abc import Sequence

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.ingest.fact_layout import Layout

__all__ = ["DECIDED", "HEADER_ROWS_SETTING", "SCALE_SETTING", "SIGN_COLUMN", "lacks_field", "listed_names"]

_MOST_SHOWN = 12
SCALE_SETTING = "mapping_toml.scale"
HEADER_ROWS_SETTING = "mapping_toml.header_rows"
SIGN_COLUMN = "sign"
DECIDED = (SCALE_SETTING, HEADER_ROWS_SETTING, SIGN_COLUMN)


def listed_names(names: Sequence[str]) -> str:
    """The first of the names, for a message."""
    shown = [name[:40] for name in names if name]
    return ", ".join(shown[:_MOST_SHOWN]) + (" ..." if len(shown) > _MOST_SHOWN else "") if shown else "nothing"


def lacks_field(layout: Layout, name: str, why: str) -> DocumentRefused:
    """The refusal of a table whose heading lacks a field."""
    return DocumentRefused(
        ErrorReason.FACT_FIELD_MISSING,
        f"{layout.name}: {why}.",
        hint="Name the columns after the fields, or say in a mapping where they stand.",
        details={"field": name},
    )
