"""Whose a client certificate is."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import InvalidRequest
from groundwire_server.evidence import Label, Principal
from groundwire_server.security.callers import PeerCertificate, parse_certificates
from tests.support.certificates import OPS

FILE = f"""{OPS}
[[certificate]]
dns = "agent.example"
name = "agent"
clearance = "internal"

[[certificate]]
common_name = "営業 太郎"
name = "sales"
clearance = "Public"
rights = "write"
groups = ["sales", "営業"]
tenant = "east"

[[certificate]]
email = "a@example"
name = "a"
clearance = "public"
"""


def read_only(name: str, label: Label) -> Principal:
    return Principal(name, label, may_write=False, may_administer=False)


@pytest.mark.parametrize(
    ("peer", "principal"),
    [
        (PeerCertificate(uri=(b"spiffe://example/ops",)), Principal("ops", Label.CONFIDENTIAL)),
        (PeerCertificate(dns=(b"other", b"agent.example")), read_only("agent", Label.INTERNAL)),
        (PeerCertificate(email=(b"a@example",)), read_only("a", Label.PUBLIC)),
        (
            PeerCertificate(common_name=("営業 太郎".encode(),)),
            Principal("sales", Label.PUBLIC, frozenset({"sales", "営業"}), "east", may_administer=False),
        ),
        # the first line that fits holds
        (
            PeerCertificate(dns=(b"agent.example",), uri=(b"spiffe://example/ops",)),
            Principal("ops", Label.CONFIDENTIAL),
        ),
        # a name counts as what it is, and byte for byte
        (PeerCertificate(common_name=(b"agent.example",)), None),
        (PeerCertificate(uri=(b"agent.example",)), None),
        (PeerCertificate(dns=(b"AGENT.example",)), None),
        (PeerCertificate(dns=(b"agent.example.evil",)), None),
        (PeerCertificate(dns=(b"agent.example\0.evil",)), None),
        (PeerCertificate(dns=(b"*.example",)), None),
        (PeerCertificate(), None),
    ],
)
def test_a_certificate_is_whose_the_file_says(peer: PeerCertificate, principal: Principal | None) -> None:
    assert parse_certificates(FILE.encode()).find(peer) == principal


def test_any_fits_what_is_left() -> None:
    rules = parse_certificates((FILE + '[[certificate]]\nany = true\nname = "rest"\nclearance = "public"\n').encode())
    assert rules.find(PeerCertificate()) == read_only("rest", Label.PUBLIC)
    assert rules.find(PeerCertificate(email=(b"a@example",))) == read_only("a", Label.PUBLIC)


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("", "certificate[1]"),
        ('dns = "a"\nuri = "b"', "certificate[1]"),
        ("any = false", "certificate[1].any"),
        ('any = "true"', "certificate[1].any"),
        ('dns = ""', "certificate[1].dns"),
        ("dns = 1", "certificate[1].dns"),
        ('dns = "a\\u0000b"', "certificate[1].dns"),
        ('dns = "a"\nsubject = "b"', "certificate[1].subject"),
        ('any = true\n[[certificate]]\nname = "b"\nclearance = "public"\ndns = "c"', "certificate[2]"),
    ],
)
def test_a_fault_is_named(line: str, field: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_certificates(f'[[certificate]]\nname = "a"\nclearance = "public"\n{line}\n'.encode())
    assert [each.field for each in caught.value.violations] == [field]


@given(st.binary(max_size=300))
def test_any_bytes_are_rules_or_refused(raw: bytes) -> None:
    with suppress(InvalidRequest):
        parse_certificates(raw)
