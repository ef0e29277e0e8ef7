"""Budgets: what is cut is the end of a stream, it is named, and what is sent fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.errors import FailedPrecondition
from groundwire_server.evidence import (
    BudgetOver,
    Call,
    CallCancelled,
    CallOptions,
    CancelToken,
    DegradationKind,
    EndReason,
    Header,
    Label,
    Lineage,
    MetricFound,
    MetricKey,
    MetricOutcome,
    MetricQuery,
    Outcomes,
    Snippet,
    Snippets,
    Summary,
    TextPassage,
    Trust,
)
from groundwire_server.narrative import EvidenceFrame, count_tokens, prompt_text, within_budgets
from groundwire_server.security import local_principal

DAY = datetime(2025, 1, 1, tzinfo=UTC).date()
KEY, QUERY = MetricKey("M", "E", "2020", "TOTAL", ()), MetricQuery("M", "E", "2020")


def passage(name: str, words: int, *, parent: str = "", brought: bool = False) -> Snippet:
    lineage = Lineage("default", doc_id=name, parent_locator="p" if parent or brought else "")
    return Snippet(name, lineage, Trust.CITABLE, TextPassage("word " * words, parent), Label.PUBLIC)


def found(place: int, *ids: str) -> MetricOutcome:
    return MetricOutcome(place, QUERY, MetricFound(KEY, ids))


def call(**options: object) -> Call:
    return Call(local_principal(), CallOptions(**options))  # type: ignore[arg-type]


def run(frames: list[EvidenceFrame], *, spent: int = 0, **options: object) -> tuple[list[str], Summary]:
    """Ids of what is sent, in order, outcomes by their place; and the summary."""
    whole = [Header((), (), DAY), *frames, Summary(EndReason.TOP_K)]
    cut = list(within_budgets(lambda _: iter(whole), call(**options), spent=spent))
    assert isinstance(cut[0], Header)
    assert isinstance(cut[-1], Summary)
    sent: list[str] = []
    for each in cut:
        sent += [str(one.query_index) for one in each.outcomes] if isinstance(each, Outcomes) else []
        sent += [one.snippet_id for one in each.snippets] if isinstance(each, Snippets) else []
    return sent, cut[-1]


PASSAGES: list[EvidenceFrame] = [Snippets((passage("a", 3), passage("b", 4), passage("c", 1)))]


@pytest.mark.parametrize(
    ("budget", "spent", "sent", "tokens", "end"),
    [
        (8, 0, ["a", "b", "c"], 8, EndReason.TOP_K),
        (7, 0, ["a", "b"], 7, EndReason.TOKEN_BUDGET),
        (6, 0, ["a"], 3, EndReason.TOKEN_BUDGET),  # c would fit, but b comes first
        (8, 3, ["a"], 3, EndReason.TOKEN_BUDGET),
        (2, 0, [], 0, EndReason.TOKEN_BUDGET),
        (2, 9, [], 0, EndReason.TOKEN_BUDGET),
    ],
)
def test_passages_are_cut_from_the_end(budget: int, spent: int, sent: list[str], tokens: int, end: EndReason) -> None:
    got, summary = run(PASSAGES, spent=spent, token_budget=budget)
    assert (got, summary.prompt_tokens, summary.end_reason) == (sent, tokens, end)
    cuts = [(each.kind, each.component) for each in summary.degradations]
    assert cuts == ([(DegradationKind.BUDGET_CUT, "token_budget")] if end is EndReason.TOKEN_BUDGET else [])


def test_without_a_budget_nothing_is_touched() -> None:
    whole: list[EvidenceFrame] = [Header((), (), DAY), *PASSAGES, Summary(EndReason.EXHAUSTED)]
    assert list(within_budgets(lambda _: iter(whole), call())) == whole


def test_a_parent_counts_once_where_it_is_sent() -> None:
    frames: list[EvidenceFrame] = [
        Snippets((passage("a", 1, parent="word " * 9), passage("b", 5, brought=True), passage("c", 2)))
    ]
    assert run(frames, token_budget=11)[0] == ["a", "b", "c"]
    got, summary = run(frames, token_budget=10)
    assert (got, summary.prompt_tokens) == (["a", "b"], 9)


def test_an_outcome_stays_only_with_all_its_figures() -> None:
    frames: list[EvidenceFrame] = [
        Outcomes((found(0, "a"), found(1, "a", "b"), found(2, "c"))),
        Snippets((passage("a", 3), passage("b", 4), passage("c", 1))),
    ]
    assert run(frames, token_budget=8)[0] == ["0", "1", "2", "a", "b", "c"]
    assert run(frames, token_budget=6)[0] == ["0", "a"]
    assert run(frames, token_budget=1)[0] == []


def over_after(frames: list[EvidenceFrame]) -> Iterator[EvidenceFrame]:
    yield Header((), (), DAY)
    yield from frames
    raise BudgetOver("lookup")


def test_time_that_is_over_leaves_what_is_whole() -> None:
    frames: list[EvidenceFrame] = [
        Outcomes((found(0, "a"), found(1, "a", "b"))),
        Snippets((passage("a", 3),)),
    ]
    cut = list(within_budgets(lambda _: over_after(frames), call(soft_budget=timedelta(seconds=5))))
    assert cut[1:-1] == [Outcomes((found(0, "a"),)), Snippets((passage("a", 3),))]
    summary = cut[-1]
    assert isinstance(summary, Summary)
    assert summary.end_reason is EndReason.SOFT_BUDGET
    assert [each.component for each in summary.degradations] == ["soft_budget"]


def test_a_budget_that_may_not_cut_is_an_error_before_anything_is_sent() -> None:
    forbidding = call(token_budget=1, forbid=frozenset({DegradationKind.BUDGET_CUT}))
    with pytest.raises(FailedPrecondition):
        next(within_budgets(lambda _: iter(PASSAGES), forbidding))


def test_the_soft_token_says_when_its_time_is_over_and_the_calls_own_end_goes_before() -> None:
    now = [0.0]
    token = CancelToken()
    asked = replace(call(soft_budget=timedelta(seconds=2)), cancel=token, clock=lambda: now[0], began=0.0)
    soft = asked.softly().cancel
    soft.check()
    now[0] = 2.0
    with pytest.raises(BudgetOver):
        soft.check("search")
    token.check()  # the call itself goes on
    soft.cancel()
    with pytest.raises(CallCancelled):
        soft.check()
    with pytest.raises(CallCancelled):
        token.check()
    plain = call()
    assert plain.softly() is plain


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(0, 9), max_size=8),
    st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=5),
    st.integers(1, 40),
)
def test_what_is_sent_fits_and_is_a_beginning(sizes: list[int], named: list[list[int]], budget: int) -> None:
    snippets = tuple(passage(f"s{place}", size) for place, size in enumerate(sizes))
    ids = [[f"s{place}" for place in each if place < len(sizes)] for each in named]
    outcomes = [found(place, *each) for place, each in enumerate(ids)]
    frames: list[EvidenceFrame] = [Outcomes(tuple(outcomes))] if outcomes else []
    frames += [Snippets(snippets)] if snippets else []
    sent, summary = run(frames, token_budget=budget)
    whole, _ = run(frames)
    by_id = {each.snippet_id: each for each in snippets}
    kept = [each for each in sent if each in by_id]
    assert summary.prompt_tokens == sum(count_tokens(prompt_text(by_id[each])) for each in kept) <= budget
    answered = [each for each in sent if each not in by_id]
    assert answered == [str(place) for place in range(len(answered))]
    assert all(each in kept for place in answered for each in ids[int(place)])
    assert (summary.end_reason is EndReason.TOKEN_BUDGET) is (sent != whole)


@settings(max_examples=200, deadline=None)
@given(st.text(), st.text())
def test_tokens_of_parts_are_never_fewer_than_of_the_whole(first: str, second: str) -> None:
    assert count_tokens(first + second) <= count_tokens(first) + count_tokens(second)
