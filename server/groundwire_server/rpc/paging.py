"""Pages of a list: sizes, and tokens that say where the next one begins."""

from __future__ import annotations

import base64
import binascii
import json

from groundwire_server.errors import ErrorReason
from groundwire_server.rpc.findings import Findings

__all__ = ["MAX_PAGE_BYTES", "page_size", "page_token", "read_page_token"]

DEFAULT_PAGE = 100
MAX_PAGE = 1000
# A page that would be larger ends early; the next one brings the rest.
MAX_PAGE_BYTES = 512 * 1024


def page_size(asked: int, findings: Findings) -> int:
    """0: 100; over 1,000: 1,000, as the next page brings the rest."""
    if asked < 0:
        findings.add("page_size", ErrorReason.VALUE_OUT_OF_RANGE, f"{asked} is below 0")
    return min(asked or DEFAULT_PAGE, MAX_PAGE)


def page_token(method: str, after: str) -> str:
    """A token for the page behind `after`; opaque to clients, of use to that method alone.

    >>> findings = Findings()
    >>> read_page_token("ListLibraries", page_token("ListLibraries", "a"), findings), findings.violations
    ('a', [])
    """
    return base64.urlsafe_b64encode(json.dumps([method, after]).encode()).decode()


def read_page_token(method: str, token: str, findings: Findings) -> str:
    """Where the page begins; "" for the first one."""
    if not token:
        return ""
    try:
        said, after = json.loads(base64.b64decode(token.encode(), altchars=b"-_", validate=True))
        if said == method and isinstance(after, str):
            return after
    except (ValueError, TypeError, binascii.Error):
        pass
    findings.add("page_token", ErrorReason.VALUE_MALFORMED, "is no token of this list")
    return ""
