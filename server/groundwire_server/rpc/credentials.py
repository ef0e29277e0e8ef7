"""What a connection shows and what a call brings: certificates of the port, and the `Principal` of a call.

Loaded by servers that encrypt or ask who calls, and by no other.
"""

from __future__ import annotations

import logging
import os
import ssl
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import grpc

from groundwire_server.errors import ErrorReason, GroundwireError, InvalidRequest, Violation
from groundwire_server.evidence import Principal
from groundwire_server.security.callers import (
    Authenticator,
    PeerCertificate,
    TokenTable,
    WatchedFile,
    parse_certificates,
    read_guarded,
    token_of,
    watch_tokens,
)
from groundwire_server.settings import AccessSettings, TlsSettings

__all__ = ["check_credentials", "make_authenticate", "port_credentials"]

_log = logging.getLogger(__name__)
# Bits that the modes of files must not have. Of a key: its owner writes it, owner and group read it, and nobody else.
_OPEN_FILE = 0o022
_KEY_FILE = 0o027
_TRIES = 3
_CERTIFICATE_NAMES = {"uri": "peer_uri", "dns": "peer_dns", "email": "peer_email", "common_name": "x509_common_name"}

_Signature = tuple[tuple[int, ...], ...]


def check_credentials(tls: TlsSettings, access: AccessSettings) -> None:
    """Whether the settings fit together. Raises InvalidRequest with every fault."""
    faults: list[Violation] = []

    def needs(name: str, other: str, why: str) -> None:
        faults.append(Violation(name, ErrorReason.VALUE_REQUIRED, f"must be set: {other} is, and {why}"))

    if tls.cert is None and tls.key is not None:
        needs("tls.cert", "tls.key", "a key alone encrypts nothing")
    if tls.key is None and tls.cert is not None:
        needs("tls.key", "tls.cert", "a certificate alone encrypts nothing")
    if tls.client_ca is not None and tls.cert is None and tls.key is None:
        needs("tls.cert", "tls.client_ca", "certificates are shown on encrypted connections alone")
    if access.certificate_file is not None and tls.client_ca is None:
        needs("tls.client_ca", "access.certificate_file", "callers bring certificates only where they are asked for")
    if faults:
        raise InvalidRequest(faults)


def port_credentials(tls: TlsSettings) -> grpc.ServerCredentials | None:
    """Credentials of a port, which follow the files; None: it does not encrypt.

    Each new connection is made with the files as they are then. Files that do not fit together change nothing, and the
    log says so.

    Raises:
        InvalidRequest: the files cannot be read, do not hold, or do not fit together.
    """
    if tls.cert is None or tls.key is None:
        return None
    files = _TlsFiles(tls.cert, tls.key, tls.client_ca)
    asks = tls.client_ca is not None
    changed = cast("Callable[[], grpc.ServerCertificateConfiguration]", files.changed)  # None is right: "as before"
    return grpc.dynamic_ssl_server_credentials(files.first(), changed, require_client_authentication=asks)


def make_authenticate(access: AccessSettings, local: Principal, *, own_token: str = "") -> Callable[[Any], Principal]:
    """Who asks, from grpc's context of a call; raises Unauthenticated (`security.callers.Authenticator`).

    Args:
        local: who calls where nobody is asked, and who brings `own_token`; then certificates say nothing.

    Raises:
        InvalidRequest: a file that the settings name cannot be read, or does not hold.
    """
    tokens = None if access.token_file is None else watch_tokens(access.token_file).current
    certificates = None
    if own_token:
        tokens = _beside(tokens, own_token, local)
    elif access.certificate_file is not None:
        setting = "access.certificate_file"
        certificates = WatchedFile(access.certificate_file, parse_certificates, setting=setting).current
    authenticator = Authenticator(local, tokens, certificates)

    def authenticate(context: Any) -> Principal:
        said = [_text(value) for name, value in context.invocation_metadata() or () if name == "authorization"]
        return authenticator.principal(said, lambda: _peer(context.auth_context()))

    return authenticate


