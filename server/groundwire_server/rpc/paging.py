"""Pages of a list: sizes, and tokens that say where the next one begins.

A token holds the place of the last row that was sent, in the order of the list; the next page begins behind it. Rows
that come or go between two pages can so neither shift a page nor make a row stand in two. The place is made of what
stands in that row, never of a row number: it tells nothing of rows that the caller may not read.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message

from groundwire_server.errors import ErrorReason
from groundwire_server.evidence import Principal
from groundwire_server.rpc.findings import Findings

__all__ = ["Page", "Pager", "Place"]

DEFAULT_PAGE = 100
MAX_PAGE = 1000
# A page that would be larger ends early; the next one brings the rest. Twice as much fits into a message, so that one
# row alone always does.
MAX_PAGE_BYTES = 512 * 1024
_SCOPE_BYTES = 8
_MAC_BYTES = 16

Place = tuple[str | int, ...]
"""What orders the rows of a list, of one row."""


class Pager:
    """Reads and makes the tokens of all lists of a server.

    A token is bound to its request (page_size aside) and to its caller, and signed: what it says can be trusted.

    Args:
        secret: key of the signatures; with the same one tokens outlive a restart.
    """

    def __init__(self, secret: bytes) -> None:
        self._key = hmac.digest(secret, b"page tokens 1", "sha256")

    def begin(self, request: Any, principal: Principal, findings: Findings) -> Page:
        """The page that a request with `page_size` and `page_token` asks for; 0 rows: 100, over 1,000: 1,000."""
        asked = request.page_size
        if asked < 0:
            findings.add("page_size", ErrorReason.VALUE_OUT_OF_RANGE, f"{asked} is below 0")
        scope = _scope(request, principal)
        after = self._read(request.page_token, scope, findings) if request.page_token else None
        return Page(min(asked or DEFAULT_PAGE, MAX_PAGE), after, scope, self._key)

    def _read(self, token: str, scope: bytes, findings: Findings) -> Place | None:
        try:
            raw = base64.b64decode(token.encode(), altchars=b"-_", validate=True)
        except (ValueError, binascii.Error):
            raw = b""
        said, mac, place = raw[:_SCOPE_BYTES], raw[_SCOPE_BYTES:][:_MAC_BYTES], raw[_SCOPE_BYTES + _MAC_BYTES :]
        if not hmac.compare_digest(mac, _mac(self._key, said, place)):
            findings.add("page_token", ErrorReason.VALUE_MALFORMED, "is no token of this server")
        elif said != scope:
            words = "is of another request: all but page_size must be as it was"
            findings.add("page_token", ErrorReason.CONTRADICTION, words)
        else:
            return tuple(json.loads(place))
        return None


@dataclass(frozen=True, slots=True)
class Page:
    """A page that is asked for: at most `limit` rows behind `after`; None: from the first row on."""

    limit: int
    after: Place | None
    _scope: bytes
    _key: bytes

    def fill(self, field: Any, rows: Iterable[tuple[Message, Place]], more: bool) -> str:
        """Put messages into a repeated field until the page is large enough.

        Args:
            rows: each message with its place, in order.
            more: there are rows behind these.

        Returns:
            The token of the next page; "" when this is the last one.
        """
        size, last = 0, None
        for message, place in rows:
            size += message.ByteSize()
            if last is not None and size > MAX_PAGE_BYTES:
                return self._token(last)
            field.append(message)
            last = place
        return self._token(last) if more and last is not None else ""

    def _token(self, place: Place) -> str:
        said = json.dumps(place, ensure_ascii=False, separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(self._scope + _mac(self._key, self._scope, said) + said).decode()


def _scope(request: Message, principal: Principal) -> bytes:
    """Hash of the caller and of all that a request asks for, its page aside."""
    asked: Any = type(request)()
    asked.CopyFrom(request)
    asked.ClearField("page_size")
    asked.ClearField("page_token")
    caller = json.dumps([principal.name, principal.clearance.name, principal.tenant, sorted(principal.groups)])
    name = str(request.DESCRIPTOR.full_name).encode()
    digest = hashlib.sha256()
    for part in (name, caller.encode(), asked.SerializeToString(deterministic=True)):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()[:_SCOPE_BYTES]


def _mac(key: bytes, scope: bytes, place: bytes) -> bytes:
    return hmac.digest(key, scope + place, "sha256")[:_MAC_BYTES]
