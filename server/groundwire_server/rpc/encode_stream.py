"""The envelope of every stream onto the wire: header, progress, outcomes, summary."""

from __future__ import annotations

from datetime import timedelta

from groundwire.v1 import metric_pb2, stream_pb2
from groundwire_server.evidence import (
    CalculationOutcome,
    Degradation,
    ExplainLevel,
    Header,
    MetricFound,
    MetricNotFound,
    MetricOutcome,
    MetricQuery,
    ModelUsage,
    PlanStep,
    Progress,
    Refusal,
    StageTiming,
    Summary,
    Trace,
    UnrecognizedParam,
)
from groundwire_server.rpc.encode_snippet import encode_key
from groundwire_server.rpc.encode_value import (
    encode_cause,
    encode_dimensions,
    encode_duration,
    encode_filter,
    fill_duration,
    wire_text,
)

__all__ = [
    "encode_calculation",
    "encode_degradation",
    "encode_header",
    "encode_model_usage",
    "encode_outcome",
    "encode_plan",
    "encode_progress",
    "encode_query",
    "encode_refusal",
    "encode_summary",
]


_MAX_INT32 = (1 << 31) - 1
_TRACE_BYTES = 512 << 10  # half a frame
_ENTRY_BYTES = 192  # of an entry, its chunk's id aside: the longest id of a library, a snippet's id, numbers, tags


def encode_header(header: Header, *, request_id: str, server_version: str) -> stream_pb2.StreamHeader:
    """The first frame."""
    message = stream_pb2.StreamHeader(
        request_id=request_id,
        server_version=server_version,
        snapshots=[
            stream_pb2.LibrarySnapshot(library_id=each.library_id, snapshot_id=each.snapshot_id)
            for each in sorted(header.snapshots, key=lambda each: each.library_id)
        ],
        plan=encode_plan(header.plan),
        reference_date=header.reference_date.isoformat(),
    )
    if header.filter_applied is not None:
        message.filter_applied.CopyFrom(encode_filter(header.filter_applied))
    if header.hint_applied is not None:
        message.hint_applied.CopyFrom(encode_filter(header.hint_applied))
    return message


def encode_plan(plan: tuple[PlanStep, ...]) -> list[stream_pb2.PlanStep]:
    """What will really run, in order."""
    steps = []
    for step in plan:
        message = stream_pb2.PlanStep(
            stage=step.stage, backend=step.backend, detail=step.detail, library_id=step.library_id
        )
        if step.coverage is not None:
            message.coverage = step.coverage
        steps.append(message)
    return steps


def encode_progress(progress: Progress) -> stream_pb2.Progress:
    """A sign of life; what is not known stays unset."""
    message = stream_pb2.Progress(stage=progress.stage, done=progress.done, unit=progress.unit)
    if progress.total is not None:
        message.total = progress.total
    if progress.units_per_second is not None:
        message.units_per_second = progress.units_per_second
    if progress.remaining_seconds is not None:
        message.remaining.CopyFrom(encode_duration(timedelta(seconds=max(0.0, progress.remaining_seconds))))
    return message


def encode_query(query: MetricQuery) -> metric_pb2.MetricQuery:
    """A query as it was asked."""
    return metric_pb2.MetricQuery(
        metric=wire_text(query.metric),
        entity=wire_text(query.entity),
        period=wire_text(query.period),
        channel=wire_text(query.channel),
        dimensions=encode_dimensions(query.dimensions),
    )


def encode_outcome(outcome: MetricOutcome) -> metric_pb2.MetricOutcome:
    """What became of one query: exactly one of the three."""
    message = metric_pb2.MetricOutcome(query_index=outcome.query_index, query=encode_query(outcome.query))
    match outcome.outcome:
        case MetricFound(key, snippet_ids, conflicting, decided):
            message.found.key.CopyFrom(encode_key(key))
            message.found.snippet_ids.extend(snippet_ids)
            message.found.conflicting = conflicting
            for name in decided:
                message.found.decided.add(
                    param=name.param, raw=wire_text(name.raw), candidates=[wire_text(each) for each in name.candidates]
                )
        case MetricNotFound(key, refusal):
            message.not_found.key.CopyFrom(encode_key(key))
            message.not_found.refusal = refusal
        case UnrecognizedParam() as unknown:
            message.unrecognized_param.param = unknown.param
            message.unrecognized_param.raw = wire_text(unknown.raw)
            message.unrecognized_param.suggestions.extend(wire_text(each) for each in unknown.suggestions)
            message.unrecognized_param.ambiguous = unknown.ambiguous
            message.unrecognized_param.explanation = unknown.explanation
    return message


