"""When a broken ingest is worth another connection, and how long to wait for it."""

from __future__ import annotations

from groundwire._errors import BrokenStream, GroundwireError
from groundwire._model.reason import ErrorReason

__all__ = ["MAX_ATTEMPTS", "is_worth_a_retry", "most_attempts", "retry_delay"]

MAX_ATTEMPTS = 8
# A minute and a half: a server that nobody told of an end takes a minute to find out, and holds the ingest until then.
_ATTEMPTS_IN_USE = 24
_PASSING = {
    ErrorReason.INGEST_ID_IN_USE,  # the server has not noticed yet that the connection before is gone
    ErrorReason.NOT_SERVING,
    ErrorReason.OVERLOADED,
    ErrorReason.READER_IDLE,
}
# Without a reason of ours the connection itself broke.
_BROKEN = {"UNAVAILABLE", "INTERNAL", "UNKNOWN", "CANCELLED", "ABORTED"}


def is_worth_a_retry(error: GroundwireError) -> bool:
    """Whether the same ingest may go through on a new connection."""
    if isinstance(error, BrokenStream) or error.reason in _PASSING:
        return True
    return error.reason is ErrorReason.UNSPECIFIED and error.status in _BROKEN


def most_attempts(error: GroundwireError) -> int:
    """How many in a row are made before one that ends like this is the last.

    >>> most_attempts(BrokenStream(""))
    8
    """
    return _ATTEMPTS_IN_USE if error.reason is ErrorReason.INGEST_ID_IN_USE else MAX_ATTEMPTS


def retry_delay(attempt: int, error: GroundwireError) -> float:
    """Seconds to wait before the attempt of this number, from 1; never less than the server says.

    A server that is away a little longer than it said is not given up for that.

    >>> [retry_delay(n, BrokenStream("")) for n in (1, 2, 3, 8)]
    [0.1, 0.2, 0.4, 5.0]
    >>> from datetime import timedelta
    >>> away = GroundwireError("", retry_after=timedelta(seconds=1))
    >>> [retry_delay(n, away) for n in (1, 2, 5, 8)]
    [1.0, 1.0, 1.6, 5.0]
    """
    own = float(min(0.1 * 2 ** (attempt - 1), 5.0))
    return own if error.retry_after is None else max(own, error.retry_after.total_seconds())
