"""Until when a certificate holds: the one thing of it that its operator forgets."""

from __future__ import annotations

import base64
import binascii
import re
from datetime import UTC, datetime

__all__ = ["certificate_ends"]

_PEM = re.compile(rb"-----BEGIN CERTIFICATE-----(.+?)-----END CERTIFICATE-----", re.DOTALL)
_SEQUENCE, _INTEGER, _UTC_TIME, _TIME, _VERSION = 0x30, 0x02, 0x17, 0x18, 0xA0
_CENTURY_TURNS = 50  # of two digits: 50 and above are of the last century (RFC 5280, 4.1.2.5.1)


def certificate_ends(pem: bytes) -> datetime:
    """The end of the first certificate of a file, its own one. Raises ValueError for bytes that are none."""
    found = _PEM.search(pem)
    if found is None:
        raise ValueError("no certificate")
    try:
        der = base64.b64decode(b"".join(found[1].split()), validate=True)
        return _ends(der)
    except (binascii.Error, IndexError, UnicodeDecodeError) as error:
        raise ValueError("no certificate") from error


def _ends(der: bytes) -> datetime:
    """RFC 5280, 4.1: version (may be absent), serial number, algorithm, issuer, validity with its two times."""
    _, certificate, _ = _take(der, _SEQUENCE)
    _, left, _ = _take(certificate, _SEQUENCE)
    if left[0] == _VERSION:
        _, _, left = _take(left, _VERSION)
    for kind in (_INTEGER, _SEQUENCE, _SEQUENCE):
        _, _, left = _take(left, kind)
    _, validity, _ = _take(left, _SEQUENCE)
    _, _, second = _take(validity, _UTC_TIME, _TIME)
    kind, text, _ = _take(second, _UTC_TIME, _TIME)
    digits = text.decode("ascii")
    if kind == _UTC_TIME:
        digits = ("19" if int(digits[:2]) >= _CENTURY_TURNS else "20") + digits
    return datetime.strptime(digits, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)


def _take(data: bytes, *kinds: int) -> tuple[int, bytes, bytes]:
    """The first element of DER: its kind, what is in it, what is behind it."""
    kind, size, start = data[0], data[1], 2
    if kind not in kinds:
        raise ValueError("no certificate")
    if size & 0x80:
        start += size & 0x7F
        size = int.from_bytes(data[2:start], "big")
    if start + size > len(data):
        raise ValueError("no certificate")
    return kind, data[start : start + size], data[start + size :]