def encode_calculation(outcome: CalculationOutcome) -> metric_pb2.CalculationOutcome:
    """What became of one calculation."""
    message = metric_pb2.CalculationOutcome(calculation_index=outcome.calculation_index)
    if isinstance(outcome.outcome, Refusal):
        message.refusal.CopyFrom(encode_refusal(outcome.outcome))
    else:
        message.snippet_id = outcome.outcome
    return message


def encode_refusal(refusal: Refusal) -> stream_pb2.Refusal:
    """A typed no."""
    return stream_pb2.Refusal(reason=stream_pb2.RefusalReason.ValueType(refusal.reason), text=refusal.text)


def encode_degradation(degradation: Degradation) -> stream_pb2.Degradation:
    """What ran less well than planned."""
    message = stream_pb2.Degradation(
        kind=stream_pb2.DegradationKind.ValueType(degradation.kind),
        component=degradation.component,
        library_id=degradation.library_id,
    )
    if degradation.cause is not None:
        message.cause.CopyFrom(encode_cause(degradation.cause))
    if degradation.coverage is not None:
        message.coverage = degradation.coverage
    elif degradation.dropped_filter is not None:
        message.dropped_filter.CopyFrom(encode_filter(degradation.dropped_filter))
    elif degradation.dropped_sentences is not None:
        message.dropped_sentences = degradation.dropped_sentences
    return message


def _fill_timing(message: stream_pb2.StageTiming, timing: StageTiming) -> None:
    """Into a message that is there: copies of a message of each stage would cost as much again."""
    message.stage = timing.stage
    fill_duration(message.elapsed, timing.elapsed)
    message.items_in = timing.items_in
    message.items_out = timing.items_out
    message.library_id = timing.library_id


def encode_model_usage(usage: ModelUsage) -> stream_pb2.ModelUsage:
    """What a model was asked, and what that cost."""
    return stream_pb2.ModelUsage(
        model=wire_text(usage.model),
        calls=usage.calls,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost=usage.cost,
    )


def encode_summary(summary: Summary, *, returned: int, explain: ExplainLevel) -> stream_pb2.StreamSummary:
    """The last frame. `returned` is what was really sent."""
    message = stream_pb2.StreamSummary(
        returned=returned,
        candidates=summary.candidates,
        degradations=[encode_degradation(each) for each in summary.degradations],
        end_reason=stream_pb2.EndReason.ValueType(summary.end_reason),
        prompt_tokens=summary.prompt_tokens,
    )
    for timing in summary.timings:
        _fill_timing(message.timings.add(), timing)
    message.model_usage.extend(map(encode_model_usage, summary.model_usage))
    if summary.refusal is not None:
        message.refusal.CopyFrom(encode_refusal(summary.refusal))
    if explain is not ExplainLevel.NONE:
        message.explanation.variants.extend(
            stream_pb2.QueryVariant(text=wire_text(each.text), made_by=each.made_by) for each in summary.variants
        )
        message.explanation.SetInParent()
    if explain is ExplainLevel.TRACE:
        _fill_trace(message.explanation, summary.trace)
    return message


def _fill_trace(message: stream_pb2.Explanation, trace: Trace) -> None:
    """As many entries as leave the frame room: ids may be long."""
    while sum(len(each.chunk_id.encode()) + _ENTRY_BYTES for each in trace.entries) > _TRACE_BYTES:
        trace = Trace.of(trace.entries, trace.omitted, most=len(trace.entries) // 2)
    for each in trace.entries:
        entry = message.trace.add(
            stage=each.stage,
            chunk_id=each.chunk_id,
            rank=each.rank,
            reason=stream_pb2.LossReason.ValueType(each.reason),
            library_id=each.library_id,
            snippet_id=each.snippet_id,
        )
        if each.score is not None:
            entry.score = each.score
    message.trace_omitted = min(trace.omitted, _MAX_INT32)
