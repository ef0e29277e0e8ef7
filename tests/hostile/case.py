"""One hostile file: how it is made, and what is to become of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from groundwire_server.errors import ErrorReason

__all__ = ["BROKEN", "ENCRYPTED", "LARGE", "NO_TEXT", "STORED", "UNSUPPORTED", "Hostile"]

STORED = None
BROKEN = ErrorReason.DOCUMENT_BROKEN
LARGE = ErrorReason.DOCUMENT_TOO_LARGE
ENCRYPTED = ErrorReason.DOCUMENT_ENCRYPTED
NO_TEXT = ErrorReason.DOCUMENT_NO_TEXT
UNSUPPORTED = ErrorReason.DOCUMENT_UNSUPPORTED


@dataclass(frozen=True, slots=True)
class Hostile:
    """A file that breaks careless readers.

    name: with the suffix by which it is read. make: its content, made when it is needed.
    becomes: the reasons with which it may be refused; None among them: it may be stored.
    """

    name: str
    make: Callable[[], bytes]
    becomes: tuple[ErrorReason | None, ...]
