"""What a retrieval lost: each candidate once, at its stage and with its rank, and none but candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.dense import HashEmbedder
from groundwire_server.errors import DeadlineExceeded
from groundwire_server.evidence import (
    MAX_TRACE_ENTRIES,
    NO_TRACE,
    BudgetOver,
    Call,
    CallOptions,
    CancelToken,
    ExplainLevel,
    Filter,
    Label,
    LossReason,
    Operator,
    Predicate,
    Snippet,
    Snippets,
    Summary,
    Trace,
    TraceEntry,
)
from groundwire_server.library import LibraryConfig, Snapshot
from groundwire_server.narrative import (
    RetrievalMode,
    RetrievalParts,
    RetrievalTuning,
    RetrieveRequest,
    losses,
    retrieve,
)
from groundwire_server.narrative.budget import within_budgets
from groundwire_server.security import local_principal
from tests.support.libraries import START, Doc, make_library

EMBEDDER = HashEmbedder()
PARTS = RetrievalParts(embedder=EMBEDDER)
WORDS = (
    "revenue",
    "store",
    "売上",
    "収入",
    "中国",
    "holidays",
    "ﬁnance",
    "e\u0301té",
    "👩‍👩‍👧",
    "a\u2028b",
    "the",
    "the",
)


def run(
    snapshots: Sequence[Snapshot], request: RetrieveRequest, parts: RetrievalParts = PARTS, **options: object
) -> tuple[list[Snippet], Summary]:
    given = {"explain": ExplainLevel.TRACE, **options}
    call = Call(local_principal(), CallOptions(**given), now=lambda: START)  # type: ignore[arg-type]
    frames = list(within_budgets(lambda bounded: retrieve(request, bounded, snapshots, parts), call))
    summary = frames[-1]
    assert isinstance(summary, Summary)
    return [one for frame in frames if isinstance(frame, Snippets) for one in frame.snippets], summary


def library(folder: Path, docs: Sequence[Doc], name: str = "default", depth: int = 3) -> Snapshot:
    config = LibraryConfig(vector_depth=depth)
    return make_library(folder, docs, library_id=name, embedder=EMBEDDER, config=config).snapshot()


@pytest.fixture
def stores(tmp_path: Path) -> Snapshot:
    docs = [Doc(f"d{number}.md", "store " * (9 - number) + "hours " * number) for number in range(8)]
    return library(tmp_path, [*docs, Doc("z.md", "Holidays."), Doc("y.md", "休暇")])


def told(summary: Summary) -> list[tuple[str, str, int, str]]:
    return [(each.stage, each.reason.name, each.rank, each.chunk_id) for each in summary.trace.entries]


def test_words_alone(stores: Snapshot) -> None:
    snippets, summary = run([stores], RetrieveRequest("store", top_k=2, mode=RetrievalMode.LEXICAL))
    assert [each.lineage.doc_id for each in snippets] == ["d0.md", "d1.md"]
    assert told(summary) == [
        *(("lexical", "DEPTH", rank, f"d{rank - 1}.md@1#c0") for rank in range(4, 9)),
        ("lexical", "NO_MATCH", 0, "y.md@1#c0"),
        ("lexical", "NO_MATCH", 0, "z.md@1#c0"),
        ("exit", "TOP_K", 3, "d2.md@1#c0"),
    ]
    assert summary.trace.omitted == 0
    by_id = {each.chunk_id: each for each in summary.trace.entries}
    _, whole = run([stores], RetrieveRequest("store", top_k=10, mode=RetrievalMode.LEXICAL))
    scores = {one.lineage.chunk_id: one.scores for one in run([stores], RetrieveRequest("store"))[0]}
    assert whole.trace.entries == tuple(
        replace(each, rank=0, score=None) for each in summary.trace.entries if each.reason is LossReason.NO_MATCH
    )
    assert by_id["d4.md@1#c0"].score == scores["d4.md@1#c0"].bm25  # type: ignore[union-attr]
    assert by_id["z.md@1#c0"].score is None


def test_each_loss_by_meaning_has_its_rank_and_cosine(stores: Snapshot) -> None:
    _, summary = run([stores], RetrieveRequest("store", top_k=3, mode=RetrievalMode.VECTOR))
    everything, _ = run([stores], RetrieveRequest("store", top_k=50, mode=RetrievalMode.VECTOR))
    expected = [
        (one.lineage.chunk_id, rank, one.scores.vector)  # type: ignore[union-attr]
        for rank, one in enumerate(everything, start=1)
    ][3:]
    lost = {each.chunk_id: each for each in summary.trace.entries}
    assert [(key, lost[key].rank, lost[key].score) for key, _, _ in expected if lost[key].stage == "dense"] == [
        each for each in expected if lost[each[0]].stage == "dense"
    ]
    assert {each.stage for each in summary.trace.entries} == {"dense", "exit"}
    assert sorted(lost) == sorted(key for key, _, _ in expected)


def test_nobody_asks_and_nothing_is_looked_for(stores: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(losses, "trace_losses", None)
    for level in (ExplainLevel.NONE, ExplainLevel.PLAN):
        _, summary = run([stores], RetrieveRequest("store", top_k=2), explain=level)
        assert summary.trace is NO_TRACE


def test_the_answer_is_the_same_with_and_without(stores: Snapshot) -> None:
    request = RetrieveRequest("store hours", top_k=2)
    with_trace, without = (run([stores], request, explain=level) for level in (ExplainLevel.TRACE, ExplainLevel.PLAN))
    assert with_trace[0] == without[0]
    assert with_trace[1].variants == without[1].variants
    assert (with_trace[1].end_reason, with_trace[1].candidates) == (without[1].end_reason, without[1].candidates)


def test_what_the_filter_leaves_out_is_no_candidate(stores: Snapshot) -> None:
    wanted = Predicate("doc_id", Operator.LTE, ("d2.md",))
    _, summary = run([stores], RetrieveRequest("store", top_k=1), filter=wanted)
    assert summary.candidates == 3
    assert {each.chunk_id for each in summary.trace.entries} == {"d1.md@1#c0", "d2.md@1#c0"}


def test_those_without_room_in_a_budget(stores: Snapshot) -> None:
    request = RetrieveRequest("store", top_k=3, mode=RetrievalMode.LEXICAL)
    snippets, summary = run([stores], request, token_budget=12)
    assert [each.lineage.doc_id for each in snippets] == ["d0.md"]
    whole, _ = run([stores], request)
    lost = [each for each in summary.trace.entries if each.reason is LossReason.BUDGET]
    assert [(each.stage, each.rank, each.chunk_id, each.snippet_id) for each in lost] == [
        ("budget", rank, one.lineage.chunk_id, one.snippet_id) for rank, one in enumerate(whole, start=1)
    ][1:]
    assert summary.trace.entries[-len(lost) :] == tuple(lost)
    assert len(summary.trace.entries) + summary.trace.omitted + len(snippets) == summary.candidates


def test_a_soft_budget_that_is_over_leaves_losses_unnamed_and_counted(
    stores: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def over(*_: object) -> object:
        raise BudgetOver("trace")

    monkeypatch.setattr(losses, "_lost_by_legs", over)
    snippets, summary = run([stores], RetrieveRequest("store", top_k=2), soft_budget=timedelta(hours=1))
    assert len(snippets) == 2
    assert summary.trace == Trace((), summary.candidates - 2)


def test_the_end_of_a_call_stops_the_search_for_losses(stores: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(10_000))
    token = CancelToken(deadline=5_000.0, clock=lambda: float(next(ticks)))
    real = losses._lost_by_legs

    def late(*given: object) -> object:
        token._deadline = 0.0
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(losses, "_lost_by_legs", late)
    call = Call(local_principal(), CallOptions(explain=ExplainLevel.TRACE), cancel=token, now=lambda: START)
    with pytest.raises(DeadlineExceeded):
        list(retrieve(RetrieveRequest("store"), call, [stores], PARTS))


def test_several_libraries_in_their_order(tmp_path: Path) -> None:
    snapshots = [
        library(tmp_path / name, [Doc(f"{name}{number}.md", "store " * (number + 1)) for number in range(5)], name)
        for name in ("beta", "alpha")
    ]
    snippets, summary = run(snapshots, RetrieveRequest("store", top_k=2, mode=RetrievalMode.LEXICAL))
    assert len(snippets) == 2
    lost = summary.trace.entries
    assert [each.library_id for each in lost if each.stage == "lexical"] == ["alpha", "alpha", "beta", "beta"]
    assert [each.rank for each in lost if each.stage == "exit"] == [3, 4, 5, 6]
    assert len({(each.library_id, each.chunk_id) for each in lost}) == len(lost) == 8


def test_at_most_so_many_and_the_others_are_counted(tmp_path: Path) -> None:
    docs = [Doc(f"{number:04}.md", f"store {'x ' * (number % 7)}") for number in range(1_030)]
    docs += [Doc(f"z{number:04}.md", "holidays") for number in range(20)]
    snapshot = library(tmp_path, docs)
    snippets, summary = run([snapshot], RetrieveRequest("store", top_k=2, mode=RetrievalMode.LEXICAL))
    assert len(summary.trace.entries) == MAX_TRACE_ENTRIES
    assert summary.trace.omitted == len(docs) - len(snippets) - MAX_TRACE_ENTRIES
    assert [each.rank for each in summary.trace.entries] == [*range(4, MAX_TRACE_ENTRIES + 3), 3]


def test_those_that_came_furthest_stay() -> None:
    near, far = (TraceEntry("x", reason) for reason in (LossReason.NO_MATCH, LossReason.BUDGET))
    trace = Trace.joined([Trace((near,) * 800), Trace((far,) * 800, omitted=7)])
    assert trace.entries == (near,) * 200 + (far,) * 800
    assert trace.omitted == 607


def texts() -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)


@settings(max_examples=25, deadline=None)
@given(
    readable=st.lists(texts(), max_size=9),
    hidden=st.lists(texts(), max_size=5),
    query=texts(),
    mode=st.sampled_from(list(RetrievalMode)),
    fusion=st.sampled_from(["", "rrf"]),
    top_k=st.integers(1, 6),
    narrowed=st.booleans(),
)
def test_every_candidate_is_shown_or_told_of_once_and_hidden_ones_change_nothing(
    readable: list[str],
    hidden: list[str],
    query: str,
    mode: RetrievalMode,
    fusion: str,
    top_k: int,
    narrowed: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    docs = [Doc(f"d{number}.md", text) for number, text in enumerate(readable)]
    secrets = [Doc(f"c{number}.md", text, label=Label.RESTRICTED) for number, text in enumerate(hidden)]
    mixed = [each for pair in zip(secrets, docs, strict=False) for each in pair]
    mixed += [each for each in [*docs[::-1], *secrets] if each not in mixed]
    folder = tmp_path_factory.mktemp("twins")
    keep: Filter | None = Predicate("doc_id", Operator.GTE, ("d2.md",)) if narrowed else None
    request = RetrieveRequest(query, top_k=top_k, mode=mode, tuning=RetrievalTuning(fusion=fusion))
    answers = [
        run([library(folder / str(place), some)], request, filter=keep) for place, some in enumerate((docs, mixed))
    ]
    (snippets, summary), (_, beside_hidden) = answers
    assert summary.trace == beside_hidden.trace
    lost = [each.chunk_id for each in summary.trace.entries]
    shown = [each.lineage.chunk_id for each in snippets]
    kept = [f"d{number}.md@1#c0" for number in range(len(docs)) if not narrowed or number >= 2]
    assert sorted([*lost, *shown]) == kept
    assert summary.trace.omitted == 0
    for each in summary.trace.entries:
        assert (each.rank > 0) == (each.score is not None) == (each.reason is not LossReason.NO_MATCH)
        if each.reason is LossReason.TOP_K:
            assert each.rank > top_k
