"""One read over all its connections: what came, what a new one asks for, and what of it is new. Without I/O.

A resumed stream brings its header, route, branches and answer again, and of outcomes and snippets only those behind the
cursor. What comes again as it was is not given out twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from google.protobuf.message import Message

from groundwire._errors import BrokenStream, GroundwireError
from groundwire._ingest.retry import MAX_ATTEMPTS, retry_delay
from groundwire._model.answer import AnswerPart, AnswerRestarted
from groundwire._model.ingest import Reconnecting
from groundwire._model.reason import ErrorReason
from groundwire._operation.fold import Fold, Frame
from groundwire._operation.kinds import Streamed
from groundwire.v1 import stream_pb2

__all__ = ["Resumption"]

ResultT = TypeVar("ResultT")

_PIECES = {"batch", "outcomes"}
_STRUCTURE = {"header", "route", "sub_call", "answer", "clarification", "sub_call_summary"}
_PASSING = {ErrorReason.NOT_SERVING, ErrorReason.OVERLOADED, ErrorReason.READER_IDLE}
# Without a reason of ours the connection itself broke.
_NOBODY = "failed to connect"  # as gRPC says it
_BROKEN = {"UNAVAILABLE", "INTERNAL", "UNKNOWN", "CANCELLED", "ABORTED"}


class Resumption(Generic[ResultT]):
    """Reads the streams of one call as if they were one.

    Args:
        enabled: whether to go on at all.
        met: the server has answered before, so that it is worth several tries though nothing has come of this call.

    Attributes:
        request: what the next connection sends.
        is_whole: the summary has come.
    """

    def __init__(self, operation: Streamed[Fold[ResultT]], *, enabled: bool = True, met: bool = False) -> None:
        self.operation = operation
        self.request: Message = operation.request
        self.enabled = enabled
        self.is_whole = False
        self._fold = operation.reader
        self._structure: list[tuple[Any, Frame | None]] = []  # what came but pieces, and what was given out for it
        self._again = 0  # how much of that has come again on this connection
        self._token = b""
        self._can_go_on = True  # every piece so far has a cursor behind it
        self._returned = 0  # snippets, by the connections before this one
        self._returned_here = 0
        self._met = met
        self._began = False
        self._resumed = False
        self._attempts = 0

    def add(self, response: Any) -> Iterable[Frame]:
        """What a response brings that is new. Raises BrokenStream when it stands in a wrong place."""
        self._began = True
        kind = response.WhichOneof("frame")
        if kind in _STRUCTURE and self._resumed:
            return self._repeated(response, kind)
        if kind == "summary":
            return self._end(response)
        if kind in _PIECES:
            self._note(getattr(response, kind), kind)
        frames = tuple(self._fold.add(response))
        if kind in _STRUCTURE:
            self._structure.append((response, frames[0] if frames else None))
        return frames

    def end(self) -> None:
        """The stream has ended. Raises BrokenStream when it should not have."""
        self._fold.end()

    def result(self) -> ResultT:
        """The whole. Raises BrokenStream when the end has not come."""
        return self._fold.result()

    def breaks(self, error: GroundwireError) -> Reconnecting | None:
        """The connection has ended before the summary: what to do then; None: raise the error."""
        if not self.enabled or self.is_whole or not self._may_pass(error):
            return None
        self._attempts += 1
        # Before anything came, nobody may be there at all: who calls wants to know that soon.
        nobody = not (self._began or self._met) and _NOBODY in error.message
        if self._attempts > (1 if nobody else MAX_ATTEMPTS):
            return None
        if self._began:
            self._resumed = True
            self._again = 0
            self._returned += self._returned_here
            self._returned_here = 0
        if self._token:
            self.request = _behind(self.operation.request, self._token)
        return Reconnecting(self._attempts, retry_delay(self._attempts, error), error.message)

    def more(self) -> Resumption[ResultT] | None:
        """The call that brings what comes after this one; None: nothing does. Raises while this one is not whole."""
        self._fold.result()
        token = self._fold.next
        if token is None:
            return None
        following = Streamed(self.operation.method, _behind(self.operation.request, token), self._fold.anew())
        return Resumption(following, enabled=self.enabled, met=True)

    def _may_pass(self, error: GroundwireError) -> bool:
        if not self._can_go_on:
            return False
        if not (self._began or self._met) and error.reason is ErrorReason.OVERLOADED:
            return False  # whoever asks too much must be told
        broken = error.reason is ErrorReason.UNSPECIFIED and error.status in _BROKEN
        return error.reason in _PASSING or broken or isinstance(error, BrokenStream)

    def _note(self, piece: Any, kind: str) -> None:
        self._attempts = 0
        self._token = bytes(piece.after.token)
        self._can_go_on = bool(self._token)
        if kind == "batch":
            self._returned_here += len(piece.snippets)

    def _end(self, response: Any) -> Iterable[Frame]:
        """The summary of the last connection tells of that alone."""
        summary = response.summary
        stopping = summary.end_reason == stream_pb2.END_REASON_SERVER_STOPPING
        if stopping and self.enabled and summary.next.token:
            self._token = bytes(summary.next.token)
            return ()  # the stream ends without a summary for us, and goes on elsewhere
        if self._returned:
            response = _copy(response)
            response.summary.returned += self._returned
        frames = tuple(self._fold.add(response))
        self.is_whole = True
        return frames

    def _repeated(self, response: Any, kind: str) -> Iterable[Frame]:
        """A frame that has come on a connection before, or takes the place of what came there."""
        place = self._again
        self._again += 1
        if place < len(self._structure):
            before, _ = self._structure[place]
            if _comparable(before, kind) == _comparable(response, kind):
                return ()
            void = [frame for _, frame in self._structure[place:] if frame is not None]
            del self._structure[place:]
            self._fold.take_back(void)
        else:
            void = []
            self._attempts = 0  # it is further than before
        frames = tuple(self._fold.add(response))
        self._structure.append((response, frames[0] if frames else None))
        if any(isinstance(each, AnswerPart) for each in void):
            return (AnswerRestarted(), *frames)
        return frames


def _behind(request: Any, token: bytes) -> Message:
    following: Any = _copy(request)
    following.options.resume.token = token
    return following  # type: ignore[no-any-return]


def _copy(message: Any) -> Any:
    copy = type(message)()
    copy.CopyFrom(message)
    return copy


def _comparable(response: Any, kind: str) -> bytes:
    """A frame without what two connections may differ in."""
    copy = _copy(response)
    if kind == "header":
        copy.header.ClearField("request_id")
        copy.header.ClearField("server_version")
    return bytes(copy.SerializeToString(deterministic=True))
