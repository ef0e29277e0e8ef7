"""One retrieval from request to summary: modes, plan, degradations, refusals, limits, sameness."""

from __future__ import annotations

import hashlib
import math
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire_server.dense import HashEmbedder, code_folder, vector_index
from groundwire_server.errors import DeadlineExceeded, ErrorReason, FailedPrecondition, InvalidRequest
from groundwire_server.evidence import (
    Attribute,
    Call,
    CallCancelled,
    CallOptions,
    CancelToken,
    DegradationKind,
    EndReason,
    ExplainLevel,
    Header,
    QueryVariant,
    RefusalReason,
    Snippets,
    Summary,
    TextPassage,
    Trust,
    slice_text,
    text_sha256,
)
from groundwire_server.library import Library, Snapshot
from groundwire_server.narrative import (
    RetrievalLimits,
    RetrievalMode,
    RetrievalParts,
    RetrievalTuning,
    RetrieveRequest,
    retrieve,
)
from groundwire_server.security import SecurityGate, local_principal
from tests.narrative.retrieved import Retrieved, docs, retrieved
from tests.support.libraries import START, Doc, embed_all, make_library, new_document

DOCS = [
    Doc("en/stores.md", "Revenue rose because new stores opened. It was a good year.", title="Stores"),
    Doc("en/weather.md", "Heavy snow closed the roads in January."),
    Doc("ja/tenpo.md", "売上高は新しい店舗の開店で増えた。", attributes=(Attribute("topic", "stores"),)),
    Doc("zh/mendian.md", "营业收入因新店开业而增长。", valid_as_of=START),
    Doc("en/long.md", "Staff travel.\n\nRevenue of 😀 the cafe\u0301 fell.\n", title="Cafe"),
]
EMBEDDER = HashEmbedder()


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return make_library(tmp_path_factory.mktemp("embedded"), DOCS, embedder=EMBEDDER).snapshot()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return make_library(tmp_path_factory.mktemp("plain"), DOCS).snapshot()


def run(
    snapshots: Snapshot | Sequence[Snapshot],
    request: RetrieveRequest | str,
    parts: RetrievalParts | None = None,
    call: Call | None = None,
    **options: object,
) -> Retrieved:
    request = RetrieveRequest(request) if isinstance(request, str) else request
    call = call or Call(local_principal(), CallOptions(**options), now=lambda: START)  # type: ignore[arg-type]
    return retrieved(request, call, snapshots, parts)


HYBRID = RetrievalParts(embedder=EMBEDDER)


def test_the_plan_is_what_ran_and_each_stage_is_timed(embedded: Snapshot) -> None:
    header, found, summary = run(embedded, "why did revenue rise", HYBRID)
    model = f"deterministic@{EMBEDDER.version}"
    assert [(step.stage, step.backend, step.detail, step.coverage) for step in header.plan] == [
        ("restrict", "columns", "readable", None),
        ("embed", model, "", None),
        ("lexical", "bm25", "", None),
        ("dense", model, "exact,depth=200", 1.0),
        ("fuse", "linear", "bm25/sqrt(best)+112*cosine", None),
        ("exit", "snippets", "rows_once", None),
    ]
    assert [timing.stage for timing in summary.timings] == [step.stage for step in header.plan]
    assert all(timing.elapsed >= timedelta() for timing in summary.timings)
    counts = {timing.stage: (timing.items_in, timing.items_out) for timing in summary.timings}
    assert counts["restrict"] == (5, 5)
    assert counts["lexical"] == (5, 2)
    assert counts["dense"] == (5, 5)
    assert counts["fuse"] == (7, 5)
    assert counts["exit"] == (5, len(found))
    assert header.snapshots[0].library_id == "default"
    assert header.snapshots[0].snapshot_id == embedded.snapshot_id(local_principal())
    assert header.reference_date == date(2025, 1, 1)
    assert (summary.candidates, summary.degradations) == (5, ())


