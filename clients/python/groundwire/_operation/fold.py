"""A stream, frame by frame: its order is checked and its parts are put together, without I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from groundwire._errors import BrokenStream
from groundwire._model.answer import AnswerPart, AnswerRestarted, SubCall, SubCallSummary
from groundwire._model.ingest import Reconnecting
from groundwire._model.metric import MetricOutcomes
from groundwire._model.result import Answer, Figures, Retrieval, Trace
from groundwire._model.route import Clarification, RouteDecision
from groundwire._model.snippet import Snippet
from groundwire._model.stream import Progress, SnippetBatch, StreamHeader, StreamSummary
from groundwire._wire.mirror import decode
from groundwire.v1 import graph_pb2, metric_pb2, narrative_pb2, router_pb2

__all__ = [
    "Fold",
    "Frame",
    "answer_fold",
    "figures_fold",
    "retrieval_fold",
    "trace_fold",
]

Frame = (
    StreamHeader
    | SnippetBatch
    | Progress
    | StreamSummary
    | MetricOutcomes
    | RouteDecision
    | SubCall
    | SubCallSummary
    | AnswerPart
    | Clarification
    | Reconnecting
    | AnswerRestarted
)
_BRANCHED = (SnippetBatch, Progress, MetricOutcomes, SubCall, SubCallSummary, AnswerPart, Clarification)

ResultT = TypeVar("ResultT")
Response = (
    narrative_pb2.NarrativeRetrieveResponse
    | metric_pb2.QueryMetricResponse
    | router_pb2.AskResponse
    | graph_pb2.GraphTraceResponse
)


@dataclass
class Collected:
    """All that a stream has brought so far."""

    frames: list[Frame] = field(default_factory=list)
    snippets: list[Snippet] = field(default_factory=list)
    last_rank: int = 0

    def of(self, kind: type[ResultT]) -> list[ResultT]:
        """The frames of one kind, in order."""
        return [frame for frame in self.frames if isinstance(frame, kind)]


class Fold(Generic[ResultT]):
    """Takes the frames of one stream in turn and gives the whole at the end."""

    def __init__(self, finish: Callable[[Collected], ResultT]) -> None:
        self._finish = finish
        self._collected = Collected()
        self._header: StreamHeader | None = None
        self._summary: StreamSummary | None = None

    def add(self, response: Response) -> Iterable[Frame]:
        """The typed frame of a response; none when this client does not know its kind.

        Raises BrokenStream when the frame stands in a wrong place.
        """
        member = response.WhichOneof("frame")
        if self._summary is not None:
            raise BrokenStream("a frame came after the summary")
        if (member == "header") is not (self._header is None):
            raise BrokenStream("the stream does not begin with its header" if member != "header" else "a second header")
        if member is None:
            return ()
        message = getattr(response, member)
        if member == "batch":
            self._check_ranks(message)
        frame: Frame = decode(message)
        branch = response.sub_call_index if isinstance(response, router_pb2.AskResponse) else 0
        if branch and isinstance(frame, _BRANCHED):
            frame = replace(frame, branch=branch)
        self._take(frame)
        return (frame,)

    def take_back(self, frames: Sequence[Frame]) -> None:
        """These frames have come, and others come in their place."""
        void = {id(each) for each in frames}
        self._collected.frames = [each for each in self._collected.frames if id(each) not in void]
        if self._header is not None and id(self._header) in void:
            self._header = None

    def anew(self) -> Fold[ResultT]:
        """A fold of the same kind, for another stream."""
        return Fold(self._finish)

    @property
    def next(self) -> bytes | None:
        """What brings more, where the summary has come and says so."""
        return None if self._summary is None else self._summary.next

    def end(self) -> None:
        """A stream that ends without its summary is broken, also for one who only iterates."""
        self.result()

    def _check_ranks(self, batch: Any) -> None:
        """Ranks are counted on the messages: a snippet of an unknown kind is passed over and has one all the same."""
        for snippet in batch.snippets:
            last = self._collected.last_rank
            if last and snippet.rank != last + 1:
                raise BrokenStream(f"rank {snippet.rank} follows rank {last}")
            self._collected.last_rank = snippet.rank

    def _take(self, frame: Frame) -> None:
        self._collected.frames.append(frame)
        match frame:
            case StreamHeader():
                self._header = frame
            case StreamSummary():
                self._summary = frame
            case SnippetBatch(snippets=snippets):
                self._collected.snippets.extend(snippets)

    def result(self) -> ResultT:
        """The whole. Raises BrokenStream when the summary has not come."""
        if self._summary is None:
            raise BrokenStream("the stream ended without its summary; what came of it may not be the whole")
        return self._finish(self._collected)


def _header(collected: Collected) -> StreamHeader:
    return collected.of(StreamHeader)[0]


def _summary(collected: Collected) -> StreamSummary:
    return collected.of(StreamSummary)[0]


def retrieval_fold() -> Fold[Retrieval]:
    """Folds NarrativeRetrieve."""
    return Fold(lambda all_: Retrieval(_header(all_), tuple(all_.snippets), _summary(all_)))


def figures_fold() -> Fold[Figures]:
    """Folds QueryMetric."""

    def finish(all_: Collected) -> Figures:
        frames = all_.of(MetricOutcomes)
        return Figures(
            header=_header(all_),
            outcomes=tuple(outcome for frame in frames for outcome in frame.outcomes),
            calculations=tuple(outcome for frame in frames for outcome in frame.calculations),
            snippets=tuple(all_.snippets),
            summary=_summary(all_),
        )

    return Fold(finish)


def answer_fold() -> Fold[Answer]:
    """Folds Ask."""

    def finish(all_: Collected) -> Answer:
        routes = all_.of(RouteDecision)
        return Answer(
            header=_header(all_),
            route=routes[0] if routes else None,
            parts=tuple(all_.of(AnswerPart)),
            clarifications=tuple(all_.of(Clarification)),
            outcomes=tuple(outcome for frame in all_.of(MetricOutcomes) for outcome in frame.outcomes),
            snippets=tuple(all_.snippets),
            branches=tuple(all_.of(SubCall)),
            branch_summaries=tuple(all_.of(SubCallSummary)),
            summary=_summary(all_),
        )

    return Fold(finish)


def trace_fold() -> Fold[Trace]:
    """Folds GraphTrace."""

    def finish(all_: Collected) -> Trace:
        outcomes = tuple(outcome for frame in all_.of(MetricOutcomes) for outcome in frame.outcomes)
        return Trace(_header(all_), outcomes, tuple(all_.snippets), _summary(all_))

    return Fold(finish)
