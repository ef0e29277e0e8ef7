"""Evidence frames of a service into response messages: ranks over the whole stream, batches, the count at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from google.protobuf.message import Message

from groundwire.v1 import evidence_pb2, metric_pb2
from groundwire_server import __version__
from groundwire_server.evidence import (
    ExplainLevel,
    Header,
    Outcomes,
    Principal,
    Progress,
    Snippet,
    Snippets,
    Summary,
)
from groundwire_server.rpc.encode_snippet import fill_snippet
from groundwire_server.rpc.encode_stream import (
    encode_calculation,
    encode_header,
    encode_outcome,
    encode_progress,
    encode_summary,
)
from groundwire_server.rpc.stream import MAX_BATCH_BYTES, cut_batches

__all__ = ["Frame", "FrameEncoder"]

Frame = Header | Snippets | Outcomes | Progress | Summary
R = TypeVar("R", bound=Message)


class FrameEncoder(Generic[R]):
    """Encodes the frames of one stream.

    Args:
        response: makes a response message from one member of its `frame`, given by name.
        principal: for whom; a snippet that it may not read is refused here once more.
        tell: told the summary, before it is sent.
    """

    def __init__(
        self,
        response: Callable[..., R],
        *,
        principal: Principal,
        request_id: str,
        explain: ExplainLevel,
        tell: Callable[[Summary], None] = lambda summary: None,
    ) -> None:
        self._response = response
        self._principal = principal
        self._request_id = request_id
        self._explain = explain
        self._tell = tell
        self.returned = 0

    def encode(self, frame: Frame, **more: int) -> Iterator[R]:
        """The messages of one frame, in order; `more` goes into each of them (a branch of Ask)."""
        match frame:
            case Header():
                header = encode_header(frame, request_id=self._request_id, server_version=__version__)
                yield self._response(header=header, **more)
            case Snippets(snippets):
                yield from cut_batches(snippets, self._fill, lambda: self._response(**more))
            case Outcomes():
                for outcomes in _cut_outcomes(frame):
                    yield self._response(outcomes=outcomes, **more)
            case Progress():
                yield self._response(progress=encode_progress(frame), **more)
            case Summary():
                self._tell(frame)
                summary = encode_summary(frame, returned=self.returned, explain=self._explain)
                yield self._response(summary=summary, **more)

    def encode_all(self, frames: Iterable[Frame]) -> Iterator[R]:
        """The messages of all frames."""
        for frame in frames:
            yield from self.encode(frame)

    def _fill(self, message: evidence_pb2.Snippet, snippet: Snippet) -> None:
        fill_snippet(message, snippet, self._principal)
        self.returned += 1
        message.rank = self.returned


def _cut_outcomes(frame: Outcomes) -> Iterator[metric_pb2.MetricOutcomes]:
    """Outcomes in frames of about 64 KiB; calculations after all outcomes of queries."""
    message, size = metric_pb2.MetricOutcomes(), 0
    for outcome in frame.outcomes:
        encoded = encode_outcome(outcome)
        weight = encoded.ByteSize()
        if size and size + weight > MAX_BATCH_BYTES:
            yield message
            message, size = metric_pb2.MetricOutcomes(), 0
        message.outcomes.append(encoded)
        size += weight
    for calculation in frame.calculations:
        calculated = encode_calculation(calculation)
        weight = calculated.ByteSize()
        if size and size + weight > MAX_BATCH_BYTES:
            yield message
            message, size = metric_pb2.MetricOutcomes(), 0
        message.calculations.append(calculated)
        size += weight
    if size:
        yield message
