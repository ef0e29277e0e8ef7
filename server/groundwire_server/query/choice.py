"""A part that is asked for by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from groundwire_server.errors import ErrorReason, InvalidRequest

__all__ = ["Named", "choose", "names_of"]


class Named(Protocol):
    """Whatever a setting or a call asks for by name."""

    @property
    def name(self) -> str:
        """As it is asked for."""
        ...


P = TypeVar("P", bound=Named)


def names_of(parts: Iterable[Named]) -> tuple[str, ...]:
    """The names that may be asked for, sorted."""
    return tuple(sorted(part.name for part in parts))


def choose(parts: Iterable[P], name: str, field: str) -> P:
    """The part of a name.

    Args:
        field: what the name was said in.

    Raises:
        InvalidRequest: a name that none has; it lists the valid ones.
    """
    known = {part.name: part for part in parts}
    if name not in known:
        why = f"{name!r} is none of {', '.join(sorted(known))}"
        raise InvalidRequest.one(field, ErrorReason.UNKNOWN_NAME, why)
    return known[name]
