"""Requests of RouterService. Bounds of questions and histories are checked by the router room."""

from __future__ import annotations

from collections.abc import Iterable

from groundwire.v1 import router_pb2
from groundwire_server.narrative import RetrievalMode, mode_of_preset
from groundwire_server.router import AnswerWriter, AskRequest, Route, Turn, TurnRole
from groundwire_server.rpc.decode_narrative import decode_mode, decode_tuning
from groundwire_server.rpc.findings import Findings

__all__ = ["decode_ask", "decode_history"]


def decode_ask(message: router_pb2.AskRequest, findings: Findings, default_mode: RetrievalMode) -> AskRequest:
    """A question to answer."""
    forced, writer = message.force_route, message.writer
    known_route = findings.known("force_route", forced, router_pb2.Route.DESCRIPTOR)
    known_writer = findings.known("writer", writer, router_pb2.AnswerWriter.DESCRIPTOR)
    return AskRequest(
        question=message.question,
        force_route=Route(forced) if forced and known_route else None,
        top_k=message.top_k,
        history=decode_history(message.history, findings),
        tuning=decode_tuning(message.tuning, findings),
        writer=AnswerWriter(writer) if writer and known_writer else None,
        mode=decode_mode(message.mode, findings, mode_of_preset(message.tuning.preset, default_mode)),
    )


def decode_history(messages: Iterable[router_pb2.Turn], findings: Findings) -> tuple[Turn, ...]:
    """Earlier turns, oldest first; each says who spoke."""
    return tuple(
        Turn(TurnRole(message.role), message.text)
        for place, message in enumerate(messages)
        if findings.known(f"history[{place}].role", message.role, router_pb2.TurnRole.DESCRIPTOR, required=True)
    )