def test_a_snippet_carries_its_place_its_scores_and_what_matched(embedded: Snapshot) -> None:
    _, found, _ = run(embedded, "REVENUE of the café", HYBRID)
    (snippet,) = [one for one in found if one.lineage.doc_id == "en/long.md"]
    assert isinstance(snippet.payload, TextPassage)
    text, lineage, scores = snippet.payload.text, snippet.lineage, snippet.scores
    source = embedded.reader.source_text(lineage.doc_id, lineage.revision, clearance=local_principal().clearance)
    assert source is not None
    assert lineage.span is not None
    assert slice_text(source, lineage.span) == text
    assert lineage.text_sha256 == text_sha256(text) == hashlib.sha256(text.encode()).digest()
    assert (lineage.chunk_id, lineage.title, lineage.source_locator) == ("en/long.md@1#c0", "Cafe", "en/long.md#line=1")
    assert [slice_text(text, span) for span in snippet.payload.highlights] == ["Revenue", "of", "the", "cafe\u0301"]
    assert scores is not None
    assert scores.fused is not None
    assert scores.bm25 is not None
    assert scores.vector is not None
    assert scores.bm25_rank == 1
    assert scores.fused == scores.bm25 / math.sqrt(scores.bm25) + 112 * scores.vector
    assert (snippet.trust, snippet.rank) == (Trust.CITABLE, 0)


def test_lexical_needs_no_vectors_and_says_nothing_of_them(plain: Snapshot) -> None:
    header, found, summary = run(plain, RetrieveRequest("revenue 売上", mode=RetrievalMode.LEXICAL))
    assert [step.stage for step in header.plan] == ["restrict", "lexical", "fuse", "exit"]
    assert (header.plan[2].backend, header.plan[2].detail) == ("rrf", "k=60,w=1")
    assert docs(found)[0] == "ja/tenpo.md"
    assert summary.degradations == ()
    for rank, one in enumerate(found, start=1):
        assert one.scores is not None
        assert (one.scores.bm25_rank, one.scores.vector, one.scores.vector_rank) == (rank, None, None)
        assert one.scores.fused == 1 / (60 + rank)


def test_vector_alone_finds_every_candidate_that_has_one(embedded: Snapshot) -> None:
    header, found, _ = run(embedded, RetrieveRequest("revenue", mode=RetrievalMode.VECTOR), HYBRID)
    assert [step.stage for step in header.plan] == ["restrict", "embed", "dense", "fuse", "exit"]
    assert sorted(docs(found)) == sorted(doc.doc_id for doc in DOCS)
    query = EMBEDDER.embed_query("revenue").astype(np.float64)
    for one in found:
        assert one.scores is not None
        assert one.scores.bm25 is None
        assert isinstance(one.payload, TextPassage)
        cosine = float(query @ EMBEDDER.embed_passage(one.payload.text))
        assert one.scores.vector == pytest.approx(cosine, abs=1e-6)


@pytest.mark.parametrize("mode", [RetrievalMode.HYBRID, RetrievalMode.VECTOR])
def test_without_an_embedder_vectors_cannot_be_asked_for(
    plain: Snapshot, embedded: Snapshot, mode: RetrievalMode
) -> None:
    for snapshot, parts in ((plain, RetrievalParts()), (embedded, RetrievalParts()), (plain, HYBRID)):
        with pytest.raises(FailedPrecondition) as raised:
            run(snapshot, RetrieveRequest("revenue", mode=mode), parts)
        assert raised.value.reason is ErrorReason.NO_EMBEDDER
        assert raised.value.details == {"library_id": "default", "mode": mode.name}


def test_auto_goes_on_with_words_and_says_so(plain: Snapshot) -> None:
    header, found, summary = run(plain, "revenue")
    assert [step.stage for step in header.plan] == ["restrict", "lexical", "fuse", "exit"]
    assert found
    (off,) = summary.degradations
    assert (off.kind, off.component, off.library_id) == (DegradationKind.VECTOR_OFF, "embedder", "default")
    assert off.cause is not None
    assert off.cause.reason is ErrorReason.NO_EMBEDDER
    with pytest.raises(FailedPrecondition) as raised:
        run(plain, "revenue", forbid=frozenset({DegradationKind.VECTOR_OFF}))
    assert raised.value.reason is ErrorReason.DEGRADATION_FORBIDDEN


