"""Evidence frames of a service into response messages: ranks over the whole stream, batches, the count at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from google.protobuf.message import Message

from groundwire.v1 import evidence_pb2, metric_pb2, stream_pb2
from groundwire_server import __version__
from groundwire_server.evidence import (
    CalculationOutcome,
    ExplainLevel,
    Header,
    MetricOutcome,
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
from groundwire_server.rpc.stream import MAX_BATCH_BYTES, MAX_FRAME_BYTES, cut_batches

if TYPE_CHECKING:
    from groundwire_server.rpc.place import StreamPlace

__all__ = ["Frame", "FrameEncoder"]

# What is left of a frame for the cursor behind it.
_CURSOR_ROOM = 4 << 10

Frame = Header | Snippets | Outcomes | Progress | Summary
R = TypeVar("R", bound=Message)


class FrameEncoder(Generic[R]):
    """Encodes the frames of one stream.

    Args:
        response: makes a response message from one member of its `frame`, given by name.
        principal: for whom; a snippet that it may not read is refused here once more.
        tell: told the summary, before it is sent.
        place: what was sent before, and the cursors; None: the stream has none.
        stopping: whether the server is, so that a stream ends with the part that was sent last.
    """

    def __init__(
        self,
        response: Callable[..., R],
        *,
        principal: Principal,
        request_id: str,
        explain: ExplainLevel,
        tell: Callable[[Summary], None] = lambda summary: None,
        place: StreamPlace | None = None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self._response = response
        self._principal = principal
        self._request_id = request_id
        self._explain = explain
        self._tell = tell
        self.place = place
        self._stopping = stopping
        self._before = 0 if place is None else place.before
        self.returned = 0
        self._sent = False  # some evidence

    def encode(self, frame: Frame, **more: int) -> Iterator[R]:
        """The messages of one frame, in order; `more` goes into each of them (a branch of Ask)."""
        match frame:
            case Header():
                if self.place is not None:
                    self.place.begin(frame)
                header = encode_header(frame, request_id=self._request_id, server_version=__version__)
                yield self._response(header=header, **more)
            case Snippets(snippets):
                yield from self._batches(snippets, more)
            case Outcomes(outcomes, calculations):
                yield from self._outcomes(outcomes, calculations, more)
            case Progress():
                yield self._response(progress=encode_progress(frame), **more)
            case Summary():
                self._tell(frame)
                summary = encode_summary(frame, returned=self.returned, explain=self._explain)
                if self.place is not None and (token := self.place.next(frame)):
                    summary.next.token = token
                yield self._response(summary=summary, **more)

    def encode_all(self, frames: Iterable[Frame]) -> Iterator[R]:
        """The messages of all frames; where the server stops and the rest can be had elsewhere, those up to there."""
        for frame in frames:
            for message in self.encode(frame):
                yield message
                if self._stopping() and not isinstance(frame, Summary) and (token := self._behind_all()):
                    yield self._response(
                        summary=stream_pb2.StreamSummary(
                            returned=self.returned,
                            end_reason=stream_pb2.END_REASON_SERVER_STOPPING,
                            next=stream_pb2.ResumeCursor(token=token),
                        )
                    )
                    return

    def _behind_all(self) -> bytes:
        """The cursor behind what was sent; empty: nothing was, or there can be none."""
        return b"" if self.place is None or not self._sent else self.place.here()

    def _batches(self, snippets: Sequence[Snippet], more: dict[str, int]) -> Iterator[R]:
        place = self.place
        if place is not None:
            snippets = place.unsent_snippets(snippets)
        room = MAX_BATCH_BYTES if place is None else MAX_BATCH_BYTES - _CURSOR_ROOM
        given = 0
        for message in cut_batches(snippets, self._fill, lambda: self._response(**more), room):
            if place is not None:
                self._sent = True
                batch = cast(Any, message).batch
                count = len(batch.snippets)
                some = snippets[given : given + count]
                given += count
                _behind(batch, place.sent_snippets([each.snippet_id for each in some]), alone=count == 1)
            yield message

    def _outcomes(
        self, outcomes: Sequence[MetricOutcome], calculations: Sequence[CalculationOutcome], more: dict[str, int]
    ) -> Iterator[R]:
        place = self.place
        if place is not None:
            outcomes, calculations = place.unsent_outcomes(outcomes, calculations)
        room = MAX_BATCH_BYTES if place is None else MAX_BATCH_BYTES - _CURSOR_ROOM
        given, calculated = 0, 0
        for message in _cut_outcomes(outcomes, calculations, room):
            if place is not None:
                some = outcomes[given : given + len(message.outcomes)]
                others = calculations[calculated : calculated + len(message.calculations)]
                given, calculated = given + len(some), calculated + len(others)
                alone = len(some) + len(others) == 1
                _behind(message, place.sent_outcomes(some, others), alone=alone)
            self._sent = True
            yield self._response(outcomes=message, **more)

    def _fill(self, message: evidence_pb2.Snippet, snippet: Snippet) -> None:
        fill_snippet(message, snippet, self._principal)
        self.returned += 1
        message.rank = self._before + self.returned


def _behind(part: stream_pb2.SnippetBatch | metric_pb2.MetricOutcomes, token: bytes, *, alone: bool) -> None:
    """Put the cursor behind a part, where there is one; a piece that is alone may be so large that it has no room."""
    if token and (not alone or part.ByteSize() + _CURSOR_ROOM <= MAX_FRAME_BYTES):
        part.after.token = token


def _cut_outcomes(
    outcomes: Sequence[MetricOutcome], calculations: Sequence[CalculationOutcome], room: int
) -> Iterator[metric_pb2.MetricOutcomes]:
    """Outcomes in frames of about so many bytes; calculations after all outcomes of queries."""
    message, size = metric_pb2.MetricOutcomes(), 0
    for outcome in outcomes:
        encoded = encode_outcome(outcome)
        weight = encoded.ByteSize()
        if size and size + weight > room:
            yield message
            message, size = metric_pb2.MetricOutcomes(), 0
        message.outcomes.append(encoded)
        size += weight
    for calculation in calculations:
        calculated = encode_calculation(calculation)
        weight = calculated.ByteSize()
        if size and size + weight > room:
            yield message
            message, size = metric_pb2.MetricOutcomes(), 0
        message.calculations.append(calculated)
        size += weight
    if size:
        yield message
