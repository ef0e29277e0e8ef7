"""Checks of who may come in: certificates, tokens, and whether other machines may."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from groundwire_server.cli.doctor.finding import Finding, fail, ok, warn
from groundwire_server.errors import GroundwireError
from groundwire_server.settings import Settings

__all__ = ["check_door"]

_SOON = timedelta(days=21)


def check_door(settings: Settings) -> Iterator[Finding]:
    """Whether the files hold, and for how long."""
    tls, access = settings.tls, settings.access
    if not any((tls.cert, tls.key, tls.client_ca, access.token_file, access.certificate_file)):
        yield ok("access", "callers are not asked who they are, and connections are plain")
        return
    from groundwire_server.rpc.door import make_door
    from groundwire_server.security import local_principal

    try:
        door = make_door(settings, local_principal())
    except GroundwireError as error:
        yield fail("access", error.message, "nothing is served until it is right")
        return
    asked = "who brings a token or a certificate comes in" if door.asks else "callers are not asked who they are"
    yield ok("access", f"{asked}; connections are {'plain' if door.credentials is None else 'encrypted'}")
    yield from _check_tokens(settings)
    yield from _check_certificate(settings)


def _check_tokens(settings: Settings) -> Iterator[Finding]:
    path = settings.access.token_file
    if path is None:
        return
    from groundwire_server.security.callers import TokenFile

    tokens, now = TokenFile(path).tokens(), datetime.now(UTC)
    holding = sum(each.holds(now) for each in tokens)
    gone = f", {len(tokens) - holding} have run out" if holding < len(tokens) else ""
    message = f"{holding} hold in {path}{gone}"
    yield ok("tokens", message) if holding else warn("tokens", message, "`groundwire tokens create` makes one")


def _check_certificate(settings: Settings) -> Iterator[Finding]:
    path = settings.tls.cert
    if path is None:
        return
    from groundwire_server.security.callers import certificate_ends

    try:
        ends = certificate_ends(path.read_bytes())
    except (ValueError, OSError):
        return  # what is wrong with it has been said
    left = ends - datetime.now(UTC)
    message = f"{path} holds until {ends:%Y-%m-%d}"
    if left <= timedelta(0):
        yield fail("tls", f"{path} ran out on {ends:%Y-%m-%d}", "clients refuse it; a new one is taken up by itself")
    elif left < _SOON:
        yield warn("tls", message, "put a new one in its place; it is taken up by itself")
    else:
        yield ok("tls", message)
