"""What goes before the text of a chunk in what is indexed and embedded, and nowhere else (semantics 5)."""

from __future__ import annotations

from collections.abc import Sequence

from groundwire_server.evidence import Attribute, Period, Value

__all__ = ["contextual_header"]

_SEPARATOR = " · "
_CONTROLLED = ("entity", "period")
_LONGEST = 400
"""Code points of one part: a header must not push the text that it is for out of what an embedder sees."""


def contextual_header(title: str, attributes: Sequence[Attribute], heading: str) -> str:
    """`title · entity · period · heading`, of controlled fields alone: what a document lacks is left out.

    Args:
        attributes: those named `entity` and `period` count; several texts are joined by commas.

    >>> contextual_header("Annual report", [Attribute("period", "FY2024"), Attribute("entity", "ACME")], "Results")
    'Annual report · ACME · FY2024 · Results'
    """
    values = {each.name: each.value for each in attributes}
    parts = [title, *(_written(values[name]) for name in _CONTROLLED if name in values), heading]
    return _SEPARATOR.join(part for each in parts if (part := " ".join(each.split())[:_LONGEST]))


def _written(value: Value) -> str:
    if isinstance(value, Period):
        return value.canonical
    return ", ".join(value) if isinstance(value, tuple) else str(value)
