"""Values as people read them in tables."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

__all__ = ["as_size", "as_words", "attributes_text", "share", "when"]

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def when(instant: datetime | None) -> str:
    """An instant in UTC, to the second; nothing for none."""
    return "" if instant is None else instant.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def as_size(count: float) -> str:
    """Bytes in the largest unit that leaves at least one of it.

    >>> as_size(512), as_size(90 << 20)
    ('512 bytes', '90.0 MiB')
    """
    for unit in _UNITS[:-1]:
        if count < 1024:
            return f"{count:.1f} {unit}" if unit != _UNITS[0] else f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} {_UNITS[-1]}"


def share(part: float | None) -> str:
    """A share of a whole in percent, rounded down, so that 100 % is all of it; a dash for none."""
    return "-" if part is None else f"{int(part * 1000) / 10:g} %"


def as_words(name: str) -> str:
    """The name of an enumeration's member as words."""
    return name.lower().replace("_", " ")


def attributes_text(attributes: Iterable[Any]) -> str:
    """Attributes as name=value, with commas between them."""
    return ", ".join(f"{each.name}={_value(each.value)}" for each in attributes)


def _value(value: Any) -> str:
    return " | ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