def test_another_model_than_that_of_the_vectors_is_refused(embedded: Snapshot) -> None:
    other = RetrievalParts(embedder=HashEmbedder(32))
    with pytest.raises(FailedPrecondition) as raised:
        run(embedded, RetrieveRequest("revenue", mode=RetrievalMode.HYBRID), other)
    assert raised.value.reason is ErrorReason.INDEX_MISMATCH
    _, found, summary = run(embedded, "revenue", other)
    assert found
    assert summary.degradations[0].kind is DegradationKind.VECTOR_OFF


class Broken(HashEmbedder):
    """Same version, and it fails on queries."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        raise RuntimeError(f"secret: {text}")


def test_an_embedder_that_fails_leaves_the_words(embedded: Snapshot) -> None:
    parts = RetrievalParts(embedder=Broken())
    header, found, summary = run(embedded, "revenue", parts)
    assert "dense" not in {step.stage for step in header.plan}
    assert "embed" not in {step.stage for step in header.plan}
    assert docs(found) == docs(run(embedded, RetrieveRequest("revenue", mode=RetrievalMode.LEXICAL))[1])
    assert summary.degradations[0].kind is DegradationKind.VECTOR_OFF
    assert "secret" not in repr(summary)
    with pytest.raises(FailedPrecondition) as raised:
        run(embedded, RetrieveRequest("revenue", mode=RetrievalMode.HYBRID), parts)
    assert "secret" not in str(raised.value)


def test_while_embedding_goes_on_the_share_is_told(tmp_path: Path) -> None:
    library = make_library(tmp_path, DOCS[:3], embedder=EMBEDDER)
    with library.writing() as writer:
        writer.replace_document(new_document(DOCS[4]))
    header, found, summary = run(library.snapshot(), RetrieveRequest("revenue", mode=RetrievalMode.HYBRID), HYBRID)
    (dense,) = [step for step in header.plan if step.stage == "dense"]
    assert dense.coverage == 0.75
    (partial,) = summary.degradations
    assert (partial.kind, partial.coverage, partial.library_id) == (DegradationKind.VECTOR_PARTIAL, 0.75, "default")
    (late,) = [one for one in found if one.lineage.doc_id == "en/long.md"]
    assert late.scores is not None
    assert late.scores.vector is None
    assert late.scores.vector_rank is None
    forbidden = frozenset({DegradationKind.VECTOR_PARTIAL})
    with pytest.raises(FailedPrecondition):
        run(library.snapshot(), "revenue", HYBRID, forbid=forbidden)
    embed_all(library, EMBEDDER)
    _, _, whole = run(library.snapshot(), "revenue", HYBRID, forbid=forbidden)
    assert whole.degradations == ()


def test_a_shortlist_stands_in_the_plan_and_a_call_can_have_an_exact_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code_folder, "SIGNS_FROM", 1)
    monkeypatch.setattr(vector_index, "SHORTLIST_FROM", 4)
    snapshot = make_library(tmp_path, DOCS, embedder=EMBEDDER).snapshot()

    def dense(**options: Any) -> tuple[str, list[tuple[str, object]]]:
        header, found, summary = run(snapshot, "revenue", HYBRID, **options)
        (step,) = [step for step in header.plan if step.stage == "dense"]
        assert summary.degradations == ()
        return step.detail, [(one.lineage.chunk_id, one.scores) for one in found]

    coarse, found = dense()
    assert coarse == "signs,rescore=3200,depth=200"
    # Whoever wants every candidate judged by its vector gets that: here the answer is the same, as five rows fit.
    assert dense(forbid=frozenset({DegradationKind.VECTOR_PARTIAL})) == ("exact,depth=200", found)


def test_rrf_can_be_asked_for(embedded: Snapshot) -> None:
    request = RetrieveRequest("revenue of new stores", tuning=RetrievalTuning(fusion="rrf"))
    header, found, _ = run(embedded, request, HYBRID)
    (fuse,) = [step for step in header.plan if step.stage == "fuse"]
    assert (fuse.backend, fuse.detail) == ("rrf", "k=60,w=1")
    for one in found:
        assert one.scores is not None
        ranks = [rank for rank in (one.scores.bm25_rank, one.scores.vector_rank) if rank]
        assert one.scores.fused == sum(1 / (60 + rank) for rank in ranks)


def test_top_k_is_filled_and_the_end_tells_whether_more_is_there(embedded: Snapshot) -> None:
    for mode in RetrievalMode:
        _, found, summary = run(embedded, RetrieveRequest("revenue", top_k=1, mode=mode), HYBRID)
        assert (len(found), summary.end_reason) == (1, EndReason.TOP_K)
        _, found, summary = run(embedded, RetrieveRequest("revenue", mode=mode), HYBRID)
        assert summary.end_reason is EndReason.EXHAUSTED
    _, found, summary = run(embedded, RetrieveRequest("revenue", top_k=5), HYBRID)
    assert (len(found), summary.end_reason) == (5, EndReason.EXHAUSTED)


def test_nothing_found_is_an_end_and_no_refusal(plain: Snapshot, tmp_path: Path) -> None:
    lexical = RetrieveRequest("xylophone", mode=RetrievalMode.LEXICAL)
    header, found, summary = run(plain, lexical)
    assert (found, summary.end_reason, summary.candidates) == ([], EndReason.EXHAUSTED, 5)
    _, found, summary = run(plain, replace(lexical, query="?!"))
    assert (found, summary.end_reason) == ([], EndReason.EXHAUSTED)
    empty = make_library(tmp_path, embedder=EMBEDDER).snapshot()
    _, found, summary = run(empty, "revenue", HYBRID)
    assert (found, summary.candidates, summary.degradations) == ([], 0, ())
    header, found, summary = run([], "revenue", HYBRID)
    assert (header.snapshots, found, summary.end_reason) == ((), [], EndReason.EXHAUSTED)


def test_an_outside_name_is_refused_before_data_is_touched(plain: Snapshot) -> None:
    parts = RetrievalParts(gate=SecurityGate(["Initech"]))

    class Untouched:
        """Everything but the glossary is data."""

        library_id = "default"
        glossary = plain.glossary

    header, found, summary = run([Untouched()], "売上は ＩＮＩＴＥＣＨ より上か", parts)  # type: ignore[list-item]
    assert (found, header.snapshots) == ([], ())
    assert [step.stage for step in header.plan] == ["gate"]
    assert (summary.end_reason, summary.candidates) == (EndReason.REFUSED, 0)
    assert summary.refusal is not None
    assert summary.refusal.reason is RefusalReason.OUT_OF_SCOPE
    assert "質問" in summary.refusal.text
    header, _, summary = run(plain, "revenue", parts)
    assert header.plan[0].stage == "gate"
    assert summary.refusal is None


@pytest.mark.parametrize(
    ("request_", "faults"),
    [
        (RetrieveRequest(""), [("query", ErrorReason.VALUE_REQUIRED)]),
        (RetrieveRequest(" \t\u3000\n"), [("query", ErrorReason.VALUE_REQUIRED)]),
        (RetrieveRequest("x" * 8193), [("query", ErrorReason.VALUE_OUT_OF_RANGE)]),
        (RetrieveRequest("x", top_k=201), [("top_k", ErrorReason.VALUE_OUT_OF_RANGE)]),
        (
            RetrieveRequest(
                "",
                top_k=-1,
                tuning=RetrievalTuning(
                    preset="best",
                    reranker="ce2",
                    rerank_depth=5,
                    postprocessors=("none", "mmr"),
                    filter_extractor="regex",
                    corrective_judge="coin",
                    fusion="borda",
                    library_router="llm",
                    tree=True,
                    adaptive=True,
                ),
            ),
            [
                ("query", ErrorReason.VALUE_REQUIRED),
                ("top_k", ErrorReason.VALUE_OUT_OF_RANGE),
                ("tuning.preset", ErrorReason.UNKNOWN_NAME),
                ("tuning.reranker", ErrorReason.UNKNOWN_NAME),
                ("tuning.postprocessors[1]", ErrorReason.UNKNOWN_NAME),
                ("tuning.filter_extractor", ErrorReason.UNKNOWN_NAME),
                ("tuning.library_router", ErrorReason.UNKNOWN_NAME),
                ("tuning.fusion", ErrorReason.UNKNOWN_NAME),
                ("tuning.corrective_judge", ErrorReason.UNKNOWN_NAME),
                ("tuning.tree", ErrorReason.UNKNOWN_NAME),
                ("tuning.rerank_depth", ErrorReason.CONTRADICTION),
                ("tuning.adaptive", ErrorReason.CONTRADICTION),
            ],
        ),
    ],
)
def test_every_violation_is_named_at_once(
    plain: Snapshot, request_: RetrieveRequest, faults: list[tuple[str, ErrorReason]]
) -> None:
    with pytest.raises(InvalidRequest) as raised:
        run(plain, request_)
    assert [(fault.field, fault.reason) for fault in raised.value.violations] == faults


def test_limits_are_those_of_the_server_and_are_told(plain: Snapshot) -> None:
    parts = RetrievalParts(limits=RetrievalLimits(max_top_k=3, max_query_chars=4))
    with pytest.raises(InvalidRequest) as raised:
        run(plain, RetrieveRequest("reven", top_k=4), parts)
    assert [fault.description for fault in raised.value.violations] == ["5 code points, at most 4", "4 is not in 0..3"]
    run(plain, RetrieveRequest("reve", top_k=3), parts)
    run(plain, RetrieveRequest("x" * 8192, top_k=200))


def test_names_that_mean_off_are_accepted(plain: Snapshot) -> None:
    off = RetrievalTuning(
        preset="none",
        reranker="none",
        postprocessors=("none",),
        query_transform="none",
        glossary_variants=False,
        filter_extractor="none",
        library_router="none",
        corrective=False,
        tree=False,
        graph=False,
        decomposition="none",
        adaptive=False,
    )
    assert run(plain, RetrieveRequest("revenue", tuning=off))[1]


def test_queries_that_ran_are_told_when_asked_for(plain: Snapshot) -> None:
    _, _, summary = run(plain, "revenue", explain=ExplainLevel.PLAN)
    assert summary.variants == (QueryVariant("revenue", "caller"),)
    assert run(plain, "revenue")[2].variants == ()


def test_time_travels_both_ways(tmp_path: Path) -> None:
    library = make_library(tmp_path, [Doc("a.md", "Revenue was good.")])
    with library.writing() as writer:
        writer.replace_document(new_document(Doc("a.md", "Revenue was restated.", valid_as_of=START)))
    before = library.store.generations()[-2].committed_at
    lexical = RetrieveRequest("revenue", mode=RetrievalMode.LEXICAL)
    now = run(library.snapshot(), lexical)[1]
    then = run(library.snapshot(), lexical, known_at=before)[1]
    assert [one.payload.text for one in now] == ["Revenue was restated."]  # type: ignore[union-attr]
    assert [one.payload.text for one in then] == ["Revenue was good."]  # type: ignore[union-attr]
    assert then[0].lineage.revision == 1
    assert run(library.snapshot(), lexical, valid_at=START - timedelta(days=1))[1] == []
    header, found, _ = run(library.snapshot(), lexical, valid_at=START)
    assert docs(found) == ["a.md"]
    assert header.plan[0].detail == "readable,valid_at"


class CancelAt(CancelToken):
    """Cancelled at the n-th time that somebody asks."""

    def __init__(self, polls: int) -> None:
        super().__init__()
        self.polls, self.asked = polls, 0

    def check(self, stage: str = "") -> None:
        self.asked += 1
        if self.asked == self.polls:
            self.cancel()
        super().check(stage)


def test_the_cancel_token_is_asked_between_all_stages(embedded: Snapshot) -> None:
    token = CancelAt(-1)
    run(embedded, "revenue", HYBRID, Call(local_principal(), cancel=token))
    assert token.asked >= 5
    for polls in range(1, token.asked + 1):
        with pytest.raises(CallCancelled):
            run(embedded, "revenue", HYBRID, Call(local_principal(), cancel=CancelAt(polls)))
    with pytest.raises(DeadlineExceeded):
        run(embedded, "revenue", HYBRID, Call(local_principal(), cancel=CancelToken(deadline=0.0)))


def without_times(frames: Sequence[Header | Snippets | Summary]) -> list[object]:
    """Frames without timings and ingested_at, as `canonical` leaves them out."""

    def strip(frame: Header | Snippets | Summary) -> object:
        if isinstance(frame, Summary):
            return replace(frame, timings=())
        if isinstance(frame, Snippets):
            return [replace(one, lineage=replace(one.lineage, ingested_at=None)) for one in frame.snippets]
        return frame

    return [strip(frame) for frame in frames]


def frames_of(snapshot: Snapshot, query: str, mode: RetrievalMode = RetrievalMode.AUTO) -> list[object]:
    call = Call(local_principal(), CallOptions(explain=ExplainLevel.PLAN), now=lambda: START)
    return without_times(list(retrieve(RetrieveRequest(query, mode=mode), call, [snapshot], HYBRID)))


def test_equal_requests_give_equal_frames(embedded: Snapshot) -> None:
    first = frames_of(embedded, "why did revenue 売上 rise")
    assert all(frames_of(embedded, "why did revenue 売上 rise") == first for _ in range(20))


@settings(max_examples=30)
@given(order=st.permutations(range(len(DOCS))), data=st.data())
def test_the_order_of_insertion_shows_nowhere(
    embedded: Snapshot, tmp_path_factory: pytest.TempPathFactory, order: list[int], data: st.DataObject
) -> None:
    query = data.draw(st.sampled_from(["revenue", "売上 店舗", "snow in 店", "year 2020 the of"]))
    mode = data.draw(st.sampled_from(RetrievalMode))
    folder = tmp_path_factory.mktemp("shuffled")
    library = make_library(folder, [DOCS[place] for place in order], embedder=EMBEDDER)
    try:
        assert frames_of(library.snapshot(), query, mode) == frames_of(embedded, query, mode)
    finally:
        library.close()


def test_equal_scores_are_ordered_by_document_and_never_by_arrival(tmp_path: Path) -> None:
    names = ["b.md", "a.md", "c/é.md", "c/e.md", "10.md", "9.md"]
    library: Library = make_library(tmp_path, [Doc(name, "Revenue rose.") for name in names], embedder=EMBEDDER)
    for mode in RetrievalMode:
        assert docs(run(library.snapshot(), RetrieveRequest("revenue", mode=mode), HYBRID)[1]) == sorted(names)


def test_lexical_mode_loads_no_model_runtime(tmp_path: Path) -> None:
    make_library(tmp_path, DOCS).close()
    script = textwrap.dedent(
        f"""
        import sys
        from pathlib import Path
        from groundwire_server.evidence import Call
        from groundwire_server.library import Library
        from groundwire_server.narrative import RetrievalMode, RetrieveRequest, retrieve
        from groundwire_server.security import local_principal
        library = Library(Path({str(tmp_path / "default")!r}), "default", secret=b"x")
        request = RetrieveRequest("revenue", mode=RetrievalMode.LEXICAL)
        frames = list(retrieve(request, Call(local_principal()), [library.snapshot()]))
        assert len(frames) == 3, frames
        assert library.snapshot().vectors is None
        loaded = {{"onnxruntime", "tokenizers", "fastembed", "onnx", "grpc"}} & set(sys.modules)
        print(",".join(sorted(loaded)))
        """
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
