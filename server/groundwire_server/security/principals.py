"""The caller that exists before authentication does (formats.md, Who calls)."""

from __future__ import annotations

from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.evidence import Label, Principal, parse_label

__all__ = ["LOCAL_NAME", "local_principal"]

LOCAL_NAME = "local"
"""Who is not asked for credentials; no credentials make anybody so."""

_READABLE = (Label.PUBLIC, Label.INTERNAL, Label.CONFIDENTIAL)


def local_principal(clearance: Label | str = Label.INTERNAL, rights: str = "admin") -> Principal:
    """The caller who is not asked for credentials: `local`, who reads up to `clearance`.

    Args:
        clearance: a label, or its name as people write it.
        rights: read, write or admin; each includes those before it.

    Raises:
        InvalidRequest: RESTRICTED, or a name that is no label: nobody reads RESTRICTED over the wire.

    >>> local_principal("Confidential").clearance.name
    'CONFIDENTIAL'
    """
    label = parse_label(clearance) if isinstance(clearance, str) else clearance
    if label not in _READABLE:
        written = clearance if isinstance(clearance, str) else clearance.name
        choices = ", ".join(each.name.lower() for each in _READABLE)
        raise InvalidRequest.one(
            "access.local_clearance", ErrorReason.UNKNOWN_NAME, f"{written!r} is none of {choices}"
        )
    return Principal(LOCAL_NAME, label, may_write=rights != "read", may_administer=rights == "admin")
