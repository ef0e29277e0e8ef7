"""One principal behind token and certificate, and one refusal for all that do not hold."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import ErrorReason, Unauthenticated
from groundwire_server.evidence import Label, Principal
from groundwire_server.security.callers import (
    Authenticator,
    CertificateRule,
    CertificateTable,
    PeerCertificate,
    TokenTable,
    make_token,
)

NOW = datetime(2026, 5, 4, tzinfo=UTC)
LOCAL = Principal("local", Label.INTERNAL)
HOLDER = Principal("holder", Label.PUBLIC, may_write=False, may_administer=False)
SHOWN = Principal("shown", Label.CONFIDENTIAL)
TEXT, TOKEN = make_token(HOLDER, NOW)
OLD, GONE = make_token(HOLDER, NOW - timedelta(days=2), NOW - timedelta(days=1))
TABLE = TokenTable([TOKEN, GONE])
RULES = CertificateTable([CertificateRule(SHOWN, "dns", b"known")])
KNOWN = PeerCertificate(dns=(b"known",))


def authenticator(*, tokens: bool = True, certificates: bool = True) -> Authenticator:
    return Authenticator(
        LOCAL, (lambda: TABLE) if tokens else None, (lambda: RULES) if certificates else None, now=lambda: NOW
    )


def shows(peer: PeerCertificate | None = None) -> Callable[[], PeerCertificate | None]:
    return lambda: peer


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "BEARER ", "Bearer   "])
def test_a_token_says_who_calls(scheme: str) -> None:
    assert authenticator(certificates=False).principal([scheme + TEXT], shows()) == HOLDER


def test_a_certificate_says_who_calls() -> None:
    assert authenticator(tokens=False).principal([], shows(KNOWN)) == SHOWN
    assert authenticator().principal([], shows(KNOWN)) == SHOWN


def test_a_token_goes_before_a_certificate() -> None:
    assert authenticator().principal([f"Bearer {TEXT}"], shows(KNOWN)) == HOLDER
    with pytest.raises(Unauthenticated):
        authenticator().principal(["Bearer gw_wrong"], shows(KNOWN))


def test_who_is_not_asked_is_local() -> None:
    here = authenticator(tokens=False, certificates=False)
    assert not here.asks
    assert here.principal([], shows(KNOWN)) is LOCAL
    assert here.principal(["Bearer of-a-proxy"], shows()) is LOCAL
    assert authenticator(tokens=False).principal(["Basic x"], shows(KNOWN)) == SHOWN


@pytest.mark.parametrize("certificates", [True, False])
def test_a_token_of_ours_is_not_passed_over_where_none_is_known(certificates: bool) -> None:
    with pytest.raises(Unauthenticated):
        authenticator(tokens=False, certificates=certificates).principal([f"Bearer {TEXT}"], shows(KNOWN))


WRONG = [
    [],
    [""],
    ["Bearer"],
    ["Bearer "],
    [TEXT],
    [f"Basic {TEXT}"],
    [f"Bearer{TEXT}"],
    [f"Bearer {TEXT}x"],
    [f"Bearer {TEXT}, Bearer {TEXT}"],
    [f"Bearer {TEXT}", f"Bearer {TEXT}"],
    [f"Bearer {TEXT}", ""],
    [f"Bearer {OLD}"],
    [f"Bearer {TOKEN.sha256}"],
    [f"Bearer {' ' * 100_000}{TEXT}"],
]


@pytest.mark.parametrize("certificates", [True, False])
def test_what_does_not_hold_is_refused_alike(certificates: bool) -> None:
    told = set()
    for said in WRONG:
        with pytest.raises(Unauthenticated) as caught:
            authenticator(certificates=certificates).principal(said, shows(PeerCertificate(dns=(b"unknown",))))
        told.add((str(caught.value), tuple(sorted(caught.value.details.items())), caught.value.reason))
    assert len(told) == 1
    ((message, details, reason),) = told
    assert reason is ErrorReason.UNAUTHENTICATED
    assert dict(details) == {"scheme": "bearer, certificate" if certificates else "bearer"}
    assert "expired" not in message


def test_a_connection_without_a_certificate_is_nobodys() -> None:
    for peer in (None, PeerCertificate(), PeerCertificate(common_name=(b"known",))):
        with pytest.raises(Unauthenticated) as caught:
            authenticator(tokens=False).principal([], shows(peer))
        assert caught.value.details == {"scheme": "certificate"}


@given(st.lists(st.text(max_size=80), max_size=3))
def test_no_text_is_somebodys_by_chance(said: list[str]) -> None:
    with pytest.raises(Unauthenticated):
        authenticator().principal(said, shows(None))
