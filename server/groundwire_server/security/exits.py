"""The exits that a hidden row does not pass (seed: the two exits of the narrative channel; semantics 6).

Hidden rows leave before anything is scored. The exits say it a second time, where a fault upstream would show:
before a judge, model or answer writer sees anything, and before a snippet is made.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from groundwire_server.evidence import Label, Principal

__all__ = ["Labelled", "drop_unreadable"]


class Labelled(Protocol):
    """Anything that carries a label: a stored row or a snippet."""

    @property
    def label(self) -> Label: ...


T = TypeVar("T", bound=Labelled)


def drop_unreadable(items: Iterable[T], principal: Principal) -> list[T]:
    """The items that the principal may read, in the order given. RESTRICTED passes for nobody."""
    return [item for item in items if principal.may_read(item.label)]
