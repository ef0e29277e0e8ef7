"""Deleting a library: asked for twice, gone at once, its space given back by a job."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from groundwire_server.engine.info import LibraryInfo
from groundwire_server.errors import Aborted, ErrorReason, InvalidRequest
from groundwire_server.evidence import Principal
from groundwire_server.jobs import Job
from groundwire_server.narrative import Unreachable

__all__ = ["LibraryDeletion", "check_confirmation", "make_confirmation"]


@dataclass(frozen=True, slots=True)
class LibraryDeletion:
    """What goes: the library as it stood, and the confirmation to give back, or the job that frees its space."""

    library: LibraryInfo | Unreachable
    confirmation: str = ""
    job: Job | None = None


def make_confirmation(secret: bytes, principal: Principal, library_id: str, made_at: str, state: str) -> str:
    """The token with which this caller deletes the library in this state.

    Args:
        made_at: tells the library from an earlier one of the same id.
        state: all that the caller may see of it; what is hidden from the caller must not change the token.
    """
    mac = hmac.new(secret, digestmod=hashlib.sha256)
    for part in ("DeleteLibrary", principal.tenant, principal.name, library_id, made_at, state):
        raw = part.encode()
        mac.update(len(raw).to_bytes(8, "big") + raw)
    return mac.hexdigest()


def check_confirmation(given: str, expected: str, library_id: str) -> None:
    """Whether a token that came back is the one of now.

    Raises:
        InvalidRequest: VALUE_REQUIRED, there is none.
        Aborted: CONFLICTING_CHANGE, it is another: of another state, caller or library.
    """
    if not given:
        why = "is needed: a call with validate_only gives it"
        raise InvalidRequest.one("confirmation", ErrorReason.VALUE_REQUIRED, why)
    if not hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode()):
        raise Aborted(
            ErrorReason.CONFLICTING_CHANGE,
            f"The library {library_id} has changed since it was confirmed, or the confirmation is not of this caller.",
            hint="Call with validate_only again.",
            details={"library_id": library_id},
        )
