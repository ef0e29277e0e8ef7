"""Several libraries: each by itself, joined by reciprocal ranks, one that fails does not take the others along."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire_server.dense import HashEmbedder
from groundwire_server.errors import Cause, ErrorReason, FailedPrecondition, InvalidRequest, Unavailable
from groundwire_server.evidence import Call, CallOptions, DegradationKind, Filter, Snippet
from groundwire_server.library import LibraryConfig, Snapshot
from groundwire_server.narrative import (
    RetrievalMode,
    RetrievalParts,
    RetrieveRequest,
    Unreachable,
    rrf_fuse,
)
from groundwire_server.security import local_principal
from tests.narrative.retrieved import Retrieved, retrieved
from tests.support.libraries import START, Doc, make_library

EMBEDDER = HashEmbedder()
PARTS = RetrievalParts(embedder=EMBEDDER)
SAME = Doc("same.md", "Revenue of the store rose.")
LIBRARIES = {
    "alpha": [SAME, Doc("a1.md", "Revenue of the store fell."), Doc("a2.md", "Store hours.")],
    "beta": [SAME, Doc("b1.md", "The store has revenue, revenue, revenue."), Doc("b2.md", "売上")],
    "gamma": [Doc("g1.md", "Holidays.")],
}
REQUEST = RetrieveRequest("revenue of the store")


@pytest.fixture
def snapshots(tmp_path: Path) -> list[Snapshot]:
    return [
        make_library(
            tmp_path, docs, library_id=name, embedder=EMBEDDER, config=LibraryConfig(description=f"{name} notes")
        ).snapshot()
        for name, docs in LIBRARIES.items()
    ]


def run(
    snapshots: list[Snapshot],
    request: RetrieveRequest = REQUEST,
    unreachable: tuple[Unreachable, ...] = (),
    **options: object,
) -> Retrieved:
    call = Call(local_principal(), CallOptions(**options), now=lambda: START)  # type: ignore[arg-type]
    return retrieved(request, call, snapshots, PARTS, unreachable)


def ids(found: list[Snippet]) -> list[tuple[str, str]]:
    return [(one.lineage.library_id, one.lineage.doc_id) for one in found]


@pytest.mark.parametrize("mode", RetrievalMode)
def test_each_is_searched_by_itself_and_the_lists_are_joined(snapshots: list[Snapshot], mode: RetrievalMode) -> None:
    request = replace(REQUEST, mode=mode)
    alone = [ids(run([snapshot], request)[1]) for snapshot in snapshots[:2]]
    scores = rrf_fuse(alone)
    header, found, summary = run(snapshots, request, library_ids=("beta", "alpha"))
    assert ids(found) == sorted(scores, key=lambda item: (-scores[item], item))
    assert [one.scores.fused for one in found if one.scores] == [scores[item] for item in ids(found)]
    assert [state.library_id for state in header.snapshots] == ["alpha", "beta"]
    assert [step.library_id for step in header.plan if step.stage == "fuse"] == ["alpha", "beta"]
    assert [step.stage for step in header.plan[-2:]] == ["join", "exit"]
    assert [timing.stage for timing in summary.timings] == [step.stage for step in header.plan]
    assert summary.candidates == 6


def test_equal_chunks_of_two_libraries_stay_two(snapshots: list[Snapshot]) -> None:
    _, found, _ = run(snapshots, library_ids=("alpha", "beta"))
    twins = [one for one in found if one.lineage.doc_id == "same.md"]
    assert [one.lineage.library_id for one in twins] == ["alpha", "beta"]
    assert len({one.snippet_id for one in twins}) == 2


def test_the_order_in_which_libraries_are_given_does_not_matter(snapshots: list[Snapshot]) -> None:
    names = ("alpha", "beta", "gamma")
    assert ids(run(snapshots, library_ids=names)[1]) == ids(run(snapshots[::-1], library_ids=names[::-1])[1])


def test_the_router_picks_where_the_call_does_not(snapshots: list[Snapshot]) -> None:
    header, found, summary = run(snapshots, RetrieveRequest("beta revenue"))
    assert header.plan[0].stage == "library_router"
    assert {library for library, _ in ids(found)} == {"beta"}
    assert summary.degradations == ()
    _, found, summary = run(snapshots)
    assert {library for library, _ in ids(found)} == {"alpha", "beta", "gamma"}
    assert [each.kind for each in summary.degradations] == [DegradationKind.LIBRARY_ROUTER_FALLBACK]


class Failing(Snapshot):
    """A library whose files cannot be read any more."""

    def candidates(self, call: Call, extra_filter: Filter | None = None) -> NDArray[np.bool_]:
        raise OSError("disk secret")


class FailingLate(Snapshot):
    """A library that goes away when its rows are fetched."""

    def chunks(self, rows: object) -> list[object]:  # type: ignore[override]
        raise FailedPrecondition(ErrorReason.INDEX_MISMATCH, "The index is another one's.")


def break_it(snapshot: Snapshot, kind: type[Snapshot]) -> Snapshot:
    return kind(**{name: getattr(snapshot, name) for name in snapshot.__dataclass_fields__})


@pytest.mark.parametrize("kind", [Failing, FailingLate])
def test_one_that_fails_is_named_and_the_others_answer(snapshots: list[Snapshot], kind: type[Snapshot]) -> None:
    broken = [break_it(snapshots[0], kind), *snapshots[1:]]
    names = ("alpha", "beta")
    header, found, summary = run(broken, library_ids=names)
    assert {library for library, _ in ids(found)} == {"beta"}
    assert [state.library_id for state in header.snapshots] == ["beta"]
    (lost,) = summary.degradations
    assert (lost.kind, lost.library_id) == (DegradationKind.LIBRARY_UNREACHABLE, "alpha")
    assert lost.cause is not None
    assert "secret" not in repr(lost)
    with pytest.raises(FailedPrecondition) as raised:
        run(broken, library_ids=names, forbid=frozenset({DegradationKind.LIBRARY_UNREACHABLE}))
    assert raised.value.reason is ErrorReason.DEGRADATION_FORBIDDEN


def test_when_none_answers_the_call_is_unavailable(snapshots: list[Snapshot]) -> None:
    broken = [break_it(snapshot, Failing) for snapshot in snapshots]
    with pytest.raises(Unavailable) as raised:
        run(broken, library_ids=("alpha", "beta"))
    assert raised.value.reason is ErrorReason.LIBRARIES_UNREACHABLE
    assert raised.value.details == {"libraries": "2"}


def test_a_library_that_could_not_be_opened_is_named(snapshots: list[Snapshot]) -> None:
    closed = (Unreachable("old", Cause(ErrorReason.STORE_VERSION, "Written by a newer version.")),)
    _, found, summary = run(snapshots, unreachable=closed, library_ids=("beta", "old"))
    assert {library for library, _ in ids(found)} == {"beta"}
    assert [(each.kind, each.library_id) for each in summary.degradations] == [
        (DegradationKind.LIBRARY_UNREACHABLE, "old")
    ]
    with pytest.raises(Unavailable):
        run(snapshots, unreachable=closed, library_ids=("old",))


def test_what_is_wrong_with_the_request_is_no_fault_of_a_library(snapshots: list[Snapshot]) -> None:
    with pytest.raises(InvalidRequest):
        run(snapshots, RetrieveRequest("x", top_k=-1))
