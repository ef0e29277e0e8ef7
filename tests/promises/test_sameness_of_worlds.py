"""Promise 4, as a property: equal histories under one secret give equal bytes.

One house takes the steps one by one. The other takes them in another order (of one source its own order stays),
several in a stream, documents in small pieces; it is stopped and started in between, and finds its indexes deleted, cut
short or with a bit turned. Both are asked the same questions.
"""

from __future__ import annotations

import functools
import itertools
import random
import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.v1 import ingest_pb2
from tests.promises.direct import DirectHouse
from tests.promises.examples import PHASES, ask, drawn_questions
from tests.promises.questions import QUESTIONS, Question
from tests.promises.small_houses import Clock, Workshop, wait_for_vectors, workshop
from tests.promises.small_worlds import ATTRIBUTES, READERS, open_steps
from tests.promises.worlds import INTERNAL, PUBLIC, DocumentStep, Step, WithdrawStep, step_part, take
from tests.rpc.house import Documents, Facts, finish, start

_MOST = 6
_HARM = ("none", "index deleted", "index cut short", "bit turned")


@dataclass(frozen=True)
class Case:
    """What one example is about.

    Attributes:
        steps: of one library each, in the order of the plain house.
        order: numbers by which the steps of the other house are shuffled.
        portions: steps that go into one stream, over and over.
        piece: bytes of a part of a document.
        stops: before which portions the other house is stopped, and what then becomes of its indexes.
    """

    libraries: int
    vectors: bool
    workers: int
    steps: tuple[tuple[str, Step], ...]
    order: tuple[int, ...]
    portions: tuple[int, ...]
    piece: int
    stops: tuple[tuple[int, str], ...]
    questions: tuple[Question, ...]


@functools.cache
def _drawn(libraries: int, most: int) -> st.SearchStrategy[Case]:
    place = st.sampled_from(("default", "side")[:libraries])
    steps = open_steps(READERS["internal"][0], attributes=ATTRIBUTES, glossary=False)
    return st.builds(
        Case,
        st.just(libraries),
        st.sampled_from((False, False, True)),
        st.integers(1, 3),
        st.lists(st.tuples(place, steps), min_size=2, max_size=most).map(tuple),
        st.permutations(range(most)).map(tuple),
        st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple),
        st.sampled_from((1, 7, 1 << 16)),
        st.lists(st.tuples(st.integers(0, 4), st.sampled_from(_HARM)), max_size=2, unique_by=lambda each: each[0]).map(
            tuple
        ),
        # The one shows how many workers there are; the other what work there was, which is another in other portions.
        drawn_questions(leaping=False, without=("GetServerInfo", "ListJobs")),
    )


def cases(most: int = _MOST) -> st.SearchStrategy[Case]:
    """Up to `most` steps, another way to take them, questions."""
    return st.sampled_from((1, 1, 1, 2)).flatmap(lambda libraries: _drawn(libraries, most))


@pytest.fixture(scope="module")
def shop() -> Iterator[Workshop]:
    with workshop() as made:
        yield made


@pytest.mark.timeout(600)
@given(case=cases())
@settings(max_examples=200, phases=PHASES)
def test_equal_histories_give_equal_bytes(shop: Workshop, case: Case) -> None:
    compare(shop, case)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@given(case=cases())
@settings(max_examples=10_000, phases=PHASES)
def test_equal_histories_give_equal_bytes_ten_thousand_times(shop: Workshop, case: Case) -> None:
    compare(shop, case)


def test_a_retired_revision_tells_nothing_of_vectors(shop: Workshop) -> None:
    """Whether it had its vector in time depends on the portions."""
    texts = [("v/a.md", INTERNAL), ("v/b.md", PUBLIC), ("v/b.md", INTERNAL)]
    steps = tuple(("default", DocumentStep(doc_id, "alpha", label)) for doc_id, label in texts)
    order = tuple(range(len(steps)))
    compare(shop, Case(1, True, 1, steps, order, (3,), 1, (), QUESTIONS["GetDocument"]))


def test_a_text_that_came_and_went_in_one_stream_leaves_no_relation(shop: Workshop) -> None:
    """What it mentions is looked for when a write ends."""
    steps = tuple(("default", DocumentStep("v/a.md", text, PUBLIC)) for text in ("alpha", "revenue", "alpha"))
    compare(shop, Case(1, False, 1, steps, tuple(range(len(steps))), (3,), 1, (), QUESTIONS["Ask"]))


def compare(shop: Workshop, case: Case) -> None:
    """Both houses tell the same."""
    plain, other = _plain(shop, case), _otherwise(shop, case)
    assert plain.keys() == other.keys()
    for name, told in plain.items():
        assert other[name] == told, name


