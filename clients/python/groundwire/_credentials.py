"""What a client shows a server: whether the connection is encrypted, its certificate, its token."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import grpc

__all__ = ["Pem", "Shown", "is_of_this_machine", "show"]

Pem = str | os.PathLike[str] | bytes
"""The path of a file in PEM, or what stands in one."""

_SWITCH = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


@dataclass(frozen=True)
class Shown:
    """Credentials of a channel, None: it is plain; and metadata that goes with every call."""

    channel: grpc.ChannelCredentials | None
    metadata: tuple[tuple[str, str], ...]


def show(
    address: str,
    *,
    token: str | None = None,
    ca: Pem | None = None,
    cert: Pem | None = None,
    key: Pem | None = None,
    tls: bool | None = None,
    credentials: grpc.ChannelCredentials | None = None,
    metadata: Sequence[tuple[str, str]] = (),
    environment: Mapping[str, str] | None = None,
) -> Shown:
    """What goes to an address. What is not given is looked for in the environment, as GROUNDWIRE_TOKEN, _CA, _CERT,
    _KEY, _TLS; token "" and tls False are said. Raises ValueError where it does not fit together, OSError where a file
    cannot be read.
    """
    environment = os.environ if environment is None else environment
    if credentials is None:
        found = _Files(ca, cert, key) if tls is False else _Files(ca, cert, key).or_else(environment)
        if tls is None and (ca, cert, key) == (None, None, None):
            tls = _switch(environment.get("GROUNDWIRE_TLS", ""))
    elif (ca, cert, key, tls) != (None, None, None, None):
        raise ValueError("credentials say it all: neither ca, cert, key nor tls beside them")
    else:
        found = _Files()
    own = any(name.lower() == "authorization" for name, _ in metadata)
    if token and own:
        raise ValueError("the token goes as authorization, which stands in the metadata as well")
    if token is None and not own:
        token = environment.get("GROUNDWIRE_TOKEN") or None
    said = tuple(metadata) if not token else (*metadata, ("authorization", f"Bearer {_checked(token)}"))
    if credentials is None:
        # A token is as good as a password: where others may listen it goes encrypted, unless tls=False says otherwise.
        guarded = bool(token) and not is_of_this_machine(address)
        credentials = found.credentials(guarded if tls is None else tls, tls)
    return Shown(credentials, said)


def is_of_this_machine(address: str) -> bool:
    """Whether what goes to an address stays on this machine, as far as the address says.

    >>> is_of_this_machine("[::1]:50051"), is_of_this_machine("localhost.example:1"), is_of_this_machine("unix:/a")
    (True, False, True)
    """
    if address.startswith(("unix:", "unix-abstract:")):
        return True
    host = address.rpartition(":")[0] if ":" in address else address
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class _Files:
    ca: Pem | None = None
    cert: Pem | None = None
    key: Pem | None = None

    def or_else(self, environment: Mapping[str, str]) -> _Files:
        """The same; a pair that is not given, and an authority that is not, from the environment."""

        def of(name: str) -> str | None:
            return environment.get(f"GROUNDWIRE_{name}") or None

        own = self.cert is not None or self.key is not None
        pair = (self.cert, self.key) if own else (of("CERT"), of("KEY"))
        return _Files(of("CA") if self.ca is None else self.ca, *pair)

    def credentials(self, encrypted: bool, said: bool | None) -> grpc.ChannelCredentials | None:
        given = any(each is not None for each in (self.ca, self.cert, self.key))
        if given and said is False:
            raise ValueError("certificates go with an encrypted connection alone, and tls is False")
        if (self.cert is None) is not (self.key is None):
            raise ValueError("cert and key belong together, and only one of them is there")
        if not given and not encrypted:
            return None
        return grpc.ssl_channel_credentials(_read(self.ca), _read(self.key), _read(self.cert))


def _read(pem: Pem | None) -> bytes | None:
    if pem is None or isinstance(pem, bytes):
        return pem
    with open(pem, "rb") as file:
        return file.read()


def _switch(text: str) -> bool | None:
    if not text:
        return None
    if (said := _SWITCH.get(text.strip().lower())) is None:
        raise ValueError(f"GROUNDWIRE_TLS is {text!r}, and neither true nor false")
    return said


def _checked(token: str) -> str:
    """The token without blanks around it. Its text stands in no error."""
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise ValueError("the token is empty, or holds what no token holds")
    return token
