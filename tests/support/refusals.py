"""For tests that say: either it works, or it is refused with one of these reasons."""

from __future__ import annotations

from collections.abc import Callable

from groundwire_server.errors import ErrorReason, GroundwireError

__all__ = ["reason_of"]


def reason_of(call: Callable[[], object]) -> ErrorReason | None:
    """The reason with which a call is refused; None when it is not. Any other exception goes on."""
    try:
        call()
    except GroundwireError as refused:
        return refused.reason
    return None
