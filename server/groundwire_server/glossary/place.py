"""Where a term stands, for messages."""

from __future__ import annotations

from dataclasses import dataclass

from groundwire_server.errors import ErrorReason, Violation

__all__ = ["Place"]


@dataclass(frozen=True, slots=True)
class Place:
    """path: "metric[0]", or "line 3" of a file without paths. line: in its file, from 1; 0 where that is not known.

    >>> (
    ...     str(Place("metric[0]", 3)),
    ...     Place("metric[0]", 3).fault("unit", ErrorReason.VALUE_MALFORMED, "a text is needed").field,
    ... )
    ('metric[0], line 3', 'metric[0].unit')
    """

    path: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}" if self.line else self.path

    def fault(self, field: str, reason: ErrorReason, description: str) -> Violation:
        """What is wrong with the term, or with a field of it."""
        where = f" (line {self.line})" if self.line else ""
        return Violation(f"{self.path}.{field}" if field else self.path, reason, f"{description}{where}")
