"""Decisions and answers onto the wire."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from groundwire.v1 import router_pb2, stream_pb2
from groundwire_server.router import (
    AnswerPart,
    AskFrame,
    Clarification,
    RouteDecision,
    Slot,
    SubCall,
    SubCallSummary,
)
from groundwire_server.rpc.encode_stream import (
    encode_degradation,
    encode_model_usage,
    encode_plan,
    encode_query,
    encode_refusal,
)
from groundwire_server.rpc.encode_value import encode_cause, encode_filter, encode_span, wire_text
from groundwire_server.rpc.frames import FrameEncoder

__all__ = ["encode_ask", "encode_decision"]


def encode_ask(
    frames: Iterable[AskFrame], encoder: FrameEncoder[router_pb2.AskResponse]
) -> Iterator[router_pb2.AskResponse]:
    """The messages of an answer; ranks and counts run over all of its branches."""
    for each in frames:
        branch = each.branch
        match each.frame:
            case RouteDecision() as decision:
                yield router_pb2.AskResponse(route=encode_decision(decision), sub_call_index=branch)
            case SubCall() as call:
                if encoder.place is not None:
                    encoder.place.plan(call.plan)
                yield router_pb2.AskResponse(sub_call=_sub_call(call), sub_call_index=branch)
            case AnswerPart() as part:
                yield router_pb2.AskResponse(answer=_answer(part), sub_call_index=branch)
            case Clarification() as clarification:
                yield router_pb2.AskResponse(clarification=_clarification(clarification), sub_call_index=branch)
            case SubCallSummary() as summary:
                yield router_pb2.AskResponse(sub_call_summary=_sub_call_summary(summary), sub_call_index=branch)
            case frame:
                yield from encoder.encode(frame, sub_call_index=branch)


def encode_decision(decision: RouteDecision) -> router_pb2.RouteResponse:
    """What kind of evidence a question needs, and why."""
    message = router_pb2.RouteResponse(
        route=router_pb2.Route.ValueType(decision.route),
        confidence=decision.confidence,
        reason=wire_text(decision.reason),
        slots=[_slot(slot) for slot in decision.slots],
        metric_queries=[encode_query(query) for query in decision.metric_queries],
        complexity=router_pb2.Complexity.ValueType(decision.complexity),
    )
    if decision.filter_suggested is not None:
        message.filter_suggested.CopyFrom(encode_filter(decision.filter_suggested))
    if decision.clarification is not None:
        message.clarification.CopyFrom(_clarification(decision.clarification))
    message.degradations.extend(encode_degradation(each) for each in decision.degradations)
    message.model_usage.extend(encode_model_usage(each) for each in decision.model_usage)
    if decision.refusal is not None:
        message.refusal.CopyFrom(encode_refusal(decision.refusal))
    return message


def _slot(slot: Slot) -> router_pb2.Slot:
    message = router_pb2.Slot(name=wire_text(slot.name), raw=wire_text(slot.raw), code=wire_text(slot.code))
    if slot.span is not None:
        message.span.CopyFrom(encode_span(slot.span))
    return message


def _clarification(clarification: Clarification) -> router_pb2.Clarification:
    return router_pb2.Clarification(
        missing_param=clarification.missing_param,
        question=wire_text(clarification.question),
        options=[
            router_pb2.ClarificationOption(code=wire_text(option.code), label=wire_text(option.label))
            for option in clarification.options
        ],
    )


def _sub_call(call: SubCall) -> router_pb2.SubCall:
    return router_pb2.SubCall(
        route=router_pb2.Route.ValueType(call.route),
        sub_question=wire_text(call.sub_question),
        parent_index=call.parent_index,
        plan=encode_plan(call.plan),
    )


def _answer(part: AnswerPart) -> router_pb2.AnswerPart:
    return router_pb2.AnswerPart(
        text=wire_text(part.text),
        cited_snippet_ids=part.cited_snippet_ids,
        origin=router_pb2.AnswerOrigin.ValueType(part.origin),
        unchecked_quantities=[encode_span(span) for span in part.unchecked_quantities],
    )


def _sub_call_summary(summary: SubCallSummary) -> router_pb2.SubCallSummary:
    message = router_pb2.SubCallSummary(
        end_reason=stream_pb2.EndReason.ValueType(summary.end_reason), returned=summary.returned
    )
    if summary.refusal is not None:
        message.refusal.CopyFrom(encode_refusal(summary.refusal))
    if summary.error is not None:
        message.error.CopyFrom(encode_cause(summary.error))
    return message
