"""A snippet with a passage on the wire: field by field the message that plain constructors make."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from hypothesis import strategies as st

from groundwire.v1 import evidence_pb2, value_pb2
from groundwire_server.evidence import (
    Attribute,
    EndReason,
    ExplainLevel,
    Label,
    Lineage,
    Period,
    Principal,
    Scores,
    Snippet,
    Span,
    StageTiming,
    Summary,
    TextPassage,
    Trust,
    Value,
)
from groundwire_server.rpc.encode_snippet import fill_snippet
from groundwire_server.rpc.encode_stream import encode_summary

READER = Principal("reader", Label.INTERNAL)

# Lone surrogates too: protobuf refuses them, and the wire has U+FFFD for each.
texts = st.text(st.characters(exclude_categories=()), max_size=12) | st.sampled_from(
    ["", "営業利益", "净利润\r\n", "👩‍🚀"]
)
names = st.sampled_from(["lang", "parent", "期间", "z", "a", "期"])
instants = st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.just(UTC))
spans = st.builds(lambda start, size: Span(start, start + size), st.integers(0, 1 << 20), st.integers(0, 1 << 20))
values: st.SearchStrategy[Value] = st.one_of(
    texts,
    st.booleans(),
    st.integers(-(2**65), 2**65),
    st.floats(allow_nan=False),
    st.decimals(allow_nan=False, allow_infinity=False, places=3),
    instants,
    st.dates(),
    st.lists(texts, max_size=3).map(tuple),
)
lineages = st.builds(
    Lineage,
    library_id=st.just("default"),
    doc_id=texts,
    revision=st.integers(0, 9),
    title=texts,
    chunk_id=texts,
    source_locator=texts,
    span=st.none() | spans,
    heading=texts,
    parent_id=texts,
    parent_locator=texts,
    valid_as_of=st.none() | instants,
    ingested_at=st.none() | instants,
    text_sha256=st.binary(max_size=32),
    attributes=st.lists(st.builds(Attribute, names, values), max_size=4, unique_by=lambda each: each.name).map(tuple),
)
scores = st.builds(
    Scores,
    *[st.none() | st.floats(allow_nan=False)] * 4,
    *[st.none() | st.integers(0, 1000)] * 2,
)
snippets = st.builds(
    Snippet,
    snippet_id=st.just("0a" * 16),
    lineage=lineages,
    trust=st.sampled_from(Trust),
    payload=st.builds(TextPassage, texts, texts, st.lists(spans, max_size=4).map(tuple)),
    label=st.just(Label.PUBLIC),
    scores=st.none() | scores,
    rank=st.integers(0, 200),
)


def plain(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def instant(moment: datetime) -> Timestamp:
    microseconds = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    return Timestamp(seconds=microseconds // 10**6, nanos=microseconds % 10**6 * 1000)


def value_of(value: Value) -> value_pb2.Value:
    if isinstance(value, bool):
        return value_pb2.Value(bool_value=value)
    if isinstance(value, str):
        return value_pb2.Value(string_value=plain(value))
    if isinstance(value, int):
        fits = -(2**63) <= value < 2**63
        return value_pb2.Value(int_value=value) if fits else value_pb2.Value(decimal_value=str(value))
    if isinstance(value, float):
        return value_pb2.Value(double_value=value)
    if isinstance(value, Decimal):
        return value_pb2.Value(decimal_value=f"{value:f}")
    if isinstance(value, datetime):
        return value_pb2.Value(time_value=instant(value))
    if isinstance(value, date):
        return value_pb2.Value(date_value=value.isoformat())
    assert not isinstance(value, Period)
    return value_pb2.Value(string_list_value=value_pb2.StringList(values=map(plain, value)))


def expected(snippet: Snippet) -> evidence_pb2.Snippet:
    lineage, passage, score = snippet.lineage, snippet.payload, snippet.scores
    assert isinstance(passage, TextPassage)
    span = lineage.span
    return evidence_pb2.Snippet(
        snippet_id=snippet.snippet_id,
        rank=snippet.rank,
        trust=evidence_pb2.Trust.ValueType(snippet.trust),
        lineage=evidence_pb2.Lineage(
            library_id=lineage.library_id,
            doc_id=plain(lineage.doc_id),
            revision=lineage.revision,
            title=plain(lineage.title),
            chunk_id=plain(lineage.chunk_id),
            source_locator=plain(lineage.source_locator),
            span=None if span is None else value_pb2.Span(start=span.start, end=span.end),
            heading=plain(lineage.heading),
            parent_id=plain(lineage.parent_id),
            parent_locator=plain(lineage.parent_locator),
            valid_as_of=None if lineage.valid_as_of is None else instant(lineage.valid_as_of),
            ingested_at=None if lineage.ingested_at is None else instant(lineage.ingested_at),
            text_sha256=lineage.text_sha256,
            attributes=[
                value_pb2.Attribute(name=each.name, value=value_of(each.value))
                for each in sorted(lineage.attributes, key=lambda each: each.name)
            ],
        ),
        scores=None
        if score is None or score == Scores()  # nothing was computed
        else evidence_pb2.Scores(
            fused=score.fused,
            bm25=score.bm25,
            vector=score.vector,
            rerank=score.rerank,
            bm25_rank=score.bm25_rank,
            vector_rank=score.vector_rank,
        ),
        text=evidence_pb2.TextPassage(
            text=plain(passage.text),
            prompt_text=plain(passage.prompt_text),
            highlights=[value_pb2.Span(start=each.start, end=each.end) for each in passage.highlights],
        ),
    )


@given(snippets)
def test_a_passage_is_encoded_as_plain_constructors_would(snippet: Snippet) -> None:
    made = evidence_pb2.Snippet()
    fill_snippet(made, snippet, READER)
    assert made.SerializeToString(deterministic=True) == expected(snippet).SerializeToString(deterministic=True)


@given(
    st.lists(
        st.builds(StageTiming, texts.map(plain), st.timedeltas(timedelta(0), timedelta(days=2)), st.just(0), st.just(7))
    )
)
def test_stages_are_told_with_their_times_also_where_one_took_none(timings: list[StageTiming]) -> None:
    summary = encode_summary(
        Summary(EndReason.EXHAUSTED, timings=tuple(timings)), returned=0, explain=ExplainLevel.NONE
    )
    assert [each.stage for each in summary.timings] == [each.stage for each in timings]
    assert [each.elapsed.ToTimedelta() for each in summary.timings] == [each.elapsed for each in timings]
    assert all(each.HasField("elapsed") and each.items_out == 7 for each in summary.timings)
