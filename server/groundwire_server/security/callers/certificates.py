"""Who holds a client certificate: a file that people write, from names in certificates to callers.

The connection has checked by then that the certificate is of the authority that the server trusts, that it has not run
out, and that the caller holds its key. A certificate that no line names is nobody's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from groundwire_server.errors import ErrorReason, Violation
from groundwire_server.evidence import Principal
from groundwire_server.security.callers.rights import grant_faults, grant_principal
from groundwire_server.security.callers.tables import read_tables

__all__ = ["CertificateRule", "CertificateTable", "PeerCertificate", "parse_certificates"]

_KEYS = ("uri", "dns", "email", "common_name")
_LONGEST = 2048


@dataclass(frozen=True, slots=True)
class PeerCertificate:
    """The names in a certificate that a connection has checked, as bytes of the certificate: nothing is folded."""

    uri: tuple[bytes, ...] = ()
    dns: tuple[bytes, ...] = ()
    email: tuple[bytes, ...] = ()
    common_name: tuple[bytes, ...] = ()

    def holds(self, kind: str, name: bytes) -> bool:
        """Whether it has a name of a kind."""
        names: Collection[bytes] = getattr(self, kind)
        return name in names


@dataclass(frozen=True, slots=True)
class CertificateRule:
    """One line of the file: certificates with this name are this caller's; kind "any": all that are trusted."""

    principal: Principal
    kind: str
    name: bytes = b""


class CertificateTable:
    """The rules of a file; the first one that fits holds."""

    def __init__(self, rules: Iterable[CertificateRule] = ()) -> None:
        self.rules = tuple(rules)

    def find(self, peer: PeerCertificate) -> Principal | None:
        """Whose a certificate is; None: nobody's."""
        fits = (each for each in self.rules if each.kind == "any" or peer.holds(each.kind, each.name))
        return next((each.principal for each in fits), None)


def parse_certificates(raw: bytes) -> CertificateTable:
    """The rules of a file, in its order. Raises InvalidRequest with every fault, by its place in the file."""
    tables, faults = read_tables(raw, "certificate")
    rules: list[CertificateRule] = []
    for place, table in tables:
        found = grant_faults(table, place, (*_KEYS, "any")) + _own_faults(table, place)
        if rules and rules[-1].kind == "any":
            found.append(Violation(place, ErrorReason.CONTRADICTION, "stands behind `any = true`, which fits first"))
        faults.extend(found)
        if not found:
            kind = next((key for key in _KEYS if key in table), "any")
            rules.append(CertificateRule(grant_principal(table), kind, str(table.get(kind, "")).encode()))
    faults.settle()
    return CertificateTable(rules)


def _own_faults(table: Mapping[str, Any], place: str) -> list[Violation]:
    said = [key for key in (*_KEYS, "any") if key in table]
    if len(said) != 1:
        why = f"needs exactly one of {', '.join(_KEYS)}, any"
        return [Violation(place, ErrorReason.CONTRADICTION if said else ErrorReason.VALUE_REQUIRED, why)]
    (key,) = said
    value = table[key]
    if key == "any":
        good, why = value is True, "is not true"
    else:
        good = isinstance(value, str) and 0 < len(value) <= _LONGEST and value.isprintable()
        why = "is no name of a certificate"
    return [] if good else [Violation(f"{place}.{key}", ErrorReason.VALUE_MALFORMED, why)]
