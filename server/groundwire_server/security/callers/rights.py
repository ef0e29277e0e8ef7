"""What credentials grant: who the caller is then, up to which label it reads, whether it writes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from groundwire_server.errors import ErrorReason, Violation
from groundwire_server.evidence import Principal, parse_label
from groundwire_server.security.callers.tables import shown_key
from groundwire_server.security.principals import LOCAL_NAME

__all__ = ["CLEARANCES", "RIGHTS", "TOKEN_PREFIX", "grant_faults", "grant_principal", "is_name", "rights_of"]

CLEARANCES = ("public", "internal", "confidential")
"""Labels up to which a caller may read. Nobody reads RESTRICTED over the wire."""
RIGHTS = ("read", "write", "admin")
"""Each includes those before it. write: store, withdraw, change libraries; admin: delete them, see all settings."""

TOKEN_PREFIX = "gw_"
"""Every token begins so: scanners for secrets find one that was left lying about, and nobody is called by one."""

_LONGEST_NAME = 128
_MOST_GROUPS = 64
_FIELDS = ("name", "clearance", "rights", "groups", "tenant")


def is_name(value: object) -> bool:
    """Whether something can name a caller, group or tenant: 1 to 128 printable characters, no blank at either end, and
    no token.
    """
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_NAME:
        return False
    return value.isprintable() and value == value.strip() and TOKEN_PREFIX not in value


def grant_faults(table: Mapping[str, Any], place: str, further: Collection[str]) -> list[Violation]:
    """What is wrong with a table of a file that grants something; `further` names its other keys."""
    faults = [
        Violation(f"{place}.{shown_key(key)}", ErrorReason.UNKNOWN_NAME, f"is none of {_listed((*_FIELDS, *further))}")
        for key in table
        if key not in _FIELDS and key not in further
    ]
    if not is_name(table.get("name")):
        faults.append(_fault(place, "name", _NAME))
    elif table["name"] == LOCAL_NAME:
        why = f"{LOCAL_NAME} is who need not say who it is; take another name"
        faults.append(Violation(f"{place}.name", ErrorReason.CONTRADICTION, why))
    if _folded(table.get("clearance")) not in CLEARANCES:
        faults.append(_fault(place, "clearance", f"is none of {_listed(CLEARANCES)}"))
    if _folded(table.get("rights", "read")) not in RIGHTS:
        faults.append(_fault(place, "rights", f"is none of {_listed(RIGHTS)}"))
    groups = table.get("groups", [])
    if not isinstance(groups, list) or len(groups) > _MOST_GROUPS or not all(map(is_name, groups)):
        faults.append(_fault(place, "groups", f"is no list of at most {_MOST_GROUPS} names"))
    if table.get("tenant", "") != "" and not is_name(table["tenant"]):
        faults.append(_fault(place, "tenant", _NAME))
    return faults


def grant_principal(table: Mapping[str, Any]) -> Principal:
    """The caller that a table without faults describes; rights that it does not name are to read."""
    rights = _folded(table.get("rights", "read"))
    return Principal(
        table["name"],
        parse_label(table["clearance"]),
        frozenset(table.get("groups", ())),
        table.get("tenant", ""),
        may_write=rights in ("write", "admin"),
        may_administer=rights == "admin",
    )


def rights_of(principal: Principal) -> str:
    """The rights of a caller by their name.

    >>> rights_of(grant_principal({"name": "agent", "clearance": "public", "rights": "write"}))
    'write'
    """
    return "admin" if principal.may_administer else "write" if principal.may_write else "read"


_NAME = f"is not 1 to {_LONGEST_NAME} printable characters without blanks at the ends"


def _folded(value: object) -> str:
    return value.strip().casefold() if isinstance(value, str) else ""


def _fault(place: str, key: str, why: str) -> Violation:
    return Violation(f"{place}.{key}", ErrorReason.VALUE_MALFORMED, why)


def _listed(names: Collection[str]) -> str:
    return ", ".join(names)
