"""A status that another process of this server gave a call, to be told its client as it is."""

from __future__ import annotations

import grpc
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

__all__ = ["PassedOn"]


class PassedOn(Exception):
    """Code, message and details, which that process has made fit for the wire.

    Attributes:
        code: of the status.
        message: of it.
        details: `google.rpc.Status`, packed.
    """

    def __init__(self, code: grpc.StatusCode, message: str, details: bytes) -> None:
        super().__init__(code.name)
        self.code = code
        self.message = message
        self.details = details

    @property
    def reason(self) -> str:
        """Name of its reason, for the log; empty: it has none."""
        info = ErrorInfo()
        for detail in Status.FromString(self.details).details:
            if detail.Unpack(info):
                return info.reason
        return ""
