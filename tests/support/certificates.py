"""Certificates made for a test: an authority, and what it signs."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

OPS = """
[[certificate]]
uri = "spiffe://example/ops"
name = "ops"
clearance = "confidential"
rights = "admin"
"""
_LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
_FAR_AWAY = datetime(2040, 1, 1, tzinfo=UTC)
LOCAL = (x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1")))


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, PEM."""

    cert: bytes
    key: bytes

    def write(self, folder: Path, name: str) -> tuple[Path, Path]:
        """Put both into files, each at once in its place."""
        return put(folder / f"{name}.pem", self.cert), put(folder / f"{name}.key", self.key, 0o600)


def put(path: Path, content: bytes, mode: int = 0o644) -> Path:
    """Replace a file as a program that renews certificates does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_bytes(content)
    fresh.chmod(mode)
    os.replace(fresh, path)
    return path


@dataclass
class Authority:
    """Signs certificates."""

    name: str = "authority"
    _key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    @property
    def pem(self) -> bytes:
        """Its own certificate."""
        return self._own.public_bytes(serialization.Encoding.PEM)

    def __post_init__(self) -> None:
        subject = _subject(self.name)
        built = _builder(self._key, subject, subject, _FAR_AWAY).add_extension(x509.BasicConstraints(True, None), True)
        self._own = built.sign(self._key, hashes.SHA256())

    def sign(
        self, name: str = "", *names: x509.GeneralName, ends: datetime = _FAR_AWAY, passphrase: bytes = b""
    ) -> Pair:
        """A certificate with a common name and alternative names."""
        key = ec.generate_private_key(ec.SECP256R1())
        built = _builder(key, _subject(name), self._own.subject, ends)
        if names:
            built = built.add_extension(x509.SubjectAlternativeName(names), critical=False)
        made = built.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        hidden = serialization.BestAvailableEncryption(passphrase) if passphrase else serialization.NoEncryption()
        form = serialization.PrivateFormat.PKCS8
        return Pair(made, key.private_bytes(serialization.Encoding.PEM, form, hidden))

    def server(self) -> Pair:
        """A certificate for a server of this machine."""
        return self.sign("server", *LOCAL)


def _subject(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)] if name else [])


def _builder(
    key: ec.EllipticCurvePrivateKey, subject: x509.Name, issuer: x509.Name, ends: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_LONG_AGO)
        .not_valid_after(ends)
    )