def _beside(tokens: Callable[[], TokenTable] | None, text: str, holder: Principal) -> Callable[[], TokenTable]:
    """The tokens of a file, and one that stands in none."""
    own = token_of(text, holder, datetime.now(UTC))
    return lambda: TokenTable([own, *(tokens().tokens if tokens is not None else ())])


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("latin-1")


def _peer(told: Mapping[str, Sequence[bytes]]) -> PeerCertificate | None:
    """The certificate of a connection, as grpc has checked it."""
    if "x509_pem_cert" not in told:
        return None
    return PeerCertificate(**{name: tuple(told.get(key, ())) for name, key in _CERTIFICATE_NAMES.items()})


class _TlsFiles:
    """The files of a port. grpc asks from threads of its own, once for each connection that is made."""

    def __init__(self, cert: Path, key: Path, client_ca: Path | None) -> None:
        self._cert = cert
        self._key = key
        self._client_ca = client_ca
        self._lock = threading.Lock()
        self._first, self._seen = self._read()

    def first(self) -> grpc.ServerCertificateConfiguration:
        """What they said when this was made."""
        return self._first

    def changed(self) -> grpc.ServerCertificateConfiguration | None:
        """What they say, where that is new; None: go on with what was."""
        with self._lock:
            now = self._look()
            if now == self._seen:
                return None
            try:
                found, self._seen = self._read()
            except GroundwireError as error:
                self._seen = now
                _log.error("the files of tls do not hold and what was read before stays in force: %s", error.message)
                return None
            _log.info("the files of tls were read again")
            return found

    def _look(self) -> _Signature:
        return tuple(_signature(path) for path in (self._cert, self._key, self._client_ca) if path is not None)

    def _read(self) -> tuple[grpc.ServerCertificateConfiguration, _Signature]:
        """Read all, and once more where one was changed in between."""
        for _ in range(_TRIES):
            before = self._look()
            pair, roots = self._check()
            if self._look() == before:
                break
        else:
            raise InvalidRequest.one("tls.cert", ErrorReason.VALUE_MALFORMED, f"{self._cert} changes all the time")
        return grpc.ssl_server_certificate_configuration([pair], root_certificates=roots), before

    def _check(self) -> tuple[tuple[bytes, bytes], bytes | None]:
        faults: list[Violation] = []
        cert = _contents(self._cert, "tls.cert", _OPEN_FILE, faults)
        key = _contents(self._key, "tls.key", _KEY_FILE, faults)
        roots = None if self._client_ca is None else _contents(self._client_ca, "tls.client_ca", _OPEN_FILE, faults)
        if not faults:
            try:
                ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self._cert, self._key, password=_no_passphrase)
            except (ssl.SSLError, OSError, ValueError):
                why = f"{self._cert} and {self._key} are no certificate and its private key, PEM without a passphrase"
                faults.append(Violation("tls.cert", ErrorReason.VALUE_MALFORMED, why))
        if roots is not None and not _holds_certificates(roots):
            why = f"{self._client_ca} holds no certificate, PEM"
            faults.append(Violation("tls.client_ca", ErrorReason.VALUE_MALFORMED, why))
        if faults:
            raise InvalidRequest(faults)
        return (key, cert), roots


def _contents(path: Path, setting: str, forbidden: int, faults: list[Violation]) -> bytes:
    try:
        return read_guarded(path, setting, forbidden)[0]
    except InvalidRequest as error:
        faults.extend(error.violations)
        return b""


def _signature(path: Path) -> tuple[int, ...]:
    try:
        told = os.stat(path)
    except OSError:
        return ()
    return told.st_dev, told.st_ino, told.st_size, told.st_mtime_ns, told.st_ctime_ns, told.st_mode


def _holds_certificates(roots: bytes) -> bool:
    if not roots:
        return True  # said already that it cannot be read
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=roots.decode("ascii", "replace"))
    except (ssl.SSLError, ValueError):
        return False
    return True


def _no_passphrase() -> bytes:
    """Asking at the terminal, as OpenSSL would, is nothing for a server."""
    return b""
