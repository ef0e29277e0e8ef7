"""A stream that has begun reads one state to its end, also over several calls, whatever is written between them.

A house takes some steps, is asked questions that stream, takes further steps, seen ones and hidden ones, and is then
given every cursor of those streams: what was left of each comes as it would have come.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import grpc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.promises.examples import PHASES
from tests.promises.questions import BEGIN, QUESTIONS, Question
from tests.promises.small_houses import Clock, Workshop, wait_for_vectors, workshop
from tests.promises.small_worlds import READERS, hidden_steps, open_steps
from tests.promises.worlds import Step, take
from tests.rpc.resuming import cuts, expected, rest, resumed

_STREAMED = [each for method in ("NarrativeRetrieve", "QueryMetric", "GraphTrace", "Ask") for each in QUESTIONS[method]]


@dataclass(frozen=True)
class Case:
    """What one example is about."""

    reader: str
    vectors: bool
    before: tuple[Step, ...]
    after: tuple[Step, ...]
    questions: tuple[Question, ...]


def _cases_of(reader: str) -> st.SearchStrategy[Case]:
    seen, unseen = READERS[reader]
    either = st.one_of(open_steps(seen), open_steps(seen), hidden_steps(unseen))
    return st.builds(
        Case,
        st.just(reader),
        st.sampled_from((False, False, False, True)),
        st.lists(either, min_size=1, max_size=4).map(tuple),
        st.lists(either, min_size=1, max_size=4).map(tuple),
        st.lists(st.sampled_from(_STREAMED), min_size=2, max_size=5).map(tuple),
    )


CASES = st.sampled_from(sorted(READERS)).flatmap(_cases_of)


@pytest.fixture(scope="module")
def shop() -> Iterator[Workshop]:
    with workshop() as made:
        yield made


@pytest.fixture(scope="module", autouse=True)
def _small_batches() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("groundwire_server.rpc.stream.MAX_BATCH_SNIPPETS", 2)
        yield


@pytest.mark.timeout(600)
@given(case=CASES)
@settings(max_examples=80, phases=PHASES, deadline=None)
def test_what_is_written_in_between_changes_nothing(shop: Workshop, case: Case) -> None:
    hold(shop, case)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@given(case=CASES)
@settings(max_examples=4_000, phases=PHASES, deadline=None)
def test_what_is_written_in_between_changes_nothing_thousands_of_times(shop: Workshop, case: Case) -> None:
    hold(shop, case)


def hold(shop: Workshop, case: Case) -> None:
    """Every cursor leads to the rest of its stream."""
    clock = Clock()
    backend = "deterministic" if case.vectors else "none"
    with shop.house(shop.folder(1), clock, access__local_clearance=case.reader, embedding__backend=backend) as here:
        take_in(here, clock, case.before, 0, vectors=case.vectors)
        asked = [(each, frames) for each in case.questions if (frames := streamed(here, each, each.request))]
        take_in(here, clock, case.after, len(case.before), vectors=case.vectors)
        for question, whole in asked:
            for cut in cuts(whole):
                again = streamed(here, question, resumed(question.request, cut.token))
                assert again, (question, "was refused")
                assert rest(again) == expected(whole, cut.counts), (question, cut.counts)


def take_in(here: Any, clock: Clock, steps: tuple[Step, ...], begun: int, *, vectors: bool) -> None:
    for hour, step in enumerate(steps, begun):
        clock.now = BEGIN + timedelta(hours=hour)
        take(here, step, "default")
    if vectors:
        wait_for_vectors(here)


def streamed(here: Any, question: Question, request: Any) -> list[Any]:
    """The frames; none where it is refused."""
    try:
        return list(getattr(getattr(here, question.service), question.method)(request))
    except grpc.RpcError:
        return []
