"""Until when a certificate holds, read beside what made it."""

from __future__ import annotations

import base64
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from cryptography import x509
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.security.callers import certificate_ends
from tests.support.certificates import Authority

AUTHORITY = Authority()


@pytest.mark.parametrize("year", [2021, 2027, 2049, 2050, 2051, 2120, 9999])
def test_the_end_is_that_of_the_certificate(year: int) -> None:
    ends = datetime(year, 12, 31, 23, 59, 58, tzinfo=UTC)
    made = AUTHORITY.sign("x" * 64, *(x509.DNSName(f"{n}.example") for n in range(50)), ends=ends).cert
    assert certificate_ends(made) == ends == x509.load_pem_x509_certificate(made).not_valid_after_utc


def test_the_first_of_a_chain_counts() -> None:
    first = AUTHORITY.sign("a", ends=datetime(2030, 1, 1, tzinfo=UTC)).cert
    assert certificate_ends(b"Subject: a\r\n" + first.replace(b"\n", b"\r\n") + AUTHORITY.pem).year == 2030


@pytest.mark.parametrize("raw", [b"", b"x", b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----"])
def test_other_bytes_are_none(raw: bytes) -> None:
    with pytest.raises(ValueError, match="no certificate"):
        certificate_ends(raw)


@given(st.binary(max_size=200), st.integers(0, 400), st.integers(0, 255))
def test_any_bytes_end_or_are_none(noise: bytes, place: int, byte: int) -> None:
    made = AUTHORITY.pem.splitlines()
    der = bytearray(base64.b64decode(b"".join(made[1:-1])))
    der[place % len(der)] = byte
    for body in (bytes(der), bytes(der[:place]), noise):
        pem = b"-----BEGIN CERTIFICATE-----\n" + base64.b64encode(body) + b"\n-----END CERTIFICATE-----"
        with suppress(ValueError):
            assert certificate_ends(pem).tzinfo is UTC
