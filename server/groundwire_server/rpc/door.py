"""The door of a server: whether its port encrypts, and who a call comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import grpc

from groundwire_server.errors import ErrorReason, FailedPrecondition
from groundwire_server.evidence import Principal
from groundwire_server.rpc.call import NOBODY
from groundwire_server.settings import ServerSettings, Settings

__all__ = ["Door", "check_reach", "make_door"]


def _nobody(_context: Any) -> Principal:
    return NOBODY


@dataclass(frozen=True, slots=True)
class Door:
    """What those who come have to show.

    Attributes:
        authenticate: who asks, from grpc's context of a call; raises Unauthenticated where that cannot be said.
        credentials: of the port; None: it does not encrypt.
        asks: nobody comes in without a token or a certificate.
        anonymous_remote: other machines may come in without.
    """

    authenticate: Callable[[Any], Principal] = _nobody
    credentials: grpc.ServerCredentials | None = None
    asks: bool = False
    anonymous_remote: bool = False


def make_door(settings: Settings, local: Principal, *, own_token: str = "") -> Door:
    """The door that the settings describe; `local` comes in where nobody is asked.

    Args:
        own_token: makes its bearer `local` where others are asked, and the port plain: of a program that has the server
            for itself, on this machine. Others who find it need tokens of the file.

    Raises:
        InvalidRequest: files of certificates or tokens cannot be read, do not hold, or do not fit together.
    """
    tls, access = settings.tls, settings.access
    if not any((tls.cert, tls.key, tls.client_ca, access.token_file, access.certificate_file)):
        return Door(lambda _context: local, anonymous_remote=access.anonymous_remote)
    from groundwire_server.rpc.credentials import check_credentials, make_authenticate, port_credentials

    check_credentials(tls, access)
    if own_token:
        return Door(make_authenticate(access, local, own_token=own_token), asks=True)
    asks = access.token_file is not None or tls.client_ca is not None
    return Door(make_authenticate(access, local), port_credentials(tls), asks, access.anonymous_remote)


def check_reach(door: Door, settings: ServerSettings) -> None:
    """Whether other machines may reach it.

    Raises:
        FailedPrecondition: the settings do not ask for so little.
    """
    host = f"server.host is {settings.host!r}, which other machines reach, "
    if door.credentials is None and not settings.plaintext_remote:
        raise FailedPrecondition(
            ErrorReason.NOT_PERMITTED,
            host + ("without encryption." if door.asks else "without encryption or credentials."),
            hint="Listen on 127.0.0.1, give it a certificate with tls.cert and tls.key, or set server.plaintext_remote "
            "to say that this is meant.",
        )
    if door.credentials is not None and not door.asks and not door.anonymous_remote:
        raise FailedPrecondition(
            ErrorReason.NOT_PERMITTED,
            host + "and nobody is asked who calls.",
            hint="Make tokens (`groundwire tokens create`) and set access.token_file, set tls.client_ca, or "
            "access.anonymous_remote to say that this is meant.",
        )
