"""Who calls, as one process of a server tells it another.

Only the process that writes believes it, and only what comes over its own socket, which nobody but the user that the
server runs as can open. What clients send as metadata is never passed on.
"""

from __future__ import annotations

import json
from typing import Any

from groundwire_server.errors import Unauthenticated
from groundwire_server.evidence import Label, Principal

__all__ = ["PRINCIPAL_KEY", "pack_principal", "told_principal", "unpack_principal"]

PRINCIPAL_KEY = "groundwire-principal-bin"


def pack_principal(principal: Principal) -> bytes:
    """A principal, whole."""
    return json.dumps(
        {
            "name": principal.name,
            "clearance": principal.clearance.name,
            "groups": sorted(principal.groups),
            "tenant": principal.tenant,
            "may_write": principal.may_write,
            "may_administer": principal.may_administer,
        }
    ).encode()


def unpack_principal(packed: bytes) -> Principal:
    """The principal. Raises ValueError, KeyError for bytes that are none."""
    told = json.loads(packed)
    return Principal(
        name=str(told["name"]),
        clearance=Label[told["clearance"]],
        groups=frozenset(map(str, told["groups"])),
        tenant=str(told["tenant"]),
        may_write=told["may_write"] is True,
        may_administer=told["may_administer"] is True,
    )


def told_principal(context: Any) -> Principal:
    """Who calls, from grpc's context of a call that another process of this server has passed on.

    Raises:
        Unauthenticated: it says no such thing.
    """
    found = [value for key, value in context.invocation_metadata() or () if key == PRINCIPAL_KEY]
    if len(found) == 1 and isinstance(found[0], bytes):
        try:
            return unpack_principal(found[0])
        except (ValueError, KeyError, TypeError, AttributeError):
            pass
    raise Unauthenticated("forwarded", "Call the server at its port.")
