"""How far the preparation of a model has come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Progress", "ProgressListener", "ignore_progress"]


@dataclass(frozen=True, slots=True)
class Progress:
    """One message.

    Attributes:
        step: "wait", "download", "extract", "convert", "verify" or "ready".
        done: how much of `total` is done, in `unit`.
        total: 0 when it is not known.
        unit: "bytes" or "parts".
        note: a sentence for people; may be empty.
    """

    step: str
    done: int = 0
    total: int = 0
    unit: str = "bytes"
    note: str = ""


ProgressListener = Callable[[Progress], None]


def ignore_progress(_: Progress) -> None:
    """A listener for callers that don't want to know."""