def _settings(case: Case, workers: int) -> dict[str, Any]:
    return {"embedding__backend": "deterministic" if case.vectors else "none", "embedding__workers": workers}


def _tell(here: DirectHouse, case: Case) -> dict[str, bytes]:
    if case.vectors:
        wait_for_vectors(here)
    told = dict(ask(here, case.questions))
    assert not any("'fault'" in line for line in here.lines()), here.lines()
    return told


def _plain(shop: Workshop, case: Case) -> dict[str, bytes]:
    with shop.house(shop.folder(case.libraries), Clock(), **_settings(case, 1)) as here:
        for library_id, step in case.steps:
            take(here, step, library_id)
        return _tell(here, case)


def _otherwise(shop: Workshop, case: Case) -> dict[str, bytes]:
    folder = shop.folder(case.libraries)
    portions = list(_portions(case))
    stops = {min(at, len(portions)): harm for at, harm in case.stops}
    edges = [0, *sorted(stops), len(portions)]
    dice = random.Random(len(case.steps))
    for first, last in itertools.pairwise(edges):
        if first in stops:
            _harm(folder, stops[first], dice)
        with shop.house(folder, Clock(), **_settings(case, case.workers)) as here:
            for portion in portions[first:last]:
                _take_portion(here, portion, case.piece)
            if last == len(portions) and last not in stops:
                return _tell(here, case)
    _harm(folder, stops[len(portions)], dice)
    with shop.house(folder, Clock(), **_settings(case, case.workers)) as here:
        return _tell(here, case)


def _shuffled(case: Case) -> list[tuple[str, Step]]:
    """The steps in another order; those of one source stay in theirs."""
    of_source: dict[tuple[str, str], list[tuple[str, Step]]] = defaultdict(list)
    for library_id, step in case.steps:
        of_source[library_id, _source(step)].append((library_id, step))
    turns = [case.steps[at] for at in case.order if at < len(case.steps)]
    return [of_source[library_id, _source(step)].pop(0) for library_id, step in turns]


def _source(step: Step) -> str:
    """What a step writes: figures and relations end with the document that states them."""
    return str(dict(step.fields)["source_doc"]) if hasattr(step, "fields") else str(getattr(step, "doc_id", ""))


def _portions(case: Case) -> Iterator[list[tuple[str, Step]]]:
    """Neighbours that one stream can carry, so many at a time."""
    sizes = itertools.cycle(case.portions)
    for _, same in itertools.groupby(_shuffled(case), key=lambda each: (each[0], _stream(each[1]))):
        steps = list(same)
        while steps:
            size = 1 if isinstance(steps[0][1], WithdrawStep) else next(sizes)
            yield steps[:size]
            del steps[:size]


def _stream(step: Step) -> str:
    return type(step).__name__ if isinstance(step, DocumentStep | WithdrawStep) else "facts"


def _take_portion(here: DirectHouse, portion: Sequence[tuple[str, Step]], piece: int) -> None:
    library_id, first = portion[0]
    if isinstance(first, WithdrawStep):
        take(here, first, library_id)
        return
    made = [step_part(step)[1] for _, step in portion]  # type: ignore[arg-type]
    if isinstance(first, DocumentStep):
        parts: list[Any] = [each for part in made for each in _pieces(part, piece)]
        kind: Any = Documents
        method: Any = here.ingest.IngestDocuments
    else:
        records = ingest_pb2.FactRecords()
        for part in made:
            records.MergeFrom(part.records)
        parts = [ingest_pb2.FactPart(records=records)]
        kind, method = Facts, here.ingest.IngestFacts
    for seq, part in enumerate(parts, 1):
        part.seq = seq
    list(method(iter([start(kind, library_id), *(kind(part=part) for part in parts), finish(kind, len(parts))])))


def _pieces(part: Any, size: int) -> Iterator[Any]:
    raw = part.content
    for at in range(0, max(len(raw), 1), size):
        each = ingest_pb2.DocumentPart(content=raw[at : at + size], last_part=at + size >= len(raw))
        if at == 0:
            each.head.CopyFrom(part.head)
        yield each


def _harm(folder: Path, harm: str, dice: random.Random) -> None:
    for index in sorted(folder.glob("libraries/*/index")):
        if harm == "index deleted":
            shutil.rmtree(index)
        for path in sorted(path for path in index.rglob("*") if path.is_file() and path.stat().st_size):
            raw = bytearray(path.read_bytes())
            if harm == "index cut short":
                path.write_bytes(raw[: dice.randrange(len(raw))])
            elif harm == "bit turned":
                raw[dice.randrange(len(raw))] ^= 1 << dice.randrange(8)
                path.write_bytes(raw)
