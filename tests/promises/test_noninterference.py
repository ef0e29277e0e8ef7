"""Promise 3, as a property: a store with hidden rows answers, in every byte and counter, as one without them.

Two houses take the same open steps at the same moments; one takes hidden steps in between. Where one of these takes the
place of something open, the other house withdraws that instead. Then both are asked the same questions. Compared are
all frames and pages, page tokens and snapshot ids among them, refusals with their details, counts of the stages, what
came back of the open writes, and the lines of the log.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.rpc.methods import contract_methods
from tests.promises.direct import DirectHouse
from tests.promises.examples import PHASES, ask, drawn_questions
from tests.promises.questions import BEGIN, QUESTIONS, Question
from tests.promises.small_houses import Clock, Workshop, wait_for_vectors, workshop
from tests.promises.small_worlds import READERS, dark_steps, hidden_steps, open_steps
from tests.promises.worlds import CANARIES, DocumentStep, Step, WithdrawStep, take

Placed = tuple[int, str, Step]  # before which open step it comes, at the end where there is none such; library, step
_MOST = 4


@dataclass(frozen=True)
class Case:
    """What one example is about."""

    reader: str
    libraries: int
    vectors: bool
    shown: tuple[tuple[str, Step], ...]
    hidden: tuple[Placed, ...]
    dark: tuple[tuple[int, str, DocumentStep], ...]
    questions: tuple[Question, ...]


@functools.cache
def _drawn(reader: str, libraries: int, most: int) -> st.SearchStrategy[Case]:
    seen, unseen = READERS[reader]
    place = st.sampled_from(("default", "side")[:libraries])
    shown = st.lists(st.tuples(place, open_steps(seen)), max_size=most).map(tuple)
    hidden = st.lists(st.tuples(st.integers(0, most), place, hidden_steps(unseen)), min_size=1, max_size=most - 1).map(
        tuple
    )
    return st.builds(
        Case,
        st.just(reader),
        st.just(libraries),
        st.sampled_from((False, False, False, True)),
        shown,
        hidden,
        st.lists(st.tuples(st.integers(0, most), place, dark_steps(unseen)), max_size=1).map(tuple),
        drawn_questions(leaping=True),
    )


def cases(most: int = _MOST) -> st.SearchStrategy[Case]:
    """A reader, up to `most` steps that it may see, steps that it may not, questions."""
    worlds = st.tuples(st.sampled_from(sorted(READERS)), st.sampled_from((1, 1, 1, 2)))
    return worlds.flatmap(lambda world: _drawn(*world, most))


@pytest.fixture(scope="module")
def shop() -> Iterator[Workshop]:
    with workshop() as made:
        yield made


def test_every_method_that_reads_is_asked() -> None:
    reads = {
        name.rpartition("/")[2]
        for name, method in contract_methods().items()
        if method.GetOptions().idempotency_level == 1
    }
    assert reads <= QUESTIONS.keys()


@pytest.mark.timeout(600)
@given(case=cases())
@settings(max_examples=200, phases=PHASES)
def test_hidden_rows_change_nothing(shop: Workshop, case: Case) -> None:
    compare(shop, case)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@given(case=cases())
@settings(max_examples=10_000, phases=PHASES)
def test_hidden_rows_change_nothing_ten_thousand_times(shop: Workshop, case: Case) -> None:
    compare(shop, case)


def compare(shop: Workshop, case: Case) -> None:
    """Both houses tell the same."""
    withdrawn = [(place, library_id, WithdrawStep(step.doc_id)) for place, library_id, step in case.dark]
    plain, beside = _tell(shop, case, withdrawn), _tell(shop, case, [*case.hidden, *case.dark])
    assert plain.keys() == beside.keys()
    for name, told in plain.items():
        assert beside[name] == told, name


def _tell(shop: Workshop, case: Case, hidden: Sequence[Placed]) -> dict[str, Any]:
    """All that a house tells of the open steps and the questions."""
    clock = Clock()
    backend = "deterministic" if case.vectors else "none"
    with shop.house(
        shop.folder(case.libraries), clock, access__local_clearance=case.reader, embedding__backend=backend
    ) as here:
        written = list(_write(here, clock, case, hidden))
        if case.vectors:
            wait_for_vectors(here)
            written = []  # how far the vectors are at a moment is a race
        before = len(here.lines())
        told: dict[str, Any] = dict(ask(here, case.questions))
        lines = here.lines()[before:]
        for word in (*CANARIES, "alpha", "h/x.md"):
            assert word not in here.written.getvalue()
        assert not any("'fault'" in line for line in lines), lines
        left = here.pool.open_work
    return {**told, "writes": written, "log": lines, "left": left}


def _write(here: DirectHouse, clock: Clock, case: Case, hidden: Sequence[Placed]) -> Iterator[bytes]:
    """What comes back of the open steps. Where there are vectors each step waits for its own, never for hidden ones."""
    shown = case.shown
    for hour in range(len(shown) + 1):
        clock.now = BEGIN + timedelta(hours=hour, minutes=-30)
        for place, library_id, step in hidden:
            if min(place, len(shown)) == hour:
                take(here, step, library_id)
        clock.now = BEGIN + timedelta(hours=hour)
        for library_id, step in shown[hour : hour + 1]:
            yield take(here, step, library_id)
            if case.vectors:
                wait_for_vectors(here)
