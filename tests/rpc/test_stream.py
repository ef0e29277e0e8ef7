"""The state machine of streams: every sequence of frames is admitted exactly when an independent reading allows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.v1 import evidence_pb2, metric_pb2, narrative_pb2, router_pb2, stream_pb2
from groundwire_server.rpc.stream import (
    ASK,
    MAX_BATCH_BYTES,
    MAX_BATCH_SNIPPETS,
    METRIC,
    NARRATIVE,
    BrokenStream,
    StreamOrder,
    cut_batches,
    in_order,
)

Narrative = narrative_pb2.NarrativeRetrieveResponse
Metric = metric_pb2.QueryMetricResponse
Ask = router_pb2.AskResponse


def snippet(rank: int, text: str = "x") -> evidence_pb2.Snippet:
    made = evidence_pb2.Snippet(snippet_id=f"id{rank}", rank=rank)
    made.lineage.library_id = "default"
    made.text.text = text
    return made


def batch(*ranks: int) -> stream_pb2.SnippetBatch:
    return stream_pb2.SnippetBatch(snippets=[snippet(rank) for rank in ranks])


def summary(returned: int, **more: object) -> stream_pb2.StreamSummary:
    fields = {"end_reason": stream_pb2.END_REASON_EXHAUSTED, **more}
    return stream_pb2.StreamSummary(returned=returned, **fields)  # type: ignore[arg-type]


def admitted(frames: Sequence[object], shape: object = NARRATIVE) -> bool:
    try:
        list(in_order(frames, shape))  # type: ignore[arg-type]
    except BrokenStream:
        return False
    return True


# One letter a frame: header, batch of one, progress, summary. The batch's rank and the summary's count are right.
def narrative(letters: str) -> list[Narrative]:
    frames, sent = [], 0
    for letter in letters:
        match letter:
            case "h":
                frames.append(Narrative(header=stream_pb2.StreamHeader(request_id="q")))
            case "b":
                sent += 1
                frames.append(Narrative(batch=batch(sent)))
            case "p":
                frames.append(Narrative(progress=stream_pb2.Progress(stage="x")))
            case "s":
                frames.append(Narrative(summary=summary(sent)))
            case "-":
                frames.append(Narrative())
    return frames


@given(st.text("hbps-", max_size=8))
def test_only_header_then_body_then_summary_is_a_stream(letters: str) -> None:
    body = letters[1:-1]
    whole = len(letters) >= 2 and letters[0] == "h" and letters[-1] == "s" and not set(body) & set("hs-")
    assert admitted(narrative(letters)) is whole


@given(st.text("hbps", max_size=8))
def test_what_was_admitted_before_a_fault_is_a_prefix(letters: str) -> None:
    order, seen = StreamOrder(NARRATIVE), 0
    for frame in narrative(letters):
        try:
            order.admit(frame, frame.ByteSize())
        except BrokenStream:
            break
        seen += 1
    assert letters[:seen] == "" or letters[0] == "h"
    assert letters[:seen].count("h") <= 1
    assert letters[:seen].count("s") <= 1


@given(st.lists(st.lists(st.integers(1, 6), max_size=3), max_size=4), st.integers(0, 8))
def test_ranks_have_no_gap_and_the_count_is_true(batches: list[list[int]], returned: int) -> None:
    frames = [Narrative(header=stream_pb2.StreamHeader())]
    frames += [Narrative(batch=batch(*ranks)) for ranks in batches]
    frames.append(Narrative(summary=summary(returned)))
    flat = [rank for ranks in batches for rank in ranks]
    assert admitted(frames) is (all(batches) and flat == list(range(1, len(flat) + 1)) and returned == len(flat))


def test_a_refusal_stands_exactly_with_its_reason() -> None:
    refusal = stream_pb2.Refusal(reason=stream_pb2.REFUSAL_REASON_NOTHING_FOUND)
    head = narrative("h")
    refused = stream_pb2.END_REASON_REFUSED
    assert admitted([*head, Narrative(summary=summary(0, end_reason=refused, refusal=refusal))])
    assert not admitted([*head, Narrative(summary=summary(0, end_reason=refused))])
    assert not admitted([*head, Narrative(summary=summary(0, refusal=refusal))])
    assert not admitted([*head, Narrative(summary=summary(0, end_reason=stream_pb2.END_REASON_UNSPECIFIED))])


@pytest.mark.parametrize("missing", ["snippet_id", "lineage", "text"])
def test_a_snippet_without_identity_is_refused(missing: str) -> None:
    one = snippet(1)
    one.ClearField(missing)  # type: ignore[arg-type]
    frames = [*narrative("h"), Narrative(batch=stream_pb2.SnippetBatch(snippets=[one])), Narrative(summary=summary(1))]
    assert not admitted(frames)


def test_a_frame_over_a_mebibyte_is_refused() -> None:
    big = stream_pb2.SnippetBatch(snippets=[snippet(1, "x" * (1 << 20))])
    assert not admitted([*narrative("h"), Narrative(batch=big), Narrative(summary=summary(1))])


def test_what_outcomes_name_is_in_the_stream() -> None:
    head = Metric(header=stream_pb2.StreamHeader())
    found = metric_pb2.MetricOutcome(found=metric_pb2.MetricFound(snippet_ids=["id1"]))
    outcomes = Metric(outcomes=metric_pb2.MetricOutcomes(outcomes=[found]))
    assert admitted([head, outcomes, Metric(batch=batch(1)), Metric(summary=summary(1))], METRIC)
    assert not admitted([head, outcomes, Metric(summary=summary(0))], METRIC)
    assert not admitted(
        [head, Metric(outcomes=metric_pb2.MetricOutcomes(outcomes=[metric_pb2.MetricOutcome()])), outcomes], METRIC
    )


def ask(kind: str, branch: int = 0, **content: object) -> Ask:
    frame = Ask(sub_call_index=branch)
    getattr(frame, kind).SetInParent()
    for name, value in content.items():
        target = getattr(frame, kind)
        if isinstance(value, list):
            getattr(target, name).extend(value)
        else:
            setattr(target, name, value)
    return frame


def opening() -> list[Ask]:
    return [ask("header"), ask("route")]


END = {"end_reason": stream_pb2.END_REASON_EXHAUSTED}


def test_branches_open_and_close_and_may_alternate() -> None:
    frames = [
        *opening(),
        ask("sub_call", 1),
        ask("sub_call", 2),
        Ask(batch=batch(1), sub_call_index=2),
        Ask(batch=batch(2), sub_call_index=1),
        ask("sub_call_summary", 2, returned=1, **END),
        ask("answer", cited_snippet_ids=["id2"], origin=router_pb2.ANSWER_ORIGIN_QUOTATION),
        ask("sub_call_summary", 1, returned=1, **END),
        ask("summary", returned=2, **END),
    ]
    assert admitted(frames, ASK)
    for place in range(len(frames)):
        assert not admitted(frames[:place] + frames[place + 1 :], ASK) or frames[place].WhichOneof("frame") == "answer"


@pytest.mark.parametrize(
    "middle",
    [
        [ask("sub_call", 2)],
        [ask("sub_call", 0)],
        [ask("sub_call", 1, parent_index=1), ask("sub_call_summary", 1, **END)],
        [ask("sub_call", 1)],
        [ask("sub_call_summary", 1, **END)],
        [ask("sub_call_summary", 0, **END)],
        [ask("sub_call", 1), ask("sub_call_summary", 1, **END), ask("progress", 1)],
        [ask("sub_call", 1), ask("sub_call_summary", 1, returned=1, **END)],
        [ask("progress", 1)],
        [ask("route")],
        [ask("header")],
        [ask("answer", cited_snippet_ids=["id1"], origin=router_pb2.ANSWER_ORIGIN_FACTS)],
        [ask("answer", origin=router_pb2.ANSWER_ORIGIN_MODEL)],
        [ask("clarification"), ask("progress")],
    ],
)
def test_an_ask_stream_out_of_order_is_refused(middle: list[Ask]) -> None:
    assert admitted([*opening(), ask("summary", **END)], ASK)
    assert not admitted([*opening(), *middle, ask("summary", **END)], ASK)


def test_an_ask_stream_begins_with_header_and_route() -> None:
    assert not admitted([ask("header"), ask("summary", **END)], ASK)
    assert not admitted([ask("header"), ask("progress"), ask("route"), ask("summary", **END)], ASK)
    assert admitted([*opening(), ask("clarification"), ask("summary", **END)], ASK)


@given(st.lists(st.integers(0, 90_000), max_size=60))
def test_batches_keep_all_snippets_in_order_within_their_bounds(sizes: list[int]) -> None:
    snippets = [snippet(rank, "x" * size) for rank, size in enumerate(sizes, 1)]
    responses = cut_batches(snippets, lambda message, each: message.CopyFrom(each), Narrative)
    batches = [response.batch for response in responses]
    assert [each for one in batches for each in one.snippets] == snippets
    for one in batches:
        assert 1 <= len(one.snippets) <= MAX_BATCH_SNIPPETS
        assert len(one.snippets) == 1 or sum(each.ByteSize() for each in one.snippets) <= MAX_BATCH_BYTES


def test_a_batch_waits_no_longer_than_its_time() -> None:
    """What is there goes out, although there would be room for what comes later."""
    now = 0.0

    def slowly() -> Iterator[evidence_pb2.Snippet]:
        nonlocal now
        for rank, wait in enumerate((0.0, 0.004, 0.002, 1.0, 0.0, 0.0), 1):
            now += wait
            yield snippet(rank)

    responses = cut_batches(slowly(), lambda message, each: message.CopyFrom(each), Narrative, clock=lambda: now)
    assert [[each.rank for each in response.batch.snippets] for response in responses] == [[1, 2, 3], [4, 5, 6]]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=5), st.integers(0, 12))
def test_what_was_sent_before_is_counted_and_may_be_cited(sizes: list[int], before: int) -> None:
    """A stream that goes on: ranks go on too, the summary counts what this call sends."""
    order, rank = StreamOrder(ASK), before
    for frame in (
        Ask(header=stream_pb2.StreamHeader(request_id="q")),
        Ask(route=router_pb2.RouteResponse()),
        Ask(sub_call=router_pb2.SubCall(), sub_call_index=1),
    ):
        order.admit(frame, 1)
    order.drop([f"id{number}" for number in range(1, before + 1)], 1)
    for size in sizes:
        if size:
            order.admit(Ask(batch=batch(*range(rank + 1, rank + size + 1)), sub_call_index=1), 1)
            rank += size
    if before:
        part = router_pb2.AnswerPart(text="x", cited_snippet_ids=["id1"], origin=router_pb2.ANSWER_ORIGIN_QUOTATION)
        order.admit(Ask(answer=part, sub_call_index=1), 1)
    ended = router_pb2.SubCallSummary(end_reason=stream_pb2.END_REASON_EXHAUSTED, returned=rank)
    order.admit(Ask(sub_call_summary=ended, sub_call_index=1), 1)
    order.admit(Ask(summary=summary(rank - before)), 1)
    order.finish()
