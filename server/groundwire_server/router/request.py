"""What Ask is asked for, and what is wrong with it (router.proto)."""

from __future__ import annotations

from dataclasses import dataclass, field

from groundwire_server.errors import ErrorReason, FailedPrecondition, InvalidRequest
from groundwire_server.narrative import RetrievalMode, RetrievalTuning, check_top_k, check_tuning
from groundwire_server.router.frames import AnswerWriter, Route, Turn
from groundwire_server.router.route import RouterLimits, check_conversation

__all__ = ["AskRequest", "check_ask"]


@dataclass(frozen=True, slots=True)
class AskRequest:
    """A question to answer. `force_route` None: decide; `writer` None: MODEL where one is set, else EXTRACTIVE."""

    question: str
    force_route: Route | None = None
    top_k: int = 0
    history: tuple[Turn, ...] = ()
    tuning: RetrievalTuning = field(default_factory=RetrievalTuning)
    writer: AnswerWriter | None = None
    mode: RetrievalMode = RetrievalMode.AUTO


def check_ask(request: AskRequest, limits: RouterLimits, *, has_model: bool) -> None:
    """Raises InvalidRequest with every violation at once, or FailedPrecondition (NO_MODEL)."""
    faults = [
        *check_conversation(request.question, request.history, limits),
        *check_top_k(request.top_k, limits.retrieval),
        *check_tuning(request.tuning),
    ]
    if faults:
        raise InvalidRequest(faults)
    if request.writer is AnswerWriter.MODEL and not has_model:
        raise FailedPrecondition(
            ErrorReason.NO_MODEL,
            "There is no model to write an answer.",
            hint="Set llm.provider and llm.model; or use writer EXTRACTIVE, or NONE and write it yourself.",
            details={"field": "writer"},
        )
