"""What a process that passes an ingest on has to know of its answers."""

from __future__ import annotations

from typing import Any

from groundwire.v1 import ingest_pb2

__all__ = ["IngestWatch"]


class IngestWatch:
    """Of one ingest.

    Args:
        response: type of its answers.
    """

    def __init__(self, response: Any) -> None:
        self._response = response
        self._durable_seq = 0

    def is_last(self, message: bytes) -> bool:
        """Take note of an answer; whether it says that all is done."""
        answer = self._response.FromString(message)
        kind = answer.WhichOneof("message")
        if kind in ("accepted", "ack"):
            self._durable_seq = getattr(answer, kind).durable_seq
        return bool(kind == "summary")

    def shutting_down(self) -> bytes:
        """The answer that says up to where the ingest is durable, and that it goes on elsewhere."""
        said = ingest_pb2.ShuttingDown(durable_seq=self._durable_seq)
        packed: bytes = self._response(shutting_down=said).SerializeToString()
        return packed
