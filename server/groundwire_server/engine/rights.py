"""What a caller may do, beside read."""

from __future__ import annotations

from groundwire_server.errors import ErrorReason, NotPermitted
from groundwire_server.evidence import Principal

__all__ = ["may_administer", "may_write"]


def may_write(principal: Principal, method: str, library_id: str) -> None:
    """Raises NotPermitted when the caller may not write."""
    if not principal.may_write:
        raise _refused("write", method, library_id)


def may_administer(principal: Principal, method: str, library_id: str) -> None:
    """Raises NotPermitted when the caller may not administer."""
    if not principal.may_administer:
        raise _refused("administer", method, library_id)


def _refused(right: str, method: str, library_id: str) -> NotPermitted:
    return NotPermitted(
        ErrorReason.NOT_PERMITTED,
        f"{method} needs the right to {right}.",
        details={"method": method, "library_id": library_id},
    )
