"""The one state machine that every streamed answer goes through, and the cutting of snippets into batches.

    header  (second)?  (batch | outcomes | answer | ... )*  summary

A stream that breaks the order never reaches the client as if it were whole: the call ends with INTERNAL instead.
`StreamOrder` looks at the frames as they go onto the wire, after encoding, whoever made them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

from google.protobuf.message import Message

from groundwire.v1 import evidence_pb2, router_pb2, stream_pb2
from groundwire_server.errors import ErrorReason, GroundwireError

__all__ = [
    "ASK",
    "GRAPH",
    "MAX_BATCH_BYTES",
    "MAX_BATCH_SECONDS",
    "MAX_BATCH_SNIPPETS",
    "MAX_FRAME_BYTES",
    "METRIC",
    "NARRATIVE",
    "BrokenStream",
    "StreamOrder",
    "StreamShape",
    "cut_batches",
    "in_order",
]

MAX_FRAME_BYTES = 1 << 20
MAX_BATCH_BYTES = 64 << 10
MAX_BATCH_SNIPPETS = 20
MAX_BATCH_SECONDS = 0.005

R = TypeVar("R", bound=Message)
S = TypeVar("S")


class BrokenStream(GroundwireError):
    """A frame came where it may not stand. `fault` is for the log and for tests, never for the client."""

    def __init__(self, fault: str) -> None:
        super().__init__(ErrorReason.INTERNAL, "The server made a mistake.")
        self.fault = fault


@dataclass(frozen=True, slots=True)
class StreamShape:
    """Which frames a method has between header and summary, and which one must come right after the header."""

    frames: frozenset[str]
    second: str = ""


NARRATIVE = StreamShape(frozenset({"batch", "progress"}))
METRIC = StreamShape(frozenset({"outcomes", "batch"}))
GRAPH = StreamShape(frozenset({"outcomes", "batch", "progress"}))
ASK = StreamShape(
    frozenset({"sub_call", "outcomes", "batch", "answer", "clarification", "progress", "sub_call_summary"}), "route"
)


@dataclass(slots=True)
class _Branch:
    open: bool = True
    returned: int = 0


@dataclass(slots=True)
class StreamOrder:
    """Admits the frames of one stream, one after the other, or raises BrokenStream."""

    shape: StreamShape
    returned: int = 0
    dropped: int = 0
    _begun: bool = False
    _second_seen: bool = False
    _ended: bool = False
    _only_summary: bool = False
    _sent: set[str] = field(default_factory=set)
    _announced: set[str] = field(default_factory=set)
    _branches: list[_Branch] = field(default_factory=list)

    def admit(self, frame: Message, size: int) -> None:
        """Checks the next frame (a response message with its `frame` set) of `size` bytes.

        Raises:
            BrokenStream: it may not stand here, is too large, or contradicts what was sent.
        """
        kind = frame.WhichOneof("frame")
        if kind is None:
            raise BrokenStream("frame without content")
        if self._ended:
            raise BrokenStream(f"{kind} after summary")
        if size > MAX_FRAME_BYTES:
            raise BrokenStream(f"{kind} is over 1 MiB")
        self._in_place(kind)
        branch = self._branch_of(frame, kind)
        _CHECKS.get(kind, _nothing_more)(self, getattr(frame, kind), branch)

    def drop(self, ids: Sequence[str], branch: int) -> None:
        """Snippets of a branch, or of the whole call, that stood here and were sent by a call before this one."""
        self.dropped += len(ids)
        self._sent.update(ids)
        if 0 < branch <= len(self._branches):
            self._branches[branch - 1].returned += len(ids)

    def finish(self) -> None:
        """Raises BrokenStream when the stream ends without a summary: OK without one cannot happen."""
        if not self._ended:
            raise BrokenStream("end without summary")

    def _in_place(self, kind: str) -> None:
        if kind == "header":
            if self._begun:
                raise BrokenStream("second header")
            self._begun = True
            return
        if not self._begun:
            raise BrokenStream(f"{kind} before header")
        if self.shape.second and not self._second_seen:
            if kind != self.shape.second:
                raise BrokenStream(f"{kind} before {self.shape.second}")
            self._second_seen = True
            return
        if kind == "summary":
            return
        if kind not in self.shape.frames:
            raise BrokenStream(f"{kind} has no place here")
        if self._only_summary:
            raise BrokenStream(f"{kind} after the clarification of the whole call")

    def _branch_of(self, frame: Any, kind: str) -> _Branch | None:
        """The open branch of an Ask frame; opens it for sub_call."""
        index = getattr(frame, "sub_call_index", 0)
        if kind == "sub_call":
            if index != len(self._branches) + 1:
                raise BrokenStream(f"branch {index} after {len(self._branches)}")
            parent = frame.sub_call.parent_index
            if not 0 <= parent < index or (parent and not self._branches[parent - 1].open):
                raise BrokenStream(f"branch {index} under {parent}")
            self._branches.append(_Branch())
        if index == 0:
            if kind == "sub_call_summary":
                raise BrokenStream("end of no branch")
            return None
        if kind in ("header", "route", "summary"):
            raise BrokenStream(f"{kind} of a branch")
        if not 0 < index <= len(self._branches) or not self._branches[index - 1].open:
            raise BrokenStream(f"{kind} of branch {index}, which is not open")
        return self._branches[index - 1]

    def _batch(self, batch: stream_pb2.SnippetBatch, branch: _Branch | None) -> None:
        if not batch.snippets:
            raise BrokenStream("empty batch")
        for snippet in batch.snippets:
            self.returned += 1
            if snippet.rank != self.dropped + self.returned:
                raise BrokenStream(f"rank {snippet.rank} at place {self.dropped + self.returned}")
            if not snippet.snippet_id or not snippet.lineage.library_id or not snippet.WhichOneof("payload"):
                raise BrokenStream(f"snippet {snippet.rank} lacks id, library or payload")
            self._sent.add(snippet.snippet_id)
        if branch is not None:
            branch.returned += len(batch.snippets)

    def _outcomes(self, outcomes: Any, _branch: _Branch | None) -> None:
        for outcome in outcomes.outcomes:
            if outcome.WhichOneof("outcome") is None:
                raise BrokenStream(f"query {outcome.query_index} without outcome")
            self._announced.update(outcome.found.snippet_ids)
        for calculation in outcomes.calculations:
            if calculation.WhichOneof("outcome") is None:
                raise BrokenStream(f"calculation {calculation.calculation_index} without outcome")
            if calculation.snippet_id:
                self._announced.add(calculation.snippet_id)

    def _answer(self, part: router_pb2.AnswerPart, _branch: _Branch | None) -> None:
        missing = set(part.cited_snippet_ids) - self._sent
        if missing:
            raise BrokenStream(f"answer cites {len(missing)} snippets that were not sent")
        if not part.cited_snippet_ids and part.origin != router_pb2.ANSWER_ORIGIN_FIXED:
            raise BrokenStream("answer without citation")

    def _clarification(self, _clarification: router_pb2.Clarification, branch: _Branch | None) -> None:
        self._only_summary = branch is None

    def _sub_call_summary(self, summary: router_pb2.SubCallSummary, branch: _Branch | None) -> None:
        if branch is None or summary.returned != branch.returned:
            raise BrokenStream(f"branch says {summary.returned} snippets")
        _check_refusal(summary)
        branch.open = False

    def _summary(self, summary: stream_pb2.StreamSummary, _branch: _Branch | None) -> None:
        cut_short = summary.end_reason == stream_pb2.END_REASON_SERVER_STOPPING and summary.HasField("next")
        if any(branch.open for branch in self._branches):
            raise BrokenStream("summary while a branch is open")
        if summary.returned != self.returned:
            raise BrokenStream(f"summary says {summary.returned}, sent {self.returned}")
        if self._announced - self._sent and not cut_short:
            raise BrokenStream(f"{len(self._announced - self._sent)} announced snippets were not sent")
        if summary.end_reason == stream_pb2.END_REASON_UNSPECIFIED:
            raise BrokenStream("summary without a reason")
        _check_refusal(summary)
        self._ended = True


def _check_refusal(summary: Any) -> None:
    if summary.HasField("refusal") != (summary.end_reason == stream_pb2.END_REASON_REFUSED):
        raise BrokenStream("refusal and end_reason disagree")


def _nothing_more(_order: StreamOrder, _message: Any, _branch: _Branch | None) -> None:
    """Header, route, progress and sub_call have no rule beyond their place."""


_CHECKS: dict[str, Callable[[StreamOrder, Any, _Branch | None], None]] = {
    "batch": StreamOrder._batch,
    "outcomes": StreamOrder._outcomes,
    "answer": StreamOrder._answer,
    "clarification": StreamOrder._clarification,
    "sub_call_summary": StreamOrder._sub_call_summary,
    "summary": StreamOrder._summary,
}


def in_order(frames: Iterable[Message], shape: StreamShape, dropped: list[str] | None = None) -> Iterator[bytes]:
    """The frames, serialized, each checked before it goes out.

    Args:
        dropped: ids of snippets that a call before has sent, put in by who makes the frames before the next of them.

    Raises:
        BrokenStream: at the frame that breaks the order, or at the end when there was no summary.
    """
    order = StreamOrder(shape)
    for frame in frames:
        if dropped:
            order.drop(dropped, getattr(frame, "sub_call_index", 0))
            dropped.clear()
        data = frame.SerializeToString(deterministic=True)
        order.admit(frame, len(data))
        yield data
    order.finish()


def cut_batches(
    snippets: Iterable[S],
    fill: Callable[[evidence_pb2.Snippet, S], None],
    response: Callable[[], R],
    room: int = MAX_BATCH_BYTES,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[R]:
    """Responses with batches of at most 20 snippets and `room` bytes, and of what came within 5 ms of their first one;
    one snippet that is larger goes alone.

    Args:
        fill: encodes a snippet into its place in a batch.
        response: makes an empty response message, which has a field `batch`.
        clock: seconds that only go up.
    """
    waiting = iter(snippets)
    while True:
        message: Any = response()
        end = 0.0
        for snippet in islice(waiting, MAX_BATCH_SNIPPETS):
            fill(message.batch.snippets.add(), snippet)
            now = clock()
            end = end or now + MAX_BATCH_SECONDS
            if now >= end:
                break
        if not message.batch.snippets:
            return
        if message.batch.ByteSize() <= room:
            yield message
        else:
            yield from _cut_large(message.batch.snippets, response, room)


def _cut_large(snippets: Iterable[evidence_pb2.Snippet], response: Callable[[], R], room: int) -> Iterator[R]:
    """The same by bytes alone. Snippets are copied here, which large ones are worth."""
    message: Any = response()
    size = 0
    for snippet in snippets:
        weight = snippet.ByteSize()
        if size and size + weight > room:
            yield message
            message, size = response(), 0
        message.batch.snippets.append(snippet)
        size += weight
    yield message
