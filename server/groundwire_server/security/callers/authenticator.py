"""Who asks, from what a call brings: a bearer token, a certificate, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from groundwire_server.errors import Unauthenticated
from groundwire_server.evidence import Principal
from groundwire_server.security.callers.certificates import CertificateTable, PeerCertificate
from groundwire_server.security.callers.rights import TOKEN_PREFIX
from groundwire_server.security.callers.tokens import TokenTable

__all__ = ["Authenticator"]

_BEARER = "bearer "
_LONGEST_HEADER = 512


def _now() -> datetime:
    return datetime.now(UTC)


class Authenticator:
    """Makes a `Principal` of the credentials of a call, and of nothing else.

    A token goes before a certificate: where a call brings one that does not hold, no certificate makes up for it.

    Args:
        local: who calls without credentials where the server asks for none.
        tokens: the tokens that hold now; None: the server asks for none.
        certificates: the rules that hold now; None: certificates say nothing of who calls.
        now: the clock by which tokens run out.
    """

    def __init__(
        self,
        local: Principal,
        tokens: Callable[[], TokenTable] | None = None,
        certificates: Callable[[], CertificateTable] | None = None,
        now: Callable[[], datetime] = _now,
    ) -> None:
        self._local = local
        self._tokens = tokens
        self._certificates = certificates
        self._now = now
        asked = {"bearer": tokens, "certificate": certificates}
        self._scheme = ", ".join(name for name, table in asked.items() if table is not None)

    @property
    def asks(self) -> bool:
        """Whether a call without credentials is refused."""
        return bool(self._scheme)

    def principal(self, authorization: Sequence[str], peer: Callable[[], PeerCertificate | None]) -> Principal:
        """Who asks.

        Args:
            authorization: values of the call's metadata under that name, in their order.
            peer: gives the certificate of the connection; called where it matters.

        Raises:
            Unauthenticated: no credentials, or none that hold; it does not tell which.
        """
        if self._tokens is None and not any(TOKEN_PREFIX in each for each in authorization):
            authorization = ()  # somebody else's, e.g. of a proxy on the way
        if authorization:
            found = self._holder(authorization)
        elif self._certificates is not None:
            shown = peer()
            found = None if shown is None else self._certificates().find(shown)
        else:
            found = self._local if self._tokens is None else None
        if found is None:
            raise self._refusal()
        return found

    def _holder(self, authorization: Sequence[str]) -> Principal | None:
        """Whose token it is. Where the server knows none, one of ours is nobody's: its holder has rights of its own."""
        if self._tokens is None or len(authorization) != 1 or len(authorization[0]) > _LONGEST_HEADER:
            return None
        scheme, text = authorization[0][: len(_BEARER)], authorization[0][len(_BEARER) :]
        return self._tokens().find(text.strip(" "), self._now()) if scheme.lower() == _BEARER else None

    def _refusal(self) -> Unauthenticated:
        if self._tokens is None and self._certificates is None:
            return Unauthenticated("none", "This server takes no tokens: call it without one.")
        if self._certificates is None:
            return Unauthenticated(self._scheme, _BRING_TOKEN)
        if self._tokens is None:
            return Unauthenticated(self._scheme, "This server asks for a client certificate that it knows.")
        return Unauthenticated(self._scheme, f"{_BRING_TOKEN} A client certificate that the server knows does it, too.")


_BRING_TOKEN = "This server asks for `authorization: Bearer TOKEN` in the metadata of the call."
