"""How a call of a model fails. Messages name the host and the status and nothing that the model or the server said."""

from __future__ import annotations

from groundwire_server.errors import ErrorReason, Unavailable

__all__ = ["ModelAnswerUnusable", "ModelFailed"]


class ModelFailed(Unavailable):
    """No usable reply came.

    Attributes:
        http_status: 0: there was none.
        permanent: the same call would fail again: it is refused, and nothing is in the way.
    """

    def __init__(self, message: str, *, http_status: int = 0, permanent: bool = False, hint: str = "") -> None:
        super().__init__(
            ErrorReason.MODEL_FAILED, message, hint=hint, details={"status": str(http_status)} if http_status else None
        )
        self.http_status = http_status
        self.permanent = permanent


class ModelAnswerUnusable(ModelFailed):
    """The model answered, and not with what it was asked for; another question may go well."""
