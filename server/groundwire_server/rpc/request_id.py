"""The id that a call goes by in header, errors and logs: the caller's where it is a good one, else one made here."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

__all__ = ["MAX_REQUEST_ID", "REQUEST_ID_KEY", "is_request_id", "request_id_from"]

MAX_REQUEST_ID = 128
REQUEST_ID_KEY = "x-request-id"


def is_request_id(text: str) -> bool:
    """1 to 128 printable ASCII characters: safe in a log line and in metadata."""
    return 0 < len(text) <= MAX_REQUEST_ID and text.isascii() and text.isprintable()


def request_id_from(metadata: Iterable[tuple[str, str | bytes]] | None) -> str:
    """The id that the metadata carries where it is a good one, else a new one."""
    for key, value in metadata or ():
        if key == REQUEST_ID_KEY and isinstance(value, str) and is_request_id(value):
            return value
    return f"q-{secrets.token_hex(8)}"
